/// A plan is what a seed means, written out: the configuration, every client, every fault with its time and target.
/// Runs, replays and shrinking work on plans. Taking an element out shifts nothing else: each element carries its own
/// `choice`, the seed of everything that is drawn for it while the plan runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/base/time.h"
#include "scenarios/fault_kind.h"
#include "scenarios/scenario.h"
#include "scenarios/settings.h"

namespace tidelock::scenarios {

/// What a producer asks for (A5).
enum class PlannedAcks : std::uint8_t { kNone, kLeader, kAll };

struct ProducerPlan {
    std::int32_t id = 0;  // its number; names its host and its random streams
    bool is_idempotent = false;
    PlannedAcks acks = PlannedAcks::kAll;
    std::int64_t interval_ms = 0;  // between calls, on average
    std::int64_t records_per_call = 1;
    std::int64_t in_flight_max = 1;  // batches under way together, to one partition; more than one needs an id
    bool operator==(const ProducerPlan&) const = default;
};
struct ConsumerPlan {
    std::int32_t id = 0;
    std::int64_t poll_wait_ms = 0;
    bool operator==(const ConsumerPlan&) const = default;
};
struct CommitterPlan {
    std::int32_t id = 0;  // also its consumer group
    std::int64_t interval_ms = 0;
    bool operator==(const CommitterPlan&) const = default;
};
struct MemberPlan {
    std::int32_t id = 0;
    std::int32_t group = 1;  // number of its consumer group
    bool is_static = false;  // its name in the group outlives it
    bool operator==(const MemberPlan&) const = default;
};
struct PollerPlan {
    std::int32_t id = 0;
    std::int64_t interval_ms = 0;
    bool operator==(const PollerPlan&) const = default;
};

/// Whom a fault strikes; roles are looked up when it fires.
enum class Aim : std::uint8_t { kBroker, kLeader, kInSyncFollower, kLaggard };

struct PlannedFault {
    std::int32_t id = 0;  // unique in the plan, kept when others are taken out
    FaultKind kind = FaultKind::kKill;
    std::int64_t at_ms = 0;        // virtual, from the start
    std::int64_t duration_ms = 0;  // 0: happens at once
    Aim aim = Aim::kBroker;
    std::int32_t broker = 1;   // 1 and up; for kBroker, and when the role is nobody's
    std::int64_t size = 0;     // FaultInfo::size_key
    std::uint64_t choice = 0;  // seed of what is drawn when it fires
    bool operator==(const PlannedFault&) const = default;
};

struct Plan {
    std::string scenario;
    std::uint64_t seed = 0;
    Settings settings;
    std::vector<ProducerPlan> producers;
    std::vector<ConsumerPlan> consumers;
    std::vector<CommitterPlan> committers;
    std::vector<MemberPlan> members;
    std::vector<PollerPlan> pollers;
    std::vector<PollerPlan> coordinator_pollers;
    std::vector<PlannedFault> faults;  // by time, then id
    bool heals_core_only = false;      // the heal point leaves a minority cut off
    std::vector<std::string> skipped;  // what a read plan held and this build does not know
    bool operator==(const Plan&) const = default;
};

/// What the seed means under the scenario. Same input, same plan, on every compiler.
Plan generate(const Scenario& scenario, std::uint64_t seed);

/// JSON text, one fault a line. Failure files contain it.
std::string to_json(const Plan& plan);
/// Reads what `to_json` wrote. Elements this build does not know are left out and listed in `skipped`; anything
/// malformed is refused with the path of the key, below "FILE: plan".
Result<Plan, InputError> parse_plan(std::string_view json_text, std::string_view file);

/// "leader", "none" ...: the words plans use.
std::string_view name_of(Aim aim);
std::string_view name_of(PlannedAcks acks);

}  // namespace tidelock::scenarios
