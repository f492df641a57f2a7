/// What a broker does, said as it does it. One stream for everybody who watches: the checker, the trace, the digest,
/// the daemon's log and metrics. Observations are facts about steps already taken; nothing in the core reads them back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/ids.h"
#include "protocol/broker/marks.h"
#include "protocol/clients/error_code.h"
#include "protocol/clients/group_news.h"
#include "protocol/clients/status.h"

namespace tidelock::broker {

// --- a life of a broker -------------------------------------------------------------------------------------------

/// The broker recovered its directory and begins to act. Follows every boot that is not refused.
struct Started {
    Incarnation raft_incarnation;
    Incarnation data_incarnation;
    bool operator==(const Started&) const = default;
};
/// The broker will not act in this life (R8, foreign directory, newer format); an operator has to help.
struct RefusedToStart {
    std::string why;
    bool operator==(const RefusedToStart&) const = default;
};
/// A new data incarnation is durable; every set that names the old one no longer means this replica (I10).
struct DataIncarnationRenewed {
    Incarnation incarnation;
    bool operator==(const DataIncarnationRenewed&) const = default;
};

// --- Raft ---------------------------------------------------------------------------------------------------------

/// A vote that is durable and has left (or, for a candidate's own, counts).
struct VoteGranted {
    Term term;
    BrokerId candidate;
    Incarnation voter_incarnation;
    bool operator==(const VoteGranted&) const = default;
};
struct RaftLeaderElected {
    Term term;
    bool caretaker;  // G9: leads Raft, may not lead the data
    bool operator==(const RaftLeaderElected&) const = default;
};
struct RaftLeaderSteppedDown {
    Term term;
    bool operator==(const RaftLeaderSteppedDown&) const = default;
};
/// A leader wants to know whether it still is one, before it answers a read (T1).
struct ReadRoundAsked {
    Term term;
    ReadRound round;
    bool operator==(const ReadRoundAsked&) const = default;
};
/// A majority answered what was sent after the rounds up to this one were asked for (Raft thesis 6.4).
struct ReadRoundConfirmed {
    Term term;
    ReadRound up_to;
    bool operator==(const ReadRoundConfirmed&) const = default;
};
/// Term and content hash of one entry of a recovered Raft log.
struct RaftEntrySummary {
    Term term;
    std::uint64_t content;
    bool operator==(const RaftEntrySummary&) const = default;
};
/// The Raft state this life begins with (R2): what the broker may still know of its promises.
struct RaftRecovered {
    Incarnation incarnation;
    Term term;
    BrokerId voted_for;  // in `term`; 0: nobody
    LogIndex snapshot_last_index;
    std::vector<RaftEntrySummary> entries;  // from snapshot_last_index + 1 on
    bool operator==(const RaftRecovered&) const = default;
};
/// An entry was put into this broker's Raft log. `content` is a hash of kind and payload.
struct RaftEntryAppended {
    LogIndex index;
    Term term;
    std::uint64_t content;
    bool operator==(const RaftEntryAppended&) const = default;
};
/// Entries at and past `from` were removed from this broker's Raft log.
struct RaftEntriesTruncated {
    LogIndex from;
    Term term;  // the broker's: a leader of this term wanted it
    bool operator==(const RaftEntriesTruncated&) const = default;
};
/// This broker learned that the entry is committed (each broker reports each entry once a life).
struct RaftEntryCommitted {
    LogIndex index;
    Term term;
    std::uint64_t content;
    Term learned_in;  // the broker's term: no leader of a later term may lack the entry
    bool operator==(const RaftEntryCommitted&) const = default;
};
/// This broker learned that entry `index`, which admits a life of `broker`, is committed (R11). Follows its
/// RaftEntryCommitted.
struct RaftReplicaAdmitted {
    LogIndex index;
    BrokerId broker;
    Incarnation incarnation;
    bool operator==(const RaftReplicaAdmitted&) const = default;
};
/// From now on this broker's votes and answers count, or do so no longer (R11).
struct RaftVoterChanged {
    bool is_voter;
    LogIndex named_at;  // the entry, or end of the snapshot, that names the life in force; 0: the group formed with it
    bool operator==(const RaftVoterChanged&) const = default;
};
/// A snapshot replaced the Raft log up to `last_index`.
struct RaftSnapshotInstalled {
    LogIndex last_index;
    Term last_term;
    std::uint64_t content;
    bool operator==(const RaftSnapshotInstalled&) const = default;
};

// --- leadership of the data ---------------------------------------------------------------------------------------

/// This broker's claim committed: it holds the epoch (R4).
struct ClaimCommitted {
    LeaderEpoch leader_epoch;
    bool operator==(const ClaimCommitted&) const = default;
};
/// Rebuilt and open to clients (G3).
struct LeaderServing {
    LeaderEpoch leader_epoch;
    bool operator==(const LeaderServing&) const = default;
};
struct LeadershipEnded {
    LeaderEpoch leader_epoch;
    bool operator==(const LeadershipEnded&) const = default;
};
struct FollowingLeader {
    BrokerId leader;
    LeaderEpoch leader_epoch;
    bool operator==(const FollowingLeader&) const = default;
};
struct InSyncSetProposed {
    LeaderEpoch leader_epoch;
    std::vector<Replica> members;
    std::uint64_t content = 0;  // of the Raft entry it becomes unless Raft refuses it; 0 without Raft
    bool operator==(const InSyncSetProposed&) const = default;
};
/// The leader learned that the set is committed.
struct InSyncSetCommitted {
    LeaderEpoch leader_epoch;
    std::vector<Replica> members;
    bool operator==(const InSyncSetCommitted&) const = default;
};
/// Whom the leader waits for before it acknowledges (I4).
struct AcknowledgementSetChanged {
    LeaderEpoch leader_epoch;
    std::vector<Replica> members;
    bool operator==(const AcknowledgementSetChanged&) const = default;
};
/// Gauge of I9, reported when it changes.
struct UnderReplicatedPartitions {
    std::int32_t count;
    bool operator==(const UnderReplicatedPartitions&) const = default;
};

// --- partition logs -----------------------------------------------------------------------------------------------

struct TopicCreated {
    TopicId topic;
    std::string name;
    std::int32_t partitions;
    bool operator==(const TopicCreated&) const = default;
};
struct TopicGrown {
    TopicId topic;
    std::int32_t partitions;
    bool operator==(const TopicGrown&) const = default;
};
/// A leader's catalogue has fewer partitions than this broker's had (F2): those from `partitions` on are gone here,
/// with their records.
struct TopicShrunk {
    TopicId topic;
    std::int32_t partitions;
    bool operator==(const TopicShrunk&) const = default;
};
/// The topic is being deleted: not served to clients any more, its records still kept, copied and counted (F2). Told
/// again by every life that begins so.
struct TopicHidden {
    TopicId topic;
    bool operator==(const TopicHidden&) const = default;
};
/// A deletion that its leader never got through is undone: the topic is as it was.
struct TopicShown {
    TopicId topic;
    bool operator==(const TopicShown&) const = default;
};
struct TopicDropped {
    TopicId topic;
    bool operator==(const TopicDropped&) const = default;
};
/// What identifies a batch in a log. `content` is the batch's own CRC-32C, which does not cover offset and epoch.
struct BatchSummary {
    Offset base_offset;
    Offset last_offset;  // inclusive
    LeaderEpoch leader_epoch;
    std::uint32_t content;
    ProducerId producer_id;
    ProducerEpoch producer_epoch;
    std::int32_t base_sequence;
    bool operator==(const BatchSummary&) const = default;
};
struct BatchAppended {
    TopicPartition partition;
    BatchSummary batch;
    bool as_leader;
    bool operator==(const BatchAppended&) const = default;
};
/// A partition's log as recovery found it, batch by batch.
struct LogRecovered {
    TopicPartition partition;
    Offset log_start_offset;
    Offset log_end_offset;
    Offset durable_end_offset;
    Offset high_watermark;
    std::vector<BatchSummary> batches;
    bool damaged;                     // below the durable end: counts for nothing until recopied (L4)
    Offset unverified_end_offset{0};  // batches below it were taken by their headers alone; 0: all were verified
    bool operator==(const LogRecovered&) const = default;
};
enum class CutReason : std::uint8_t { kHandshake, kFailedSync, kOperator };
/// Records at and past `to` were cut from the tail.
struct LogTruncated {
    TopicPartition partition;
    Offset to;
    CutReason reason;
    bool operator==(const LogTruncated&) const = default;
};
enum class ResetReason : std::uint8_t { kBehindLogStart, kDamaged, kForeign };
/// All records were dropped; the log restarts empty at `log_start_offset` (L7, L4, L3).
struct LogReset {
    TopicPartition partition;
    Offset log_start_offset;
    ResetReason reason;
    bool operator==(const LogReset&) const = default;
};
struct LogStartAdvanced {
    TopicPartition partition;
    Offset log_start_offset;
    bool operator==(const LogStartAdvanced&) const = default;
};
struct DurableEndAdvanced {
    TopicPartition partition;
    Offset durable_end_offset;
    bool operator==(const DurableEndAdvanced&) const = default;
};
/// A batch of this copy does not match its checksum, below what was durable.
struct DamageFound {
    TopicPartition partition;
    Offset at;
    bool operator==(const DamageFound&) const = default;
};
/// A sync failed; nothing is acknowledged from this log until it is reopened (L9).
struct LogFailed {
    TopicPartition partition;
    bool operator==(const LogFailed&) const = default;
};
struct LogReopened {
    TopicPartition partition;
    Offset log_end_offset;
    bool operator==(const LogReopened&) const = default;
};

// --- what clients are told ----------------------------------------------------------------------------------------

/// As leader under `leader_epoch` (I6), or as a follower that heard it (`as_leader` false).
struct HighWatermarkAdvanced {
    TopicPartition partition;
    LeaderEpoch leader_epoch;
    Offset high_watermark;
    bool as_leader;
    bool operator==(const HighWatermarkAdvanced&) const = default;
};
enum class AcknowledgedBy : std::uint8_t { kNothing, kLeaderAppend, kPolicy };
/// A producer was told success for [base_offset, last_offset].
struct RecordsAcknowledged {
    TopicPartition partition;
    Offset base_offset;
    Offset last_offset;  // inclusive
    LeaderEpoch leader_epoch;
    AcknowledgedBy by;
    bool duplicate;  // answered from the producer table (T2)
    bool operator==(const RecordsAcknowledged&) const = default;
};
/// A consumer was served [from, to).
struct RecordsServed {
    TopicPartition partition;
    LeaderEpoch leader_epoch;
    Offset from;
    Offset to;
    Offset high_watermark;
    bool operator==(const RecordsServed&) const = default;
};
/// A consumer was told where the log begins, how far it may read, or both, without being served a record.
struct BoundsTold {
    TopicPartition partition;
    LeaderEpoch leader_epoch;
    std::optional<Offset> log_start_offset;
    std::optional<Offset> high_watermark;
    bool operator==(const BoundsTold&) const = default;
};
/// What `GET /replication/status` said (O1, V22).
struct StatusReported {
    clients::StatusRole role;
    LeaderEpoch leader_epoch;
    Term term;
    BrokerId leader;  // 0: unknown
    std::vector<Replica> in_sync_replicas;
    std::vector<Replica> lagging_members;  // I11; told by who leads only
    clients::StatusDurability durability;
    std::int32_t under_replicated_count;  // partitions (I9)
    bool operator==(const StatusReported&) const = default;
};
/// A peer asked for what the protocol forbids, and was refused (L8 and its like).
struct ProtocolViolationRefused {
    std::string rule;
    std::string what;
    bool operator==(const ProtocolViolationRefused&) const = default;
};
/// As leader, refused a batch for what is known of its producer (T2). The client is told once that is confirmed.
struct ProducerRefused {
    TopicPartition partition;
    ProducerId producer_id;
    ProducerEpoch producer_epoch;
    std::int32_t base_sequence;
    clients::ErrorCode error;
    bool operator==(const ProducerRefused&) const = default;
};
/// As coordinator, something happened to a consumer group (T4).
struct GroupChanged {
    clients::GroupNews news;
    bool operator==(const GroupChanged&) const = default;
};
/// An interesting state was reached.
struct MarkReached {
    Mark mark;
    bool operator==(const MarkReached&) const = default;
};

using Observation =
    std::variant<Started, RefusedToStart, DataIncarnationRenewed, RaftRecovered, VoteGranted, RaftLeaderElected,
                 RaftLeaderSteppedDown, ReadRoundAsked, ReadRoundConfirmed, RaftEntryAppended, RaftEntriesTruncated,
                 RaftEntryCommitted, RaftReplicaAdmitted, RaftVoterChanged, RaftSnapshotInstalled, ClaimCommitted,
                 LeaderServing, LeadershipEnded, FollowingLeader, InSyncSetProposed, InSyncSetCommitted,
                 AcknowledgementSetChanged, UnderReplicatedPartitions, TopicCreated, TopicGrown, TopicShrunk,
                 TopicHidden, TopicShown, TopicDropped, BatchAppended, LogRecovered, LogTruncated, LogReset,
                 LogStartAdvanced, DurableEndAdvanced, DamageFound, LogFailed, LogReopened, HighWatermarkAdvanced,
                 RecordsAcknowledged, RecordsServed, BoundsTold, StatusReported, ProtocolViolationRefused, MarkReached,
                 ProducerRefused, GroupChanged>;

/// Hash of kind and fields, for the world's digest (V17).
std::uint64_t digest_of(const Observation& observation);
/// One line for traces and failing tests.
std::string to_text(const Observation& observation);

}  // namespace tidelock::broker
