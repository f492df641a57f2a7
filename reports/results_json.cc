#include "reports/results_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/json_fields.h"

namespace tidelock::reports {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kFormat = "tidelock-results";
constexpr std::int64_t kVersion = 1;

double seconds_of(std::int64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

ordered_json violation_to_json(const Violation& violation) {
    return {{"seed", violation.seed},
            {"invariant", violation.invariant},
            {"time_ns", violation.time_ns},
            {"message", violation.message},
            {"replay", violation.replay}};
}

ordered_json row_to_json(const ScenarioRow& row) {
    ordered_json violations = ordered_json::array();
    for (const Violation& violation : row.violations) violations.push_back(violation_to_json(violation));
    ordered_json unsound = ordered_json::array();
    for (const UnsoundRun& run : row.unsound) {
        unsound.push_back({{"seed", run.seed}, {"why", run.why}, {"replay", run.replay}});
    }
    ordered_json object = {{"scenario", row.scenario},
                           {"replay_prefix", row.replay_prefix},
                           {"first_seed", row.first_seed},
                           {"last_seed", row.last_seed},
                           {"schedules", row.schedules},
                           {"violations", std::move(violations)},
                           {"unsound", std::move(unsound)},
                           {"events", row.events},
                           {"virtual_seconds", seconds_of(row.virtual_ns)},
                           {"wall_seconds", seconds_of(row.wall_ns)},
                           {"cpu_seconds", seconds_of(row.cpu_ns)},
                           {"acked_records", row.acked_records},
                           {"read_records", row.read_records},
                           {"skipped_elements", row.skipped_elements},
                           {"peak_memory_bytes", row.peak_memory_bytes},
                           {"faults", ordered_json::object()},
                           {"marks", ordered_json::object()},
                           {"digest", digest_text(row.digest)}};
    for (const auto& [kind, count] : row.faults) object["faults"][kind] = count;
    for (const auto& [name, count] : row.marks) object["marks"][name] = count;
    return object;
}

template <typename Finding>
void read_findings(JsonFields& row, std::string_view key, std::vector<Finding>& out,
                   Finding (*read)(JsonFields& fields)) {
    const json* list = row.array(key);
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
        JsonFields fields((*list)[i], row.path_of(key, i));
        out.push_back(read(fields));
        if (fields.error()) return row.fail_with(*fields.error());
    }
}

Violation read_violation(JsonFields& fields) {
    Violation violation;
    violation.seed = fields.unsigned_number("seed");
    violation.invariant = fields.text("invariant");
    violation.time_ns = fields.count("time_ns");
    violation.message = fields.text("message");
    violation.replay = fields.text("replay");
    return violation;
}

UnsoundRun read_unsound(JsonFields& fields) {
    UnsoundRun run;
    run.seed = fields.unsigned_number("seed");
    run.why = fields.text("why");
    run.replay = fields.text("replay");
    return run;
}

ScenarioRow read_row(JsonFields& fields) {
    ScenarioRow row;
    row.scenario = fields.text("scenario");
    // Earlier programs did not write it; there the name was all there was.
    row.replay_prefix = fields.optional_value("replay_prefix") == nullptr ? "tidelock replay " + row.scenario
                                                                          : fields.text("replay_prefix");
    row.first_seed = fields.unsigned_number("first_seed");
    row.last_seed = fields.unsigned_number("last_seed");
    row.schedules = fields.count("schedules");
    read_findings(fields, "violations", row.violations, &read_violation);
    read_findings(fields, "unsound", row.unsound, &read_unsound);
    row.events = fields.count("events");
    row.virtual_ns = fields.nanoseconds("virtual_seconds");
    row.wall_ns = fields.nanoseconds("wall_seconds");
    row.cpu_ns = fields.nanoseconds("cpu_seconds");
    row.acked_records = fields.count("acked_records");
    row.read_records = fields.count("read_records");
    row.skipped_elements = fields.count("skipped_elements");
    row.peak_memory_bytes = fields.count("peak_memory_bytes");
    row.faults = fields.counts("faults");
    row.marks = fields.counts("marks");
    row.digest = fields.digest("digest");
    if (row.first_seed > row.last_seed) fields.fail("first_seed", "is above last_seed");
    return row;
}

// Whether the last row is of the same scenario as an earlier one.
bool is_told_before(const std::vector<ScenarioRow>& rows) {
    return std::any_of(rows.begin(), rows.end() - 1,
                       [&](const ScenarioRow& row) { return row.scenario == rows.back().scenario; });
}

void read_builds(JsonFields& fields, Results& results) {
    const json* builds = fields.array("builds");
    if (builds == nullptr) return;
    for (std::size_t i = 0; i < builds->size(); ++i) {
        const json& build = (*builds)[i];
        if (!build.is_string()) return fields.fail(fmt::format("builds[{}]", i), "a string is wanted here");
        results.builds.push_back(build.get<std::string>());
    }
}

void read_shard(JsonFields& fields, Results& results) {
    const std::int64_t shard = fields.count("shard");
    const std::int64_t shards = fields.count("shards");
    if (shard < 1 || shards < shard || shards > INT32_MAX) {
        return fields.fail("shard", "must be between 1 and shards");
    }
    results.shard = static_cast<std::int32_t>(shard);
    results.shards = static_cast<std::int32_t>(shards);
}

void read_header(JsonFields& fields, Results& results) {
    if (fields.text("format") != kFormat) fields.fail("format", fmt::format("is not \"{}\"", kFormat));
    if (fields.count("version") != kVersion) {
        fields.fail("version", fmt::format("this program reads version {} only", kVersion));
    }
    read_builds(fields, results);
    results.complete = fields.boolean("complete");
    results.stopped_by = fields.text("stopped_by");
    const std::int64_t jobs = fields.count("jobs");
    if (jobs > 1'000'000) fields.fail("jobs", "is out of range");
    results.jobs = static_cast<std::int32_t>(jobs);
    read_shard(fields, results);
    results.elapsed_ns = fields.nanoseconds("elapsed_seconds");
    results.peak_worker_bytes = fields.count("peak_worker_bytes");
}

}  // namespace

std::string results_to_json(const Results& results) {
    ordered_json rows = ordered_json::array();
    for (const ScenarioRow& row : results.scenarios) rows.push_back(row_to_json(row));
    const ordered_json object = {{"format", kFormat},
                                 {"version", kVersion},
                                 {"builds", results.builds},
                                 {"complete", results.complete},
                                 {"stopped_by", results.stopped_by},
                                 {"jobs", results.jobs},
                                 {"shard", results.shard},
                                 {"shards", results.shards},
                                 {"elapsed_seconds", seconds_of(results.elapsed_ns)},
                                 {"peak_worker_bytes", results.peak_worker_bytes},
                                 {"scenarios", std::move(rows)}};
    // Messages may quote bytes from a wire or a disk: what is no UTF-8 is replaced, never thrown about.
    return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

tl::expected<Results, std::string> results_from_json(std::string_view text) {
    const tl::expected<json, std::string> object = parse_json(text);
    if (!object) return tl::unexpected(object.error());
    JsonFields fields(*object, "");
    Results results;
    read_header(fields, results);
    if (const json* rows = fields.array("scenarios")) {
        for (std::size_t i = 0; i < rows->size() && !fields.error(); ++i) {
            JsonFields row((*rows)[i], fields.path_of("scenarios", i));
            results.scenarios.push_back(read_row(row));
            if (is_told_before(results.scenarios)) row.fail("scenario", "is there twice: it would count twice");
            if (row.error()) fields.fail_with(*row.error());
        }
    }
    if (fields.error()) return tl::unexpected(*fields.error());
    return results;
}

}  // namespace tidelock::reports
