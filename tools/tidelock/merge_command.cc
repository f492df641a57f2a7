#include <fmt/core.h>

#include <optional>

#include "reports/results_json.h"
#include "reports/summary.h"
#include "tools/tidelock/commands.h"
#include "tools/tidelock/file_io.h"
#include "tools/tidelock/output.h"

namespace tidelock::tools {

namespace {

using reports::Results;
using reports::ScenarioRow;

struct Input {
    std::string path;
    Results results;
};

std::optional<Results> read_results(const std::string& path) {
    const tl::expected<std::string, FileError> text = read_file(path);
    if (!text) {
        complain(text.error());
        return std::nullopt;
    }
    tl::expected<Results, std::string> results = reports::results_from_json(*text);
    if (results) return std::move(*results);
    complain(fmt::format("{}: {}", path, results.error()));
    return std::nullopt;
}

const ScenarioRow* row_of(const Results& results, const std::string& scenario) {
    for (const ScenarioRow& row : results.scenarios) {
        if (row.scenario == scenario) return &row;
    }
    return nullptr;
}

// Different shards of one division share no seed; all else shares those where the seed ranges meet.
bool may_overlap(const Results& a, const Results& b, const std::string& scenario) {
    if (a.shards == b.shards && a.shard != b.shard) return false;
    const ScenarioRow* row_a = row_of(a, scenario);
    const ScenarioRow* row_b = row_of(b, scenario);
    if (row_a == nullptr || row_b == nullptr || row_a->schedules == 0 || row_b->schedules == 0) return false;
    return row_a->first_seed <= row_b->last_seed && row_b->first_seed <= row_a->last_seed;
}

bool are_disjoint(const Input& a, const Input& b) {
    for (const ScenarioRow& row : a.results.scenarios) {
        if (!may_overlap(a.results, b.results, row.scenario)) continue;
        complain(
            fmt::format("{} and {} hold the same seeds of {}: they would count twice", a.path, b.path, row.scenario));
        return false;
    }
    return true;
}

std::optional<std::vector<Input>> read_inputs(const std::vector<std::string>& paths) {
    std::vector<Input> inputs;
    for (const std::string& path : paths) {
        std::optional<Results> results = read_results(path);
        if (!results) return std::nullopt;
        inputs.push_back({path, std::move(*results)});
        for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
            if (!are_disjoint(inputs[i], inputs.back())) return std::nullopt;
        }
    }
    return inputs;
}

}  // namespace

int merge_command(const MergeOptions& options, const std::string& program) {
    const std::optional<std::vector<Input>> inputs = read_inputs(options.inputs);
    if (!inputs || !can_write_results(options.results)) {
        return static_cast<int>(ExitStatus::kWrongUse);
    }
    std::vector<Results> parts;
    for (const Input& input : *inputs) parts.push_back(input.results);
    const Results whole = reports::join(parts);
    if (whole.builds.size() > 1)
        complain("the results come from different builds; their sum says less than it seems to");
    const bool written = write_results(whole, options.results, reports::summary_text(whole, program));
    const ExitStatus status = status_of(whole);
    return static_cast<int>(status == ExitStatus::kClean && !written ? ExitStatus::kUnsound : status);
}

}  // namespace tidelock::tools
