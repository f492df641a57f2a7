// Who waits is answered: by what it waited for, by its deadline, or by the end of the role it waited under (A5, A6,
// I7).
#include <catch2/catch.hpp>
#include <limits>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    return bench;
}

void cut_off_followers(Bench& bench, std::int32_t leader) {
    for (std::int32_t id = 1; id <= 3; ++id)
        if (id != leader) bench.cut_off(id);
}

}  // namespace

TEST_CASE("a produce whose followers are gone times out and is not told that it failed for good (A5)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    cut_off_followers(bench, leader);
    const CorrelationId asked = bench.ask(leader, produce_to("orders", Acks::kAll, milliseconds(100)));
    bench.advance(milliseconds(150));
    REQUIRE(bench.is_answered(asked, ErrorCode::kRequestTimedOut));
    REQUIRE(bench.at(leader).waiting_produces.empty());
}

TEST_CASE("a produce that may wait as long as time goes does not keep others waiting (A5)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    cut_off_followers(bench, leader);
    const Duration longest(std::numeric_limits<std::int64_t>::max());
    const CorrelationId patient = bench.ask(leader, produce_to("orders", Acks::kAll, longest));
    const CorrelationId hasty = bench.ask(leader, produce_to("orders", Acks::kAll, milliseconds(100)));
    bench.advance(milliseconds(150));
    REQUIRE(bench.is_answered(hasty, ErrorCode::kRequestTimedOut));
    REQUIRE(bench.answer_to(patient) == nullptr);
}

TEST_CASE("a produce with a negative time-out is answered at once, its record stays (A5)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    cut_off_followers(bench, leader);
    const CorrelationId asked = bench.ask(leader, produce_to("orders", Acks::kAll, milliseconds(-5)));
    bench.advance(milliseconds(1));
    REQUIRE(bench.is_answered(asked, ErrorCode::kRequestTimedOut));
}

TEST_CASE("a produce ends as unknown when its leader loses the majority (A6, R5)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    cut_off_followers(bench, leader);
    const CorrelationId asked = bench.ask(leader, produce_to("orders", Acks::kAll, seconds(30)));
    REQUIRE(bench.advance_until([&] { return !bench.at(leader).leading; }));
    REQUIRE(bench.is_answered(asked, ErrorCode::kLeadershipEnded));
}

TEST_CASE("a consumer at the high watermark waits and is woken by the record (I7)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const CorrelationId fetch = bench.ask(leader, clients::FetchRequest{orders, Offset(0), 1000, seconds(5), {}});
    REQUIRE(bench.answer_to(fetch) == nullptr);
    bench.ask(leader, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(milliseconds(50));
    REQUIRE(bench.is_answered(fetch, ErrorCode::kNone));
    REQUIRE(!std::get<clients::FetchAnswer>(bench.answer_to(fetch)->body).batches.empty());
    REQUIRE(bench.at(leader).leading->consumers.empty());
}

TEST_CASE("a consumer's bad offset, size and wait are answered, not obeyed (I7)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const auto fetch = [&](Offset offset, std::int32_t bytes_max, Duration wait_max) {
        return bench.ask(leader, clients::FetchRequest{orders, offset, bytes_max, wait_max, {}});
    };
    REQUIRE(bench.is_answered(fetch(Offset(-1), 1, seconds(1)), ErrorCode::kOffsetOutOfRange));
    REQUIRE(bench.is_answered(fetch(Offset(1), 1, seconds(1)), ErrorCode::kOffsetOutOfRange));
    const Offset last(std::numeric_limits<std::int64_t>::max());
    REQUIRE(bench.is_answered(fetch(last, 1, seconds(1)), ErrorCode::kOffsetOutOfRange));
    REQUIRE(bench.is_answered(fetch(Offset(0), -7, nanoseconds(std::numeric_limits<std::int64_t>::min())),
                              ErrorCode::kNone));
    const CorrelationId longest = fetch(Offset(0), -7, nanoseconds(std::numeric_limits<std::int64_t>::max()));
    REQUIRE(bench.answer_to(longest) == nullptr);
    bench.advance(seconds(61));
    REQUIRE(bench.is_answered(longest, ErrorCode::kNone));
}

TEST_CASE("a consumer whose topic is deleted while its read is out is answered (I7)", "[broker]") {
    Bench bench(3, [](Config& config) { config.tail_cache_bytes_max = 1; });  // the newest batch only
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const std::int32_t leader = bench.serving();
    for (int i = 0; i < 3; ++i) bench.ask(leader, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(milliseconds(50));
    bench.hold(leader, storage::FileOwner::kLogStore);
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const CorrelationId fetch = bench.ask(leader, clients::FetchRequest{orders, Offset(0), 1000, seconds(1), {}});
    REQUIRE(bench.answer_to(fetch) == nullptr);
    bench.cut_off(leader == 1 ? 2 : 1);  // so that the records stay for now
    bench.ask(leader, clients::DeleteTopicRequest{"orders"});
    bench.release(leader);
    REQUIRE(bench.answer_to(fetch) != nullptr);
}

TEST_CASE("who waits for a producer id is told when none can be confirmed in time (T2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    for (std::int32_t id = 1; id <= 3; ++id)
        if (id != leader) bench.hold(id, storage::FileOwner::kLogStore);
    const CorrelationId asked = bench.ask(leader, clients::InitProducerIdRequest{});
    REQUIRE(bench.answer_to(asked) == nullptr);
    bench.advance(seconds(6));
    REQUIRE(bench.is_answered(asked, ErrorCode::kRequestTimedOut));
    REQUIRE(bench.at(leader).leading->waiting_for_producer_id.empty());
    const CorrelationId gone = bench.ask(leader, clients::InitProducerIdRequest{});
    bench.step(leader, ClientDisconnected{ConnectionId(static_cast<std::uint64_t>(gone.value))});
    REQUIRE(bench.at(leader).leading->waiting_for_producer_id.empty());
}

TEST_CASE("a committed offset is told by a leader that a majority stands behind, and by no other (T1)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const CorrelationId told = bench.ask(leader, clients::OffsetFetchRequest{"g", orders});
    REQUIRE(bench.is_answered(told, ErrorCode::kNone));
    bench.cut_off(leader);
    const CorrelationId asked = bench.ask(leader, clients::OffsetFetchRequest{"g", orders});
    REQUIRE(bench.answer_to(asked) == nullptr);
    REQUIRE(bench.at(leader).leading->unconfirmed_answers.size() == 1);
    SECTION("once it is heard of again in its term") {
        bench.reconnect(leader);
        bench.advance(milliseconds(100));
        REQUIRE(bench.is_answered(asked, ErrorCode::kNone));
    }
    SECTION("nobody is told by one that steps down") {
        REQUIRE(bench.advance_until([&] { return !bench.at(leader).leading; }));
        REQUIRE(bench.answer_to(asked) == nullptr);
    }
    SECTION("who is gone is not waited for") {
        bench.step(leader, ClientDisconnected{ConnectionId(static_cast<std::uint64_t>(asked.value))});
        REQUIRE(bench.at(leader).leading->unconfirmed_answers.empty());
    }
}

// The deposed leader does not know what its successor wrote for the producer: its refusal would end the producer.
TEST_CASE("what ends a producer or moves a consumer is told by a confirmed leader only (T2, I7)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    clients::ProduceRequest gap = produce_to("orders", Acks::kAll, seconds(1));
    gap.batches = one_record(ProducerId(1), 5);
    const std::vector<clients::RequestBody> asked{
        gap,
        clients::FetchRequest{orders, Offset(9), 1000, seconds(1), {}},
        clients::ListOffsetsRequest{orders, clients::OffsetAt::kHighWatermark},
        clients::DeleteRecordsRequest{orders, Offset(9)},
        clients::CreateTopicRequest{"orders", 1, {}},
        clients::DeleteTopicRequest{"nowhere", TopicId{}},
        clients::GrowTopicRequest{"nowhere", 3},
        clients::SetTopicConfigRequest{"nowhere", {}}};
    for (const clients::RequestBody& body : asked) REQUIRE(bench.answer_to(bench.ask(leader, body)) != nullptr);
    bench.cut_off(leader);
    for (const clients::RequestBody& body : asked) REQUIRE(bench.answer_to(bench.ask(leader, body)) == nullptr);
    REQUIRE(bench.at(leader).leading->unconfirmed_answers.size() == asked.size());
}

TEST_CASE("producers do not wait for a member that has died until it would lag (I2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t dead = leader % 3 + 1;
    bench.cut_off(dead);
    bench.step(leader, PeerDisconnected{BrokerId(dead)});
    const CorrelationId asked = bench.ask(leader, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.answer_to(asked) == nullptr);
    REQUIRE(bench.advance_until([&] { return bench.answer_to(asked) != nullptr; }, milliseconds(300)));
    REQUIRE(bench.is_answered(asked, ErrorCode::kNone));
}

// Five batches of a producer are remembered. One before them is known to have been written, and no more.
TEST_CASE("a batch too old to be remembered is told as written once it is confirmed (A4, T2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const auto numbered = [](std::int32_t sequence) {
        clients::ProduceRequest request = produce_to("orders", Acks::kAll, seconds(5));
        request.batches = one_record(ProducerId(500), sequence);
        return request;
    };
    bench.cut_off(leader);
    for (std::int32_t sequence = 0; sequence < 7; ++sequence) bench.ask(leader, numbered(sequence));
    const CorrelationId again = bench.ask(leader, numbered(0));
    REQUIRE(bench.answer_to(again) == nullptr);
    bench.reconnect(leader);
    REQUIRE(bench.advance_until([&] { return bench.answer_to(again) != nullptr; }, seconds(3)));
    REQUIRE(bench.is_answered(again, ErrorCode::kDuplicateSequence));
    REQUIRE(
        bench.is_answered(bench.ask(leader, numbered(0)), ErrorCode::kDuplicateSequence));  // and from then on at once
}

TEST_CASE("a consumer whose read is overtaken by deleted records is told where the log starts (I7, L7)", "[broker]") {
    Bench bench(3, [](Config& config) { config.tail_cache_bytes_max = 1; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const std::int32_t leader = bench.serving();
    for (int i = 0; i < 3; ++i) bench.ask(leader, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(milliseconds(50));
    bench.hold_reads(leader);
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const CorrelationId fetch = bench.ask(leader, clients::FetchRequest{orders, Offset(0), 1000, seconds(1), {}});
    const CorrelationId deleted = bench.ask(leader, clients::DeleteRecordsRequest{orders, Offset(2)});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(deleted, ErrorCode::kNone); }, seconds(2)));
    bench.release(leader);
    REQUIRE(bench.is_answered(fetch, ErrorCode::kOffsetOutOfRange));
    REQUIRE(std::get<clients::FetchAnswer>(bench.answer_to(fetch)->body).log_start_offset == Offset(2));
}

TEST_CASE("readers of a slow disk are told to come back when too many wait for it (I7)", "[broker]") {
    Bench bench(3, [](Config& config) {
        config.tail_cache_bytes_max = 1;
        config.parked_fetches_max = 4;
    });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const std::int32_t leader = bench.serving();
    for (int i = 0; i < 3; ++i) bench.ask(leader, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(milliseconds(50));
    bench.hold_reads(leader);
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    std::vector<CorrelationId> asked;
    for (int i = 0; i < 6; ++i)
        asked.push_back(bench.ask(leader, clients::FetchRequest{orders, Offset(0), 1000, seconds(1), {}}));
    REQUIRE(bench.is_answered(asked.back(), ErrorCode::kThrottled));
    REQUIRE(bench.at(leader).reads.size() <= 4);
    bench.release(leader);
    REQUIRE(bench.is_answered(asked.front(), ErrorCode::kNone));
}

TEST_CASE("a broker that is elected and has not claimed yet sends no client back to itself (G7)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const auto hint_of = [&](BrokerId known) {
        Broker follower = bench.at(leader == 1 ? 2 : 1);
        follower.known_leader = known.value == 0 ? follower.config.id : known;
        Effects effects;
        const clients::Request request{CorrelationId(1), produce_to("orders", Acks::kAll, seconds(1))};
        step(follower, bench.now(), ClientRequested{ConnectionId(1), request}, effects);
        const auto* told = std::get_if<AnswerClient>(&effects.front());
        REQUIRE(told != nullptr);
        REQUIRE(clients::error_of(told->answer) == ErrorCode::kNotLeader);
        return told->answer.leader_hint;
    };
    REQUIRE(hint_of(BrokerId(0)) == BrokerId(0));
    REQUIRE(hint_of(BrokerId(leader)) == BrokerId(leader));
}

TEST_CASE("static: what waits for a member that is gone is confirmed when the set shrinks without it (I6)",
          "[broker]") {
    Bench bench(3, [](Config& config) {
        config.preset = Preset::kStatic;
        config.static_leader = BrokerId(1);
    });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    bench.cut_off(3);
    const CorrelationId asked = bench.ask(1, produce_to("orders", Acks::kAll, seconds(30)));
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    bench.advance(seconds(2));
    REQUIRE(bench.is_answered(asked, ErrorCode::kNone));
}

TEST_CASE("a dead minority is removed in one go, and what waited for it goes on at once (I2, I3)", "[broker]") {
    const bool is_group = GENERATE(true, false);
    Bench bench(5, [&](Config& config) {
        config.isr_lag = seconds(3);
        config.min_insync_replicas = 3;
        if (is_group) return;
        config.preset = Preset::kStatic;
        config.static_leader = BrokerId(1);
    });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const std::int32_t leader = bench.serving();
    for (int i = 1, cut = 0; cut < 2; ++i)
        if (i != leader) bench.cut_off(i), ++cut;
    const CorrelationId produced = bench.ask(leader, produce_to("orders", Acks::kAll, seconds(30)));
    const CorrelationId created = bench.ask(leader, clients::CreateTopicRequest{"later", 1, {}});
    const auto members = [&] { return bench.at(leader).in_sync.committed().members.size(); };
    bench.advance(seconds(3));
    REQUIRE(members() == 5);
    REQUIRE_FALSE(bench.is_answered(produced, ErrorCode::kNone));
    REQUIRE(bench.advance_until([&] { return members() < 5; }));
    bench.advance(milliseconds(100));
    REQUIRE(members() == 3);
    REQUIRE(bench.is_answered(produced, ErrorCode::kNone));
    REQUIRE(bench.is_answered(created, ErrorCode::kNone));
}

}  // namespace tidelock::broker
