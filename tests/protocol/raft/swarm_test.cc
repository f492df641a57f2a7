// Random schedules against V8: whatever is lost, repeated, late, crashed or wiped, there is one leader a term and what
// was committed stays; and once it stops, the group leads and commits again. A failure prints its seed.
#include <catch2/catch.hpp>

#include "network.h"

namespace tidelock::raft {
namespace {

/// Each seed switches a random part of the faults on.
Faults random_faults(Chance& chance) {
    const auto maybe = [&chance](std::int64_t min, std::int64_t max) {
        const std::int64_t rate = chance.between(min, max);
        return chance.one_in(3) ? 0 : rate;
    };
    Faults faults;
    faults.loss = maybe(5, 60);
    faults.duplicate = maybe(5, 40);
    faults.very_late = maybe(5, 60);
    faults.crash = maybe(3, 25);
    faults.wipe = maybe(1, 4);
    faults.cut = maybe(5, 30);
    faults.eligibility = maybe(10, 40);
    faults.transfer = maybe(10, 60);
    faults.disk_stall = maybe(10, 100);
    faults.power_loss = maybe(10, 60);
    faults.isolate = maybe(4, 20);
    faults.aim = maybe(1, 4);
    faults.slow_claim = maybe(1, 3);
    if (chance.one_in(2)) faults.disk_microseconds_max = chance.between(5'000, 80'000);
    return faults;
}

Config random_config(Chance& chance) {
    Config config;
    config.pre_vote = !chance.one_in(4);
    config.check_quorum = !chance.one_in(3);
    config.log_entries_max = static_cast<std::uint32_t>(chance.one_in(3) ? 1'000 : chance.between(2, 20));
    config.snapshot_chunk_bytes_max = static_cast<std::uint32_t>(chance.between(20, 200));
    config.entries_per_append_max = static_cast<std::uint32_t>(chance.one_in(2) ? 1 : chance.between(2, 8));
    config.append_window_max = static_cast<std::uint32_t>(chance.between(1, 16));
    return config;
}

int random_member_count(Chance& chance) {
    constexpr int kCounts[] = {3, 3, 3, 5, 5, 4, 2, 1};
    return kCounts[chance.between(0, 7)];
}

std::vector<int> all_of(int member_count) {
    std::vector<int> all;
    for (int i = 0; i < member_count; ++i) all.push_back(i);
    return all;
}

/// Runs until everything is settled; false when it does not within `limit`.
bool settles(Network& network, Duration limit) {
    for (Duration spent; spent < limit && network.broken().empty(); spent = spent + milliseconds(100)) {
        network.run(milliseconds(100));
        if (network.is_settled()) return true;
    }
    return false;
}

struct Totals {
    std::uint64_t steps = 0;
    std::map<std::string, std::uint64_t> marks;
};

void add(Totals& totals, const Network& network) {
    totals.steps += network.steps();
    for (const auto& [mark, count] : network.marks()) totals.marks[mark] += count;
}

/// What R11 cannot heal with an in-house majority: a wiped member of two needs a majority of the other one.
bool can_readmit(int member_count) {
    return member_count != 2;
}

void run_seed(std::uint64_t seed, Totals& totals) {
    Chance chance(seed * 2'654'435'761ULL + 1);
    const int member_count = random_member_count(chance);
    Faults faults = random_faults(chance);
    if (!can_readmit(member_count) || member_count == 1) faults.wipe = 0;
    Config config = random_config(chance);
    Network network(seed, member_count, faults, config);
    network.run(seconds(5));
    INFO("seed " << seed << ", " << member_count << " members");
    INFO(network.text());
    REQUIRE(network.broken() == "");
    const bool one_only = chance.one_in(2);
    const int one = static_cast<int>(chance.between(0, member_count - 1));
    network.heal(one_only ? std::vector<int>{one} : all_of(member_count));
    network.run(seconds(3));
    network.propose();
    const LogIndex before = network.committed();
    const bool settled = settles(network, seconds(6));
    INFO("after healing " << network.text());
    REQUIRE(network.broken() == "");
    REQUIRE(settled);
    network.propose();
    REQUIRE(settles(network, seconds(3)));
    REQUIRE(network.committed() > before);
    if (one_only) REQUIRE(network.leader() == one);
    add(totals, network);
}

}  // namespace

TEST_CASE("R1-R11 V8: random schedules keep one leader a term and every committed entry, and the group recovers") {
    Totals totals;
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) run_seed(seed, totals);
    CHECK(totals.steps > 300'000);
    for (const char* mark :
         {"leader", "caretaker", "crash", "wiped disk", "unsynced state lost", "admission", "compaction",
          "snapshot installed", "truncation", "transferred", "not transferred", "formed",
          "stepped down in term 0: quorum lost", "stepped down in term 0: storage stalled",
          "stepped down in term 0: not eligible", "two believed that they lead", "leader isolated"}) {
        INFO(mark);
        CHECK(totals.marks[mark] > 20);
    }
}

TEST_CASE("R1-R11 V8: many random schedules", "[.][long]") {
    Totals totals;
    for (std::uint64_t seed = 1'000; seed < 21'000; ++seed) run_seed(seed, totals);
    WARN(totals.steps << " steps");
}

}  // namespace tidelock::raft
