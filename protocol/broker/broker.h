/// One broker, whole: the machines its preset needs and the routing between them. A value. Hosts apply events with
/// step() and carry the effects out; the same code runs in the simulator, in the explorer and in the daemon.
///
/// Invariants: nothing that rests on a write leaves before the write is durable (the machines queue it); at most one of
/// `leading` and the fetcher's followed leader is set; a client is told success only with a ReplicationAcknowledgement,
/// or for acks=leader and none (A4, A5).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/base/flat_map.h"
#include "protocol/broker/config.h"
#include "protocol/broker/effect.h"
#include "protocol/broker/event.h"
#include "protocol/broker/record_watch.h"
#include "protocol/broker/tail_cache.h"
#include "protocol/clients/client_ref.h"
#include "protocol/clients/groups.h"
#include "protocol/clients/messages.h"
#include "protocol/clients/offsets.h"
#include "protocol/clients/partition_producers.h"
#include "protocol/clients/producers.h"
#include "protocol/group/metadata.h"
#include "protocol/raft/raft.h"
#include "protocol/replication/fetch_answer.h"
#include "protocol/replication/fetcher.h"
#include "protocol/replication/high_watermark.h"
#include "protocol/replication/in_sync_set.h"
#include "protocol/replication/pending_acknowledgements.h"
#include "protocol/storage/identity.h"
#include "protocol/storage/log_store.h"
#include "protocol/storage/state_file.h"
#include "protocol/storage/topic_catalogue.h"

namespace tidelock::broker {

enum class Lifecycle : std::uint8_t {
    kNotBooted,
    kWritingState,     // a new directory's Raft state and catalogue are on their way to the disk
    kWritingIdentity,  // new, or renewed because data was found damaged (I10)
    kRunning,
    kRefused,  // R8: an operator has to help
};

/// One partition as its broker sees it; the records are the log store's.
struct Partition {
    replication::HighWatermark high_watermark;
    clients::PartitionProducers producers;
    replication::PendingAcknowledgements pending;
    TailCache tail;
    Offset epoch_start_offset;           // as leader: where its epoch starts here
    bool must_recopy = false;            // damaged or foreign: reset before it follows anybody (L3, L4)
    bool must_reread_producers = false;  // a cut went past what it remembers, or headers were trusted (T2)
    bool operator==(const Partition&) const = default;
};

/// A client that waits for an answer.
using clients::ClientRef;
using clients::kNobody;

/// What to tell whom once a record is confirmed, or will not be.
struct WaitingProduce {
    ClientRef client;
    TopicPartition partition;
    Offset base_offset;
    Offset last_offset;  // inclusive
    LeaderEpoch leader_epoch;
    bool is_duplicate = false;
    bool is_offset_commit = false;
    bool is_leader_ack = false;  // acks=leader with ack_leader_durably
    bool is_too_old = false;     // a duplicate of which nobody remembers the offset: all records before are waited for
    bool operator==(const WaitingProduce&) const = default;
};

/// A consumer's fetch that waits for the high watermark to pass its offset (I7).
struct WaitingConsumer {
    ClientRef client;
    TopicPartition partition;
    Offset offset;
    std::int32_t bytes_max = 0;
    Instant deadline;
    bool operator==(const WaitingConsumer&) const = default;
};

struct ConsumerRead {
    ClientRef client;
    Offset offset;
    Offset up_to;  // the high watermark the consumer was judged by
    LeaderEpoch leader_epoch;
    bool operator==(const ConsumerRead&) const = default;
};
struct FollowerRead {
    BrokerId follower;
    replication::RequestId request_id;
    LeaderEpoch leader_epoch;
    bool operator==(const FollowerRead&) const = default;
};
struct RebuildRead {
    LeaderEpoch leader_epoch;
    bool operator==(const RebuildRead&) const = default;
};
/// A lookup of a record by its time.
struct TimeRead {
    ClientRef client;
    std::int64_t wanted_ms = 0;  // no older than this
    bool wants_newest = false;   // ... and the newest of all
    std::optional<Offset> found;
    std::int64_t found_ms = 0;
    Offset up_to;  // the high watermark it was asked under
    LeaderEpoch leader_epoch;
    bool operator==(const TimeRead&) const = default;
};
using ReadPurpose = std::variant<ConsumerRead, FollowerRead, RebuildRead, TimeRead>;

/// A read that the log store has not answered yet.
struct ReadUnderWay {
    ReadPurpose purpose;
    Instant asked_at;
    bool operator==(const ReadUnderWay&) const = default;
};

/// A follower's fetch whose records are partly still being read.
struct AnswerInAssembly {
    BrokerId follower;
    replication::FetchAnswer answer;
    std::int32_t reads_outstanding = 0;
    bool operator==(const AnswerInAssembly&) const = default;
};

/// A change of topics that is answered once every replica that acknowledgements wait for has made it too.
struct WaitingTopicChange {
    ClientRef client;
    clients::Answer answer;
    std::int64_t manifest_version = 0;
    Instant deadline;
    bool operator==(const WaitingTopicChange&) const = default;
};

/// A log start that is to move once what it would make forgotten is confirmed in the topic of producers (T2, L7).
struct LogStartMove {
    TopicPartition partition;
    Offset log_start_offset;
    TopicPartition home;  // where what has to be kept was written
    Offset written_end;   // exclusive: the high watermark there has to reach it
    std::optional<ClientRef> client;
    Instant deadline;  // of the client
    bool operator==(const LogStartMove&) const = default;
};

/// An operator that wants another leader: told whether the leader began an election there (R10).
struct WaitingTransfer {
    std::optional<ClientRef> client;  // none: it is gone, and the transfer goes on
    BrokerId target;
    bool operator==(const WaitingTransfer&) const = default;
};

struct WaitingProducerId {
    ClientRef client;
    Instant deadline;
    bool operator==(const WaitingProducerId&) const = default;
};

/// What a client is told once this is known to have been the leader when it asked.
struct UnconfirmedAnswer {
    ConnectionId connection;
    clients::Answer answer;
    ReadRound round;
    Instant deadline;
    std::size_t bytes = 0;  // that it holds beyond its own size
    bool operator==(const UnconfirmedAnswer&) const = default;
};

struct ManifestVersion {
    std::int64_t version = 0;
    std::uint64_t digest = 0;
    bool operator==(const ManifestVersion&) const = default;
};
struct ManifestProgress {
    Replica follower;  // in this life of its data
    std::int64_t version = 0;
    bool operator==(const ManifestProgress&) const = default;
};

enum class LeadingStage : std::uint8_t {
    kRebuilding,  // reads the internal topics (G3)
    kConfirming,  // waits for the high watermark to pass what it read
    kServing,
};

/// How far one internal partition has been read by a new leader (G3).
struct Rebuild {
    TopicPartition partition;
    Offset next_offset;
    Offset end_offset;         // log end at the claim
    bool is_internal = false;  // offsets or producer ids; else a partition whose producers are not known any more
    bool is_started = false;   // a read is under way, or all have ended
    bool operator==(const Rebuild&) const = default;
};

/// What a leader of the data keeps, from its claim's commit until it is leader no more.
/// The fetch that a follower waits for.
struct NewestFetch {
    Replica follower;
    replication::RequestId request_id;
    bool operator==(const NewestFetch&) const = default;
};

struct Leading {
    LeaderEpoch leader_epoch;
    LeadingStage stage = LeadingStage::kRebuilding;
    std::vector<Rebuild> rebuilds;
    replication::ParkedFetches parked;
    std::vector<AnswerInAssembly> assembling;  // one a follower at most
    FlatMap<BrokerId, NewestFetch> newest_fetches;
    std::vector<WaitingConsumer> consumers;
    RecordWatches watches;
    clients::GroupCoordinator groups;
    std::deque<ManifestVersion> manifests;  // newest last, bounded
    std::int64_t manifests_written = 0;     // version of the newest catalogue on its way to the disk
    std::vector<ManifestProgress> manifest_progress;
    std::vector<WaitingTopicChange> topic_changes;
    clients::OffsetTable offsets;
    clients::ProducerIdAllocator producer_ids;
    std::optional<WaitingTransfer> transfer;
    std::vector<WaitingProducerId> waiting_for_producer_id;
    std::deque<UnconfirmedAnswer> unconfirmed_answers;  // by round
    ReadRound newest_round;
    std::vector<LogStartMove> log_start_moves;
    std::int64_t producer_records_kept = 0;          // of the topic of producers, when it was last written anew
    std::vector<Replica> stale_acknowledgement_set;  // seed rule observe_in_two_reads only
    std::optional<Instant> in_sync_look_at;          // when the timer of the bounds of I2 fires
    bool operator==(const Leading&) const = default;
};

/// A raft write on its way to the state file.
struct RaftWrite {
    storage::StateSequence file_sequence;
    raft::PersistSequence raft_sequence;
    bool operator==(const RaftWrite&) const = default;
};

/// A change of the catalogue that waits for its file before the logs follow.
struct CatalogueWrite {
    storage::StateSequence file_sequence;
    storage::TopicCatalogue catalogue;
    std::int64_t manifest_version = 0;  // as leader
    bool is_reconciling = false;        // by a leader's manifest (F2)
    bool operator==(const CatalogueWrite&) const = default;
};

/// How long the disk of a leader may hang doubles with each lead given up for that, this many times at most (L9).
inline constexpr int kStallsInRowMax = 3;

struct Broker {
    explicit Broker(Config configuration);

    Config config;
    Lifecycle lifecycle = Lifecycle::kNotBooted;
    std::uint64_t entropy = 0;
    std::uint64_t ids_drawn = 0;

    storage::Identity identity;
    storage::StateFile identity_file;
    storage::StateFile raft_file;
    storage::StateFile topics_file;
    storage::LogStore logs;
    bool is_identity_renewing = false;  // I10: nothing is told under the old incarnation, nothing discarded yet
    bool is_scan_clean = false;         // L4: the boot's recovery found no damage, and nothing has since

    raft::Node raft;
    std::vector<RaftWrite> raft_writes;
    group::Metadata decided;    // by committed entries
    group::Metadata compacted;  // at the Raft snapshot
    group::Metadata in_log;     // by all entries, committed or not (G2)
    std::vector<Replica> formed_with;
    LogIndex applied_index;

    storage::TopicCatalogue topics;  // durable: the logs exist
    std::vector<CatalogueWrite> catalogue_writes;
    FlatMap<TopicPartition, Partition> partitions;

    replication::InSyncSet in_sync;
    replication::Fetcher fetcher;
    std::optional<Leading> leading;
    bool is_static_role_pending = false;         // `static`: a command or a claim is on its way to the identity file
    std::optional<LeaderEpoch> static_claim;     // `static`: of this broker for itself; it has not led by it yet
    std::optional<RoleCommanded> early_command;  // `static`: the latest that came before this broker ran
    Duration static_retry;  // `static`: the latest pause before leading again; 0: none since it served
    BrokerId known_leader;  // of the data, for hints; 0: none

    FlatMap<ConnectionId, CorrelationId> newest_requests;              // of clients that are connected and have asked
    std::map<replication::WaiterId, WaitingProduce> waiting_produces;  // thousands, and the oldest go first
    FlatMap<storage::ReadId, ReadUnderWay> reads;                      // in the order they were asked for
    std::uint64_t next_waiter = 1;
    std::uint64_t next_read = 1;
    std::optional<Instant> deadline_timer_at;
    std::int32_t under_replicated = 0;
    int stalls_in_row = 0;                     // leads given up because the disk hung, at most kStallsInRowMax (L9)
    std::optional<Instant> stalled_at;         // the last of them, or of the commits that took too long since
    bool is_disk_full = false;                 // or gives errors for good; a member of such a disk is not to lead
    std::uint64_t commit_watched = 0;          // commits of the log store that had ended by `commit_since`
    std::optional<Instant> commit_since;       // when the one in flight was seen first
    std::optional<Instant> reads_since;        // when the oldest of those under way was asked for
    storage::StateSequence catalogue_watched;  // the write of topics that the disk has held up ...
    std::optional<Instant> catalogue_since;    // ... since then
    bool is_disk_refusing = false;             // since the last attempt

    bool operator==(const Broker&) const = default;
};

/// Applies one event; appends effects in the order the host must carry them out. Same broker and event, same result, on
/// every compiler. Any bytes from outside have been decoded before; a stale or unexpected event is ignored or refused
/// by name.
void step(Broker& broker, Instant now, const Event& event, Effects& effects);

/// What the broker says of itself right now (O1).
clients::StatusAnswer status(const Broker& broker);
/// Whether it holds a committed claim and has opened to clients.
bool is_serving(const Broker& broker);

}  // namespace tidelock::broker
