// What a leader may say before it knows what its predecessor had confirmed (KIP-207), and what is left of a leadership
// that has ended (G4).
#include <algorithm>
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;
using clients::OffsetAt;

const clients::PartitionName kOrders{"orders", TopicId{}, PartitionIndex(0)};

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    return bench;
}

clients::ListOffsetsAnswer listed(Bench& bench, OffsetAt at, std::int64_t timestamp_ms = 0) {
    const CorrelationId asked = bench.ask(bench.serving(), clients::ListOffsetsRequest{kOrders, at, timestamp_ms});
    bench.advance(milliseconds(50));
    const clients::Answer* answer = bench.answer_to(asked);
    REQUIRE(answer != nullptr);
    clients::ListOffsetsAnswer told;
    told.error = clients::error_of(*answer);
    if (const auto* body = std::get_if<clients::ListOffsetsAnswer>(&answer->body)) told = *body;
    return told;
}

}  // namespace

TEST_CASE("a new leader tells no end that may be below one shown before, nor that there is nothing newer (KIP-207)",
          "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    const CorrelationId asked = bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    bench.advance(seconds(1));
    REQUIRE(bench.is_answered(asked, ErrorCode::kNone));
    REQUIRE(listed(bench, OffsetAt::kHighWatermark).offset == Offset(1));

    // High watermarks are forgotten with the processes; one member is slow to tell its position.
    const TopicPartition orders{bench.at(1).topics.find(std::string_view("orders"))->id, PartitionIndex(0)};
    bench.withhold_positions(3, orders);
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.serving() == 1 || bench.serving() == 2; }, seconds(3)));
    REQUIRE(bench.at(bench.serving()).partitions.at(orders).high_watermark.value() == Offset(0));
    CHECK(listed(bench, OffsetAt::kHighWatermark).error == ErrorCode::kOffsetNotAvailable);
    CHECK(listed(bench, OffsetAt::kTimestamp).error == ErrorCode::kOffsetNotAvailable);
    CHECK(listed(bench, OffsetAt::kMaxTimestamp).error == ErrorCode::kOffsetNotAvailable);
    CHECK(listed(bench, OffsetAt::kLogStart).offset == Offset(0));
    for (const Offset before : {Offset(1), Offset(-1)}) {  // not past the end, and the end is not known
        const CorrelationId deletion = bench.ask(bench.serving(), clients::DeleteRecordsRequest{kOrders, before});
        bench.advance(milliseconds(50));
        CHECK(bench.is_answered(deletion, ErrorCode::kOffsetNotAvailable));
    }

    bench.tell_positions();
    const auto knows_the_end = [&] {
        return bench.serving() != 0 &&
               bench.at(bench.serving()).partitions.at(orders).high_watermark.value() == Offset(1);
    };
    REQUIRE(bench.advance_until(knows_the_end));
    CHECK(listed(bench, OffsetAt::kHighWatermark).offset == Offset(1));
    CHECK(listed(bench, OffsetAt::kTimestamp).offset == Offset(0));
}

TEST_CASE("G4: a leader that is cut off from the majority closes its clients' connections and leads no more",
          "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const int before = bench.closings(leader);
    bench.cut_off(leader);
    REQUIRE(bench.advance_until([&] { return !bench.at(leader).leading; }));
    CHECK(bench.closings(leader) == before + 1);
    CHECK_FALSE(raft::is_leader(bench.at(leader).raft));
}

TEST_CASE("R10: a leader that hands over closes its clients' connections too", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const int before = bench.closings(leader);
    REQUIRE(bench.transfer_to(leader % 3 + 1));
    CHECK(bench.closings(leader) == before + 1);
}

TEST_CASE("G5: with every other member of the set gone, a replica outside it is not elected", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.cut_off(3);
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    bench.advance(seconds(1));
    for (const std::int32_t id : {1, 2}) bench.cut_off(id);
    bench.reconnect(3);
    bench.advance(seconds(20));
    CHECK_FALSE(bench.at(3).leading);
    bench.reconnect(2);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
}

}  // namespace tidelock::broker
