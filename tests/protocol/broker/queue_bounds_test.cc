// Whatever keeps clients waiting, only so many wait at a broker: who comes then is told to come back, at once (A5).
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

const clients::PartitionName kOrders{"orders", TopicId{}, PartitionIndex(0)};

struct Group {
    Group() : bench(3, [](Config&) {}) {
        REQUIRE(bench.form());
        REQUIRE(bench.create_topic("orders"));
        leader = bench.serving();
        const CorrelationId written = bench.ask(leader, produce_to("orders", Acks::kAll, seconds(5)));
        REQUIRE(bench.advance_until([&] { return bench.is_answered(written, ErrorCode::kNone); }, seconds(2)));
    }
    /// From now on the leader leads, and nothing that it writes is confirmed.
    void hold_followers() {
        for (std::int32_t id = 1; id <= 3; ++id)
            if (id != leader) bench.hold(id, storage::FileOwner::kLogStore);
    }
    const Leading& leading() { return *bench.at(leader).leading; }
    /// So many may wait for what `body` asks, and the next one may not.
    template <typename Body>
    void admits(std::size_t most, const Body& body) {
        for (std::size_t i = 0; i < most; ++i) REQUIRE(bench.answer_to(bench.ask(leader, body(i))) == nullptr);
        REQUIRE(bench.is_answered(bench.ask(leader, body(most)), ErrorCode::kThrottled));
    }

    Bench bench;
    std::int32_t leader = 0;
};

}  // namespace

TEST_CASE("a thousand wait for a producer id (T2)", "[broker]") {
    Group group;
    group.hold_followers();
    group.admits(1'000, [](std::size_t) { return clients::InitProducerIdRequest{}; });
    REQUIRE(group.leading().waiting_for_producer_id.size() == 1'000);
}

TEST_CASE("twenty thousand answers wait for a leader to be confirmed: one for each partition asked about (T1)",
          "[broker]") {
    Group group;
    group.bench.cut_off(group.leader);
    group.admits(20'000, [](std::size_t) { return clients::OffsetFetchRequest{"g", kOrders}; });
    REQUIRE(group.leading().unconfirmed_answers.size() == 20'000);
}

TEST_CASE("a hundred wait for a change of topics (F2)", "[broker]") {
    Group group;
    group.bench.cut_off(group.leader);
    group.admits(100, [](std::size_t i) { return clients::CreateTopicRequest{"t" + std::to_string(i), 1, {}}; });
    REQUIRE(group.leading().topic_changes.size() == 100);
}

TEST_CASE("a hundred ask again for a deletion under way, and no more (F2)", "[broker]") {
    Group group;
    group.bench.cut_off(group.leader);
    group.admits(100, [](std::size_t) { return clients::DeleteTopicRequest{"orders", TopicId{}}; });
    REQUIRE(group.leading().topic_changes.size() == 100);
}

TEST_CASE("a hundred wait for records to be deleted (L7)", "[broker]") {
    Group group;
    group.hold_followers();
    group.admits(100, [](std::size_t) { return clients::DeleteRecordsRequest{kOrders, Offset(1)}; });
    REQUIRE(group.leading().log_start_moves.size() == 100);
}

TEST_CASE("a hundred thousand watch for records (I7)", "[broker]") {
    Group group;
    group.admits(100'000, [](std::size_t) {
        return clients::AwaitRecordsRequest{{{kOrders, Offset(1)}}, seconds(30)};
    });
    REQUIRE(group.leading().watches.size() == 100'000);
}

}  // namespace tidelock::broker
