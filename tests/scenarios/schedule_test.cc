// Whole schedules: a few seeds of every scenario hold, repeat bit for bit, and do what the standard schedule promises.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>

#include "scenarios/fault_counts.h"
#include "scenarios/plan.h"
#include "scenarios/schedule.h"

using namespace tidelock::scenarios;

namespace {

std::string told(const ScheduleResult& result) {
    std::string text = result.unsound;
    for (const Violation& violation : result.violations) text += " " + violation.invariant + ": " + violation.message;
    return text;
}

std::int64_t total(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
    std::int64_t sum = 0;
    for (const auto& [name, count] : counts) sum += count;
    return sum;
}

class Lines final : public TraceSink {
  public:
    void line(const TraceLine& line) override { lines.push_back(line); }
    std::vector<TraceLine> lines;
};

}  // namespace

TEST_CASE("a few seeds of every scenario hold") {
    for (const std::string_view name : builtin_scenario_names()) {
        const Scenario scenario = *load_scenario(name);
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            const ScheduleResult result = run_plan(generate(scenario, seed), {});
            INFO(name << " seed " << seed << told(result));
            REQUIRE(result.violations.empty());
            REQUIRE(result.unsound.empty());
        }
    }
}

TEST_CASE("the same plan gives the same result, with or without trace and recording") {
    const Plan plan = generate(*load_scenario("everything"), 3);
    const ScheduleResult first = run_plan(plan, {});
    const ScheduleResult second = run_plan(*parse_plan(to_json(plan), "f"), {});
    REQUIRE(first.digest == second.digest);
    REQUIRE(first.events == second.events);
    REQUIRE(first.faults == second.faults);
    REQUIRE(first.marks == second.marks);
    Lines lines;
    RunOptions options;
    options.trace = &lines;
    options.record_event_digests = true;
    const ScheduleResult traced = run_plan(plan, options);
    REQUIRE(traced.digest == first.digest);
    REQUIRE_FALSE(lines.lines.empty());
    REQUIRE(static_cast<std::int64_t>(traced.event_digests.size()) >= traced.events);
    REQUIRE(traced.event_digests.back() == traced.digest);
}

TEST_CASE("the standard schedule: 30 virtual seconds, 200 acknowledged records and 3 faults, on average at least") {
    const Scenario scenario = *load_scenario("group-failover");
    std::int64_t acked = 0;
    std::int64_t faults = 0;
    constexpr std::int64_t kSeeds = 20;
    for (std::uint64_t seed = 100; seed < 100 + kSeeds; ++seed) {
        const ScheduleResult result = run_plan(generate(scenario, seed), {});
        REQUIRE(result.virtual_ns == 30'000'000'000);
        acked += result.acked_records;
        faults += total(result.faults);
        REQUIRE(result.peak_memory_bytes < (std::int64_t{64} << 20));
    }
    REQUIRE(acked / kSeeds >= 200);
    REQUIRE(faults / kSeeds >= 3);
}

TEST_CASE("faults that wait for their moment meet it: elections, first boots, disks that hang together, late kinds") {
    const Scenario scenario = *load_scenario("raft-only");
    std::map<std::string, std::int64_t> delivered;
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
        for (const auto& [name, count] : run_plan(generate(scenario, seed), {}).faults) delivered[name] += count;
    for (const char* name : {"network.cut_off_at_election", "process.power_loss_at_first_boot", "disk.stalled_together",
                             "network.late_kind", "network.cut_off_while_forming"}) {
        INFO(name);
        REQUIRE(delivered[name] > 0);
    }
}

TEST_CASE("a run that is stopped early is not judged by its progress") {
    RunOptions options;
    options.until_ns = 2'000'000'000;
    const ScheduleResult result = run_plan(generate(*load_scenario("group-failover"), 4), options);
    REQUIRE(result.virtual_ns == 2'000'000'000);
    REQUIRE(result.violations.empty());
}

TEST_CASE("results list every fault and every mark by name, in order") {
    const ScheduleResult result = run_plan(generate(*load_scenario("group-clock"), 1), {});
    const std::vector<std::string> names = counted_fault_names();
    REQUIRE(result.faults.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) REQUIRE(result.faults[i].first == names[i]);
    REQUIRE(std::is_sorted(result.marks.begin(), result.marks.end()));
}

TEST_CASE("a fault is counted under the name by which a scenario asks for it") {
    const std::vector<std::string> names = counted_fault_names();
    for (const FaultInfo& info : all_faults()) {
        INFO(full_name_of(info.kind));
        REQUIRE(std::count(names.begin(), names.end(), full_name_of(info.kind)) == 1);
    }
    std::vector<std::string> others;  // those that a scenario sets the rate of
    std::ranges::copy_if(names, std::back_inserter(others), [](const auto& name) { return !fault_kind_of(name); });
    REQUIRE(others == std::vector<std::string>{"disk.crash.directory_entry_lost", "disk.crash.rename_lost",
                                               "disk.crash.sector_torn", "disk.crash.unsynced_write_lost",
                                               "disk.crash.writes_reordered"});
}

TEST_CASE("an event budget that is too small for the schedule is told as a livelock") {
    Plan plan = generate(*load_scenario("group-failover"), 1);
    plan.settings[Setting::kEventsPerSecondMax] = 10;
    const ScheduleResult result = run_plan(plan, {});
    REQUIRE(result.violations.size() == 1);
    REQUIRE(result.violations[0].invariant == "progress");
    REQUIRE(result.violations[0].message.starts_with("livelock: "));
}

TEST_CASE("a cluster that does not come back in time breaks progress") {
    // An election that takes longer than the whole schedule.
    const Plan plan = generate(*parse_scenario(R"({"timings": {"chaos_seconds": 3, "heal_seconds": 4},
        "broker": {"election_timeout_min_ms": 50000, "election_timeout_max_ms": 60000}})",
                                               "x", "x"),
                               1);
    const ScheduleResult result = run_plan(plan, {});
    REQUIRE_FALSE(result.violations.empty());
    REQUIRE(result.violations[0].invariant == "progress");
}
