// Preset `static`: the role is configured or commanded, and the leader alone says who is in sync (000 static mode,
// 002).
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

/// Followers join the set once they have shown themselves; it begins with the leader alone.
replication::VersionedSet first_set(const Broker& broker) {
    return replication::VersionedSet{replication::SyncStateSetEpoch(1), {self(broker)}};
}

}  // namespace

void on_role_commanded(Step& step, const RoleCommanded& commanded) {
    Broker& broker = step.broker;
    if (broker.config.preset != Preset::kStatic || broker.lifecycle != Lifecycle::kRunning) return;
    const LeaderEpoch known = std::max(broker.fetcher.leader_epoch(), broker.decided.leader_epoch);
    const bool is_boot = commanded.leader_epoch.value == 0;
    if (!is_boot && commanded.leader_epoch <= known) return;
    broker.decided.leader_epoch = commanded.leader_epoch;
    broker.decided.leader = commanded.leader;
    broker.known_leader = commanded.leader;
    if (broker.leading) end_leading(step);
    if (commanded.leader == broker.config.id) return begin_leading(step, commanded.leader_epoch, first_set(broker));
    observe(step, FollowingLeader{commanded.leader, commanded.leader_epoch});
    replication::FetchEffects effects;
    broker.fetcher.follow(commanded.leader, commanded.leader_epoch, step.now, effects);
    run_fetcher(step, effects);
}

void commit_static_change(Step& step, const replication::ProposeChange& change) {
    Broker& broker = step.broker;
    observe(step, InSyncSetCommitted{change.leader_epoch, change.set.members});
    replication::InSyncEffects effects;
    broker.in_sync.on_change_committed(change.leader_epoch, change.set, effects);
    route_in_sync_effects(step, effects);
}

}  // namespace tidelock::broker
