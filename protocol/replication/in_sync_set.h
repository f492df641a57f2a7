/// The leader's view of who is in sync (I1-I5, I8-I11). One value serves one scope: every partition of the broker
/// (`group`, where membership is per replica) or a single partition. It decides; the owner commits what it proposes and
/// tells it so.
///
/// Invariants: the leader is a committed member; sets are sorted by broker and hold a broker once, except that a
/// pending replacement holds both lives of one; at most one change is in flight; the acknowledgement set contains the
/// committed set and the member being added; positions are of the current leader epoch only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/base/digest.h"
#include "protocol/base/flat_map.h"
#include "protocol/base/ids.h"
#include "protocol/base/time.h"

namespace tidelock::replication {

/// Version of a committed set, apart from the leader epoch; rises by one with every change (A3, I3).
using SyncStateSetEpoch = Tagged<struct SyncStateSetEpochTag, std::int64_t>;

/// When a follower may join the set (I5). The last two are the seeds' rules (D1, D11) and lose records.
enum class ExpandRule : std::uint8_t {
    kEpochStartAndHighWatermark,  // ours: max(high watermark, start of the leader's epoch) on every partition
    kHighWatermarkOnly,           // 000
    kLagBound,  // 002: fresh and at most replica_lag_records_max behind, even below the high watermark
};

struct InSyncConfig {
    Replica self;
    std::vector<BrokerId>
        assigned_replicas;  // sorted, self included: who could be in sync; the gauge of I9 counts against it
    ExpandRule expand_rule = ExpandRule::kEpochStartAndHighWatermark;
    std::optional<Duration> isr_lag;              // 000: longest time away from the leader's log end
    std::optional<Duration> replica_lag_timeout;  // 002: longest time without a fetch; longer than a long-poll lasts
    std::optional<std::int64_t> replica_lag_records_max;  // 002: most records behind, on any partition
    std::optional<Duration> disconnect_grace;  // how long a member may be unheard of after its connection has ended
    std::int32_t min_insync_replicas = 1;
    bool keeps_minimum = true;        // I11; off: the seeds' rule, shrinks down to the leader alone
    bool counts_incarnations = true;  // I10; off: the seeds' rule (D4), any life of a member's broker is that member
    bool operator==(const InSyncConfig&) const = default;
};

/// A set with its version. Members sorted by broker.
struct VersionedSet {
    SyncStateSetEpoch version;
    std::vector<Replica> members;
    bool operator==(const VersionedSet&) const = default;
};

/// The leader's own copy of one partition in scope. Ends are exclusive.
struct LeaderCopy {
    TopicPartition partition;
    Offset log_end_offset;
    Offset durable_end_offset;
    Offset high_watermark;
    Offset epoch_start_offset;  // where the current leader epoch starts; of a partition added later: its first offset
    bool operator==(const LeaderCopy&) const = default;
};

/// What one fetch or position update says about one partition. Only positions that the leader has verified against its
/// own log (`judge_partition`) may come here: one past the leader's end or off its history counts for nothing.
struct FollowerPosition {
    TopicPartition partition;
    Offset durable_end_offset;  // exclusive (L2)
    bool operator==(const FollowerPosition&) const = default;
};

enum class ChangeKind : std::uint8_t { kExpand, kShrink, kReplace };

// --- effects -------------------------------------------------------------------------------------------------

/// Commit `set` as the next one, stamped with `leader_epoch` (I3). Answered by on_change_committed or on_change_failed.
struct ProposeChange {
    LeaderEpoch leader_epoch;
    ChangeKind kind;
    VersionedSet set;
    Replica subject;  // who joins or leaves; of a replacement the new life
    bool operator==(const ProposeChange&) const = default;
};
/// The set that acknowledgements and the high watermark wait for is another now: evaluate both again (I4).
struct AcknowledgementSetChanged {
    bool operator==(const AcknowledgementSetChanged&) const = default;
};
/// The gauge of I9 moved. `in_step_count` of `assigned_count` copies are committed members that keep up.
struct UnderReplicationChanged {
    bool is_under_replicated;
    std::int32_t in_step_count;
    std::int32_t assigned_count;
    bool operator==(const UnderReplicationChanged&) const = default;
};
/// A member lags but leaving it out would go below min_insync_replicas: it stays, and is listed as lagging (I11).
struct ShrinkWithheld {
    Replica member;
    bool operator==(const ShrinkWithheld&) const = default;
};
/// A follower is at the high watermark everywhere, yet below the start of the leader's epoch somewhere (I5).
struct ExpandWaitsForEpochStart {
    Replica follower;
    bool operator==(const ExpandWaitsForEpochStart&) const = default;
};

using InSyncEffect = std::variant<ProposeChange, AcknowledgementSetChanged, UnderReplicationChanged, ShrinkWithheld,
                                  ExpandWaitsForEpochStart>;
using InSyncEffects = std::vector<InSyncEffect>;

// --- the machine ---------------------------------------------------------------------------------------------

class InSyncSet {
  public:
    explicit InSyncSet(InSyncConfig config);

    /// The claim of `leader_epoch` committed with this set. Everything learned earlier is forgotten (I1). `committed`
    /// must name the leader's present life (G2 let it stand); `copies` in any order.
    void become_leader(LeaderEpoch leader_epoch, VersionedSet committed, std::vector<LeaderCopy> copies, Instant now,
                       InSyncEffects& effects);
    /// Leadership ended; nothing is tracked until the next become_leader. A change in flight is resolved by whoever
    /// leads next.
    void step_down();

    /// A fetch or position update of `leader_epoch` whose sender has done its truncation handshake (F3, I1). Of another
    /// epoch, of a life known to be over or of a broker that is not assigned: changes nothing.
    void on_follower_fetched(Replica follower, LeaderEpoch leader_epoch, std::span<const FollowerPosition> positions,
                             Instant now, InSyncEffects& effects);
    /// A broker showed itself with this data incarnation, by whatever message (I10). Another one than before is a new
    /// life.
    void on_replica_seen(Replica replica, Instant now, InSyncEffects& effects);
    /// Its connection has ended. True: that is news, and on_tick is due after `disconnect_grace`. Also of who does not
    /// lead: whose death it was that an election followed is known before the claim.
    bool on_disconnected(BrokerId broker, Instant now);
    /// Any message of it came.
    void on_heard(BrokerId broker);
    [[nodiscard]] bool is_anybody_disconnected() const;
    /// It asks for the manifest, as each life does before its first fetch of an epoch: so lives have an order here.
    void on_manifest_asked(Replica replica);
    /// The present life asked for the manifest later, and has spoken since: this one is over (I10).
    [[nodiscard]] bool is_former_life(Replica replica) const;
    /// The leader appended or synced: new ends of its own copy.
    void on_leader_log_changed(TopicPartition partition, Offset log_end_offset, Offset durable_end_offset);
    /// May make followers eligible to join only through their next fetch, so it has no effects of its own.
    void on_high_watermark_moved(TopicPartition partition, Offset high_watermark);
    void on_partition_added(const LeaderCopy& copy);
    void on_partition_removed(TopicPartition partition);

    /// A set committed, stamped with the epoch that proposed it. Of another epoch, or not newer than the committed one:
    /// ignored.
    void on_change_committed(LeaderEpoch leader_epoch, const VersionedSet& set, InSyncEffects& effects);
    /// The change of this version can never commit any more; the bounds may propose it again. Only for a definite
    /// refusal: a change with unknown outcome stays in flight until the role changes.
    void on_change_failed(LeaderEpoch leader_epoch, SyncStateSetEpoch version, InSyncEffects& effects);
    /// Applies the time bounds of I2. Call it every quarter of the smallest bound, about.
    void on_tick(Instant now, InSyncEffects& effects);

    [[nodiscard]] bool is_leading() const { return is_leading_; }
    [[nodiscard]] LeaderEpoch leader_epoch() const { return leader_epoch_; }
    /// I9: fewer members keep up than replicas are assigned; false for who leads nothing.
    [[nodiscard]] bool is_under_replicated() const;
    [[nodiscard]] const VersionedSet& committed() const { return committed_; }
    [[nodiscard]] const std::optional<ProposeChange>& pending() const { return pending_; }
    /// I4: the committed set and the member being added. Sorted by broker.
    [[nodiscard]] const std::vector<Replica>& acknowledgement_set() const { return acknowledgement_set_; }
    /// Lowest durable position over the acknowledgement set, the leader's included; empty while any is unknown (I6).
    [[nodiscard]] std::optional<Offset> lowest_position(TopicPartition partition) const;
    /// Durable position of one replica in the current epoch; the leader's own included. Empty: unknown.
    [[nodiscard]] std::optional<Offset> position(Replica replica, TopicPartition partition) const;
    /// Committed members that are out of sync by a bound of I2, or whose broker lives another life. Sorted.
    [[nodiscard]] const std::vector<Replica>& lagging_members() const { return lagging_; }
    /// Whether the member's broker still lives the life that the set names, as far as the leader knows.
    [[nodiscard]] bool is_alive_as(Replica member) const;
    /// Committed members that keep up, the leader included.
    [[nodiscard]] std::int32_t in_step_count() const;
    /// I8, I11: whether acks=all may be accepted now.
    [[nodiscard]] bool has_enough_in_step() const { return in_step_count() >= config_.min_insync_replicas; }
    [[nodiscard]] const InSyncConfig& config() const { return config_; }

    void add_to(Digest& digest) const;
    /// Fails loudly on a broken invariant (see the top of this file).
    void check_invariants() const;
    bool operator==(const InSyncSet&) const = default;

  private:
    struct FollowerCopy {
        Offset durable_end_offset{-1};  // -1: unknown in this epoch
        Offset mark{0};                 // the leader's log end when the follower's mark was set
        bool operator==(const FollowerCopy&) const = default;
    };
    /// `caught_up_at`: the latest moment whose whole log the follower is known to hold. It advances when every
    /// partition has reached its mark, the leader's log end at `marked_at`; so a follower under constant load is judged
    /// by time, not by luck.
    struct Follower {
        BrokerId broker;
        Incarnation incarnation;  // latest life seen; 0: none yet
        Instant caught_up_at;
        Instant marked_at;
        Instant heard_at;
        bool has_caught_up = false;  // caught_up_at was earned by positions, not granted at the start of the epoch
        bool has_fetched = false;    // in this epoch and life
        bool has_spoken = false;     // ... or said where it is, counted or not
        std::optional<Instant> disconnected_at;  // its connection ended, and nothing was heard of it since
        bool waits_for_epoch_start_reported = false;
        std::vector<FollowerCopy> copies;            // parallel to copies_
        std::vector<Incarnation> past_incarnations;  // lives known to be over; bounded
        std::vector<Incarnation>
            asking_incarnations;  // that asked for the manifest in this epoch, oldest first; bounded
        bool operator==(const Follower&) const = default;
    };

    [[nodiscard]] std::size_t index_of(TopicPartition partition) const;  // copies_.size(): not in scope
    [[nodiscard]] Follower* find_follower(BrokerId broker);
    [[nodiscard]] const Follower* find_follower(BrokerId broker) const;
    [[nodiscard]] bool is_same_life(const Follower& follower, Replica replica) const;
    [[nodiscard]] bool is_in(const std::vector<Replica>& set, Replica replica) const;
    void know_named_life(Follower& follower) const;
    bool begin_life(Follower& follower, Incarnation incarnation, Instant now);
    void record_positions(Follower& follower, std::span<const FollowerPosition> positions);
    void update_caught_up(Follower& follower, Instant now);
    [[nodiscard]] bool is_at_log_end(const Follower& follower) const;
    [[nodiscard]] bool is_within_bounds(const Follower& follower, Instant now) const;
    [[nodiscard]] bool has_reached(const Follower& follower, bool epoch_start_counts) const;
    [[nodiscard]] bool may_expand(Follower& follower, Instant now, InSyncEffects& effects) const;
    [[nodiscard]] bool is_lagging(Replica member, Instant now) const;
    void consider_expand(Follower& follower, Instant now, InSyncEffects& effects);
    void consider_shrink(InSyncEffects& effects);
    void refresh_lagging(Instant now, InSyncEffects& effects);
    void propose(ChangeKind kind, Replica subject, InSyncEffects& effects);
    void rebuild_acknowledgement_set(InSyncEffects& effects);
    void report_under_replication(InSyncEffects& effects);

    InSyncConfig config_;
    bool is_leading_ = false;
    LeaderEpoch leader_epoch_;
    VersionedSet committed_;
    std::optional<ProposeChange> pending_;
    std::vector<Replica> acknowledgement_set_;
    std::vector<Replica> lagging_;
    std::vector<Replica> withheld_;    // already reported by ShrinkWithheld
    std::vector<LeaderCopy> copies_;   // sorted by partition
    std::vector<Follower> followers_;  // sorted by broker; everybody assigned but self
    std::int32_t reported_in_step_ = -1;
};

}  // namespace tidelock::replication
