#include "reports/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "reports/figures.h"

namespace tidelock::reports {

namespace {

using Out = std::back_insert_iterator<std::string>;
using Counts = std::map<std::string, std::int64_t>;

constexpr std::size_t kLineWidth = 110;
constexpr std::size_t kFindingsShown = 10;  // of each invariant
constexpr std::size_t kIndent = 15;

Counts sum_of(const Results& results, Counts ScenarioRow::*counts) {
    Counts sum;
    for (const ScenarioRow& row : results.scenarios) {
        for (const auto& [name, count] : row.*counts) add_up(sum[name], count);
    }
    return sum;
}

// Words separated by commas, wrapped under a label of fixed width.
void write_words(Out out, std::string_view label, const std::vector<std::string>& words) {
    std::string line = fmt::format("  {:<{}}", label, kIndent - 2);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i] + (i + 1 < words.size() ? ", " : "");
        if (line.size() + word.size() > kLineWidth && line.size() > kIndent) {
            fmt::format_to(out, "{}\n", line);
            line = std::string(kIndent, ' ');
        }
        line += word;
    }
    fmt::format_to(out, "{}\n", line);
}

void write_counts(Out out, std::string_view label, const Counts& counts) {
    std::vector<std::pair<std::string, std::int64_t>> reached;
    for (const auto& [name, count] : counts) {
        if (count > 0) reached.emplace_back(name, count);
    }
    std::stable_sort(reached.begin(), reached.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> words;
    words.reserve(reached.size());
    for (const auto& [name, count] : reached) words.push_back(fmt::format("{} {}", name, grouped(count)));
    write_words(out, label, words.empty() ? std::vector<std::string>{"none"} : words);
}

void write_never(Out out, std::string_view label, const Counts& counts) {
    std::vector<std::string> words;
    for (const auto& [name, count] : counts) {
        if (count == 0) words.push_back(name);
    }
    if (!words.empty()) write_words(out, label, words);
}

std::string verdict_of(const ScenarioRow& row) {
    if (!row.violations.empty()) return fmt::format("{} VIOLATIONS", row.violations.size());
    return row.schedules == 0 ? "not run" : "clean";
}

void write_scenarios(Out out, const Results& results) {
    for (const ScenarioRow& row : results.scenarios) {
        const std::string seeds = row.schedules == 0 ? "" : fmt::format("seeds {}..{}", row.first_seed, row.last_seed);
        fmt::format_to(out, "  {:<24} {:>10} schedules  {:<22} {:>12} records acknowledged  {}\n", row.scenario,
                       grouped(row.schedules), seeds, grouped(row.acked_records), verdict_of(row));
    }
}

void write_speed(Out out, const Results& results, const Totals& totals) {
    fmt::format_to(out, "  {:<13}{} of cluster life in {} ({} schedules a second", "simulated",
                   span_text(totals.virtual_ns), span_text(results.elapsed_ns),
                   rate_text(totals.schedules, results.elapsed_ns));
    if (results.jobs > 0) fmt::format_to(out, ", {} a core", rate_text(totals.schedules, totals.cpu_ns));
    fmt::format_to(out, "; {} events", grouped(totals.events));
    if (results.elapsed_ns > 0) {
        fmt::format_to(out, "; {} times real time", grouped(totals.virtual_ns / results.elapsed_ns));
    }
    fmt::format_to(out, ")\n");
    fmt::format_to(out, "  {:<13}{} worker(s), the largest held {}\n", "memory", results.jobs,
                   mebibytes(results.peak_worker_bytes));
}

std::string local_command(const std::string& replay, const std::string& program) {
    constexpr std::string_view kName = "tidelock ";
    return replay.starts_with(kName) ? program + " " + replay.substr(kName.size()) : replay;
}

// Schedules among findings that are sorted by row and seed.
std::size_t schedules_in(const std::vector<std::pair<const ScenarioRow*, const Violation*>>& found) {
    std::size_t schedules = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_same =
            i > 0 && found[i - 1].first == found[i].first && found[i - 1].second->seed == found[i].second->seed;
        if (!is_same) ++schedules;
    }
    return schedules;
}

void write_violations(Out out, const Results& results, const std::string& program) {
    std::map<std::string, std::vector<std::pair<const ScenarioRow*, const Violation*>>> by_invariant;
    for (const ScenarioRow& row : results.scenarios) {
        for (const Violation& violation : row.violations)
            by_invariant[violation.invariant].emplace_back(&row, &violation);
    }
    for (const auto& [invariant, found] : by_invariant) {
        fmt::format_to(out, "\n{} did not hold, {} time(s):\n", invariant,
                       grouped(static_cast<std::int64_t>(found.size())));
        std::size_t shown = 0;
        for (std::size_t i = 0; i < found.size() && shown < kFindingsShown; ++i) {
            const auto& [row, violation] = found[i];
            // One schedule may break an invariant many times over; its first time says enough.
            if (i > 0 && found[i - 1].first == row && found[i - 1].second->seed == violation->seed) continue;
            ++shown;
            fmt::format_to(out, "  {} seed {} at {:.6f} s: {}\n    replay: {}\n", row->scenario, violation->seed,
                           static_cast<double>(violation->time_ns) / 1e9, violation->message,
                           local_command(violation->replay, program));
        }
        if (shown == kFindingsShown && schedules_in(found) > shown)
            fmt::format_to(out, "  (the first {} schedules are shown)\n", shown);
    }
}

void write_unsound(Out out, const Results& results, const std::string& program) {
    for (const ScenarioRow& row : results.scenarios) {
        for (std::size_t i = 0; i < std::min(row.unsound.size(), kFindingsShown); ++i) {
            const UnsoundRun& run = row.unsound[i];
            fmt::format_to(out, "\nunsound run, {} seed {}: {}\n    replay: {}\n", row.scenario, run.seed, run.why,
                           local_command(run.replay, program));
        }
    }
}

void write_verdict(Out out, const Results& results, const Totals& totals, const std::string& program) {
    if (!results.complete) fmt::format_to(out, "\nThe campaign did not finish: {}.\n", results.stopped_by);
    const auto row = std::find_if(results.scenarios.begin(), results.scenarios.end(),
                                  [](const ScenarioRow& r) { return r.schedules > 0; });
    if (row == results.scenarios.end()) {
        fmt::format_to(out, "\nNo schedule was run, so nothing is known.\n");
        return;
    }
    if (totals.violations == 0 && totals.unsound == 0) {
        fmt::format_to(out, "\nNo violation: every invariant held in every schedule.\n");
        fmt::format_to(out, "Any seed runs again, with its timeline: {} {}\n",
                       local_command(row->replay_prefix, program), row->first_seed);
        return;
    }
    fmt::format_to(out, "\n{} violation(s), {} unsound run(s) in {} schedules.\n", grouped(totals.violations),
                   grouped(totals.unsound), grouped(totals.schedules));
}

}  // namespace

std::string summary_text(const Results& results, const std::string& replay_program) {
    std::string text;
    const Out out = std::back_inserter(text);
    const Totals totals = totals_of(results);
    fmt::format_to(out, "{} schedules of {} scenario(s)\n", grouped(totals.schedules), results.scenarios.size());
    write_scenarios(out, results);
    write_speed(out, results, totals);
    fmt::format_to(out, "  {:<13}{} acknowledged to producers, {} read back by consumers\n", "records",
                   grouped(totals.acked_records), grouped(totals.read_records));
    const Counts faults = sum_of(results, &ScenarioRow::faults);
    write_counts(out, "faults", faults);
    write_never(out, "never struck", faults);
    const Counts marks = sum_of(results, &ScenarioRow::marks);
    write_counts(out, "reached", marks);
    write_never(out, "not reached", marks);
    write_violations(out, results, replay_program);
    write_unsound(out, results, replay_program);
    write_verdict(out, results, totals, replay_program);
    return text;
}

}  // namespace tidelock::reports
