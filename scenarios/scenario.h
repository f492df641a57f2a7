/// What a campaign tries: ranges of settings, and which faults how often. A scenario and a seed give a plan. Scenarios
/// are JSON (comments allowed); README.md lists every key. Bad input is refused with the file and the path of the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "scenarios/fault_kind.h"
#include "scenarios/settings.h"

namespace tidelock::scenarios {

/// How often a fault falls, for how long and how hard. All ranges are closed; each fault draws its own value.
struct FaultConfig {
    bool is_enabled = false;
    Range count{0, 0};                 // faults a schedule, drawn a seed; unused when per_minute is set
    std::int64_t per_minute = 0;       // expected faults a virtual minute of chaos
    Range duration_ms{0, 0};           // {0, 0} for faults that happen at once
    Range size{0, 0};                  // unit: FaultInfo::size_key
    std::int64_t budget = 1'000;       // most that fire in one schedule
    std::int64_t swarm_permille = -1;  // chance that a seed has this fault at all; -1: swarm.fault_permille
    bool operator==(const FaultConfig&) const = default;
};

struct Scenario {
    std::string name;  // file name without folder and ".json"
    std::string description;
    SettingRanges settings;
    std::array<FaultConfig, kFaultKindCount> faults{};
    [[nodiscard]] const FaultConfig& fault(FaultKind kind) const { return faults[static_cast<std::size_t>(kind)]; }
    bool operator==(const Scenario&) const = default;
};

/// Why input was refused: "FILE: KEY.PATH: what is wrong".
struct InputError {
    std::string text;
    bool operator==(const InputError&) const = default;
};

/// Reads one scenario from JSON text; `file` names it in errors.
Result<Scenario, InputError> parse_scenario(std::string_view json_text, std::string_view name, std::string_view file);

/// A built-in scenario by its name.
Result<Scenario, InputError> load_scenario(std::string_view name);

/// Whether a word means a file rather than a built-in scenario: it has a "/" or ends in ".json".
bool is_scenario_path(std::string_view name_or_path);

/// Names of the built-in scenarios, sorted.
std::vector<std::string_view> builtin_scenario_names();

}  // namespace tidelock::scenarios
