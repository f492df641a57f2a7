/// When a producer may be told success (A1-A6): one pure decision over one immutable snapshot. Used by every preset.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "protocol/base/ids.h"
#include "protocol/replication/in_sync_set.h"

namespace tidelock::replication {

/// Who may write: exactly this broker at exactly this epoch (W1).
struct WriteAuthority {
    BrokerId broker;
    LeaderEpoch leader_epoch;
    constexpr auto operator<=>(const WriteAuthority&) const = default;
};

enum class AckRule : std::uint8_t { kLocalDurable, kReplicaCount, kAllInSync };

/// `replica_count` is read by kReplicaCount only and must be 2 or more there; the leader is one of them.
struct AckPolicy {
    AckRule rule = AckRule::kAllInSync;
    std::int32_t replica_count = 0;
    constexpr auto operator<=>(const AckPolicy&) const = default;
};

struct ReplicaPosition {
    Replica replica;
    Offset durable_end_offset;  // exclusive
    bool operator==(const ReplicaPosition&) const = default;
};

/// One snapshot, all of it taken at the same moment (A6). The spans must outlive the decision.
struct Observation {
    WriteAuthority expected;  // under which the record was accepted
    WriteAuthority current;   // which this broker holds now
    bool holds_authority = true;
    Offset required_end_offset;       // exclusive: the record's last offset + 1
    Offset local_durable_end_offset;  // exclusive
    SyncStateSetEpoch set_version;
    std::span<const Replica> sync_state_set;     // nonempty, no duplicates, contains the leader
    std::span<const ReplicaPosition> positions;  // any order; strangers and repeats add nothing
    std::int32_t committed_member_count = 0;     // I8: only committed members count towards the minimum
    std::int32_t min_insync_replicas = 1;        // asked of kAllInSync only
};

enum class WaitReason : std::uint8_t { kLocalDurability, kReplicas };
enum class RejectReason : std::uint8_t {
    kNoAuthority,        // holds none now
    kStaleAuthority,     // accepted under an older epoch than the current one
    kAuthorityMismatch,  // another broker, or an epoch not yet known
    kInvalidSyncStateSet,
    kInvalidPolicy,
    kNotEnoughInSync,  // I8: committed members below the minimum
};
enum class Durability : std::uint8_t { kLocal, kReplicated };

struct Wait {
    WaitReason reason;
    bool operator==(const Wait&) const = default;
};
struct Reject {
    RejectReason reason;
    bool operator==(const Reject&) const = default;
};

class ReplicationAcknowledgement;
using Decision = std::variant<Wait, Reject, ReplicationAcknowledgement>;
/// A1. No input or output, no retry, no downgrade. More evidence never turns an acknowledgement into a wait.
[[nodiscard]] Decision decide_replication(const Observation& observation, const AckPolicy& policy);

/// Proof that a record is as safe as its policy asks. Only decide_replication makes one; no producer is told success
/// without it (A4).
class ReplicationAcknowledgement {
  public:
    /// Everything below this offset is proven; exclusive.
    [[nodiscard]] Offset proven_end_offset() const { return proven_end_offset_; }
    [[nodiscard]] Durability durability() const { return durability_; }
    [[nodiscard]] WriteAuthority authority() const { return authority_; }
    [[nodiscard]] SyncStateSetEpoch set_version() const { return set_version_; }
    bool operator==(const ReplicationAcknowledgement&) const = default;

  private:
    friend Decision decide_replication(const Observation& observation, const AckPolicy& policy);
    ReplicationAcknowledgement(const Observation& observation, Durability durability)
        : proven_end_offset_(observation.required_end_offset),
          durability_(durability),
          authority_(observation.current),
          set_version_(observation.set_version) {}

    Offset proven_end_offset_;
    Durability durability_;
    WriteAuthority authority_;
    SyncStateSetEpoch set_version_;
};

std::string_view to_text(WaitReason reason);
std::string_view to_text(RejectReason reason);

}  // namespace tidelock::replication
