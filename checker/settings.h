/// What the checked cluster promises: what its configuration says, nothing of what it is suspected to do wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/broker/config.h"
#include "protocol/clients/producers.h"

namespace tidelock::checker {

struct Settings {
    broker::Preset preset = broker::Preset::kGroup;
    std::vector<BrokerId> members;  // sorted
    std::int32_t min_insync_replicas = 2;
    /// Positions are durable ones (L2). False only for a `static` cluster that offers received positions and says so.
    bool durable_positions = true;
    /// acks=leader is answered when the leader's own copy is durable (A5), not when it is appended.
    bool ack_leader_durably = false;
    /// Retention may remove old records. False lets V20 and V21 demand every record that nobody asked to delete.
    bool retention_enabled = true;
    /// The fewest records that retention ever leaves below a high watermark; 0 where that is not known.
    std::int64_t retention_records_min = 0;
    /// Idempotent producers that a partition remembers; of one more, the oldest few are forgotten (T2).
    std::size_t producers_max = clients::kProducersMaxDefault;
    /// Only changes how losses beyond the promise are told; what is promised stays the same.
    bool unlimited_faults = false;
};

/// How many members make a majority.
std::int32_t majority_of(const Settings& settings);
/// How many destroyed copies of one record the policy survives (G8): a minority, and fewer than the copies it waits
/// for.
std::int32_t destroyed_copies_tolerated(const Settings& settings);

}  // namespace tidelock::checker
