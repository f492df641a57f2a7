// A request is carried out once, however often its connection brings it: who was told that nothing was done may go on
// as if nothing were done.
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

}  // namespace tidelock::broker
