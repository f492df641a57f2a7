// The client messages and their error codes: round trips, total decoding, an answer for every request.
#include <catch2/catch.hpp>

#include <set>

#include "protocol/clients/messages.h"
#include "tests/law.h"

namespace tidelock::clients {
namespace {

const PartitionName kName{"orders", TopicId(0xAB), PartitionIndex(2)};

std::vector<Request> requests() {
    const std::vector<Setting> settings = {{"retention_ms", "1000"}, {"x", ""}};
    std::vector<RequestBody> bodies = {
        ProduceRequest{kName, Acks::kLeader, milliseconds(500), Bytes::copy_of("batches")},
        FetchRequest{kName, Offset(7), 1 << 20, milliseconds(100), IsolationLevel::kReadCommitted, LeaderEpoch(4)},
        ListOffsetsRequest{kName, OffsetAt::kTimestamp, 1'700, LeaderEpoch(4)},
        MetadataRequest{{"a", "b"}, {TopicId(0xFFFF'FFFF'0000'0001)}, true},
        InitProducerIdRequest{ProducerId(5), ProducerEpoch(3)},
        OffsetCommitRequest{"g", 4, "m", kName, Offset(9), LeaderEpoch(3), "meta", "i"},
        OffsetFetchRequest{"g", kName},
        CreateTopicRequest{"t", 3, settings},
        DeleteTopicRequest{"t"},
        GrowTopicRequest{"t", 6},
        SetTopicConfigRequest{"t", settings},
        StatusRequest{},
        DeleteRecordsRequest{kName, Offset(5)},
        TransferLeadershipRequest{BrokerId(3)},
        JoinGroupRequest{"g",
                         "m",
                         "i",
                         "c",
                         "host",
                         milliseconds(10'000),
                         milliseconds(30'000),
                         "consumer",
                         {{"range", Bytes::copy_of("topics")}},
                         false,
                         true},
        SyncGroupRequest{"g", 4, "m", "i", "consumer", "range", {{"m", Bytes::copy_of("all")}}},
        HeartbeatRequest{"g", 4, "m", "i"},
        LeaveGroupRequest{"g", {{"m", ""}, {"", "i"}}},
        ListGroupsRequest{},
        DescribeGroupRequest{"g"},
        AwaitRecordsRequest{{{kName, Offset(9)}}, milliseconds(500)},
        EpochEndRequest{kName, LeaderEpoch(3), LeaderEpoch(4)},
        GroupOffsetsRequest{"g"},
        DescribeTopicRequest{"t"},
    };
    std::vector<Request> made;
    for (RequestBody& body : bodies)
        made.push_back({CorrelationId(static_cast<std::int64_t>(made.size()) + 1), std::move(body)});
    return made;
}

std::vector<Answer> answers() {
    StatusAnswer status;
    status.role = StatusRole::kLeader;
    status.in_sync_replicas = {{BrokerId(1), Incarnation(9)}, {BrokerId(2), Incarnation(8)}};
    status.lagging_members = {{BrokerId(2), Incarnation(8)}};
    status.durability = StatusDurability::kSingleDisk;
    MetadataAnswer metadata;
    metadata.leader = BrokerId(1);
    metadata.brokers = {BrokerId(1), BrokerId(2)};
    metadata.in_sync_replicas = {BrokerId(1)};
    metadata.topics = {{ErrorCode::kNone, "t", TopicId(3), 2, true},
                       {ErrorCode::kUnknownTopicOrPartition, "u", TopicId(0), 0, false}};
    std::vector<AnswerBody> bodies = {
        ProduceAnswer{ErrorCode::kNone, Offset(7), Offset(1)},
        FetchAnswer{ErrorCode::kNone, Offset(9), Offset(8), Offset(1), Bytes::copy_of("batches")},
        ListOffsetsAnswer{ErrorCode::kNone, Offset(4), LeaderEpoch(2)},
        metadata,
        InitProducerIdAnswer{ErrorCode::kNone, ProducerId(5), ProducerEpoch(0)},
        OffsetCommitAnswer{ErrorCode::kNone},
        OffsetFetchAnswer{ErrorCode::kNone, Offset(4), LeaderEpoch(1), "meta"},
        CreateTopicAnswer{ErrorCode::kNone, TopicId(3)},
        DeleteTopicAnswer{ErrorCode::kNotLeader},
        GrowTopicAnswer{ErrorCode::kNone},
        SetTopicConfigAnswer{ErrorCode::kNone},
        status,
        DeleteRecordsAnswer{ErrorCode::kNone, Offset(5)},
        TransferLeadershipAnswer{ErrorCode::kTransferFailed},
        JoinGroupAnswer{ErrorCode::kNone, 4, "consumer", "range", "m", "m", true, {{"m", "i", Bytes::copy_of("x")}}},
        SyncGroupAnswer{ErrorCode::kNone, "consumer", "range", Bytes::copy_of("all")},
        HeartbeatAnswer{ErrorCode::kRebalanceInProgress},
        LeaveGroupAnswer{ErrorCode::kNone, {ErrorCode::kNone, ErrorCode::kUnknownMember}},
        ListGroupsAnswer{ErrorCode::kNone, {{"g", "consumer", GroupState::kStable}}},
        DescribeGroupAnswer{ErrorCode::kNone,
                            GroupState::kStable,
                            4,
                            "consumer",
                            "range",
                            {{"m", "i", "c", "host", Bytes::copy_of("x"), Bytes::copy_of("all")}}},
        AwaitRecordsAnswer{ErrorCode::kNone},
        EpochEndAnswer{ErrorCode::kNone, LeaderEpoch(3), Offset(9)},
        GroupOffsetsAnswer{ErrorCode::kNone, {{kName, Offset(9), LeaderEpoch(3), "meta"}}},
        DescribeTopicAnswer{ErrorCode::kNone, TopicId(3), 2, {{"retention.records", "-1", true}}},
        RefusedAnswer{ErrorCode::kThrottled},
    };
    std::vector<Answer> made;
    for (AnswerBody& body : bodies) made.push_back({CorrelationId(7), BrokerId(2), std::move(body)});
    return made;
}

template <typename Message>
Bytes bytes_of(const Message& message) {
    ByteWriter out;
    encode(message, out);
    return out.take();
}

}  // namespace

TEST_CASE("every request and answer survives the round trip and has one line of text") {
    CHECK(requests().size() == std::variant_size_v<RequestBody>);
    CHECK(answers().size() == std::variant_size_v<AnswerBody>);
    for (const Request& request : requests()) {
        CHECK(decode_request(bytes_of(request)) == request);
        CHECK(to_text(request).rfind(kind_of(request), 0) == 0);
    }
    for (const Answer& answer : answers()) {
        CHECK(decode_answer(bytes_of(answer)) == answer);
        CHECK(to_text(answer).find(to_text(error_of(answer))) != std::string::npos);
    }
}

TEST_CASE("cut short or with a byte too many, a message is an error") {
    for (const Request& request : requests()) {
        const Bytes whole = bytes_of(request);
        for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(decode_request(whole.slice(0, size)));
        CHECK_FALSE(decode_request(Bytes::copy_of(std::string(whole.text()) + 'x')));
    }
    for (const Answer& answer : answers()) {
        const Bytes whole = bytes_of(answer);
        for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(decode_answer(whole.slice(0, size)));
        CHECK_FALSE(decode_answer(Bytes::copy_of(std::string(whole.text()) + 'x')));
    }
}

TEST_CASE("any bytes give a message or an error, and what was read is written back the same") {
    check_law([](std::vector<std::uint8_t> content) {
        if (!content.empty()) content[0] = static_cast<std::uint8_t>(content[0] % 16);
        const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(content)));
        if (const auto request = decode_request(bytes)) RC_ASSERT(bytes_of(*request) == bytes);
        if (const auto answer = decode_answer(bytes)) RC_ASSERT(bytes_of(*answer) == bytes);
    });
}

TEST_CASE("a refusal is of the kind its request expects, with the hint to the leader") {
    const std::vector<Request> all = requests();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Answer answer = refusal_of(all[i], ErrorCode::kNotLeader, BrokerId(3));
        CHECK(answer.body.index() == i);
        CHECK(error_of(answer) == ErrorCode::kNotLeader);
        CHECK(answer.leader_hint == BrokerId(3));
        CHECK(answer.correlation_id == all[i].correlation_id);
    }
}

TEST_CASE("every error has its own text and number; G1: not the leader is 20") {
    std::set<std::string_view> texts;
    std::int16_t number = 0;
    while (const auto code = error_code_of(number)) {
        CHECK(static_cast<std::int16_t>(*code) == number);
        texts.insert(to_text(*code));
        ++number;
    }
    CHECK(static_cast<std::size_t>(number) == texts.size());
    CHECK(static_cast<std::int16_t>(ErrorCode::kNotLeader) == 20);
    CHECK(to_text(ErrorCode::kNotLeader) == "ERR_NOT_LEADER");
    CHECK_FALSE(error_code_of(-1));
}

TEST_CASE("A5, A6, I8: only what may have taken effect has an unknown outcome") {
    for (const ErrorCode code :
         {ErrorCode::kRequestTimedOut, ErrorCode::kNotEnoughReplicasAfterAppend, ErrorCode::kLeadershipEnded})
        CHECK(traits_of(code).is_outcome_unknown);
    for (const ErrorCode code : {ErrorCode::kNotLeader, ErrorCode::kNotEnoughReplicas, ErrorCode::kOutOfOrderSequence,
                                 ErrorCode::kInvalidProducerEpoch, ErrorCode::kThrottled})
        CHECK_FALSE(traits_of(code).is_outcome_unknown);
}

}  // namespace tidelock::clients
