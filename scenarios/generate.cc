// From a scenario and a seed to a plan. Every draw comes from a stream named by what it is for, so that switching a
// fault or a client on or off leaves all the others as they were.
#include <algorithm>

#include "scenarios/plan.h"
#include "sim/rng.h"

namespace tidelock::scenarios {

namespace {

constexpr std::int64_t kMsPerSecond = 1'000;
constexpr std::int64_t kSecondsPerMinute = 60;
/// The cluster forms and the topics appear before the first fault; half of the schedules give it less time than that.
constexpr std::int64_t kQuietStartMs = 1'500;

std::int64_t draw(sim::Rng& rng, const Range& range) {
    return range.min == range.max ? range.min : rng.between(range.min, range.max);
}

bool permille(sim::Rng& rng, std::int64_t chance) {
    return rng.between(0, 999) < chance;
}

Settings draw_settings(const SettingRanges& ranges, std::uint64_t seed) {
    Settings settings;
    for (const SettingInfo& info : all_settings()) {
        sim::Rng rng(seed, info.path, 0);
        settings[info.setting] = draw(rng, ranges[info.setting]);
    }
    if (settings[Setting::kMinInsyncReplicas] == 0) {
        const bool is_group = settings[Setting::kPreset] == kPresetGroup;
        settings[Setting::kMinInsyncReplicas] = is_group ? settings[Setting::kBrokers] / 2 + 1 : 1;
    }
    return settings;
}

PlannedAcks draw_acks(sim::Rng& rng, const Settings& settings) {
    const std::int64_t drawn = rng.between(0, 999);
    if (drawn < settings[Setting::kAcksAllPermille]) return PlannedAcks::kAll;
    const std::int64_t leader_end = settings[Setting::kAcksAllPermille] + settings[Setting::kAcksLeaderPermille];
    return drawn < leader_end ? PlannedAcks::kLeader : PlannedAcks::kNone;
}

void add_clients(Plan& plan) {
    const Settings& settings = plan.settings;
    for (std::int32_t id = 1; id <= settings[Setting::kProducers]; ++id) {
        sim::Rng rng(plan.seed, "producer-plan", static_cast<std::uint64_t>(id));
        ProducerPlan producer{.id = id};
        producer.is_idempotent = permille(rng, settings[Setting::kIdempotentPermille]);
        producer.acks = draw_acks(rng, settings);
        producer.interval_ms = settings[Setting::kProduceIntervalMs];
        producer.records_per_call = settings[Setting::kRecordsPerCall];
        if (producer.is_idempotent) producer.in_flight_max = draw(rng, {1, settings[Setting::kInFlightMax]});
        plan.producers.push_back(producer);
    }
    for (std::int32_t id = 1; id <= settings[Setting::kConsumers]; ++id)
        plan.consumers.push_back({id, settings[Setting::kPollWaitMs]});
    for (std::int32_t id = 1; id <= settings[Setting::kCommitters]; ++id)
        plan.committers.push_back({id, settings[Setting::kCommitIntervalMs]});
    for (std::int32_t id = 1; id <= settings[Setting::kGroups] * settings[Setting::kGroupMembers]; ++id) {
        sim::Rng rng(plan.seed, "member-plan", static_cast<std::uint64_t>(id));
        const auto group = static_cast<std::int32_t>(1 + (id - 1) % settings[Setting::kGroups]);
        plan.members.push_back({id, group, permille(rng, settings[Setting::kStaticMembersPermille])});
    }
    for (std::int32_t id = 1; id <= settings[Setting::kStatusPollers]; ++id)
        plan.pollers.push_back({id, settings[Setting::kStatusIntervalMs]});
    for (std::int32_t id = 1; id <= settings[Setting::kCoordinatorPollers]; ++id)
        plan.coordinator_pollers.push_back({id, settings[Setting::kCoordinatorIntervalMs]});
}

Aim draw_aim(sim::Rng& rng) {
    const std::int64_t drawn = rng.between(0, 99);
    if (drawn < 35) return Aim::kLeader;
    if (drawn < 60) return Aim::kInSyncFollower;
    return drawn < 70 ? Aim::kLaggard : Aim::kBroker;
}

PlannedFault draw_fault(const Plan& plan, const FaultConfig& config, FaultKind kind, std::int64_t number) {
    const std::uint64_t entity = static_cast<std::uint64_t>(kind) * 100'000 + static_cast<std::uint64_t>(number);
    sim::Rng rng(plan.seed, "fault", entity);
    const std::int64_t chaos_ms = plan.settings[Setting::kChaosSeconds] * kMsPerSecond;
    const std::int64_t start_ms = std::min(permille(rng, 500) ? kQuietStartMs : 0, chaos_ms / 2);
    PlannedFault fault{.id = static_cast<std::int32_t>(entity), .kind = kind};
    fault.at_ms = rng.between(start_ms, chaos_ms - 1);
    fault.duration_ms = draw(rng, config.duration_ms);
    fault.aim = draw_aim(rng);
    fault.broker = static_cast<std::int32_t>(rng.between(1, plan.settings[Setting::kBrokers]));
    fault.size = draw(rng, config.size);
    fault.choice = rng.next();
    return fault;
}

std::int64_t draw_count(const Plan& plan, const FaultConfig& config, FaultKind kind) {
    sim::Rng rng(plan.seed, "fault-count", static_cast<std::uint64_t>(kind));
    const bool is_in_swarm = permille(rng, config.swarm_permille);
    std::int64_t count = 0;
    if (config.per_minute > 0) {
        // Expected number in sixtieths; the rest that makes no whole fault is a chance for one more.
        const std::int64_t sixtieths = config.per_minute * plan.settings[Setting::kChaosSeconds];
        const bool is_rounded_up = rng.between(0, kSecondsPerMinute - 1) < sixtieths % kSecondsPerMinute;
        const std::int64_t expected = sixtieths / kSecondsPerMinute + (is_rounded_up ? 1 : 0);
        // Half of the schedules deviate from the expectation: up to twice as many, down to none.
        count = permille(rng, 500) ? expected : rng.between(0, 2 * expected);
    } else {
        count = draw(rng, config.count);
    }
    return is_in_swarm ? std::min(count, config.budget) : 0;
}

void add_faults(Plan& plan, const Scenario& scenario) {
    for (const FaultInfo& info : all_faults()) {
        FaultConfig config = scenario.fault(info.kind);
        if (!config.is_enabled) continue;
        if (config.swarm_permille < 0) config.swarm_permille = plan.settings[Setting::kSwarmFaultPermille];
        const std::int64_t count = draw_count(plan, config, info.kind);
        for (std::int64_t number = 0; number < count; ++number)
            plan.faults.push_back(draw_fault(plan, config, info.kind, number));
    }
    std::sort(plan.faults.begin(), plan.faults.end(), [](const PlannedFault& one, const PlannedFault& other) {
        return one.at_ms != other.at_ms ? one.at_ms < other.at_ms : one.id < other.id;
    });
}

}  // namespace

Plan generate(const Scenario& scenario, std::uint64_t seed) {
    Plan plan;
    plan.scenario = scenario.name;
    plan.seed = seed;
    plan.settings = draw_settings(scenario.settings, seed);
    add_clients(plan);
    add_faults(plan, scenario);
    sim::Rng rng(seed, "heal", 0);
    plan.heals_core_only = permille(rng, plan.settings[Setting::kFrozenCorePermille]);
    return plan;
}

}  // namespace tidelock::scenarios
