#include "reports/results.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace tidelock::reports {

namespace {

constexpr std::int32_t kJobsMax = 1'000'000;

void add_counts(std::map<std::string, std::int64_t>& whole, const std::map<std::string, std::int64_t>& part) {
    for (const auto& [name, count] : part) add_up(whole[name], count);
}

void widen_seeds(ScenarioRow& whole, const ScenarioRow& part) {
    if (part.schedules == 0) return;
    if (whole.schedules == 0) {
        whole.first_seed = part.first_seed;
        whole.last_seed = part.last_seed;
        return;
    }
    whole.first_seed = std::min(whole.first_seed, part.first_seed);
    whole.last_seed = std::max(whole.last_seed, part.last_seed);
}

ScenarioRow& row_of(Results& results, const std::string& scenario) {
    for (ScenarioRow& row : results.scenarios) {
        if (row.scenario == scenario) return row;
    }
    results.scenarios.emplace_back();
    results.scenarios.back().scenario = scenario;
    return results.scenarios.back();
}

void join_one(Results& whole, const Results& part) {
    whole.builds.insert(whole.builds.end(), part.builds.begin(), part.builds.end());
    if (!part.complete) {
        whole.complete = false;
        if (whole.stopped_by.empty()) whole.stopped_by = part.stopped_by;
    }
    whole.jobs = std::min(whole.jobs + part.jobs, kJobsMax);
    whole.elapsed_ns = std::max(whole.elapsed_ns, part.elapsed_ns);
    whole.peak_worker_bytes = std::max(whole.peak_worker_bytes, part.peak_worker_bytes);
    for (const ScenarioRow& row : part.scenarios) add_to_row(row_of(whole, row.scenario), row);
}

}  // namespace

std::uint64_t digest_share(std::uint64_t seed, std::uint64_t schedule_digest) {
    // A plain sum of digests would not see two schedules swap their results; the seed is mixed in first.
    std::uint64_t x = (schedule_digest ^ (seed * 0x9E37'79B9'7F4A'7C15ULL)) * 0xD6E8'FEB8'6659'FD93ULL;
    x ^= x >> 32;
    x *= 0x9E37'79B9'7F4A'7C15ULL;
    return x ^ (x >> 29);
}

void add_up(std::int64_t& sum, std::int64_t part) {
    if (__builtin_add_overflow(sum, part, &sum) || sum > kSumMax) sum = kSumMax;
}

void add_to_row(ScenarioRow& whole, const ScenarioRow& part) {
    widen_seeds(whole, part);
    // Shards may name one file by different paths: which is kept must not depend on the order.
    if (whole.replay_prefix.empty() || (!part.replay_prefix.empty() && part.replay_prefix < whole.replay_prefix))
        whole.replay_prefix = part.replay_prefix;
    add_up(whole.schedules, part.schedules);
    whole.violations.insert(whole.violations.end(), part.violations.begin(), part.violations.end());
    whole.unsound.insert(whole.unsound.end(), part.unsound.begin(), part.unsound.end());
    add_up(whole.events, part.events);
    add_up(whole.virtual_ns, part.virtual_ns);
    add_up(whole.wall_ns, part.wall_ns);
    add_up(whole.cpu_ns, part.cpu_ns);
    add_up(whole.acked_records, part.acked_records);
    add_up(whole.read_records, part.read_records);
    add_up(whole.skipped_elements, part.skipped_elements);
    whole.peak_memory_bytes = std::max(whole.peak_memory_bytes, part.peak_memory_bytes);
    add_counts(whole.faults, part.faults);
    add_counts(whole.marks, part.marks);
    whole.digest += part.digest;
}

void sort_findings(ScenarioRow& row) {
    std::sort(row.violations.begin(), row.violations.end(), [](const Violation& a, const Violation& b) {
        return std::tie(a.seed, a.time_ns, a.invariant, a.message) <
               std::tie(b.seed, b.time_ns, b.invariant, b.message);
    });
    std::sort(row.unsound.begin(), row.unsound.end(), [](const UnsoundRun& a, const UnsoundRun& b) {
        return std::tie(a.seed, a.why) < std::tie(b.seed, b.why);
    });
}

Results join(const std::vector<Results>& parts) {
    Results whole;
    for (const Results& part : parts) join_one(whole, part);
    std::sort(whole.builds.begin(), whole.builds.end());
    whole.builds.erase(std::unique(whole.builds.begin(), whole.builds.end()), whole.builds.end());
    for (ScenarioRow& row : whole.scenarios) sort_findings(row);
    return whole;
}

Totals totals_of(const Results& results) {
    Totals totals;
    for (const ScenarioRow& row : results.scenarios) {
        add_up(totals.schedules, row.schedules);
        add_up(totals.violations, static_cast<std::int64_t>(row.violations.size()));
        add_up(totals.unsound, static_cast<std::int64_t>(row.unsound.size()));
        add_up(totals.events, row.events);
        add_up(totals.virtual_ns, row.virtual_ns);
        add_up(totals.cpu_ns, row.cpu_ns);
        add_up(totals.acked_records, row.acked_records);
        add_up(totals.read_records, row.read_records);
    }
    return totals;
}

std::string digest_text(std::uint64_t digest) {
    return fmt::format("0x{:016x}", digest);
}

}  // namespace tidelock::reports
