#include "reports/failure.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "reports/json_fields.h"

namespace tidelock::reports {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kFormat = "tidelock-failure";
constexpr std::int64_t kVersion = 1;

ordered_json plan_of(const std::string& plan_json) {
    if (plan_json.empty()) return nullptr;
    return ordered_json::parse(plan_json, nullptr, false);
}

void read_violations(JsonFields& fields, Failure& failure) {
    const json* list = fields.array("violations");
    if (list == nullptr) return;
    if (list->empty()) return fields.fail("violations", "at least one is wanted here");
    for (std::size_t i = 0; i < list->size(); ++i) {
        JsonFields entry((*list)[i], fields.path_of("violations", i));
        Violation violation;
        violation.seed = failure.seed;
        violation.invariant = entry.text("invariant");
        violation.time_ns = entry.count("time_ns");
        violation.message = entry.text("message");
        if (entry.error()) return fields.fail_with(*entry.error());
        failure.violations.push_back(std::move(violation));
    }
}

void read_plan(JsonFields& fields, Failure& failure) {
    const json* plan = fields.optional_value("plan");
    if (plan == nullptr) return fields.fail("plan", "is missing");
    if (plan->is_null()) return;
    if (!plan->is_object()) return fields.fail("plan", "an object is wanted here");
    failure.plan_json = plan->dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string failure_to_json(const Failure& failure) {
    ordered_json violations = ordered_json::array();
    for (const Violation& violation : failure.violations) {
        violations.push_back(
            {{"invariant", violation.invariant}, {"time_ns", violation.time_ns}, {"message", violation.message}});
    }
    const ordered_json object = {{"format", kFormat},
                                 {"version", kVersion},
                                 {"scenario", failure.scenario},
                                 {"seed", failure.seed},
                                 {"violations", std::move(violations)},
                                 {"digest", digest_text(failure.digest)},
                                 {"build", failure.build},
                                 {"plan", plan_of(failure.plan_json)}};
    return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

tl::expected<Failure, std::string> failure_from_json(std::string_view text) {
    const tl::expected<json, std::string> object = parse_json(text);
    if (!object) return tl::unexpected(object.error());
    JsonFields fields(*object, "");
    Failure failure;
    if (fields.text("format") != kFormat) fields.fail("format", fmt::format("is not \"{}\"", kFormat));
    if (fields.count("version") != kVersion) {
        fields.fail("version", fmt::format("this program reads version {} only", kVersion));
    }
    failure.scenario = fields.text("scenario");
    failure.seed = fields.unsigned_number("seed");
    read_violations(fields, failure);
    failure.digest = fields.digest("digest");
    failure.build = fields.text("build");
    read_plan(fields, failure);
    if (fields.error()) return tl::unexpected(*fields.error());
    return failure;
}

std::string failure_file_name(const Failure& failure) {
    const std::string invariant = failure.violations.empty() ? "" : failure.violations.front().invariant;
    std::string name = fmt::format("{}-{}-{}", failure.scenario, failure.seed, invariant);
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        if (!plain) c = '-';
    }
    return name.substr(0, 200) + ".json";
}

}  // namespace tidelock::reports
