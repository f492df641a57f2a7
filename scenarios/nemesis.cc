#include "scenarios/nemesis.h"

#include "scenarios/client_orders.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::scenarios {
namespace {

/// A member with a hanging disk lags from the first record on that it cannot make durable. That may come only when a
/// dead one has been removed, so the set may need its lag twice before it is rid of both (I2, I3).
bool has_time_for_hung_disk(const Plan& plan) {
    constexpr std::int64_t kElectionMs = 2'000;
    constexpr std::int64_t kRetryMs = 3'000;
    const bool is_mixed = std::ranges::any_of(
        plan.faults, [](const PlannedFault& fault) { return fault.kind == FaultKind::kMixedConfiguration; });
    const std::int64_t heal_ms = plan.settings[Setting::kHealSeconds] * 1'000;
    const std::int64_t removal_ms = plan.settings[Setting::kIsrLagMs] * (is_mixed ? 2 : 1) * 5 / 4;
    const std::int64_t first_record_ms = std::max(heal_ms * 4 / 10, kElectionMs + removal_ms);
    return heal_ms - first_record_ms >= removal_ms + kRetryMs;
}

}  // namespace

Nemesis::Nemesis(Cluster& cluster)
    : cluster_(cluster),
      world_(cluster.world()),
      roles_(cluster),
      last_promised_(static_cast<std::size_t>(cluster.broker_count())),
      restart_after_(static_cast<std::size_t>(cluster.broker_count())) {
    for (std::size_t i = 0; i < sim::kFaultKindCount; ++i)
        background_[i] = world_.faults().rate(static_cast<sim::FaultKind>(i));
    cluster.set_watcher([this](BrokerId broker, const broker::Observation& seen) { on_observation(broker, seen); });
    cluster.set_file_watcher(
        [this](BrokerId broker, const storage::FileEffect& effect) { on_file_effect(broker, effect); });
    cluster.set_first_boot_watcher([this](BrokerId broker) { on_first_boot(broker); });
    cluster.set_death_watcher([this](BrokerId broker) { on_death(broker); });
}

void Nemesis::schedule_faults() {
    for (const PlannedFault& fault : cluster_.plan().faults) {
        if (fault.kind == FaultKind::kTransferLeadership)
            world_.call_at(sim::TimeNs(0) + milliseconds(fault.at_ms), [this, &fault] { disturb_transfer(fault); });
        if (info_of(fault.kind).section == FaultSection::kOperator && fault.kind != FaultKind::kCommandRole) continue;
        // Most first boots are the first thing that happens at all.
        if (fault.kind == FaultKind::kPowerLossAtFirstBoot || fault.kind == FaultKind::kCutOffWhileForming) {
            arm_first_boot(fault);
            continue;
        }
        world_.call_at(sim::TimeNs(0) + milliseconds(fault.at_ms), [this, &fault] {
            if (!is_healed_) fire(fault);
        });
    }
}

/// The administrator asks for the transfer; now and then somebody whom the lead may go to stands still meanwhile.
void Nemesis::disturb_transfer(const PlannedFault& fault) {
    sim::Rng random(fault.choice, "transfer disturbed", 0);
    const std::optional<BrokerId> leader = cluster_.leader();
    if (random.below(3) != 0 || !leader || cluster_.broker_count() < 2) return;
    const std::vector<BrokerId> others = others_of(*leader);
    const sim::HostId victim = host_of(others[random.below(others.size())]);
    const Duration lasts = milliseconds(random.between(300, 2'500));
    later(microseconds(random.between(0, 15'000)), [this, victim, lasts] {
        world_.pause(victim);
        later(lasts, [this, victim] { world_.resume(victim); });
    });
}

void Nemesis::fire(const PlannedFault& fault) {
    sim::Rng random(fault.choice);
    switch (info_of(fault.kind).section) {
        case FaultSection::kNetwork:
            return fire_network(fault, random);
        case FaultSection::kProcess:
            return fire_process(fault, random);
        case FaultSection::kClock:
            return fire_clock(fault, random);
        case FaultSection::kDisk:
            return fire_disk(fault, random);
        case FaultSection::kClient:
            return fire_client(fault, random);
        case FaultSection::kOperator:
            return roles_.change(fault, random);
    }
}

BrokerId Nemesis::victim_of(const PlannedFault& fault, sim::Rng& random) const {
    const std::uint64_t drawn = random.next();  // taken whatever the aim, so that the aim shifts nothing
    const BrokerId fallback(fault.broker);
    if (fault.aim == Aim::kBroker) return fallback;
    const std::optional<BrokerId> leader = cluster_.leader();
    if (!leader) return fallback;
    if (fault.aim == Aim::kLeader) return *leader;
    const bool wants_in_sync = fault.aim == Aim::kInSyncFollower;
    std::vector<BrokerId> candidates;
    for (const BrokerId broker : others_of(*leader))
        if (cluster_.is_in_sync(broker) == wants_in_sync) candidates.push_back(broker);
    return candidates.empty() ? fallback : candidates[sim::scaled_below(drawn, candidates.size())];
}

std::vector<BrokerId> Nemesis::others_of(BrokerId broker) const {
    std::vector<BrokerId> others;
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
        if (id != broker.value) others.emplace_back(id);
    return others;
}

std::vector<BrokerId> Nemesis::group_around(BrokerId victim, std::int64_t size, sim::Rng& random) const {
    std::vector<BrokerId> group{victim};
    std::vector<BrokerId> others = others_of(victim);
    while (static_cast<std::int64_t>(group.size()) < size && !others.empty()) {
        const std::size_t pick = random.below(others.size());
        group.push_back(others[pick]);
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    return group;
}

std::vector<sim::HostId> Nemesis::hosts_of(const std::vector<BrokerId>& brokers) const {
    std::vector<sim::HostId> hosts;
    for (const BrokerId broker : brokers) hosts.push_back(host_of(broker));
    return hosts;
}

void Nemesis::later(Duration after, std::function<void()> action) {
    world_.call_at(world_.now() + after, [this, action = std::move(action)] {
        if (!is_healed_) action();
    });
}

void Nemesis::withhold(const PlannedFault& fault, std::string_view why) {
    ++withheld_;
    trace(fault, fmt::format("withheld: {}", why));
}

void Nemesis::trace(const PlannedFault& fault, std::string_view text) {
    if (!world_.is_traced()) return;
    world_.note(sim::kNoHost, sim::TraceKind::kFault, fmt::format("{} {}", full_name_of(fault.kind), text));
}

// --- clients
// ----------------------------------------------------------------------------------------------------------

void Nemesis::fire_client(const PlannedFault& fault, sim::Rng& random) {
    if (!order_client(cluster_.workload(), fault, world_.now().value, random))
        return withhold(fault, "there is no such client");
    trace(fault, "ordered");
}

// --- clocks
// -----------------------------------------------------------------------------------------------------------

void Nemesis::fire_clock(const PlannedFault& fault, sim::Rng& random) {
    const BrokerId victim = victim_of(fault, random);
    const sim::HostId host = host_of(victim);
    const bool is_negative = random.below(2) == 0;
    trace(fault, fmt::format("on broker {}", victim.value));
    if (fault.kind == FaultKind::kWallJump) {
        world_.jump_wall_clock(host, milliseconds(is_negative ? -fault.size : fault.size));
        return;
    }
    if (fault.kind == FaultKind::kClockFreeze) {
        world_.freeze_clock(host);
        later(milliseconds(fault.duration_ms), [this, host] { world_.unfreeze_clock(host); });
        return;
    }
    const std::int32_t usual = broker_host_config(cluster_.plan(), victim).clock_drift_ppm;
    const std::int64_t drift = std::max<std::int64_t>(is_negative ? -fault.size : fault.size, -900'000);
    if (!world_.set_clock_drift(host, static_cast<std::int32_t>(drift))) return;
    if (fault.kind == FaultKind::kClockDriftBeyondBound) cluster_.count_fault(fault.kind);
    later(milliseconds(fault.duration_ms), [this, host, usual] { world_.set_clock_drift(host, usual); });
}

// --- the heal point
// ---------------------------------------------------------------------------------------------------

void Nemesis::heal() {
    is_healed_ = true;
    armed_.clear();
    armed_power_.clear();
    first_boots_.clear();
    strikes_.clear();
    bool is_anybody_unwell = false;
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
        is_anybody_unwell = is_anybody_unwell || !cluster_.refusal(BrokerId(id)).empty();
    world_.stop_faults();
    cluster_.tell_checker(checker::HealBegan{});
    const bool is_core_enough = cluster_.plan().heals_core_only && !is_anybody_unwell && cluster_.is_everybody_whole();
    if (is_core_enough) freeze_minority();
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) {
        const BrokerId broker(id);
        const bool is_frozen = std::find(frozen_.begin(), frozen_.end(), broker) != frozen_.end();
        if (!is_frozen && !world_.host(host_of(broker)).is_alive()) cluster_.restart(broker);
    }
    // It answers, sends heartbeats and can promise nothing: worse company than a dead one.
    if (hung_) world_.host(host_of(*hung_)).disk().stall();
}

void Nemesis::freeze(BrokerId broker) {
    frozen_.push_back(broker);
    cluster_.kill(broker);
}

/// The rest is gone for good, or one of them lives on with a disk that hangs: as long as a majority is well, the
/// cluster must serve (V16).
void Nemesis::freeze_minority() {
    sim::Rng random = world_.stream("frozen-minority", 0);
    std::vector<BrokerId> brokers = others_of(BrokerId(0));
    const std::size_t minority = (brokers.size() - 1) / 2;
    // Whoever knows most is worth losing: half of the time the leader is among them.
    const bool takes_leader = random.below(2) == 0;
    const std::optional<BrokerId> leader = cluster_.leader();
    for (std::size_t i = 0; i < minority; ++i) {
        std::size_t pick = random.below(brokers.size());
        if (i == 0 && takes_leader && leader)
            pick = static_cast<std::size_t>(std::find(brokers.begin(), brokers.end(), *leader) - brokers.begin());
        cluster_.give_up(brokers[pick]);
        const bool is_hung = random.below(3) == 0 && !hung_ && has_time_for_hung_disk(cluster_.plan());
        if (is_hung)
            hung_ = brokers[pick];
        else
            freeze(brokers[pick]);
        brokers.erase(brokers.begin() + static_cast<std::ptrdiff_t>(pick));
    }
}

void Nemesis::tend() {
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) {
        const BrokerId broker(id);
        if (cluster_.refusal(broker).empty() || !world_.host(host_of(broker)).is_alive()) continue;
        if (cluster_.rejoin_as_empty(broker) && world_.is_traced())
            world_.note(host_of(broker), sim::TraceKind::kFault, "an operator lets it rejoin as empty");
    }
}

}  // namespace tidelock::scenarios
