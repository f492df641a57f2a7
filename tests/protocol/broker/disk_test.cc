// A broker whose disk takes nothing leaves the lead to one whose disk does (L9, G2).
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    REQUIRE(bench.transfer_to(1));
    bench.advance(seconds(1));
    REQUIRE(bench.is_whole());
    return bench;
}

}  // namespace

TEST_CASE("a leader with a full disk gives up the lead, and does not get it back while the disk is full", "[broker]") {
    Bench bench = formed_group();
    bench.fill_disk(1);
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.serving() > 1; }));
    REQUIRE(bench.at(1).raft.eligibility == raft::Eligibility::kCaretakerOnly);
    for (int i = 0; i < 20; ++i) {
        bench.advance(milliseconds(250));
        REQUIRE(bench.at(1).raft.eligibility == raft::Eligibility::kCaretakerOnly);
    }
    bench.free_disk(1);
    REQUIRE(bench.advance_until([&] { return bench.at(1).raft.eligibility == raft::Eligibility::kMayLead; }));
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(bench.transfer_to(1));
}

TEST_CASE("a leader whose disk hangs gives up the lead, though followers are in step with what it cannot promise (L9)",
          "[broker]") {
    Bench bench = formed_group();
    bench.hold(1, storage::FileOwner::kLogStore);
    const CorrelationId asked = bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.serving() > 1; }, seconds(3)));
    REQUIRE(!bench.is_answered(asked, clients::ErrorCode::kNone));
    const CorrelationId again = bench.ask(bench.serving(), produce_to("orders", Acks::kAll, seconds(20)));
    REQUIRE(bench.advance_until([&] { return bench.is_answered(again, clients::ErrorCode::kNone); }));
    bench.release(1);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(bench.transfer_to(1));
}

TEST_CASE("a leader whose disk hangs gives up the lead to a member that lags only because of it (L9)", "[broker]") {
    Bench bench(3, [](Config& config) { config.tail_cache_bytes_max = 1; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    REQUIRE(bench.transfer_to(1));
    bench.hold(2, storage::FileOwner::kLogStore);
    bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    bench.cut_off(3);
    for (int i = 0; i < 3; ++i) bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    REQUIRE(bench.advance_until([&] { return !bench.at(1).in_sync.lagging_members().empty(); }));
    bench.hold(1, storage::FileOwner::kLogStore);
    bench.hold_reads(1);
    bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    bench.advance(seconds(2));
    REQUIRE(bench.serving() == 1);  // there is nobody else
    bench.reconnect(3);
    REQUIRE(bench.advance_until([&] { return bench.at(3).leading.has_value(); }));
    bench.release(2);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 3; }));
}

TEST_CASE("a leader whose reads never end gives up the lead, though it has nothing to write (L9)", "[broker]") {
    Bench bench(3, [](Config& config) { config.tail_cache_bytes_max = 1; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    REQUIRE(bench.transfer_to(1));
    bench.cut_off(3);
    for (int i = 0; i < 3; ++i) bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    const CorrelationId asked = bench.ask(1, produce_to("orders", Acks::kAll, seconds(20)));
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, clients::ErrorCode::kNone); }));
    bench.hold_reads(1);
    bench.reconnect(3);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
    REQUIRE(bench.advance_until([&] { return bench.at(2).in_sync.committed().members.size() >= 2; }));
}

TEST_CASE("files of a deleted topic that do not let themselves be removed are tried again, by the leader too (L9)",
          "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    const CorrelationId written = bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.is_answered(written, clients::ErrorCode::kNone); }));
    bench.advance(seconds(1));
    for (const std::int32_t id : {1, 2}) bench.fail_directory_syncs(id, true);
    const auto logs_with = [&](std::int32_t id, storage::CutStage stage) {
        return std::ranges::count(bench.at(id).logs.logs(), stage, &storage::PartitionLog::cut_stage);
    };
    bench.ask(1, clients::DeleteTopicRequest{"orders"});
    for (const std::int32_t id : {1, 2})
        REQUIRE(bench.advance_until([&] { return logs_with(id, storage::CutStage::kGivenUp) == 1; }));
    bench.advance(seconds(2));  // it fails again meanwhile
    REQUIRE(bench.serving() == 1);
    for (const std::int32_t id : {1, 2}) {
        REQUIRE(bench.at(id).logs.logs().size() == 3);
        bench.fail_directory_syncs(id, false);
    }
    bench.advance(seconds(1));
    for (const std::int32_t id : {1, 2}) REQUIRE(bench.at(id).logs.logs().size() == 2);
}

TEST_CASE("a leader with a read that never ends gives up the lead, though others end all the time (L9)", "[broker]") {
    Bench bench(3, [](Config& config) { config.tail_cache_bytes_max = 1; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    REQUIRE(bench.transfer_to(1));
    for (int i = 0; i < 3; ++i) bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    const CorrelationId asked = bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, clients::ErrorCode::kNone); }));
    clients::FetchRequest fetch;
    fetch.partition.topic = "orders";
    fetch.bytes_max = 1'000;
    bench.hold_reads(1);
    bench.ask(1, fetch);
    REQUIRE(bench.at(1).reads.size() == 1);
    bench.pass_reads(1);
    const auto has_left = [&] {
        const CorrelationId read = bench.ask(1, fetch);
        return bench.serving() == 2 || !bench.is_answered(read, clients::ErrorCode::kNone);
    };
    REQUIRE(bench.advance_until(has_left));
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
}

TEST_CASE("a leader whose disk hangs stays when the only other member has just died (L9, G2)", "[broker]") {
    Bench bench = formed_group();
    bench.cut_off(3);
    bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    bench.hold(3, storage::FileOwner::kLogStore);  // it votes and copies nothing
    bench.reconnect(3);
    bench.advance(seconds(1));
    bench.cut_off(2);
    bench.advance(seconds(1));  // longer than an election, shorter than the bound on lag
    REQUIRE(bench.at(1).in_sync.lagging_members().empty());
    bench.hold(1, storage::FileOwner::kLogStore);
    bench.ask(1, produce_to("orders", Acks::kLeader, seconds(5)));
    for (int i = 0; i < 20; ++i) {
        bench.advance(milliseconds(500));
        REQUIRE(bench.serving() == 1);
    }
}

TEST_CASE("members whose disks are all slow do not pass the lead to and fro for ever (L9)", "[broker]") {
    Bench bench = formed_group();
    for (std::int32_t id = 1; id <= 3; ++id) bench.hold(id, storage::FileOwner::kLogStore);
    const auto pass_slowly = [&bench](Duration span) {
        for (const Instant end = bench.now() + span; bench.now() < end;) {
            bench.advance(milliseconds(400));  // a commit is two syncs and more
            for (std::int32_t id = 1; id <= 3; ++id) bench.release_once(id);
        }
    };
    // Each client goes on with another batch once it is not known what became of the last.
    const auto is_confirmed_within = [&](Duration span) {
        for (const Instant end = bench.now() + span; bench.now() < end;) {
            if (bench.serving() == 0) {
                pass_slowly(milliseconds(400));
                continue;
            }
            const CorrelationId asked = bench.ask(bench.serving(), produce_to("orders", Acks::kAll, seconds(20)));
            for (int i = 0; i < 50 && bench.answer_to(asked) == nullptr; ++i) pass_slowly(milliseconds(400));
            if (bench.is_answered(asked, clients::ErrorCode::kNone)) return true;
        }
        return false;
    };
    REQUIRE(is_confirmed_within(seconds(60)));

    // Once commits have been in time for a while, a disk that hangs is left as early as ever.
    for (std::int32_t id = 1; id <= 3; ++id) bench.release(id);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    bench.advance(seconds(15));
    REQUIRE(bench.transfer_to(1));
    const CorrelationId asked = bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.is_answered(asked, clients::ErrorCode::kNone));
    REQUIRE(bench.at(1).stalls_in_row == 0);
    bench.hold(1, storage::FileOwner::kLogStore);
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.advance_until([&] { return bench.serving() > 1; }, seconds(3)));
}

TEST_CASE("a group whose disks are all full serves again when they are not", "[broker]") {
    Bench bench = formed_group();
    for (std::int32_t id = 1; id <= 3; ++id) bench.fill_disk(id);
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    bench.advance(seconds(10));
    for (std::int32_t id = 1; id <= 3; ++id) bench.free_disk(id);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
}

}  // namespace tidelock::broker
