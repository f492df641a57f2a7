// A request is carried out once, however often its connection brings it: who was told that nothing was done may go on
// as if nothing were done.
#include <algorithm>
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

constexpr ConnectionId kConnection{1'000'000};

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    return bench;
}

/// A produce without an id of its own: each time it is carried out there is one more record.
ClientRequested produce(std::int64_t correlation, ConnectionId connection = kConnection) {
    return {connection, {CorrelationId(correlation), produce_to("orders", Acks::kAll, seconds(5))}};
}

Offset log_end_of(const Bench& bench) {
    const Broker& broker = bench.at(bench.serving());
    const storage::TopicEntry* topic = broker.topics.find("orders");
    return broker.logs.view({topic->id, PartitionIndex(0)})->log_end_offset;
}

}  // namespace

TEST_CASE("a request that arrives twice is carried out once", "[broker]") {
    Bench bench = formed_group();
    for (int i = 0; i < 2; ++i) bench.step(bench.serving(), produce(7001));
    bench.advance(milliseconds(50));
    REQUIRE(log_end_of(bench) == Offset(1));
    REQUIRE(bench.is_answered(CorrelationId(7001), ErrorCode::kNone));

    bench.step(bench.serving(), produce(7002));
    bench.step(bench.serving(), produce(7001));  // late
    REQUIRE(log_end_of(bench) == Offset(2));
    bench.step(bench.serving(), produce(7001, ConnectionId(2'000'000)));  // another client's
    REQUIRE(log_end_of(bench) == Offset(3));
}

TEST_CASE("what a broker has refused it does not do when it leads and the request arrives again (A5)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t follower = bench.serving() == 1 ? 2 : 1;
    bench.step(follower, produce(7001));
    REQUIRE(bench.is_answered(CorrelationId(7001), ErrorCode::kNotLeader));
    REQUIRE(bench.transfer_to(follower));
    bench.step(follower, produce(7001));
    REQUIRE(log_end_of(bench) == Offset(0));
    bench.step(follower, produce(7002));
    REQUIRE(log_end_of(bench) == Offset(1));
}

TEST_CASE("of a connection that has ended nothing is kept", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    bench.step(leader, produce(7001));
    bench.step(leader, produce(7002, ConnectionId(2'000'000)));
    REQUIRE(bench.at(leader).newest_requests.contains(kConnection));
    bench.step(leader, ClientDisconnected{kConnection});
    REQUIRE_FALSE(bench.at(leader).newest_requests.contains(kConnection));
    bench.advance(milliseconds(50));
    REQUIRE(bench.transfer_to(leader == 1 ? 2 : 1));
    REQUIRE(bench.at(leader).newest_requests.empty());
}

// Nothing remembers who holds an id: two that were given one and the same would take each other's records for repeats.
TEST_CASE("nobody is given a producer id twice, not even who names it (T2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    std::vector<std::int64_t> given;
    for (const std::int64_t named : {-1, 1, 1, 99'999}) {
        const CorrelationId asked =
            bench.ask(leader, clients::InitProducerIdRequest{ProducerId(named), ProducerEpoch(0)});
        REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
        const auto& body = std::get<clients::InitProducerIdAnswer>(bench.answer_to(asked)->body);
        REQUIRE(body.producer_epoch == ProducerEpoch(0));
        REQUIRE(std::ranges::find(given, body.producer_id.value) == given.end());
        given.push_back(body.producer_id.value);
    }
}

TEST_CASE("an operator hears of a transfer when it has begun an election, or has not in time (R10)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t target = leader == 1 ? 2 : 1;
    SECTION("done") {
        const CorrelationId asked = bench.ask(leader, clients::TransferLeadershipRequest{BrokerId(target)});
        REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
        REQUIRE(bench.advance_until([&] { return bench.serving() == target; }));
    }
    SECTION("the target does not answer") {
        bench.cut_off(target);
        const CorrelationId asked = bench.ask(leader, clients::TransferLeadershipRequest{BrokerId(target)});
        REQUIRE(bench.answer_to(asked) == nullptr);
        const CorrelationId second = bench.ask(leader, clients::TransferLeadershipRequest{BrokerId(target)});
        REQUIRE(bench.is_answered(second, ErrorCode::kTransferFailed));
        // It was told to stand, and may do so yet.
        REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kRequestTimedOut); }));
        REQUIRE(bench.serving() == leader);
    }
}

TEST_CASE("a leader that is to choose its successor chooses one that is there (R10)", "[broker]") {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.transfer_to(1));
    bench.advance(seconds(1));
    bench.cut_off(2);
    bench.advance(seconds(1));
    REQUIRE(bench.at(1).in_sync.lagging_members().empty());
    const CorrelationId asked = bench.ask(1, clients::TransferLeadershipRequest{BrokerId(0)});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, clients::ErrorCode::kNone); }));
    REQUIRE(bench.advance_until([&] { return bench.serving() == 3; }));
}

}  // namespace tidelock::broker
