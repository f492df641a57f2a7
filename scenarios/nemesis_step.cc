// Faults that wait for a turning point: the moment when any broker is seen doing something after which a loss of power,
// of the disk or of the network does the most harm (a vote, an election, a commit, a change of the set, a cut log).
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/nemesis.h"
#include "scenarios/observation_index.h"

namespace tidelock::scenarios {

namespace {

constexpr std::uint64_t kDelayMaxUs = 30'000;

/// Elections stand twice: everything that a new leader does not know yet is at stake there. So do renewals, thrice:
/// between one and the reset that follows, damage is known from the record alone (L4).
constexpr std::size_t kTurningPoints[] = {
    observation_index<broker::VoteGranted>(),
    observation_index<broker::RaftLeaderElected>(),
    observation_index<broker::RaftLeaderElected>(),
    observation_index<broker::RaftLeaderSteppedDown>(),
    observation_index<broker::RaftEntryAppended>(),
    observation_index<broker::RaftEntriesTruncated>(),
    observation_index<broker::RaftEntryCommitted>(),
    observation_index<broker::RaftEntryCommitted>(),
    observation_index<broker::RaftReplicaAdmitted>(),
    observation_index<broker::RaftVoterChanged>(),
    observation_index<broker::RaftSnapshotInstalled>(),
    observation_index<broker::ClaimCommitted>(),
    observation_index<broker::LeaderServing>(),
    observation_index<broker::FollowingLeader>(),
    observation_index<broker::InSyncSetProposed>(),
    observation_index<broker::InSyncSetCommitted>(),
    observation_index<broker::AcknowledgementSetChanged>(),
    observation_index<broker::DamageFound>(),
    observation_index<broker::DataIncarnationRenewed>(),
    observation_index<broker::DataIncarnationRenewed>(),
    observation_index<broker::DataIncarnationRenewed>(),
    observation_index<broker::Started>(),
    observation_index<broker::BatchAppended>(),
    observation_index<broker::LogTruncated>(),
    observation_index<broker::LogReset>(),
    observation_index<broker::RecordsAcknowledged>(),
    observation_index<broker::TopicCreated>(),
    observation_index<broker::TopicHidden>(),
    observation_index<broker::TopicShown>(),
};

/// What somebody has just said, or counted on, that a lost disk unsays: votes, elections, commits, admissions.
constexpr std::size_t kDiskTurningPoints[] = {
    observation_index<broker::VoteGranted>(),         observation_index<broker::VoteGranted>(),
    observation_index<broker::RaftLeaderElected>(),   observation_index<broker::RaftLeaderElected>(),
    observation_index<broker::RaftEntryCommitted>(),  observation_index<broker::RaftEntryCommitted>(),
    observation_index<broker::RaftReplicaAdmitted>(), observation_index<broker::RaftVoterChanged>(),
    observation_index<broker::InSyncSetCommitted>(),  observation_index<broker::LeaderServing>(),
};
/// The other broker is cut off for so many times as long as the one without a disk is down: it has to be missed.
constexpr std::int64_t kCutOffTimes = 8;

}  // namespace

/// What it waits for.
void Nemesis::aim_strike(ArmedStrike& strike) {
    const PlannedFault& fault = *strike.fault;
    if (fault.kind == FaultKind::kCutOffAtElection) {
        strike.is_own_vote = strike.random.below(3) != 0;
        strike.observation = strike.is_own_vote ? observation_index<broker::VoteGranted>()
                                                : observation_index<broker::RaftLeaderElected>();
        return trace(fault, strike.is_own_vote ? "armed for a candidate" : "armed for a leader");
    }
    // One in four waits for a rare state instead.
    if (strike.random.below(4) == 0) {
        strike.observation = observation_index<broker::MarkReached>();
        strike.mark = static_cast<broker::Mark>(strike.random.below(broker::kMarkCount));
        trace(fault, fmt::format("armed for mark {}", broker::name_of(*strike.mark)));
    } else {
        const std::uint64_t drawn = strike.random.next();
        strike.observation = fault.kind == FaultKind::kEmptiedDiskAtStep
                                 ? kDiskTurningPoints[sim::scaled_below(drawn, std::size(kDiskTurningPoints))]
                                 : kTurningPoints[sim::scaled_below(drawn, std::size(kTurningPoints))];
        trace(fault, fmt::format("armed for observation kind {}", strike.observation));
    }
}

void Nemesis::arm_strike(const PlannedFault& fault, sim::Rng& random) {
    ArmedStrike strike{&fault, {}, {}, false, fault.size, 0, random};
    aim_strike(strike);
    // Some go on: one failed leader after another is what logs drift apart by.
    if (strike.random.below(3) == 0) strike.repeats_left = 1 + static_cast<std::int64_t>(strike.random.below(4));
    strikes_.push_back(strike);
}

bool Nemesis::is_awaited(const ArmedStrike& strike, BrokerId actor, const broker::Observation& observation) {
    if (strike.observation != observation.index()) return false;
    if (strike.mark) return std::get<broker::MarkReached>(observation).mark == *strike.mark;
    return !strike.is_own_vote || std::get<broker::VoteGranted>(observation).candidate == actor;
}

void Nemesis::look_for_turning_point(BrokerId actor, const broker::Observation& observation) {
    for (std::size_t i = 0; i < strikes_.size(); ++i) {
        ArmedStrike& armed = strikes_[i];
        if (!is_awaited(armed, actor, observation)) continue;
        if (--armed.occurrences_left > 0) continue;
        const ArmedStrike strike = armed;
        armed.random.next();  // the next time is another one
        if (--armed.repeats_left < 0) strikes_.erase(strikes_.begin() + static_cast<std::ptrdiff_t>(i));
        return strike_after(strike, actor);
    }
}

/// Half of them at once, at elections three in four: what the actor has sent is on its way, what it has written is not
/// on the disk.
void Nemesis::strike_after(ArmedStrike strike, BrokerId actor) {
    const bool is_at_election = strike.fault->kind == FaultKind::kCutOffAtElection;
    const bool is_at_once = strike.random.below(is_at_election ? 4 : 2) != 1;
    const std::uint64_t delay_us = strike.random.below(kDelayMaxUs);
    const Duration delay = is_at_once ? Duration(0) : microseconds(static_cast<std::int64_t>(delay_us));
    later(delay, [this, strike, actor, is_at_election]() mutable {
        const BrokerId victim = is_at_election ? actor : struck_by(strike.random, actor);
        if (strike.fault->kind == FaultKind::kEmptiedDiskAtStep)
            return empty_at_step(*strike.fault, actor, victim, strike.random);
        cluster_.count_fault(strike.fault->kind);
        if (strike.fault->kind == FaultKind::kPowerLossAtStep) return black_out(*strike.fault, victim, strike.random);
        isolate(*strike.fault, victim, strike.random);
    });
}

/// Half of the time whoever did it, or another one, is cut off with it: those who are left have to do without both.
void Nemesis::empty_at_step(const PlannedFault& fault, BrokerId actor, BrokerId victim, sim::Rng& random) {
    if (!empty(fault, victim)) return;
    cluster_.count_fault(fault.kind);
    const std::vector<BrokerId> others = others_of(victim);
    const std::uint64_t other = random.next();
    if (others.empty() || random.below(2) == 0) return;
    const BrokerId cut_off = actor != victim ? actor : others[sim::scaled_below(other, others.size())];
    const std::vector<sim::HostId> inside{host_of(cut_off)};
    const sim::LinkSet links = sim::two_sided(inside, hosts_of(others_of(cut_off)));
    const sim::CutId cut = world_.network().cut(links, sim::FaultKind::kPartitionTwoSided);
    later(milliseconds(fault.duration_ms * kCutOffTimes), [this, cut] { world_.network().heal(cut); });
}

/// Whoever did it, whoever leads, or somebody else.
BrokerId Nemesis::struck_by(sim::Rng& random, BrokerId actor) const {
    const std::uint64_t drawn = random.below(10);
    const std::vector<BrokerId> others = others_of(actor);
    const std::uint64_t other = random.next();
    if (drawn < 4 || others.empty()) return actor;
    if (drawn < 7) return cluster_.leader().value_or(actor);
    return others[sim::scaled_below(other, others.size())];
}

/// The victim, everybody else, or all.
void Nemesis::black_out(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    const std::uint64_t drawn = random.below(4);
    std::vector<BrokerId> victims = drawn == 2 ? others_of(victim) : others_of(BrokerId(0));
    if (drawn < 2 || victims.empty()) victims = {victim};
    trace(fault, fmt::format("of {} brokers, around broker {}", victims.size(), victim.value));
    cluster_.lose_power(victims);
    for (const BrokerId each : victims) {
        const std::int64_t percent = random.between(20, 150);
        later(Duration(milliseconds(fault.duration_ms).value / 100 * percent),
              [this, each] { cluster_.restart(each); });
    }
}

/// Cut off from all other brokers or all but one, both ways, or deaf, or mute. Clients reach it all the same.
void Nemesis::isolate(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    std::vector<BrokerId> others = others_of(victim);
    const bool spares_one = random.below(3) == 0;
    const std::size_t spared = others.empty() ? 0 : random.below(others.size());
    const std::uint64_t way = random.below(4);
    if (spares_one && others.size() > 1) others.erase(others.begin() + static_cast<std::ptrdiff_t>(spared));
    const std::vector<sim::HostId> inside{host_of(victim)};
    const std::vector<sim::HostId> outside = hosts_of(others);
    sim::LinkSet links = sim::two_sided(inside, outside);
    if (way == 2) links = sim::one_way(inside, outside);
    if (way == 3) links = sim::one_way(outside, inside);
    trace(fault, fmt::format("broker {}: {} links for {} ms", victim.value, links.size(), fault.duration_ms));
    const sim::FaultKind kind = way < 2 ? sim::FaultKind::kPartitionTwoSided : sim::FaultKind::kPartitionOneWay;
    const sim::CutId cut = world_.network().cut(links, kind);
    later(milliseconds(fault.duration_ms), [this, cut] { world_.network().heal(cut); });
}

}  // namespace tidelock::scenarios
