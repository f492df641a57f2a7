// Faults of processes and disks.
#include <fmt/format.h>

#include <algorithm>

#include "protocol/storage/segment_log.h"

#include "scenarios/nemesis.h"
#include "scenarios/observation_index.h"

namespace tidelock::scenarios {

namespace {

constexpr std::uint32_t kSyncFailurePpm = 200'000;
constexpr std::uint32_t kWriteFailurePpm = 50'000;
constexpr std::uint32_t kReadFailurePpm = 500'000;
constexpr std::uint32_t kMisdirectionPpm = 200'000;
constexpr std::uint64_t kUnlimitedBytes = UINT64_MAX;
constexpr std::int32_t kSmallBatch = 160;  // a record or two

/// After these a death leaves the most behind that somebody else has to understand.
constexpr std::size_t kTurningPoints[] = {observation_index<broker::VoteGranted>(),
                                          observation_index<broker::RaftEntryAppended>(),
                                          observation_index<broker::ClaimCommitted>(),
                                          observation_index<broker::LeaderServing>(),
                                          observation_index<broker::FollowingLeader>(),
                                          observation_index<broker::InSyncSetProposed>(),
                                          observation_index<broker::InSyncSetCommitted>(),
                                          observation_index<broker::TopicCreated>(),
                                          observation_index<broker::TopicGrown>(),
                                          observation_index<broker::TopicDropped>(),
                                          observation_index<broker::TopicShrunk>(),
                                          observation_index<broker::TopicHidden>(),
                                          observation_index<broker::TopicShown>(),
                                          observation_index<broker::LogTruncated>(),
                                          observation_index<broker::LogReset>(),
                                          observation_index<broker::LogStartAdvanced>(),
                                          observation_index<broker::DataIncarnationRenewed>(),
                                          observation_index<broker::RecordsAcknowledged>()};

/// Of the journal: a commit is a sector or more.
constexpr sim::RecentBytes kLastCommit{"checkpoint.", "", 512};
constexpr std::size_t kLastBatchBytes = 100;

std::string folder_of(const TopicPartition& partition) {
    const storage::FileName name = storage::segment_file_name(partition, Offset(0));
    return std::string(name.text().substr(0, name.text().find('/') + 1));
}

/// Parts of the names of: catalogue, Raft state, identity, journal, segments and indexes.
constexpr std::string_view kFileKinds[] = {"topics.", "raft.", "identity.", "checkpoint.", "/"};

Duration scaled(Duration duration, std::int64_t percent) {
    return Duration(duration.value / 100 * percent);
}

}  // namespace

void Nemesis::fire_process(const PlannedFault& fault, sim::Rng& random) {
    if (fault.kind == FaultKind::kPowerLoss) return lose_power(fault, random);
    if (fault.kind == FaultKind::kPowerLossAtWrite) return arm_power_loss(fault, random);
    if (fault.kind == FaultKind::kKillTogether) return kill_together(fault, random);
    if (fault.kind == FaultKind::kRollingRestart) return roll(fault, random);
    if (fault.kind == FaultKind::kMixedConfiguration) return mix_configuration(fault, random);
    if (fault.kind == FaultKind::kKillAtStep) return arm_kill(fault, random);
    if (fault.kind == FaultKind::kPowerLossAtStep) return arm_strike(fault, random);
    const BrokerId victim = victim_of(fault, random);
    const sim::HostId host = host_of(victim);
    const Duration duration = milliseconds(fault.duration_ms);
    trace(fault, fmt::format("on broker {} for {} ms", victim.value, fault.duration_ms));
    if (fault.kind == FaultKind::kKill) {
        kill_for(victim, duration);
    } else if (fault.kind == FaultKind::kPause) {
        world_.pause(host);
        later(duration, [this, host] { world_.resume(host); });
    } else {
        world_.slow_down(host, microseconds(fault.size));
        later(duration, [this, host] { world_.slow_down(host, Duration(0)); });
    }
}

void Nemesis::kill_for(BrokerId broker, Duration downtime) {
    if (!cluster_.kill(broker)) return;
    later(downtime, [this, broker] { cluster_.restart(broker); });
}

void Nemesis::lose_power(const PlannedFault& fault, sim::Rng& random) {
    const std::vector<BrokerId> victims = group_around(victim_of(fault, random), fault.size, random);
    trace(fault, fmt::format("of {} brokers", victims.size()));
    cluster_.lose_power(victims);
    for (const BrokerId victim : victims) {
        const std::int64_t percent = random.between(50, 150);
        later(scaled(milliseconds(fault.duration_ms), percent), [this, victim] { cluster_.restart(victim); });
    }
}

void Nemesis::kill_together(const PlannedFault& fault, sim::Rng& random) {
    const std::vector<BrokerId> victims = group_around(victim_of(fault, random), fault.size, random);
    trace(fault, fmt::format("of {} brokers for about {} ms", victims.size(), fault.duration_ms));
    for (const BrokerId victim : victims)
        kill_for(victim, scaled(milliseconds(fault.duration_ms), random.between(50, 150)));
    cluster_.count_fault(fault.kind);
}

void Nemesis::roll(const PlannedFault& fault, sim::Rng& random) {
    std::vector<BrokerId> order = others_of(BrokerId(0));
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(random.below(order.size())), order.end());
    const Duration downtime = milliseconds(fault.duration_ms);
    Duration at(0);
    trace(fault, fmt::format("{} ms apart", fault.size));
    for (const BrokerId broker : order) {
        later(at, [this, broker, downtime] { kill_for(broker, downtime); });
        at = at + downtime + milliseconds(fault.size);
    }
    cluster_.count_fault(fault.kind);
}

void Nemesis::mix_configuration(const PlannedFault& fault, sim::Rng& random) {
    const BrokerId victim = victim_of(fault, random);
    broker::Config config = broker_config(cluster_.plan().settings, victim);
    const std::int64_t election_percent = random.between(60, 200);
    config.election_timeout_min = scaled(config.election_timeout_min, election_percent);
    config.election_timeout_max = scaled(config.election_timeout_max, election_percent);
    config.isr_lag = scaled(config.isr_lag, random.between(60, 200));
    config.fetch_wait_max = scaled(config.fetch_wait_max, random.between(30, 150));
    config.raft_log_entries_max = static_cast<std::int32_t>(random.between(8, 128));
    if (random.below(2) == 0) config.batch_bytes_max = kSmallBatch;  // below what it has stored, or is about to copy
    trace(fault, fmt::format("on broker {}: election timeout at {} percent", victim.value, election_percent));
    if (!cluster_.kill(victim)) return;
    cluster_.broker_host(victim).set_config(config);
    cluster_.count_fault(fault.kind);
    later(milliseconds(fault.duration_ms), [this, victim] { cluster_.restart(victim); });
}

void Nemesis::arm_kill(const PlannedFault& fault, sim::Rng& random) {
    ArmedKill kill{};
    kill.broker = victim_of(fault, random);
    const bool is_turning_point = random.below(2) == 0;
    kill.observation = is_turning_point ? kTurningPoints[random.below(std::size(kTurningPoints))]
                                        : random.below(std::variant_size_v<broker::Observation>);
    kill.occurrences_left = fault.size;
    kill.effects = 1 + random.below(4);
    kill.downtime = milliseconds(fault.duration_ms);
    trace(fault, fmt::format("armed on broker {} for observation kind {}", kill.broker.value, kill.observation));
    armed_.push_back(kill);
}

void Nemesis::on_observation(BrokerId broker, const broker::Observation& observation) {
    roles_.on_observation(broker, observation);
    if (const auto* promised = std::get_if<broker::DurableEndAdvanced>(&observation))
        last_promised_[static_cast<std::size_t>(broker.value - 1)] = promised->partition;
    if (!strikes_.empty()) look_for_turning_point(broker, observation);
    for (std::size_t i = 0; i < armed_.size(); ++i) {
        ArmedKill& armed = armed_[i];
        if (armed.broker != broker || armed.observation != observation.index()) continue;
        if (--armed.occurrences_left > 0) continue;
        restart_after_[static_cast<std::size_t>(broker.value - 1)] = armed.downtime;
        world_.kill_at_effect(host_of(broker), armed.effects);
        armed_.erase(armed_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
    }
}

/// Deaths by other faults bring their own restart; a second one finds the broker alive and does nothing.
void Nemesis::on_death(BrokerId broker) {
    std::optional<Duration>& downtime = restart_after_[static_cast<std::size_t>(broker.value - 1)];
    if (!downtime) return;
    later(*downtime, [this, broker] { cluster_.restart(broker); });
    downtime.reset();
}

// --- disks
// ------------------------------------------------------------------------------------------------------------

void Nemesis::fire_disk(const PlannedFault& fault, sim::Rng& random) {
    const BrokerId victim = victim_of(fault, random);
    sim::Disk& disk = world_.host(host_of(victim)).disk();
    const Duration duration = milliseconds(fault.duration_ms);
    switch (fault.kind) {
        case FaultKind::kFailedSync:
            return limit_rate(fault, sim::FaultKind::kSyncFailed, kSyncFailurePpm);
        case FaultKind::kWriteError:
            return limit_rate(fault, sim::FaultKind::kWriteError, kWriteFailurePpm);
        case FaultKind::kMisdirectedWrite:
            return limit_rate(fault, sim::FaultKind::kMisdirectedWrite, kMisdirectionPpm);
        case FaultKind::kReadError:
            if (!cluster_.allows_damage_to_anybody()) return withhold(fault, "another replica is damaged");
            return limit_rate(fault, sim::FaultKind::kReadError, kReadFailurePpm);
        case FaultKind::kMisdirectedRead:
            if (!cluster_.allows_damage_to_anybody()) return withhold(fault, "another replica is damaged");
            return limit_rate(fault, sim::FaultKind::kMisdirectedRead, kReadFailurePpm);
        case FaultKind::kBitRot:
            return rot(fault, victim, random);
        case FaultKind::kUnreadable:
            return lose_sectors(fault, victim, random);
        case FaultKind::kBitRotAtRestart:
            return rot_at_restart(fault, victim, random);
        case FaultKind::kEmptiedDisk:
            empty(fault, victim);
            return;
        case FaultKind::kEmptiedDiskAtStep:
            return arm_strike(fault, random);
        case FaultKind::kFullDisk:
            trace(fault, fmt::format("on broker {}: {} bytes left", victim.value, fault.size));
            disk.set_capacity(disk.used_bytes() + static_cast<std::uint64_t>(fault.size));
            return later(duration, [&disk] { disk.set_capacity(kUnlimitedBytes); });
        case FaultKind::kSlowDisk:
            trace(fault, fmt::format("on broker {}: {} times slower", victim.value, fault.size));
            disk.slow_down(static_cast<std::uint32_t>(fault.size));
            return later(duration, [&disk] { disk.slow_down(1); });
        case FaultKind::kSlowFile:
            return slow_file(fault, victim, random);
        case FaultKind::kStalledDisks:
            return stall_together(fault, victim, random);
        default:
            trace(fault, fmt::format("on broker {}", victim.value));
            disk.stall();
            return later(duration, [&disk] { disk.release(); });
    }
}

/// Storage that brokers share, as it were. Counted if two of them waited for it at the end.
void Nemesis::stall_together(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    const std::vector<BrokerId> victims = group_around(victim, fault.size, random);
    trace(fault, fmt::format("on {} brokers for {} ms", victims.size(), fault.duration_ms));
    for (const BrokerId each : victims) world_.host(host_of(each)).disk().stall();
    later(milliseconds(fault.duration_ms), [this, &fault, victims] {
        std::int32_t waiting = 0;
        for (const BrokerId each : victims) {
            sim::Disk& disk = world_.host(host_of(each)).disk();
            if (disk.holds_something()) ++waiting;
            disk.release();
        }
        if (waiting > 1) cluster_.count_fault(fault.kind);
    });
}

/// What is written to several files comes to be durable in another order than usual.
void Nemesis::slow_file(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    sim::Disk& disk = world_.host(host_of(victim)).disk();
    const std::string_view part = kFileKinds[random.below(std::size(kFileKinds))];
    trace(fault, fmt::format("on broker {}: files named *{}*, {} times slower", victim.value, part, fault.size));
    const std::uint64_t before = disk.slowed_file_syncs();
    disk.slow_down_files(part, static_cast<std::uint32_t>(fault.size));
    later(milliseconds(fault.duration_ms), [this, &disk, &fault, before] {
        if (disk.slowed_file_syncs() != before) cluster_.count_fault(fault.kind);
        disk.slow_down_files({}, 1);
    });
}

/// The fault may bite `size` times from now on, for as long as it lasts.
void Nemesis::limit_rate(const PlannedFault& fault, sim::FaultKind kind, std::uint32_t per_million) {
    const std::uint64_t budget = world_.faults().delivered(kind) + static_cast<std::uint64_t>(fault.size);
    trace(fault, fmt::format("{} times in {} ms", fault.size, fault.duration_ms));
    world_.faults().set_rate(kind, {per_million, static_cast<std::uint32_t>(budget)});
    later(milliseconds(fault.duration_ms), [this, kind] { world_.faults().set_rate(kind, {}); });
}

void Nemesis::rot(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    if (!cluster_.allows_damage(victim)) return withhold(fault, "another replica is damaged");
    sim::Disk& disk = world_.host(host_of(victim)).disk();
    trace(fault, fmt::format("{} bits on broker {}", fault.size, victim.value));
    // The journal is small among segments, and says what they promise: it has a share of its own.
    for (std::int64_t i = 0; i < fault.size; ++i) disk.rot_random(random, random.below(4) == 0 ? "checkpoint." : "");
}

void Nemesis::lose_sectors(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    if (!cluster_.allows_damage(victim)) return withhold(fault, "another replica is damaged");
    sim::Disk& disk = world_.host(host_of(victim)).disk();
    trace(fault, fmt::format("{} sectors on broker {}", fault.size, victim.value));
    for (std::int64_t i = 0; i < fault.size; ++i)
        disk.lose_random_sector(random, random.below(4) == 0 ? "checkpoint." : "/");
}

/// What is found at boot was never told to anybody before: all copies of the broker may still be the newest there are.
void Nemesis::rot_at_restart(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    if (!cluster_.allows_damage(victim)) return withhold(fault, "another replica is damaged");
    if (!cluster_.kill(victim)) return withhold(fault, "it is down");
    sim::Disk& disk = world_.host(host_of(victim)).disk();
    trace(fault, fmt::format("{} bits on broker {}", fault.size, victim.value));
    const std::uint64_t where = random.below(4);
    if (where == 3) return rot_state_at_restart(fault, victim, random);
    const std::string folder = folder_of(last_promised_[static_cast<std::size_t>(victim.value - 1)]);
    const sim::RecentBytes last_batch{folder, ".log", kLastBatchBytes};
    const std::string_view prefix = where == 0 ? "checkpoint." : "";
    bool is_rotten = false;
    for (std::int64_t i = 0; i < fault.size; ++i) {
        // What was promised last, and then the promise itself: nothing newer stands behind either.
        const bool is_hit =
            where == 2 ? disk.rot_recent(random, i == 1 ? kLastCommit : last_batch) : disk.rot_random(random, prefix);
        is_rotten = is_hit || is_rotten;
    }
    if (is_rotten) cluster_.count_fault(fault.kind);
    later(milliseconds(fault.duration_ms), [this, victim] { cluster_.restart(victim); });
}

/// State files have two copies each, and only what strikes both is felt. What was lost is written anew on the way up,
/// in an order that counts: half the time the power goes meanwhile.
void Nemesis::rot_state_at_restart(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    constexpr std::string_view kStateFiles[] = {"topics.", "topics.", "raft.", "identity."};
    sim::Disk& disk = world_.host(host_of(victim)).disk();
    const std::string file(kStateFiles[random.below(std::size(kStateFiles))]);
    bool is_rotten = false;
    for (const char* copy : {"a", "b"}) {
        const bool is_hit = disk.rot_random(random, file + copy);
        is_rotten = is_hit || is_rotten;
    }
    if (is_rotten) cluster_.count_fault(fault.kind);
    if (is_rotten && random.below(2) == 0) arm_on_the_way_up(fault, victim, random);
    later(milliseconds(fault.duration_ms), [this, victim] { cluster_.restart(victim); });
}

/// False: withheld.
bool Nemesis::empty(const PlannedFault& fault, BrokerId victim) {
    if (!cluster_.allows_damage(victim)) {
        withhold(fault, "another replica is damaged");
        return false;
    }
    trace(fault, fmt::format("on broker {}", victim.value));
    cluster_.kill(victim);
    cluster_.empty_disk(victim);
    later(milliseconds(fault.duration_ms), [this, victim] { cluster_.restart(victim); });
    return true;
}

}  // namespace tidelock::scenarios
