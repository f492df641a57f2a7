// What a schedule costs, as JSON: the standard schedule as it is, then stretched in virtual time, brokers and records
// one at a time, to show that nothing grows faster than linearly.
#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "scenarios/cluster.h"
#include "scenarios/plan.h"
#include "scenarios/scenario.h"
#include "scenarios/schedule.h"
#include "sim/arena.h"
#include "sim/snapshot.h"

namespace {

using nlohmann::ordered_json;
using tidelock::scenarios::Scenario;
using tidelock::scenarios::Setting;

constexpr std::int64_t kStandardHealSeconds = 8;

struct Cost {
    std::int64_t schedules = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t events = 0;
    std::int64_t virtual_ns = 0;
    std::int64_t acked_records = 0;
    std::int64_t peak_world_bytes = 0;
    std::int64_t failing = 0;
};

std::int64_t cpu_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void add_run(Cost& cost, const Scenario& scenario, std::int64_t seed, bool is_judged) {
    tidelock::scenarios::RunOptions options;
    options.judge = is_judged;
    const std::int64_t start = cpu_ns();
    const tidelock::scenarios::Plan plan = generate(scenario, static_cast<std::uint64_t>(seed));
    const tidelock::scenarios::ScheduleResult result = run_plan(plan, options);
    cost.cpu_ns += cpu_ns() - start;
    ++cost.schedules;
    cost.events += result.events;
    cost.virtual_ns += result.virtual_ns;
    cost.acked_records += result.acked_records;
    cost.peak_world_bytes = std::max(cost.peak_world_bytes, result.peak_memory_bytes);
    if (!result.violations.empty() || !result.unsound.empty()) ++cost.failing;
}

Cost cost_of(const Scenario& scenario, std::int64_t schedules) {
    Cost cost;
    for (std::int64_t seed = 1; seed <= schedules; ++seed) add_run(cost, scenario, seed, true);
    return cost;
}

double ratio(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

ordered_json to_json(const Cost& cost) {
    return {{"schedules", cost.schedules},
            {"failing", cost.failing},
            {"schedules_per_second_per_core", ratio(cost.schedules, cost.cpu_ns) * 1e9},
            {"ms_per_schedule", ratio(cost.cpu_ns, cost.schedules) / 1e6},
            {"events_per_second", ratio(cost.events, cost.cpu_ns) * 1e9},
            {"events_per_schedule", ratio(cost.events, cost.schedules)},
            {"virtual_seconds_per_cpu_second", ratio(cost.virtual_ns, cost.cpu_ns)},
            {"acked_records_per_schedule", ratio(cost.acked_records, cost.schedules)},
            {"us_per_virtual_second", ratio(cost.cpu_ns, cost.virtual_ns) * 1e6},
            {"peak_world_bytes", cost.peak_world_bytes}};
}

Scenario with(const Scenario& scenario, Setting setting, std::int64_t value) {
    Scenario changed = scenario;
    changed.settings[setting] = {value, value};
    return changed;
}

ordered_json stretched(const Scenario& scenario, Setting setting, const std::vector<std::int64_t>& values,
                       std::int64_t offset, std::int64_t schedules) {
    ordered_json points = ordered_json::array();
    for (const std::int64_t value : values) {
        ordered_json point = {{"value", value}};
        point.update(to_json(cost_of(with(scenario, setting, value - offset), schedules)));
        points.push_back(std::move(point));
    }
    return points;
}

/// Each schedule with its checks and without them, one after the other, so that both see the same machine.
ordered_json checking_share(const Scenario& scenario, std::int64_t schedules) {
    Cost judged;
    Cost unjudged;
    for (std::int64_t seed = 1; seed <= schedules; ++seed) {
        add_run(judged, scenario, seed, true);
        add_run(unjudged, scenario, seed, false);
    }
    return {{"ms_per_schedule", ratio(judged.cpu_ns, judged.schedules) / 1e6},
            {"ms_per_schedule_unjudged", ratio(unjudged.cpu_ns, unjudged.schedules) / 1e6},
            {"share_of_time", 1.0 - ratio(unjudged.cpu_ns, judged.cpu_ns)}};
}

/// A running world of the standard schedule, brokers, clients and checkers included, copied and put back.
ordered_json branching(const Scenario& scenario) {
    constexpr int kRounds = 200;
    if (!tidelock::sim::kArenaEnabled) return nullptr;
    const tidelock::scenarios::Plan plan = generate(scenario, 1);
    std::int64_t taken_ns = 0;
    std::int64_t restored_ns = 0;
    std::size_t copied_bytes = 0;
    tidelock::sim::Arena::reset();
    {
        const tidelock::sim::ArenaScope scope;
        auto* const cluster = new tidelock::scenarios::Cluster(plan, tidelock::sim::DigestRecording::kNothing);
        cluster->start_brokers();
        cluster->start_clients();
        cluster->world().run_until(tidelock::sim::TimeNs(0) + tidelock::seconds(10));
        for (int round = 0; round < kRounds; ++round) {
            const std::int64_t begun = cpu_ns();
            const auto snapshot = tidelock::sim::Snapshot::take(cluster->world());
            const std::int64_t taken = cpu_ns();
            snapshot.restore();
            restored_ns += cpu_ns() - taken;
            taken_ns += taken - begun;
            copied_bytes = snapshot.copied_bytes();
        }
    }
    return {{"snapshot_us", ratio(taken_ns, kRounds) / 1e3},
            {"restore_us", ratio(restored_ns, kRounds) / 1e3},
            {"copied_bytes", copied_bytes}};
}

std::int64_t peak_rss_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

int main(int argc, char** argv) {
    std::int64_t schedules = 400;
    CLI::App app("Measures what schedules cost; prints JSON");
    app.add_option("--schedules", schedules, "of the standard schedule; each stretched point runs a quarter of it")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    const auto standard = tidelock::scenarios::load_scenario("group-failover");
    if (!standard) {
        fmt::print(stderr, "{}\n", standard.error().text);
        return 2;
    }
    const std::int64_t few = std::max<std::int64_t>(schedules / 4, 1);
    cost_of(*standard, few / 4);  // warms the arena and the caches
    ordered_json report;
    report["standard"] = to_json(cost_of(*standard, schedules));
    report["standard"]["peak_worker_bytes"] = peak_rss_bytes();
    report["checking"] = checking_share(*standard, few);
    report["branch"] = branching(*standard);
    report["virtual_seconds"] =
        stretched(*standard, Setting::kChaosSeconds, {30, 60, 120, 240}, kStandardHealSeconds, few);
    report["brokers"] = stretched(*standard, Setting::kBrokers, {3, 5, 7}, 0, few);
    report["records_per_call"] = stretched(*standard, Setting::kRecordsPerCall, {4, 8, 16, 32}, 0, few);
    report["peak_worker_bytes"] = peak_rss_bytes();
    fmt::print("{}\n", report.dump(2));
    return 0;
}
