// Preset `static`: the role is configured or commanded, and the leader alone says who is in sync (000 static mode,
// 002).
#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

/// Followers join the set once they have shown themselves; it begins with the leader alone.
replication::VersionedSet first_set(const Broker& broker) {
    return replication::VersionedSet{replication::SyncStateSetEpoch(1), {self(broker)}};
}

/// Epochs under one role command, shared out among the members.
constexpr std::int32_t kLivesPerCommand = 1 << 14;
constexpr std::int32_t kRoleCommandMax = std::numeric_limits<std::int32_t>::max() / kLivesPerCommand - 1;

std::int32_t epoch_base(const Broker& broker) {
    return broker.identity.role_command * kLivesPerCommand;
}

BrokerId static_leader_of(const Broker& broker) {
    return broker.identity.role_command > 0 ? broker.identity.commanded_leader : broker.config.static_leader;
}

/// A leader that restarts may have lost an unsynced tail that followers copied: each of its lives is an epoch of its
/// own, so that the handshake finds out (L6). Lives under one role command are counted by the leader itself; in its
/// identity, as logs may lose the epochs in which they began. Each member has epochs of its own, as another one may be
/// configured to lead that has not heard of all lives of the former. Empty: they are used up, and the next epoch could
/// be of another command.
std::optional<LeaderEpoch> next_life_epoch(const Broker& broker) {
    std::int32_t latest =
        std::max({epoch_base(broker), broker.decided.leader_epoch.value, broker.identity.static_epoch.value});
    for (const storage::PartitionLog& log : broker.logs.logs())
        latest = std::max(latest, log.history.latest_epoch().value);
    const auto& members = broker.config.members;
    const auto share = static_cast<std::int32_t>(members.size());
    const auto own = static_cast<std::int32_t>(std::ranges::find(members, broker.config.id) - members.begin());
    const std::int32_t next = latest + 1 + ((own - (latest + 1 - epoch_base(broker))) % share + share) % share;
    if (next >= epoch_base(broker) + kLivesPerCommand) return std::nullopt;
    return LeaderEpoch(next);
}

/// Nobody hears of an epoch that a restart could give out again.
void lead_as_told(Step& step) {
    Broker& broker = step.broker;
    if (const auto claimed = std::exchange(broker.static_claim, std::nullopt))
        return begin_leading(step, *claimed, first_set(broker));
    broker.static_claim = next_life_epoch(broker);
    if (!broker.static_claim) {
        return observe(step, ProtocolViolationRefused{
                                 "static", "all epochs of this role command are used up: command the role again"});
    }
    broker.identity.static_epoch = *broker.static_claim;
    broker.is_static_role_pending = true;
    write_identity(step);
}

}  // namespace

void on_role_commanded(Step& step, const RoleCommanded& commanded) {
    Broker& broker = step.broker;
    if (broker.config.preset != Preset::kStatic) return;
    const bool is_booting = broker.lifecycle != Lifecycle::kRunning && broker.lifecycle != Lifecycle::kRefused;
    const bool is_latest = !broker.early_command || broker.early_command->command < commanded.command;
    if (is_booting && is_latest) broker.early_command = commanded;
    if (broker.lifecycle != Lifecycle::kRunning) return;
    const bool is_known = std::ranges::find(broker.config.members, commanded.leader) != broker.config.members.end();
    if (commanded.command <= broker.identity.role_command || commanded.command > kRoleCommandMax || !is_known) return;
    broker.identity.role_command = commanded.command;
    broker.identity.commanded_leader = commanded.leader;
    broker.is_static_role_pending = true;
    broker.static_claim.reset();
    if (broker.leading) end_leading(step);
    broker.fetcher.stop();
    broker.decided.leader = commanded.leader;
    broker.known_leader = BrokerId{};  // the epoch it knows is of the leader before (O1)
    // A broker that acted on a command and forgot it would act on the one before it after a restart: two leaders.
    write_identity(step);
}

void take_static_role(Step& step) {
    Broker& broker = step.broker;
    broker.decided.leader = static_leader_of(broker);
    broker.known_leader = broker.decided.leader;
    resume_static_role(step);
    if (const auto commanded = std::exchange(broker.early_command, std::nullopt)) on_role_commanded(step, *commanded);
}

void resume_static_role(Step& step) {
    Broker& broker = step.broker;
    const bool is_idle = broker.config.preset == Preset::kStatic && !broker.leading && !broker.is_identity_renewing &&
                         !broker.is_static_role_pending && broker.lifecycle == Lifecycle::kRunning;
    const auto is_open = [](const storage::PartitionLog& log) {
        return log.condition != storage::LogCondition::kFailed || log.is_dropping;
    };
    if (!is_idle || !std::ranges::all_of(broker.logs.logs(), is_open)) return;
    if (broker.decided.leader == broker.config.id) return lead_as_told(step);
    follow_static_leader(step, LeaderEpoch(std::max(broker.decided.leader_epoch.value, epoch_base(broker))));
}

void retry_static_role_later(Step& step) {
    constexpr Duration kFirst = milliseconds(500);
    constexpr Duration kLongest = seconds(4);
    if (step.broker.is_disk_full) return;  // the disk is tried again anyway, and the role with it
    Duration& pause = step.broker.static_retry;
    pause = std::clamp(pause * 2, kFirst, kLongest);
    step.effects.push_back(SetTimer{TimerKind::kDiskRetry, pause, pause});
}

void resume_role(Step& step) {
    Broker& broker = step.broker;
    const bool has_role = broker.leading || broker.fetcher.phase() != replication::FetchPhase::kIdle;
    if (broker.lifecycle != Lifecycle::kRunning || has_role) return;
    follow_decided_leader(step);
    resume_static_role(step);
    const bool is_to_lead = broker.config.preset == Preset::kStatic && broker.decided.leader == broker.config.id;
    // Some log is not open yet.
    if (is_to_lead && !broker.leading && !broker.is_static_role_pending) retry_static_role_later(step);
}

void follow_static_leader(Step& step, LeaderEpoch leader_epoch) {
    Broker& broker = step.broker;
    broker.decided.leader_epoch = leader_epoch;
    broker.known_leader = broker.decided.leader;
    observe(step, FollowingLeader{broker.decided.leader, leader_epoch});
    replication::FetchEffects effects;
    broker.fetcher.follow(broker.decided.leader, leader_epoch, step.now, effects);
    run_fetcher(step, effects);
}

void note_static_epoch(Step& step, BrokerId from, LeaderEpoch leader_epoch) {
    Broker& broker = step.broker;
    const bool is_news = broker.config.preset == Preset::kStatic && !broker.leading && !broker.is_identity_renewing &&
                         !broker.is_static_role_pending && from == broker.decided.leader &&
                         leader_epoch > broker.fetcher.leader_epoch();
    if (is_news) follow_static_leader(step, leader_epoch);
}

void commit_static_change(Step& step, const replication::ProposeChange& change) {
    Broker& broker = step.broker;
    observe(step, InSyncSetCommitted{change.leader_epoch, change.set.members});
    replication::InSyncEffects effects;
    broker.in_sync.on_change_committed(change.leader_epoch, change.set, effects);
    route_in_sync_effects(step, effects);
    advance_all_high_watermarks(step);  // fewer may be waited for now
    settle_topic_changes(step);
}

}  // namespace tidelock::broker
