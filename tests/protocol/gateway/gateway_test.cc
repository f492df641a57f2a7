// The door of Kafka clients: requests taken apart, answers put together, in order, within bounds.
#include <catch2/catch.hpp>

#include "protocol/gateway/gateway.h"

namespace tidelock::gateway {
namespace {

constexpr ConnectionId kClient{7};

GatewayConfig three_brokers() {
    GatewayConfig config;
    config.self = BrokerId(1);
    config.cluster_id = "test";
    for (std::int32_t id = 1; id <= 3; ++id) config.endpoints[BrokerId(id)] = {"broker" + std::to_string(id), 9092};
    config.requests_max = 3;
    return config;
}

/// A client on one side, the broker's place on the other.
struct Door {
    Door() { gateway.open(kClient, "192.0.2.1"); }

    void ask(kafka::RequestBody body, kafka::Version version, std::int32_t correlation = 1) {
        const kafka::Request request{version, correlation, "tester", std::move(body)};
        gateway.on_frame(now, kClient, kafka::encode_request(request).content(), effects);
        sort();
    }
    void answer(const clients::Request& request, clients::AnswerBody body) {
        clients::Answer answer;
        answer.correlation_id = request.correlation_id;
        answer.body = std::move(body);
        gateway.on_answer(now, kClient, answer, effects);
        sort();
    }
    void sort() {
        for (Effect& effect : effects) {
            if (auto* ask = std::get_if<AskBroker>(&effect)) asked.push_back(ask->request);
            if (auto* send = std::get_if<SendFrame>(&effect)) sent.push_back(*send);
            if (auto* close = std::get_if<CloseConnection>(&effect)) closed = close->why;
            if (std::holds_alternative<PauseReading>(effect)) is_paused = true;
            if (std::holds_alternative<ResumeReading>(effect)) is_paused = false;
        }
        effects.clear();
    }
    /// What the broker was asked next.
    template <typename Body>
    std::pair<clients::Request, Body> next() {
        REQUIRE_FALSE(asked.empty());
        const clients::Request request = asked.front();
        asked.pop_front();
        REQUIRE(std::holds_alternative<Body>(request.body));
        return {request, std::get<Body>(request.body)};
    }
    template <typename Body>
    Body answered(kafka::ApiKey api, kafka::Version version) {
        REQUIRE_FALSE(sent.empty());
        const auto response = kafka::decode_response(api, version, sent.front().frame.content());
        sent.pop_front();
        REQUIRE(response);
        last_correlation = response->correlation_id;
        return std::get<Body>(response->body);
    }

    Gateway gateway{three_brokers()};
    Instant now{0};
    Effects effects;
    std::deque<clients::Request> asked;
    std::deque<SendFrame> sent;
    std::string closed;
    bool is_paused = false;
    std::int32_t last_correlation = 0;
};

kafka::FetchRequest fetch_of(std::vector<std::int32_t> partitions) {
    kafka::FetchRequest fetch;
    fetch.max_wait_ms = 500;
    fetch.min_bytes = 1;
    fetch.max_bytes = 100;
    fetch.topics.emplace_back().topic = "t";
    for (const std::int32_t index : partitions) {
        auto& partition = fetch.topics[0].partitions.emplace_back();
        partition.partition = PartitionIndex(index);
        partition.fetch_offset = Offset(5);
        partition.partition_max_bytes = 80;
    }
    return fetch;
}

clients::FetchAnswer records(std::size_t bytes, std::int64_t high_watermark = 9) {
    clients::FetchAnswer answer;
    answer.high_watermark = Offset(high_watermark);
    answer.batches = Bytes::copy_of(std::string(bytes, 'r'));
    return answer;
}

}  // namespace

TEST_CASE("a produce for several partitions is answered once, when all of them are") {
    Door door;
    kafka::ProduceRequest produce;
    produce.acks = -1;
    produce.timeout_ms = 1'000;
    produce.topics = {{"a", {{PartitionIndex(0), Bytes::copy_of("x")}, {PartitionIndex(1), Bytes::copy_of("y")}}},
                      {"b", {{PartitionIndex(0), std::nullopt}}}};
    door.ask(produce, 9);
    const auto [first, to_first] = door.next<clients::ProduceRequest>();
    const auto [second, to_second] = door.next<clients::ProduceRequest>();
    CHECK(to_first.batches.text() == "x");
    CHECK(to_second.partition.partition == PartitionIndex(1));
    CHECK(to_second.acks == clients::Acks::kAll);
    door.answer(second, clients::ProduceAnswer{clients::ErrorCode::kNotEnoughReplicas, Offset(-1), Offset(0)});
    CHECK(door.sent.empty());
    door.answer(first, clients::ProduceAnswer{clients::ErrorCode::kNone, Offset(41), Offset(3)});
    const auto answer = door.answered<kafka::ProduceResponse>(kafka::ApiKey::kProduce, 9);
    CHECK(answer.topics[0].partitions[0].base_offset == Offset(41));
    CHECK(answer.topics[0].partitions[1].error_code == kafka::ErrorCode::kNotEnoughReplicas);
    CHECK(answer.topics[1].partitions[0].error_code == kafka::ErrorCode::kInvalidRecord);
}

TEST_CASE("answers leave in the order of the requests, whichever is done first") {
    Door door;
    door.ask(kafka::HeartbeatRequest{"g", 1, "m", {}}, 0, 100);
    door.ask(kafka::ApiVersionsRequest{}, 0, 101);
    CHECK(door.sent.empty());
    const auto [heartbeat, body] = door.next<clients::HeartbeatRequest>();
    CHECK(body.group == "g");
    door.answer(heartbeat, clients::HeartbeatAnswer{clients::ErrorCode::kNotLeader});
    CHECK(door.answered<kafka::HeartbeatResponse>(kafka::ApiKey::kHeartbeat, 0).error_code ==
          kafka::ErrorCode::kNotCoordinator);
    CHECK(door.last_correlation == 100);
    (void)door.answered<kafka::ApiVersionsResponse>(kafka::ApiKey::kApiVersions, 0);
    CHECK(door.last_correlation == 101);
}

TEST_CASE("a produce with acks 0 is carried out and not answered") {
    Door door;
    kafka::ProduceRequest produce;
    produce.topics = {{"a", {{PartitionIndex(0), Bytes::copy_of("x")}}}};
    door.ask(produce, 7);
    const auto [asked, body] = door.next<clients::ProduceRequest>();
    CHECK(body.acks == clients::Acks::kNone);
    door.answer(asked, clients::ProduceAnswer{});
    CHECK(door.sent.empty());
    CHECK(door.gateway.connections().at(kClient).pending.empty());
}

TEST_CASE(
    "a fetch reads partition after partition until the client has as much as it takes, the rest gets its bounds") {
    Door door;
    door.ask(fetch_of({0, 1, 2}), 11);
    const auto [first, to_first] = door.next<clients::FetchRequest>();
    CHECK(to_first.bytes_max == 80);
    CHECK(door.asked.empty());
    door.answer(first, records(80));
    const auto [second, to_second] = door.next<clients::FetchRequest>();
    CHECK(to_second.bytes_max == 20);
    door.answer(second, records(20));
    const auto [third, to_third] = door.next<clients::FetchRequest>();
    CHECK(to_third.bytes_max == 0);
    door.answer(third, records(0, 77));
    const auto answer = door.answered<kafka::FetchResponse>(kafka::ApiKey::kFetch, 11);
    CHECK(answer.topics[0].partitions[0].records->size() == 80);
    CHECK(answer.topics[0].partitions[2].high_watermark == Offset(77));
}

TEST_CASE("a produce with acks 0 that fails ends the connection: nothing else would tell its producer") {
    Door door;
    kafka::ProduceRequest produce;
    produce.topics = {{"a", {{PartitionIndex(0), Bytes::copy_of("x")}}}};
    door.ask(produce, 7);
    door.answer(door.next<clients::ProduceRequest>().first,
                clients::ProduceAnswer{clients::ErrorCode::kNotLeader, Offset(-1), Offset(0)});
    CHECK(door.sent.empty());
    CHECK(door.closed.find("NOT_LEADER") != std::string::npos);
}

TEST_CASE("who asks a follower for a producer id is to ask again, and let go to ask another broker") {
    for (const clients::ErrorCode error : {clients::ErrorCode::kNotLeader, clients::ErrorCode::kLeadershipEnded}) {
        Door door;
        door.ask(kafka::InitProducerIdRequest{}, 4);
        door.answer(door.next<clients::InitProducerIdRequest>().first,
                    clients::InitProducerIdAnswer{error, kNoProducer, ProducerEpoch(0)});
        const auto answer = door.answered<kafka::InitProducerIdResponse>(kafka::ApiKey::kInitProducerId, 4);
        CHECK(answer.error_code == kafka::ErrorCode::kCoordinatorLoadInProgress);
        CHECK_FALSE(door.closed.empty());
    }
}

// Producers without transactions have no coordinator: told that it is not available, some look for one under no name.
TEST_CASE("who asks for a producer id that the leader cannot give out now is to ask it again") {
    for (const clients::ErrorCode error :
         {clients::ErrorCode::kLeaderNotAvailable, clients::ErrorCode::kThrottled, clients::ErrorCode::kRequestTimedOut,
          clients::ErrorCode::kNotEnoughReplicas, clients::ErrorCode::kCoordinatorNotReady}) {
        Door door;
        door.ask(kafka::InitProducerIdRequest{}, 4);
        door.answer(door.next<clients::InitProducerIdRequest>().first,
                    clients::InitProducerIdAnswer{error, kNoProducer, ProducerEpoch(0)});
        const auto answer = door.answered<kafka::InitProducerIdResponse>(kafka::ApiKey::kInitProducerId, 4);
        CHECK(answer.error_code == kafka::ErrorCode::kCoordinatorLoadInProgress);
        CHECK(door.closed.empty());
    }
}

TEST_CASE("errors of a fetch are those that consumers know to retry") {
    for (const clients::ErrorCode error : {clients::ErrorCode::kLeaderNotAvailable, clients::ErrorCode::kThrottled,
                                           clients::ErrorCode::kRequestTimedOut}) {
        Door door;
        door.ask(fetch_of({0}), 11);
        clients::FetchAnswer refused;
        refused.error = error;
        door.answer(door.next<clients::FetchRequest>().first, refused);
        const auto answer = door.answered<kafka::FetchResponse>(kafka::ApiKey::kFetch, 11);
        CHECK(answer.topics[0].partitions[0].error_code == kafka::ErrorCode::kNotLeaderOrFollower);
    }
}

TEST_CASE("KIP-207: an end that is not known yet is told as the client's version can say it, to be asked for again") {
    for (const kafka::Version version : {kafka::Version(4), kafka::Version(5)}) {
        Door door;
        kafka::ListOffsetsRequest list;
        list.topics = {{"t", {{PartitionIndex(0), kafka::kNoLeaderEpoch, kafka::kLatestOffset}}}};
        door.ask(list, version);
        const auto [asked, body] = door.next<clients::ListOffsetsRequest>();
        clients::ListOffsetsAnswer answer;
        answer.error = clients::ErrorCode::kOffsetNotAvailable;
        door.answer(asked, answer);
        const auto told = door.answered<kafka::ListOffsetsResponse>(kafka::ApiKey::kListOffsets, version);
        CHECK(told.topics[0].partitions[0].error_code ==
              (version < 5 ? kafka::ErrorCode::kLeaderNotAvailable : kafka::ErrorCode::kOffsetNotAvailable));
    }
}

TEST_CASE("a fetch that finds nothing waits once for all its partitions, then reads anew") {
    Door door;
    door.ask(fetch_of({0, 1}), 11);
    for (int partition = 0; partition < 2; ++partition)
        door.answer(door.next<clients::FetchRequest>().first, records(0, 5));
    const auto [waiting, await] = door.next<clients::AwaitRecordsRequest>();
    CHECK(await.positions.size() == 2);
    CHECK(await.wait_max == milliseconds(500));
    CHECK(door.sent.empty());
    door.now = door.now + milliseconds(100);
    door.answer(waiting, clients::AwaitRecordsAnswer{});
    door.answer(door.next<clients::FetchRequest>().first, records(0, 5));
    door.answer(door.next<clients::FetchRequest>().first, records(30, 6));
    const auto answer = door.answered<kafka::FetchResponse>(kafka::ApiKey::kFetch, 11);
    CHECK(answer.topics[0].partitions[1].records->size() == 30);
}

TEST_CASE("a fetch is answered empty when its time is over") {
    Door door;
    door.ask(fetch_of({0}), 11);
    door.answer(door.next<clients::FetchRequest>().first, records(0, 5));
    door.now = door.now + milliseconds(500);
    door.answer(door.next<clients::AwaitRecordsRequest>().first, clients::AwaitRecordsAnswer{});
    const auto answer = door.answered<kafka::FetchResponse>(kafka::ApiKey::kFetch, 11);
    CHECK(answer.topics[0].partitions[0].high_watermark == Offset(5));
    CHECK(answer.topics[0].partitions[0].records->empty());
}

TEST_CASE("KIP-951: who is not the leader says who is, and where") {
    Door door;
    auto fetch = fetch_of({0});
    fetch.topics[0].topic_id = kafka::uuid_of(TopicId(9));
    door.ask(fetch, 16);
    const auto [asked, body] = door.next<clients::FetchRequest>();
    CHECK(body.partition.topic_id == TopicId(9));
    clients::Answer refusal = clients::refusal_of(asked, clients::ErrorCode::kNotLeader, BrokerId(2));
    refusal.leader_epoch = LeaderEpoch(4);
    door.gateway.on_answer(door.now, kClient, refusal, door.effects);
    door.sort();
    const auto answer = door.answered<kafka::FetchResponse>(kafka::ApiKey::kFetch, 16);
    CHECK(answer.topics[0].partitions[0].error_code == kafka::ErrorCode::kNotLeaderOrFollower);
    CHECK(answer.topics[0].partitions[0].current_leader == kafka::CurrentLeader{BrokerId(2), LeaderEpoch(4)});
    REQUIRE(answer.node_endpoints.size() == 1);
    CHECK(answer.node_endpoints[0].host == "broker2");
}

TEST_CASE("metadata creates what a client asks for by name, and tells it once it is there") {
    Door door;
    kafka::MetadataRequest request;
    request.topics.emplace();
    request.topics->push_back({{}, "new"});
    door.ask(request, 9);
    const auto [asked, body] = door.next<clients::MetadataRequest>();
    CHECK(body.topics == std::vector<std::string>{"new"});
    clients::MetadataAnswer metadata;
    metadata.leader = BrokerId(1);
    metadata.leader_epoch = LeaderEpoch(3);
    metadata.brokers = {BrokerId(1), BrokerId(2), BrokerId(3)};
    metadata.topics = {{clients::ErrorCode::kUnknownTopicOrPartition, "new", TopicId(0), 0, false}};
    door.answer(asked, metadata);
    const auto [creating, create] = door.next<clients::CreateTopicRequest>();
    CHECK(create.may_forward);
    SECTION("made here") {
        door.answer(creating, clients::CreateTopicAnswer{clients::ErrorCode::kNone, TopicId(5)});
        metadata.topics = {{clients::ErrorCode::kNone, "new", TopicId(5), 1, false}};
        door.answer(door.next<clients::MetadataRequest>().first, metadata);
        const auto answer = door.answered<kafka::MetadataResponse>(kafka::ApiKey::kMetadata, 9);
        CHECK(answer.topics[0].error_code == kafka::ErrorCode::kNone);
        CHECK(answer.topics[0].partitions[0].leader_id == BrokerId(1));
        CHECK(answer.brokers.size() == 3);
    }
    SECTION("that nobody can make") {
        door.answer(creating, clients::CreateTopicAnswer{clients::ErrorCode::kInvalidTopicName, TopicId(0)});
        door.answer(door.next<clients::MetadataRequest>().first, metadata);
        const auto answer = door.answered<kafka::MetadataResponse>(kafka::ApiKey::kMetadata, 9);
        CHECK(answer.topics[0].error_code == kafka::ErrorCode::kInvalidTopicException);
    }
    SECTION("passed on to the leader") {
        door.answer(creating, clients::CreateTopicAnswer{clients::ErrorCode::kLeaderNotAvailable, TopicId(0)});
        door.answer(door.next<clients::MetadataRequest>().first, metadata);
        const auto answer = door.answered<kafka::MetadataResponse>(kafka::ApiKey::kMetadata, 9);
        CHECK(answer.topics[0].error_code == kafka::ErrorCode::kLeaderNotAvailable);
    }
}

TEST_CASE("metadata without a leader says so of every partition") {
    Door door;
    door.ask(kafka::MetadataRequest{}, 9);
    clients::MetadataAnswer metadata;
    metadata.brokers = {BrokerId(1)};
    metadata.topics = {{clients::ErrorCode::kNone, "t", TopicId(5), 2, false}};
    door.answer(door.next<clients::MetadataRequest>().first, metadata);
    const auto answer = door.answered<kafka::MetadataResponse>(kafka::ApiKey::kMetadata, 9);
    REQUIRE(answer.topics[0].partitions.size() == 2);
    CHECK(answer.topics[0].partitions[1].error_code == kafka::ErrorCode::kLeaderNotAvailable);
    CHECK(answer.controller_id == kafka::kNoBroker);
}

TEST_CASE("the leader coordinates every group") {
    Door door;
    kafka::FindCoordinatorRequest find;
    find.coordinator_keys = {"g", "h"};
    door.ask(find, 4);
    clients::StatusAnswer status;
    status.leader = BrokerId(3);
    door.answer(door.next<clients::StatusRequest>().first, status);
    const auto answer = door.answered<kafka::FindCoordinatorResponse>(kafka::ApiKey::kFindCoordinator, 4);
    REQUIRE(answer.coordinators.size() == 2);
    CHECK(answer.coordinators[1].host == "broker3");
}

TEST_CASE("offsets are asked group by group, however many partitions are named") {
    Door door;
    kafka::OffsetFetchRequest fetch;
    fetch.groups = {{"g", std::vector<kafka::OffsetFetchTopic>{{"t", {PartitionIndex(0), PartitionIndex(1)}}}},
                    {"h", std::nullopt}};
    door.ask(fetch, 8);
    const auto some = door.next<clients::GroupOffsetsRequest>().first;
    const auto all = door.next<clients::GroupOffsetsRequest>().first;
    door.answer(some,
                clients::GroupOffsetsAnswer{clients::ErrorCode::kNone,
                                            {{{"t", TopicId(1), PartitionIndex(0)}, Offset(8), LeaderEpoch(2), "m"},
                                             {{"t", TopicId(1), PartitionIndex(9)}, Offset(1), LeaderEpoch(2), "m"}}});
    door.answer(all,
                clients::GroupOffsetsAnswer{clients::ErrorCode::kNone,
                                            {{{"u", TopicId(1), PartitionIndex(0)}, Offset(1), LeaderEpoch(1), ""},
                                             {{"u", TopicId(1), PartitionIndex(1)}, Offset(2), LeaderEpoch(1), ""}}});
    const auto answer = door.answered<kafka::OffsetFetchResponse>(kafka::ApiKey::kOffsetFetch, 8);
    CHECK(answer.groups[0].topics[0].partitions[0].committed_offset == Offset(8));
    CHECK(answer.groups[0].topics[0].partitions[1].committed_offset == kafka::kNoOffset);
    CHECK(answer.groups[0].topics[0].partitions[1].error_code == kafka::ErrorCode::kNone);
    REQUIRE(answer.groups[1].topics.size() == 1);
    CHECK(answer.groups[1].topics[0].partitions[1].committed_offset == Offset(2));
}

TEST_CASE("every broker holds every partition: other replication factors and assignments are refused with the reason") {
    Door door;
    kafka::CreateTopicsRequest create;
    create.topics.resize(3);
    create.topics[0] = {"a", 4, 3, {}, {{"retention.records", "10"}}};
    create.topics[1] = {"b", 4, 2, {}, {}};
    create.topics[2] = {"c", -1, -1, {{PartitionIndex(0), {BrokerId(1)}}}, {}};
    door.ask(create, 5);
    const auto [asked, body] = door.next<clients::CreateTopicRequest>();
    CHECK(body.topic == "a");
    CHECK(body.partition_count == 4);
    CHECK(body.settings == std::vector<clients::Setting>{{"retention.records", "10"}});
    door.answer(asked, clients::CreateTopicAnswer{clients::ErrorCode::kNone, TopicId(5)});
    const auto answer = door.answered<kafka::CreateTopicsResponse>(kafka::ApiKey::kCreateTopics, 5);
    CHECK(answer.topics[0].num_partitions == 4);
    CHECK(answer.topics[1].error_code == kafka::ErrorCode::kInvalidReplicationFactor);
    CHECK(answer.topics[2].error_code == kafka::ErrorCode::kInvalidReplicaAssignment);
}

TEST_CASE("a frame that is no request ends the connection; ApiVersions of the future gets the protocol's own answer") {
    Door door;
    door.gateway.on_frame(door.now, kClient, Bytes::copy_of("nonsense"), door.effects);
    door.sort();
    CHECK_FALSE(door.closed.empty());

    Door other;
    const Bytes future = Bytes::copy_of(std::string_view("\x00\x12\x00\x63\x00\x00\x00\x05\xff\xff", 10));
    other.gateway.on_frame(other.now, kClient, future, other.effects);
    other.sort();
    CHECK(other.closed.empty());
    CHECK(other.answered<kafka::ApiVersionsResponse>(kafka::ApiKey::kApiVersions, 0).error_code ==
          kafka::ErrorCode::kUnsupportedVersion);
}

TEST_CASE("a connection with too much under way is not read from until some is answered") {
    Door door;
    for (std::int32_t i = 0; i < 3; ++i) door.ask(kafka::HeartbeatRequest{"g", 1, "m", {}}, 0, i);
    CHECK(door.is_paused);
    door.answer(door.next<clients::HeartbeatRequest>().first, clients::HeartbeatAnswer{});
    CHECK_FALSE(door.is_paused);
}

TEST_CASE("who names something twice is told of it once: a small request must not ask for a huge answer") {
    Door door;
    kafka::MetadataRequest metadata;
    metadata.topics.emplace();
    const kafka::Uuid id = kafka::uuid_of(TopicId(5));
    for (int i = 0; i < 3; ++i) {
        metadata.topics->push_back({id, std::nullopt});
        metadata.topics->push_back({{}, "orders"});
    }
    door.ask(metadata, 12);
    const auto asked = door.next<clients::MetadataRequest>().second;
    CHECK(asked.topics == std::vector<std::string>{"orders"});
    CHECK(asked.topic_ids == std::vector<TopicId>{TopicId(5)});

    door.asked.clear();
    door.ask(kafka::OffsetFetchRequest{{}, {}, {{"g", std::nullopt}, {"g", std::nullopt}}, false}, 8, 2);
    CHECK(door.asked.size() == 1);
    door.asked.clear();
    door.ask(kafka::DescribeGroupsRequest{{"g", "g"}, false}, 5, 3);
    CHECK(door.asked.size() == 1);
}

TEST_CASE("what members of groups say about themselves has a bound, however many groups are asked about") {
    Door door;
    door.ask(kafka::DescribeGroupsRequest{{"a", "b"}, false}, 5);
    clients::DescribeGroupAnswer described;
    described.members.resize(1);
    described.members[0].metadata = Bytes::copy_of(std::string(40 << 20, 'm'));
    door.answer(door.next<clients::DescribeGroupRequest>().first, described);
    door.answer(door.next<clients::DescribeGroupRequest>().first, described);
    const auto answer = door.answered<kafka::DescribeGroupsResponse>(kafka::ApiKey::kDescribeGroups, 5);
    CHECK(answer.groups[0].members.size() == 1);
    CHECK(answer.groups[1].members.empty());
    CHECK(answer.groups[1].error_code == kafka::ErrorCode::kMessageTooLarge);
}

TEST_CASE("fetches that wait behind others read no more than their connection has room for") {
    GatewayConfig config = three_brokers();
    config.request_bytes_max = 1'000;
    Door door;
    door.gateway = Gateway(config);
    door.gateway.open(kClient, "192.0.2.1");
    kafka::FetchRequest fetch = fetch_of({0, 1});
    fetch.max_bytes = fetch.topics[0].partitions[0].partition_max_bytes = 900;
    fetch.topics[0].partitions[1].partition_max_bytes = 900;
    door.ask(fetch, 4, 1);
    door.ask(fetch, 4, 2);
    const auto first = door.next<clients::FetchRequest>().first;
    const auto second = door.next<clients::FetchRequest>().first;
    door.answer(second, records(600));
    const auto more = door.next<clients::FetchRequest>();
    CHECK(more.second.bytes_max < 400);  // of the second answer
    door.answer(more.first, records(0));
    door.answer(first, records(900));
    CHECK(door.next<clients::FetchRequest>().second.bytes_max == 0);  // its client takes no more
}

TEST_CASE("a fetch does not wait for more than its answer may hold") {
    Door door;
    kafka::FetchRequest fetch = fetch_of({0});
    fetch.min_bytes = 1'000'000;
    door.ask(fetch, 4);
    door.answer(door.next<clients::FetchRequest>().first, records(100));
    CHECK(door.sent.size() == 1);
}

TEST_CASE("a fetch does not wait while more lies there than a read brings") {
    Door door;
    kafka::FetchRequest fetch = fetch_of({0});
    fetch.max_bytes = 10'000;
    fetch.min_bytes = 5'000;
    door.ask(fetch, 4);
    clients::FetchAnswer part = records(70);
    part.has_more = true;
    door.answer(door.next<clients::FetchRequest>().first, part);
    CHECK(door.sent.size() == 1);
}

TEST_CASE("a request about more than a broker should be asked at once ends its connection, and is not asked") {
    Door door;
    kafka::ListOffsetsRequest list;
    auto& partitions = list.topics.emplace_back().partitions;
    partitions.resize(20'001);
    door.ask(list, 1);
    CHECK(door.asked.empty());
    CHECK_FALSE(door.closed.empty());
    Door other;
    partitions.resize(20'000);
    other.ask(list, 1);
    CHECK(other.asked.size() == 20'000);
    CHECK(other.closed.empty());
}

TEST_CASE("committed offsets that no frame holds are not told: a partition may be named a million times") {
    Door door;
    const std::vector<PartitionIndex> often(100'000, PartitionIndex(0));
    door.ask(kafka::OffsetFetchRequest{{}, {}, {{"g", std::vector<kafka::OffsetFetchTopic>{{"t", often}}}}, false}, 8);
    clients::GroupOffsetsAnswer answer;
    answer.offsets.push_back(
        {{"t", TopicId(0), PartitionIndex(0)}, Offset(1), LeaderEpoch(1), std::string(4'096, 'm')});
    door.answer(door.next<clients::GroupOffsetsRequest>().first, answer);
    const auto told = door.answered<kafka::OffsetFetchResponse>(kafka::ApiKey::kOffsetFetch, 8);
    CHECK(told.groups[0].error_code == kafka::ErrorCode::kMessageTooLarge);
    CHECK(told.groups[0].topics.empty());
}

TEST_CASE("transactions are refused by what ends the wish for them") {
    Door door;
    kafka::InitProducerIdRequest init;
    init.transactional_id = "tx";
    door.ask(init, 4);
    CHECK(door.asked.empty());
    CHECK_FALSE(kafka::is_retriable(
        door.answered<kafka::InitProducerIdResponse>(kafka::ApiKey::kInitProducerId, 4).error_code));
}

}  // namespace tidelock::gateway
