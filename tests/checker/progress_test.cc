// V16: each expectation that is not met after the heal is named; and the catalogue and the checker's small parts.
#include <string_view>

#include "checker/catalogue.h"
#include "checker/hash_index.h"
#include "checker/log_history.h"
#include "checker/progress.h"
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

FinalView healthy() {
    FinalView view;
    for (int broker = 1; broker <= 3; ++broker) view.brokers.push_back({BrokerId(broker), true, "", {}});
    view.leader = BrokerId(2);
    view.in_sync_replicas = replicas({1, 2, 3});
    FinalPartition x0{kX0, "x", true, {}};
    for (int broker = 1; broker <= 3; ++broker)
        x0.copies.push_back({BrokerId(broker), Offset(0), Offset(42), Offset(42)});
    view.partitions.push_back(x0);
    view.consumers.push_back({"consumer-1 on x-0", Offset(42), Offset(42)});
    view.reads.push_back({kClientX0, true, Offset(0), {}});
    return view;
}

using Lines = std::vector<std::string>;

TEST_CASE("V16: a whole cluster has nothing to wait for") {
    REQUIRE(unmet_expectations(Story::group_of_three(), healthy()).empty());
}

TEST_CASE("V16: what is missing is named") {
    FinalView view = healthy();
    Lines expected;
    SECTION("leader") {
        view.leader.reset();
        expected = {"no leader serves"};
    }
    SECTION("broker") {
        view.brokers[2] = {BrokerId(3), false, "raft: both copies are damaged", {}};
        expected = {"broker 3 is not running: it refused to start: raft: both copies are damaged"};
    }
    SECTION("in-sync set that names lost data") {
        view.brokers[2].data_incarnation = Incarnation(33);
        expected = {"in-sync set {1, 2, 3} names a former life of broker 3"};
    }
    SECTION("in-sync set") {
        view.in_sync_replicas = replicas({1, 2});
        expected = {"in-sync set {1, 2} lacks broker 3"};
    }
    SECTION("high watermark") {
        for (FinalCopy& copy : view.partitions[0].copies) copy.high_watermark = Offset(40);
        expected = {"partition x-0: high watermark 40 < log end 42 at leader 2"};
    }
    SECTION("a copy behind") {
        view.partitions[0].copies[2].log_end_offset = Offset(41);
        expected = {"partition x-0: broker 3 ends at 41, leader 2 at 42"};
    }
    SECTION("a copy that keeps what its leader has let go") {
        view.partitions[0].copies[1].log_start_offset = Offset(3);
        view.partitions[0].copies[0].log_start_offset = Offset(4);  // it led before, and went further
        expected = {"partition x-0: broker 3 starts at 0, leader 2 at 3"};
    }
    SECTION("a high watermark that was not told") {
        view.partitions[0].copies[2].high_watermark = Offset(40);
        expected = {"partition x-0: broker 3 knows the high watermark 40, leader 2 has 42"};
    }
    SECTION("upkeep") {
        view.overdue_upkeep = {"broker 3 keeps 2 checkpoint journals"};
        expected = view.overdue_upkeep;
    }
    SECTION("no copy") {
        view.partitions[0].copies.pop_back();
        expected = {"partition x-0: broker 3 has no copy"};
    }
    SECTION("writes") {
        view.partitions[0].writable = false;
        expected = {"partition x-0: no produce with acks=all was acknowledged"};
    }
    SECTION("consumer") {
        view.consumers[0].position = Offset(17);
        expected = {"consumer-1 on x-0 stopped at 17 of 42"};
    }
    SECTION("nothing but the list of topics") {
        view.is_everything_read = false;
        expected = {"the topics cannot be listed"};
    }
    SECTION("last read") {
        view.reads[0].complete = false;
        expected = {"the last read of topic 1 partition 0 did not reach the end"};
    }
    REQUIRE(unmet_expectations(Story::group_of_three(), view) == expected);

    Story story;
    story.checker.at_end(5, view);
    REQUIRE(story.broken() == Lines{"progress"});
    REQUIRE(story.checker.violations().front().message == "faults have stopped, but " + expected.front());
}

TEST_CASE("V16: nothing is expected of a broker that was given up, everything of the others") {
    FinalView view = healthy();
    view.brokers[2] = {BrokerId(3), false, "", {}, true};
    view.in_sync_replicas = replicas({1, 2});
    view.partitions[0].copies.pop_back();
    REQUIRE(unmet_expectations(Story::group_of_three(), view).empty());
    SECTION("in-sync set") {
        view.in_sync_replicas = replicas({2});
        REQUIRE(unmet_expectations(Story::group_of_three(), view) == Lines{"in-sync set {2} lacks broker 1"});
    }
    SECTION("a copy behind") {
        view.partitions[0].copies[0].log_end_offset = Offset(41);
        REQUIRE(unmet_expectations(Story::group_of_three(), view) ==
                Lines{"partition x-0: broker 1 ends at 41, leader 2 at 42"});
    }
    SECTION("consumer") {
        view.consumers[0].position = Offset(17);
        REQUIRE(unmet_expectations(Story::group_of_three(), view) == Lines{"consumer-1 on x-0 stopped at 17 of 42"});
    }
}

TEST_CASE("the catalogue lists each invariant once, where its id says") {
    std::size_t position = 0;
    for (const InvariantInfo& info : catalogue()) {
        REQUIRE(static_cast<std::size_t>(info.invariant) == position++);
        REQUIRE(name_of(info.invariant) == info.name);
        REQUIRE_FALSE(info.holds.empty());
        const bool is_of_the_catalogue = info.id.starts_with("V");
        const bool is_a_rule_of_its_own = info.id.starts_with("T");
        REQUIRE((is_of_the_catalogue || is_a_rule_of_its_own));
    }
    REQUIRE(position == 16);
}

TEST_CASE("a broken rule is reported a few times and counted always") {
    ViolationLog log;
    for (int time = 0; time < 10; ++time) log.report(InvariantId::kProgress, time, "again");
    REQUIRE(log.all().size() == 4);
    REQUIRE(log.count_of(InvariantId::kProgress) == 10);
    REQUIRE(log.wants(InvariantId::kCutSafe));
    REQUIRE_FALSE(log.wants(InvariantId::kProgress));
}

TEST_CASE("a batch whose epoch rotted does not stand for the one that was there") {
    for (const int epoch : {1 + (1 << 20), 1 + (1 << 24), 1 + (1 << 30)}) {
        BatchTable table;
        const BatchNumber whole = table.intern(summary_of({2, 1}), kNoBatch);
        const BatchNumber rotten = table.intern(summary_of({2, epoch, 1, 77}), kNoBatch);
        REQUIRE(table.find(LeaderEpoch(1), Offset(2)) == whole);
        REQUIRE(table.find(LeaderEpoch(epoch), Offset(2)) == rotten);
        REQUIRE(table.find_same(summary_of({2, 1})) == whole);
    }
}

TEST_CASE("the hash index finds what was put last under a key") {
    HashIndex index;
    for (std::uint32_t number = 0; number < 5'000; ++number) index.put(std::uint64_t{number} << 44, number);
    index.put(7ULL << 44, 99);
    for (std::uint32_t number = 0; number < 5'000; ++number) {
        REQUIRE(index.find(std::uint64_t{number} << 44) == (number == 7 ? 99 : number));
    }
    REQUIRE_FALSE(index.find(1).has_value());
}

}  // namespace
}  // namespace tidelock::checker
