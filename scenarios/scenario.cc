#include "scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/embedded.h"
#include "scenarios/json_reader.h"

namespace tidelock::scenarios {

namespace {

using nlohmann::json;

constexpr Range kCountBounds{0, 1'000};
constexpr Range kPerMinuteBounds{0, 60'000};
constexpr Range kDurationBounds{0, 10'000'000};
constexpr Range kPermilleBounds{0, 1'000};
constexpr std::int64_t kDefaultPerMinute = 3;

bool is_group_of_settings(std::string_view path) {
    const std::string prefix = std::string(path) + ".";
    return std::any_of(all_settings().begin(), all_settings().end(),
                       [&prefix](const SettingInfo& info) { return info.path.starts_with(prefix); });
}

/// Everything but the keys that are no settings ("description", "faults"), which the top level takes out first.
void read_settings(const json& object, const std::string& path, SettingRanges& settings, Complaint& complaint) {
    if (!object.is_object()) {
        complaint.add(path, fmt::format("must be an object, not {}", object.type_name()));
        return;
    }
    for (const auto& [key, value] : object.items()) {
        if (path.empty() && (key == "description" || key == "faults")) continue;
        if (key.find('.') != std::string::npos) {
            complaint.add(path.empty() ? key : path + "." + key, "a dot in a key: write nested objects");
            continue;
        }
        const std::string key_path = path.empty() ? key : path + "." + key;
        if (const std::optional<Setting> setting = setting_of(key_path)) {
            read_setting_range(value, info_of(*setting), key_path, settings[*setting], complaint);
        } else if (is_group_of_settings(key_path)) {
            read_settings(value, key_path, settings, complaint);
        } else {
            complaint.add(key_path, "unknown key");
        }
    }
}

void read_fault(ObjectReader object, const FaultInfo& info, FaultConfig& fault) {
    fault.is_enabled = true;
    object.boolean("enabled", fault.is_enabled);
    object.range("count", kCountBounds, fault.count);
    object.integer("per_minute", kPerMinuteBounds, fault.per_minute);
    if (object.has("count") && object.has("per_minute")) object.complain("per_minute", "give this or count, not both");
    if (!object.has("count") && !object.has("per_minute")) fault.per_minute = kDefaultPerMinute;
    fault.duration_ms = info.duration_default_ms;
    const bool has_duration = info.duration_default_ms.max > 0;
    if (has_duration) object.range("duration_ms", kDurationBounds, fault.duration_ms);
    object.integer("budget", {0, 1'000'000}, fault.budget);
    object.integer("swarm_permille", kPermilleBounds, fault.swarm_permille);
    fault.size = info.size_default;
    if (!info.size_key.empty()) object.range(info.size_key, info.size_bounds, fault.size);
    object.finish();
}

void read_fault_section(ObjectReader section_object, FaultSection section, Scenario& scenario) {
    for (const FaultInfo& info : all_faults()) {
        if (info.section != section) continue;
        const json* value = section_object.member(info.name);
        if (value == nullptr) continue;
        read_fault(ObjectReader(*value, section_object.path_of(info.name), section_object.complaint()), info,
                   scenario.faults[static_cast<std::size_t>(info.kind)]);
    }
    section_object.finish();
}

void read_faults(const json& value, Scenario& scenario, Complaint& complaint) {
    ObjectReader faults(value, "faults", complaint);
    using enum FaultSection;
    for (const FaultSection section : {kNetwork, kProcess, kClock, kDisk, kOperator, kClient}) {
        const std::string_view name = name_of(section);
        if (const json* section_value = faults.member(name))
            read_fault_section(ObjectReader(*section_value, faults.path_of(name), complaint), section, scenario);
    }
    faults.finish();
}

/// Every value one range can give has to fit every value the other can.
void check_combinations(const Scenario& scenario, Complaint& complaint) {
    check_settings_agree(scenario.settings, "", complaint);
    const bool has_no_partition = scenario.settings[Setting::kTopics].min == 0;
    if (has_no_partition && scenario.settings[Setting::kProducers].max > 0)
        complaint.add(info_of(Setting::kProducers).path, "producers need a topic: topics.count may be 0");
    const bool is_static = scenario.settings[Setting::kPreset].min == kPresetStatic;
    if (is_static && scenario.fault(FaultKind::kEmptiedDisk).is_enabled &&
        scenario.settings[Setting::kUnlimitedFaults].max == 0)
        complaint.add("faults.disk.emptied", "nobody takes over in preset static: needs unlimited_faults");
}

/// A frozen minority has to be removed from the set (I2) before anything is confirmed: after `isr_lag_ms`, at the next
/// look a quarter of it later. A broker may keep a mixed configuration that doubles that. The rest is for an election
/// before and the verifier after.
void check_frozen_core(const Scenario& scenario, Complaint& complaint) {
    if (scenario.settings[Setting::kFrozenCorePermille].max == 0) return;
    constexpr std::int64_t kElectAndVerifyMs = 3'500;
    const std::int64_t scale = scenario.fault(FaultKind::kMixedConfiguration).is_enabled ? 2 : 1;
    const std::int64_t removal_ms = scenario.settings[Setting::kIsrLagMs].max * scale * 5 / 4;
    const std::int64_t heal_ms = scenario.settings[Setting::kHealSeconds].min * 1'000;
    if (removal_ms + kElectAndVerifyMs > heal_ms)
        complaint.add(info_of(Setting::kFrozenCorePermille).path,
                      fmt::format("the healthy majority may need {} ms to go on without the rest (broker.isr_lag_ms), "
                                  "timings.heal_seconds leaves {}",
                                  removal_ms + kElectAndVerifyMs, heal_ms));
}

}  // namespace

Result<Scenario, InputError> parse_scenario(std::string_view json_text, std::string_view name, std::string_view file) {
    const Result<json, InputError> value = parse_json(json_text, file);
    if (!value) return Failure<InputError>(value.error());
    Complaint complaint;
    Scenario scenario;
    scenario.name = std::string(name);
    ObjectReader top(*value, "", complaint);
    if (top.has("format"))
        top.complain("format", fmt::format("this is no scenario but a file of {}", (*value)["format"].dump()));
    top.string("description", scenario.description);
    read_settings(*value, "", scenario.settings, complaint);
    if (const json* faults = top.member("faults")) read_faults(*faults, scenario, complaint);
    if (complaint.is_empty()) check_combinations(scenario, complaint);
    if (complaint.is_empty()) check_frozen_core(scenario, complaint);
    if (!complaint.is_empty()) return Failure<InputError>({fmt::format("{}: {}", file, complaint.text())});
    return scenario;
}

Result<Scenario, InputError> load_scenario(std::string_view name) {
    for (const EmbeddedFile& file : embedded_scenarios())
        if (file.name == name) return parse_scenario(file.text, file.name, fmt::format("scenario {}", file.name));
    return Failure<InputError>(
        {fmt::format("'{}': no such scenario; built in are {} (a file: its path, with a / or .json)", name,
                     fmt::join(builtin_scenario_names(), ", "))});
}

bool is_scenario_path(std::string_view name_or_path) {
    return name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".json");
}

std::vector<std::string_view> builtin_scenario_names() {
    std::vector<std::string_view> names;
    for (const EmbeddedFile& file : embedded_scenarios()) names.push_back(file.name);
    return names;
}

}  // namespace tidelock::scenarios
