// How large a batch clients may write is a setting. What was stored under another one is as good as ever (L4, I10).
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

void takes_at_most(Bench& bench, std::int32_t batch_bytes) {
    for (std::int32_t id = 1; id <= 3; ++id)
        bench.configure(id, [batch_bytes](Config& config) { config.batch_bytes_max = batch_bytes; });
}

bool is_written(Bench& bench, const CorrelationId& asked) {
    return bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }, seconds(5));
}

}  // namespace

TEST_CASE("a batch above the setting is told to be too large, so that its client makes smaller ones", "[broker]") {
    Bench bench(3, [](Config& config) { config.batch_bytes_max = 60; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const CorrelationId asked = bench.ask(bench.serving(), produce_to("orders", Acks::kAll, seconds(1)));
    REQUIRE(bench.is_answered(asked, ErrorCode::kMessageTooLarge));
}

TEST_CASE("a setting that was lowered makes no damage of what is stored, nor keeps followers from copying it",
          "[broker]") {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const std::int32_t away = bench.serving() % 3 + 1;
    REQUIRE(is_written(bench, bench.ask(bench.serving(), produce_to("orders", Acks::kAll, seconds(5)))));
    bench.cut_off(away);
    REQUIRE(is_written(bench, bench.ask(bench.serving(), produce_to("orders", Acks::kAll, seconds(15)))));
    std::vector<Incarnation> lives;
    for (std::int32_t id = 1; id <= 3; ++id) lives.push_back(bench.at(id).identity.data_incarnation);

    takes_at_most(bench, 60);
    bench.start_all();
    bench.reconnect(away);
    REQUIRE(bench.advance_until([&] { return bench.serving() != 0 && bench.is_whole(); }));
    for (std::int32_t id = 1; id <= 3; ++id)
        CHECK(bench.at(id).identity.data_incarnation == lives[static_cast<std::size_t>(id - 1)]);
    const TopicPartition orders{bench.at(away).topics.find(std::string_view("orders"))->id, PartitionIndex(0)};
    CHECK(bench.at(away).logs.view(orders)->log_end_offset == Offset(2));
}

}  // namespace tidelock::broker
