#include "tools/tidelock/tally.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/tidelock/campaign.h"

namespace tidelock::tools {

namespace {

using reports::ScenarioRow;

std::string command_of(const CampaignScenario& scenario, std::uint64_t seed) {
    return fmt::format("{} {}", replay_command(scenario.reference), seed);
}

ScenarioRow row_of(const Job& job, const CampaignScenario& scenario, const ScheduleReport& report) {
    const scenarios::ScheduleResult& result = report.result;
    ScenarioRow row;
    row.first_seed = row.last_seed = job.seed;
    row.schedules = 1;
    row.events = result.events;
    row.virtual_ns = result.virtual_ns;
    row.wall_ns = report.wall_ns;
    row.cpu_ns = report.cpu_ns;
    row.acked_records = result.acked_records;
    row.read_records = result.read_records;
    row.skipped_elements = static_cast<std::int64_t>(result.skipped.size());
    row.peak_memory_bytes = result.peak_memory_bytes;
    for (const auto& [kind, count] : result.faults) row.faults[kind] += count;
    for (const auto& [name, count] : result.marks) row.marks[name] += count;
    row.digest = reports::digest_share(job.seed, result.digest);
    const std::string replay = command_of(scenario, job.seed);
    for (const scenarios::Violation& violation : result.violations) {
        row.violations.push_back({job.seed, violation.invariant, violation.time_ns, violation.message, replay});
    }
    if (!result.unsound.empty()) row.unsound.push_back({job.seed, result.unsound, replay});
    return row;
}

}  // namespace

Tally::Tally(const std::vector<CampaignScenario>& scenarios) : scenarios_(scenarios), rows_(scenarios.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i].scenario = scenarios[i].scenario->name();
        rows_[i].replay_prefix = replay_command(scenarios[i].reference);
    }
}

std::vector<reports::Violation> Tally::add(const Job& job, const ScheduleReport& report) {
    const ScenarioRow row = row_of(job, scenarios_[job.scenario], report);
    reports::add_to_row(rows_[job.scenario], row);
    peak_worker_bytes_ = std::max(peak_worker_bytes_, report.peak_rss_bytes);
    return row.violations;
}

reports::Violation Tally::add_lost(const LostJob& lost) {
    const Job& job = lost.job;
    ScenarioRow row;
    row.first_seed = row.last_seed = job.seed;
    row.schedules = 1;
    row.violations = {
        {job.seed, lost.is_hang ? "hang" : "crash", 0, lost.how, command_of(scenarios_[job.scenario], job.seed)}};
    reports::add_to_row(rows_[job.scenario], row);
    return row.violations.front();
}

reports::Results Tally::results() const {
    reports::Results results;
    results.scenarios = rows_;
    results.peak_worker_bytes = peak_worker_bytes_;
    for (ScenarioRow& row : results.scenarios) reports::sort_findings(row);
    return results;
}

}  // namespace tidelock::tools
