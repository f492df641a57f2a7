// Plans as JSON, both ways. Written by hand where a line a fault reads better than nlohmann's layouts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "scenarios/json_reader.h"
#include "scenarios/plan.h"

namespace tidelock::scenarios {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kAimNames{"broker", "leader", "in_sync_follower", "laggard"};
constexpr std::array<std::string_view, 3> kAcksNames{"none", "leader", "all"};
constexpr Range kIdBounds{0, 2'000'000'000};
constexpr Range kClientIdBounds{1, 99};  // each kind of client has a hundred hosts (cluster.h)
constexpr Range kMsBounds{0, 1'000'000'000'000};
constexpr Range kAnyNumber{INT64_MIN, INT64_MAX};

std::string json_string(std::string_view text) {
    return json(std::string(text)).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string setting_text(const SettingInfo& info, std::int64_t value) {
    if (info.type == SettingType::kSwitch) return value == 0 ? "false" : "true";
    if (info.type == SettingType::kChoice) return json_string(info.choices[static_cast<std::size_t>(value)]);
    return fmt::format("{}", value);
}

std::string lines_of(const std::vector<std::string>& rows) {
    return rows.empty() ? "[]" : fmt::format("[\n    {}\n  ]", fmt::join(rows, ",\n    "));
}

std::string settings_json(const Settings& settings) {
    std::vector<std::string> rows;
    for (const SettingInfo& info : all_settings())
        rows.push_back(fmt::format("{}: {}", json_string(info.path), setting_text(info, settings[info.setting])));
    return fmt::format("{{\n    {}\n  }}", fmt::join(rows, ",\n    "));
}

std::string to_text(const ProducerPlan& producer) {
    return fmt::format(
        R"({{"id": {}, "idempotent": {}, "acks": "{}", "interval_ms": {}, "records_per_call": {}, "in_flight_max": {}}})",
        producer.id, producer.is_idempotent, name_of(producer.acks), producer.interval_ms, producer.records_per_call,
        producer.in_flight_max);
}
std::string to_text(const ConsumerPlan& consumer) {
    return fmt::format(R"({{"id": {}, "poll_wait_ms": {}}})", consumer.id, consumer.poll_wait_ms);
}
std::string to_text(const CommitterPlan& committer) {
    return fmt::format(R"({{"id": {}, "interval_ms": {}}})", committer.id, committer.interval_ms);
}
std::string to_text(const MemberPlan& member) {
    return fmt::format(R"({{"id": {}, "group": {}, "static": {}}})", member.id, member.group, member.is_static);
}
std::string to_text(const PollerPlan& poller) {
    return fmt::format(R"({{"id": {}, "interval_ms": {}}})", poller.id, poller.interval_ms);
}
std::string to_text(const PlannedFault& fault) {
    return fmt::format(
        R"({{"id": {}, "fault": "{}", "at_ms": {}, "duration_ms": {}, "aim": "{}", "broker": {}, "size": {}, "choice": "{}"}})",
        fault.id, full_name_of(fault.kind), fault.at_ms, fault.duration_ms, name_of(fault.aim), fault.broker,
        fault.size, fault.choice);
}

template <typename Element>
std::string list_json(const std::vector<Element>& elements) {
    std::vector<std::string> rows;
    for (const Element& element : elements) rows.push_back(to_text(element));
    return lines_of(rows);
}

// --- reading --------------------------------------------------------------------------------------------------------

void read_id(ObjectReader& object, Range bounds, std::int32_t& out) {
    std::int64_t id = out;
    object.require("id");
    object.integer("id", bounds, id);
    out = static_cast<std::int32_t>(id);
}

bool read(ObjectReader& object, ProducerPlan& producer, Plan&) {
    read_id(object, kClientIdBounds, producer.id);
    object.boolean("idempotent", producer.is_idempotent);
    std::int64_t acks = static_cast<std::int64_t>(producer.acks);
    object.choice("acks", kAcksNames, acks);
    producer.acks = static_cast<PlannedAcks>(acks);
    object.require("interval_ms");
    object.integer("interval_ms", {1, kMsBounds.max}, producer.interval_ms);
    object.integer("records_per_call", {1, 1'000}, producer.records_per_call);
    object.integer("in_flight_max", {1, info_of(Setting::kInFlightMax).max}, producer.in_flight_max);
    return true;
}
bool read(ObjectReader& object, ConsumerPlan& consumer, Plan&) {
    read_id(object, kClientIdBounds, consumer.id);
    object.require("poll_wait_ms");
    object.integer("poll_wait_ms", {1, kMsBounds.max}, consumer.poll_wait_ms);
    return true;
}
bool read(ObjectReader& object, CommitterPlan& committer, Plan&) {
    read_id(object, kClientIdBounds, committer.id);
    object.require("interval_ms");
    object.integer("interval_ms", {1, kMsBounds.max}, committer.interval_ms);
    return true;
}
bool read(ObjectReader& object, MemberPlan& member, Plan&) {
    read_id(object, kClientIdBounds, member.id);
    std::int64_t group = member.group;
    object.require("group");
    object.integer("group", {1, info_of(Setting::kGroups).max}, group);
    member.group = static_cast<std::int32_t>(group);
    object.boolean("static", member.is_static);
    return true;
}
bool read(ObjectReader& object, PollerPlan& poller, Plan&) {
    read_id(object, kClientIdBounds, poller.id);
    object.require("interval_ms");
    object.integer("interval_ms", {1, kMsBounds.max}, poller.interval_ms);
    return true;
}

/// False for a fault this build does not know, or one aimed at a broker the plan does not have.
bool read(ObjectReader& object, PlannedFault& fault, Plan& plan) {
    std::string name;
    object.require("fault");
    object.string("fault", name);
    read_id(object, kIdBounds, fault.id);
    object.require("at_ms");
    object.integer("at_ms", kMsBounds, fault.at_ms);
    object.integer("duration_ms", kMsBounds, fault.duration_ms);
    std::int64_t aim = static_cast<std::int64_t>(fault.aim);
    object.choice("aim", kAimNames, aim);
    fault.aim = static_cast<Aim>(aim);
    std::int64_t broker = fault.broker;
    object.integer("broker", {1, info_of(Setting::kBrokers).max}, broker);
    fault.broker = static_cast<std::int32_t>(broker);
    object.integer("size", kAnyNumber, fault.size);  // a kind this build knows bounds it more tightly below
    object.unsigned64("choice", fault.choice);
    const std::optional<FaultKind> kind = fault_kind_of(name);
    if (!kind) {
        plan.skipped.push_back(fmt::format("fault {} of unknown kind \"{}\"", fault.id, name));
        return false;
    }
    fault.kind = *kind;
    const FaultInfo& info = info_of(*kind);
    if (!info.size_key.empty()) {
        fault.size = info.size_default.min;
        object.integer("size", info.size_bounds, fault.size);
    }
    if (broker <= plan.settings[Setting::kBrokers]) return true;
    plan.skipped.push_back(fmt::format("fault {} aimed at broker {}, which is not there", fault.id, broker));
    return false;
}

SettingRanges ranges_of(const Settings& settings) {
    SettingRanges ranges;
    for (const SettingInfo& info : all_settings())
        ranges[info.setting] = {settings[info.setting], settings[info.setting]};
    return ranges;
}

template <typename Element>
void read_list(ObjectReader& plan_object, std::string_view key, std::vector<Element>& out, Plan& plan) {
    const json* list = plan_object.member(key);
    if (list == nullptr) return;
    if (!list->is_array()) {
        plan_object.complain(key, fmt::format("must be a list, not {}", list->type_name()));
        return;
    }
    std::set<std::int32_t> ids;
    for (std::size_t i = 0; i < list->size(); ++i) {
        ObjectReader object((*list)[i], fmt::format("{}[{}]", plan_object.path_of(key), i), plan_object.complaint());
        Element element;
        const bool fits = read(object, element, plan);
        object.finish();
        if (!ids.insert(element.id).second) object.complain("id", fmt::format("{} is given twice", element.id));
        if (fits) out.push_back(element);
    }
}

void read_settings(ObjectReader& plan_object, Plan& plan) {
    const json* settings = plan_object.member("settings");
    if (settings == nullptr) return;
    if (!settings->is_object()) {
        plan_object.complain("settings", fmt::format("must be an object, not {}", settings->type_name()));
        return;
    }
    for (const auto& [path, value] : settings->items()) {
        const std::optional<Setting> setting = setting_of(path);
        if (!setting) {
            plan.skipped.push_back(fmt::format("setting \"{}\"", path));
            continue;
        }
        Range read_value{plan.settings[*setting], plan.settings[*setting]};
        const std::string key_path = plan_object.path_of("settings") + "." + path;
        read_setting_range(value, info_of(*setting), key_path, read_value, plan_object.complaint());
        if (read_value.min != read_value.max)
            plan_object.complaint().add(key_path, "a plan holds one value, not a range");
        plan.settings[*setting] = read_value.min;
    }
}

}  // namespace

std::string_view name_of(Aim aim) {
    return kAimNames[static_cast<std::size_t>(aim)];
}

std::string_view name_of(PlannedAcks acks) {
    return kAcksNames[static_cast<std::size_t>(acks)];
}

std::string to_json(const Plan& plan) {
    std::string text = "{\n";
    text += fmt::format("  \"scenario\": {},\n  \"seed\": \"{}\",\n", json_string(plan.scenario), plan.seed);
    text += fmt::format("  \"heals_core_only\": {},\n", plan.heals_core_only);
    text += fmt::format("  \"settings\": {},\n", settings_json(plan.settings));
    text += fmt::format("  \"producers\": {},\n", list_json(plan.producers));
    text += fmt::format("  \"consumers\": {},\n", list_json(plan.consumers));
    text += fmt::format("  \"committers\": {},\n", list_json(plan.committers));
    text += fmt::format("  \"members\": {},\n", list_json(plan.members));
    text += fmt::format("  \"pollers\": {},\n", list_json(plan.pollers));
    text += fmt::format("  \"coordinator_pollers\": {},\n", list_json(plan.coordinator_pollers));
    text += fmt::format("  \"faults\": {}\n}}\n", list_json(plan.faults));
    return text;
}

Result<Plan, InputError> parse_plan(std::string_view json_text, std::string_view file) {
    const Result<json, InputError> value = parse_json(json_text, file);
    if (!value) return Failure<InputError>(value.error());
    Complaint complaint;
    Plan plan;
    ObjectReader object(*value, "plan", complaint);
    object.require("scenario");
    object.string("scenario", plan.scenario);
    object.require("seed");
    object.unsigned64("seed", plan.seed);
    object.boolean("heals_core_only", plan.heals_core_only);
    object.require("settings");
    read_settings(object, plan);
    check_settings_agree(ranges_of(plan.settings), object.path_of("settings") + ".", complaint);
    read_list(object, "producers", plan.producers, plan);
    read_list(object, "consumers", plan.consumers, plan);
    read_list(object, "committers", plan.committers, plan);
    read_list(object, "members", plan.members, plan);
    read_list(object, "pollers", plan.pollers, plan);
    read_list(object, "coordinator_pollers", plan.coordinator_pollers, plan);
    read_list(object, "faults", plan.faults, plan);
    object.finish();
    if (!complaint.is_empty()) return Failure<InputError>({fmt::format("{}: {}", file, complaint.text())});
    return plan;
}

}  // namespace tidelock::scenarios
