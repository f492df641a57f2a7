// What clients ask beside producing and reading one partition: groups (T4), waits for records, lookups by time, the
// ends of epochs (KIP-320), topics that a follower passes on.
#include <catch2/catch.hpp>
#include <limits>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

const clients::PartitionName kOrders{"orders", TopicId{}, PartitionIndex(0)};

Bench formed_group(const std::function<void(Config&)>& configure = [](Config&) {}) {
    Bench bench(3, [&](Config& config) {
        config.groups.first_rebalance_delay = milliseconds(0);
        configure(config);
    });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    return bench;
}

template <typename Body>
Body answered(Bench& bench, CorrelationId asked) {
    REQUIRE(bench.advance_until([&] { return bench.answer_to(asked) != nullptr; }));
    REQUIRE(std::holds_alternative<Body>(bench.answer_to(asked)->body));
    return std::get<Body>(bench.answer_to(asked)->body);
}
template <typename Body>
Body ask(Bench& bench, clients::RequestBody body) {
    return answered<Body>(bench, bench.ask(bench.serving(), std::move(body)));
}

Bytes record_at(std::int64_t timestamp_ms) {
    storage::RecordBatchBuilder builder(storage::BatchOptions{});
    const Bytes value = Bytes::copy_of("v");
    builder.add(timestamp_ms, std::nullopt, value.span());
    return builder.build();
}

void produce(Bench& bench, std::int64_t timestamp_ms = 0) {
    clients::ProduceRequest request = produce_to("orders", Acks::kAll, seconds(5));
    request.batches = record_at(timestamp_ms);
    REQUIRE(ask<clients::ProduceAnswer>(bench, request).error == ErrorCode::kNone);
}

clients::JoinGroupRequest joining() {
    clients::JoinGroupRequest join;
    join.group = "g";
    join.session_timeout = seconds(10);
    join.rebalance_timeout = seconds(10);
    join.protocol_type = "consumer";
    join.protocols = {{"range", {}}};
    join.wants_member_first = false;
    return join;
}

clients::OffsetCommitRequest commit(std::int64_t offset, std::int32_t generation = -1, std::string member = {}) {
    clients::OffsetCommitRequest request;
    request.group = "g";
    request.generation = generation;
    request.member = std::move(member);
    request.partition = kOrders;
    request.offset = Offset(offset);
    return request;
}

clients::ListOffsetsRequest by_time(clients::OffsetAt at, std::int64_t timestamp_ms = 0) {
    clients::ListOffsetsRequest list;
    list.partition = kOrders;
    list.at = at;
    list.timestamp_ms = timestamp_ms;
    return list;
}

}  // namespace

TEST_CASE("T4: a member of a generation commits, one of an older generation does not any more", "[broker]") {
    Bench bench = formed_group();
    const auto joined = ask<clients::JoinGroupAnswer>(bench, joining());
    REQUIRE(joined.generation == 1);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(5, 1, joined.member)).error ==
          ErrorCode::kRebalanceInProgress);
    CHECK(
        ask<clients::SyncGroupAnswer>(bench, clients::SyncGroupRequest{"g", 1, joined.member, {}, {}, {}, {}}).error ==
        ErrorCode::kNone);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(5, 1, joined.member)).error == ErrorCode::kNone);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(4, 0, joined.member)).error == ErrorCode::kIllegalGeneration);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(4)).error == ErrorCode::kUnknownMember);
    const auto offsets = ask<clients::GroupOffsetsAnswer>(bench, clients::GroupOffsetsRequest{"g"});
    REQUIRE(offsets.offsets.size() == 1);
    CHECK(offsets.offsets[0].offset == Offset(5));
}

TEST_CASE("T5: after a failover members are unknown and come again; what they committed is there", "[broker]") {
    Bench bench = formed_group();
    const auto joined = ask<clients::JoinGroupAnswer>(bench, joining());
    (void)ask<clients::SyncGroupAnswer>(bench, clients::SyncGroupRequest{"g", 1, joined.member, {}, {}, {}, {}});
    REQUIRE(ask<clients::OffsetCommitAnswer>(bench, commit(5, 1, joined.member)).error == ErrorCode::kNone);
    REQUIRE(bench.transfer_to(bench.serving() % 3 + 1));
    CHECK(ask<clients::HeartbeatAnswer>(bench, clients::HeartbeatRequest{"g", 1, joined.member, {}}).error ==
          ErrorCode::kUnknownMember);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(3, 1, joined.member)).error == ErrorCode::kIllegalGeneration);
    const auto again = ask<clients::JoinGroupAnswer>(bench, joining());
    CHECK(again.member != joined.member);
    const auto offsets = ask<clients::GroupOffsetsAnswer>(bench, clients::GroupOffsetsRequest{"g"});
    REQUIRE(offsets.offsets.size() == 1);
    CHECK(offsets.offsets[0].offset == Offset(5));
}

TEST_CASE("T4: a silent member is out when its session is over, by the leader's clock alone", "[broker]") {
    Bench bench = formed_group();
    const auto joined = ask<clients::JoinGroupAnswer>(bench, joining());
    (void)ask<clients::SyncGroupAnswer>(bench, clients::SyncGroupRequest{"g", 1, joined.member, {}, {}, {}, {}});
    CHECK(ask<clients::DescribeGroupAnswer>(bench, clients::DescribeGroupRequest{"g"}).state ==
          clients::GroupState::kStable);
    bench.advance(seconds(11));
    CHECK(ask<clients::DescribeGroupAnswer>(bench, clients::DescribeGroupRequest{"g"}).state ==
          clients::GroupState::kDead);
    REQUIRE(ask<clients::OffsetCommitAnswer>(bench, commit(5)).error == ErrorCode::kNone);
    const auto listed = ask<clients::ListGroupsAnswer>(bench, clients::ListGroupsRequest{});
    REQUIRE(listed.groups.size() == 1);
    CHECK(listed.groups[0].state == clients::GroupState::kEmpty);
}

TEST_CASE("a wait for records ends with the first in any of the partitions, else with its time", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.create_topic("others"));
    const clients::AwaitRecordsRequest await{
        {{{"others", TopicId{}, PartitionIndex(0)}, Offset(0)}, {kOrders, Offset(0)}}, seconds(2)};
    const CorrelationId first = bench.ask(bench.serving(), await);
    bench.advance(milliseconds(100));
    CHECK(bench.answer_to(first) == nullptr);
    produce(bench);
    CHECK(bench.answer_to(first) != nullptr);
    const CorrelationId at_once = bench.ask(bench.serving(), await);
    CHECK(bench.answer_to(at_once) != nullptr);
    const CorrelationId in_vain =
        bench.ask(bench.serving(), clients::AwaitRecordsRequest{{{kOrders, Offset(1)}}, seconds(2)});
    bench.advance(milliseconds(1'900));
    CHECK(bench.answer_to(in_vain) == nullptr);
    bench.advance(milliseconds(200));
    CHECK(bench.answer_to(in_vain) != nullptr);
}

TEST_CASE("a wait for records of a topic that is deleted ends at once", "[broker]") {
    Bench bench = formed_group();
    const CorrelationId waiting =
        bench.ask(bench.serving(), clients::AwaitRecordsRequest{{{kOrders, Offset(0)}}, seconds(30)});
    CHECK(bench.answer_to(waiting) == nullptr);
    CHECK(ask<clients::DeleteTopicAnswer>(bench, clients::DeleteTopicRequest{"orders", TopicId{}}).error ==
          ErrorCode::kNone);
    CHECK(bench.answer_to(waiting) != nullptr);
}

TEST_CASE("the first record that is no older than a moment, and the newest one", "[broker]") {
    Bench bench = formed_group();
    for (const std::int64_t time : {100, 300, 200, 500, 400}) produce(bench, time);
    const auto at = [&](std::int64_t time) {
        const auto found = ask<clients::ListOffsetsAnswer>(bench, by_time(clients::OffsetAt::kTimestamp, time));
        return std::pair(found.offset.value, found.timestamp_ms);
    };
    CHECK(at(0) == std::pair<std::int64_t, std::int64_t>(0, 100));
    CHECK(at(101) == std::pair<std::int64_t, std::int64_t>(1, 300));
    CHECK(at(301) == std::pair<std::int64_t, std::int64_t>(3, 500));
    CHECK(at(501) == std::pair<std::int64_t, std::int64_t>(-1, -1));
    const auto newest = ask<clients::ListOffsetsAnswer>(bench, by_time(clients::OffsetAt::kMaxTimestamp));
    CHECK(newest.offset == Offset(3));
    bench.advance(seconds(1));
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    CHECK(at(301) == std::pair<std::int64_t, std::int64_t>(3, 500));
}

TEST_CASE("times inside a batch count, and records before the log start do not", "[broker]") {
    Bench bench = formed_group();
    storage::RecordBatchBuilder builder(storage::BatchOptions{});
    const Bytes value = Bytes::copy_of("v");
    for (const std::int64_t time : {100, 300, 200}) builder.add(time, std::nullopt, value.span());
    clients::ProduceRequest request = produce_to("orders", Acks::kAll, seconds(5));
    request.batches = builder.build();
    REQUIRE(ask<clients::ProduceAnswer>(bench, request).error == ErrorCode::kNone);
    CHECK(ask<clients::ListOffsetsAnswer>(bench, by_time(clients::OffsetAt::kMaxTimestamp)).offset == Offset(1));
    REQUIRE(ask<clients::DeleteRecordsAnswer>(bench, clients::DeleteRecordsRequest{kOrders, Offset(2)}).error ==
            ErrorCode::kNone);
    const auto found = ask<clients::ListOffsetsAnswer>(bench, by_time(clients::OffsetAt::kTimestamp, 50));
    CHECK(found.offset == Offset(2));
    CHECK(found.timestamp_ms == 200);
}

TEST_CASE("a record at the end of time is the newest, and looking for it ends", "[broker]") {
    Bench bench = formed_group();
    produce(bench, 5);
    produce(bench, std::numeric_limits<std::int64_t>::max());
    produce(bench, 7);
    const auto newest = ask<clients::ListOffsetsAnswer>(bench, by_time(clients::OffsetAt::kMaxTimestamp));
    CHECK(newest.offset == Offset(1));
    const auto at_end = ask<clients::ListOffsetsAnswer>(
        bench, by_time(clients::OffsetAt::kTimestamp, std::numeric_limits<std::int64_t>::max()));
    CHECK(at_end.offset == Offset(1));
}

TEST_CASE("more positions than a coordinator may keep are refused, known ones move on", "[broker]") {
    Bench bench = formed_group([](Config& config) { config.committed_offsets_max = 1; });
    produce(bench);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(1)).error == ErrorCode::kNone);
    clients::OffsetCommitRequest other = commit(1);
    other.group = "another";
    CHECK(ask<clients::OffsetCommitAnswer>(bench, other).error == ErrorCode::kThrottled);
    CHECK(ask<clients::OffsetCommitAnswer>(bench, commit(0)).error == ErrorCode::kNone);
}

TEST_CASE("KIP-320: who knows of another leader is told so, and where epochs ended", "[broker]") {
    Bench bench = formed_group();
    produce(bench);
    const LeaderEpoch old_epoch = bench.at(bench.serving()).leading->leader_epoch;
    REQUIRE(bench.transfer_to(bench.serving() % 3 + 1));
    produce(bench);
    const LeaderEpoch epoch = bench.at(bench.serving()).leading->leader_epoch;
    clients::FetchRequest fetch;
    fetch.partition = kOrders;
    fetch.bytes_max = 1'000;
    fetch.known_leader_epoch = old_epoch;
    CHECK(ask<clients::FetchAnswer>(bench, fetch).error == ErrorCode::kFencedLeaderEpoch);
    fetch.known_leader_epoch = LeaderEpoch(epoch.value + 1);
    CHECK(ask<clients::FetchAnswer>(bench, fetch).error == ErrorCode::kUnknownLeaderEpoch);
    fetch.known_leader_epoch = epoch;
    CHECK(ask<clients::FetchAnswer>(bench, fetch).error == ErrorCode::kNone);
    const auto end = ask<clients::EpochEndAnswer>(bench, clients::EpochEndRequest{kOrders, old_epoch, epoch});
    CHECK(end.leader_epoch == old_epoch);
    CHECK(end.end_offset == Offset(1));
}

TEST_CASE("a fetch of no bytes is told the bounds at once", "[broker]") {
    Bench bench = formed_group();
    produce(bench);
    clients::FetchRequest fetch;
    fetch.partition = kOrders;
    fetch.offset = Offset(1);
    fetch.wait_max = seconds(30);
    const auto bounds = ask<clients::FetchAnswer>(bench, fetch);
    CHECK(bounds.high_watermark == Offset(1));
    CHECK(bounds.batches.empty());
}

TEST_CASE("a follower passes the wish for a topic on, and the topic is there soon after", "[broker]") {
    Bench bench = formed_group();
    clients::CreateTopicRequest create;
    create.topic = "wanted";
    create.partition_count = 2;
    const std::int32_t follower = bench.serving() % 3 + 1;
    const CorrelationId refused = bench.ask(follower, create);
    CHECK(bench.is_answered(refused, ErrorCode::kNotLeader));
    create.may_forward = true;
    const CorrelationId passed_on = bench.ask(follower, create);
    CHECK(bench.is_answered(passed_on, ErrorCode::kRequestTimedOut));  // it may be carried out, now or later (A5)
    CHECK(bench.advance_until([&] { return bench.at(follower).topics.find("wanted") != nullptr; }, seconds(2)));
}

TEST_CASE("a wish for a topic that comes late is not granted by another leader", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const LeaderEpoch epoch = bench.at(leader).leading->leader_epoch;
    const auto wish = [&](LeaderEpoch of) {
        const replication::Message wanted = replication::TopicWanted{"wanted", 1, of};
        bench.step(leader, PeerMessageReceived{BrokerId(leader % 3 + 1), wanted});
        bench.advance(seconds(1));
        return bench.at(leader).topics.find("wanted") != nullptr;
    };
    CHECK_FALSE(wish(LeaderEpoch(epoch.value - 1)));
    CHECK(wish(epoch));
}

TEST_CASE("who is not the leader names the one it follows, and its epoch", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t follower = bench.serving() % 3 + 1;
    const CorrelationId asked = bench.ask(follower, clients::ListGroupsRequest{});
    REQUIRE(bench.is_answered(asked, ErrorCode::kNotLeader));
    CHECK(bench.answer_to(asked)->leader_hint == BrokerId(bench.serving()));
    CHECK(bench.answer_to(asked)->leader_epoch == bench.at(bench.serving()).leading->leader_epoch);
}

}  // namespace tidelock::broker
