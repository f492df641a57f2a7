#include "scenarios/position_witness.h"

#include <fmt/format.h>

namespace tidelock::scenarios {

std::vector<UnheldPosition> unheld_positions(const broker::Broker& leader, const broker::Broker& follower) {
    std::vector<UnheldPosition> unheld;
    const bool is_comparable = leader.leading && leader.config.preset == broker::Preset::kGroup &&
                               !leader.config.seed_rules.positions_as_received &&
                               follower.lifecycle == broker::Lifecycle::kRunning && !follower.is_identity_renewing &&
                               follower.raft.persistent.term <= leader.raft.persistent.term;
    if (!is_comparable) return unheld;
    const Replica counted{follower.config.id, follower.identity.data_incarnation};
    for (const auto& [tp, partition] : leader.partitions) {
        const auto position = leader.in_sync.position(counted, tp);
        const auto view = follower.logs.view(tp);
        if (!position || !view || view->log_end_offset >= *position) continue;
        // A copy that was reset to the leader's log start begins anew below it, with the batch that reaches across.
        if (*position <= leader.logs.view(tp)->log_start_offset) continue;
        unheld.push_back(
            {tp, fmt::format("records up to {} in epoch {}, of which it holds those up to {}", position->value,
                             leader.leading->leader_epoch.value, view->log_end_offset.value)});
    }
    return unheld;
}

}  // namespace tidelock::scenarios
