#include "protocol/replication/acknowledgement.h"

#include <algorithm>
#include <optional>

namespace tidelock::replication {
namespace {

std::optional<RejectReason> check_authority(const Observation& observation) {
    if (!observation.holds_authority) return RejectReason::kNoAuthority;
    if (observation.expected == observation.current) return std::nullopt;
    const bool is_older = observation.expected.leader_epoch < observation.current.leader_epoch;
    return is_older ? RejectReason::kStaleAuthority : RejectReason::kAuthorityMismatch;
}

/// A3: nonempty, no broker twice as the same replica, the leader in it. Sets have a handful of members.
bool is_valid_set(std::span<const Replica> set, BrokerId leader) {
    bool holds_leader = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
        holds_leader = holds_leader || set[i].broker == leader;
        for (std::size_t j = 0; j < i; ++j)
            if (set[j] == set[i]) return false;
    }
    return holds_leader;
}

bool covers(const Observation& observation, Replica member) {
    if (member.broker == observation.current.broker) return true;  // its local end was asked already
    return std::any_of(
        observation.positions.begin(), observation.positions.end(), [&](const ReplicaPosition& position) {
            return position.replica == member && position.durable_end_offset >= observation.required_end_offset;
        });
}

struct Coverage {
    std::size_t members = 0;
    std::size_t brokers = 0;  // two lives of one broker, as while one replaces the other, are one copy
};

/// Who of the set holds the record durably, the leader included. Sets are sorted or a handful: looking back is cheap.
Coverage coverage_of(const Observation& observation) {
    Coverage coverage;
    const std::span<const Replica> set = observation.sync_state_set;
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (!covers(observation, set[i])) continue;
        ++coverage.members;
        const bool is_counted =
            std::any_of(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](Replica other) { return other.broker == set[i].broker && covers(observation, other); });
        if (!is_counted) ++coverage.brokers;
    }
    return coverage;
}

}  // namespace

Decision decide_replication(const Observation& observation, const AckPolicy& policy) {
    if (const std::optional<RejectReason> reason = check_authority(observation)) return Reject{*reason};
    if (observation.local_durable_end_offset < observation.required_end_offset)
        return Wait{WaitReason::kLocalDurability};
    if (policy.rule == AckRule::kLocalDurable) return ReplicationAcknowledgement(observation, Durability::kLocal);
    if (!is_valid_set(observation.sync_state_set, observation.current.broker))
        return Reject{RejectReason::kInvalidSyncStateSet};

    const Coverage coverage = coverage_of(observation);
    if (policy.rule == AckRule::kReplicaCount) {
        if (policy.replica_count < 2) return Reject{RejectReason::kInvalidPolicy};
        if (coverage.brokers < static_cast<std::size_t>(policy.replica_count)) return Wait{WaitReason::kReplicas};
        return ReplicationAcknowledgement(observation, Durability::kReplicated);
    }
    if (observation.committed_member_count < observation.min_insync_replicas)
        return Reject{RejectReason::kNotEnoughInSync};
    if (coverage.members < observation.sync_state_set.size()) return Wait{WaitReason::kReplicas};
    return ReplicationAcknowledgement(observation, coverage.brokers > 1 ? Durability::kReplicated : Durability::kLocal);
}

std::string_view to_text(WaitReason reason) {
    switch (reason) {
        case WaitReason::kLocalDurability:
            return "local durability";
        case WaitReason::kReplicas:
            return "replicas";
    }
    return "?";
}

std::string_view to_text(RejectReason reason) {
    switch (reason) {
        case RejectReason::kNoAuthority:
            return "no authority";
        case RejectReason::kStaleAuthority:
            return "stale authority";
        case RejectReason::kAuthorityMismatch:
            return "authority mismatch";
        case RejectReason::kInvalidSyncStateSet:
            return "invalid sync state set";
        case RejectReason::kInvalidPolicy:
            return "invalid policy";
        case RejectReason::kNotEnoughInSync:
            return "not enough in sync";
    }
    return "?";
}

}  // namespace tidelock::replication
