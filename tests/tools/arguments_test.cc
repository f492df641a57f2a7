// Values of flags and the walk over seeds: laws that hold for any range, shard and number of scenarios.
#include <rapidcheck.h>
#include <catch2/catch.hpp>

#include <set>

#include "tools/tidelock/arguments.h"
#include "tools/tidelock/progress.h"
#include "tools/tidelock/seed_order.h"

using namespace tidelock::tools;

TEST_CASE("durations read with units and fractions") {
    REQUIRE(parse_duration("90") == 90'000'000'000);
    REQUIRE(parse_duration("1.5m") == 90'000'000'000);
    REQUIRE(parse_duration("12.345678901s") == 12'345'678'901);
    REQUIRE(parse_duration("250ms") == 250'000'000);
    REQUIRE(parse_duration("7ns") == 7);
    for (const char* wrong : {"", "s", "1..5s", "1.s", "-1s", "1 s", "5x", "9999999999h", "1e3s"}) {
        INFO(wrong);
        REQUIRE_FALSE(parse_duration(wrong).has_value());
    }
}

TEST_CASE("seed ranges reach the ends of 64 bits") {
    REQUIRE(parse_seeds("7") == SeedRange{7, 7});
    REQUIRE(parse_seeds("0..18446744073709551615") == SeedRange{0, UINT64_MAX});
    for (const char* wrong : {"", "..", "1..", "..1", "1...2", "+1", "0x10", "18446744073709551616"}) {
        INFO(wrong);
        REQUIRE_FALSE(parse_seeds(wrong).has_value());
    }
    SeedOrder order({UINT64_MAX - 1, UINT64_MAX}, {}, 2, true);
    REQUIRE(order.next() == Job{0, UINT64_MAX - 1});
    REQUIRE(order.next() == Job{1, UINT64_MAX - 1});
    REQUIRE(order.next() == Job{0, UINT64_MAX});
    REQUIRE(order.next() == Job{1, UINT64_MAX});
    REQUIRE(order.next() == std::nullopt);
}

TEST_CASE("the walks of all shards together visit every schedule exactly once, in both orders") {
    REQUIRE(rc::check([] {
        const std::uint64_t first = *rc::gen::inRange<std::uint64_t>(0, 1000);
        const SeedRange seeds{first, first + *rc::gen::inRange<std::uint64_t>(0, 60)};
        const auto shards = *rc::gen::inRange<std::int32_t>(1, 6);
        const auto scenarios = *rc::gen::inRange<std::uint32_t>(1, 4);
        const bool interleave = *rc::gen::arbitrary<bool>();
        std::set<std::pair<std::uint32_t, std::uint64_t>> visited;
        for (std::int32_t shard = 1; shard <= shards; ++shard) {
            SeedOrder order(seeds, {shard, shards}, scenarios, interleave);
            std::int64_t count = 0;
            for (; const std::optional<Job> job = order.next(); ++count) {
                RC_ASSERT(visited.emplace(job->scenario, job->seed).second);
            }
            RC_ASSERT(order.total() == count);
        }
        RC_ASSERT(visited.size() == (seeds.last - seeds.first + 1) * scenarios);
    }));
}

TEST_CASE("shards are stable: a change here would make old shards meaningless") {
    REQUIRE(shard_of(1, 8) == 2);
    REQUIRE(shard_of(2, 8) == 7);
    REQUIRE(shard_of(UINT64_MAX, 1) == 1);
}

TEST_CASE("progress says how far, how fast and how long still") {
    CampaignProgress progress;
    progress.schedules = 4'500;
    progress.schedules_total = 10'000;
    progress.elapsed_ns = 31'000'000'000;
    progress.violations = 1;
    REQUIRE(progress_permille(progress) == 450);
    REQUIRE(progress_text(progress) == "4,500 of 10,000 schedules (45 %), 145/s, 37 s to go, 1 violation");
    progress.time_ns = 40'000'000'000;
    REQUIRE(progress_permille(progress) == 775);
}
