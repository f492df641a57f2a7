/// All partition logs of a broker, on files that the host moves (L1-L4, L9). A value: events in, file effects and
/// reports out. Group commit: one round of syncs over every dirty file, then one journal commit, then the promises.
///
/// How a position becomes a promise (durable end):
///   1. a batch is appended: log end moves, its bytes are handed to the file;
///   2. a commit starts: log ends are captured, every dirty segment (and the directory, if names changed) is synced;
///   3. all syncs were ok: the captured ends go into the checkpoint journal, which is synced;
///   4. only then the durable end moves and Persisted is reported.
///
/// Appends are held in memory, not written, in two cases; they count in the log end and can be read meanwhile:
///   - while a cut (truncate, reset, a failed log's) is not durable in the journal and then in the files: a crash could
///     leave new batches followed by cut ones that fit by chance;
///   - while their epoch's history entry is not durable in the journal (L3): every batch's epoch has to be the one the
///     history says at recovery, which also finds a flipped bit in the epoch field (it is outside the batch's CRC).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"
#include "protocol/storage/checkpoint_journal.h"
#include "protocol/storage/epoch_history.h"
#include "protocol/storage/files.h"
#include "protocol/storage/segment_log.h"

namespace tidelock::storage {

/// Which segments recovery reads batch by batch (L4).
enum class RecoveryScan : std::uint8_t {
    kAll,
    kFromCheckpoint,  // of sealed segments wholly below durable end and high watermark only the headers are read
};

struct LogStoreConfig {
    SegmentConfig segment;
    std::uint64_t journal_bytes_max = 1U << 20U;  // a longer journal is rewritten into a new file
    std::uint64_t held_bytes_max = 64U << 20U;    // per partition; appends past it are refused
    int repair_attempts_max = 16;                 // failed attempts in a row before a log or the journal is given up
    RecoveryScan scan = RecoveryScan::kAll;
    bool operator==(const LogStoreConfig&) const = default;
};

using ReadId = Tagged<struct ReadIdTag, std::uint64_t>;

/// The log is durable, journal included, below `durable_end_offset`; its history up to `durable_epoch`. Reported
/// whenever one of the two changed, and once for every log after creation or recovery. This, and never the log end, may
/// be told to another broker (L2).
struct Persisted {
    TopicPartition tp;
    Offset durable_end_offset;
    LeaderEpoch durable_epoch;
    bool operator==(const Persisted&) const = default;
};
/// Whole batches, the first one holding the offset asked for, none reaching past `up_to`; CRCs and epochs verified.
struct RecordsRead {
    ReadId read_id;
    TopicPartition tp;
    Offset first_offset;  // of the first batch
    Offset next_offset;   // exclusive; equal to first_offset (and no bytes) when there is nothing in [from, up_to)
    Bytes batches;
    bool operator==(const RecordsRead&) const = default;
};
enum class ReadFailure : std::uint8_t {
    kOutOfRange,  // outside [log start, log end], unknown partition, or the log was cut while the read was out
    kDamaged,     // LogDamaged is reported too
    kIo,          // the host could not read, twice
};
struct ReadFailed {
    ReadId read_id;
    TopicPartition tp;
    ReadFailure reason = ReadFailure::kIo;
    bool operator==(const ReadFailed&) const = default;
};
/// The batch that should be at `at_offset` is bad or missing (L4). The log takes no appends until truncate() to at most
/// `at_offset`, or reset(). Records below can be read. Nothing was cut.
struct LogDamaged {
    TopicPartition tp;
    Offset at_offset;
    bool operator==(const LogDamaged&) const = default;
};
/// L9: a sync or write of the log failed. Nothing at or above its durable end counts any more: `log_end_offset` is
/// where the log ends now. It takes no appends until LogReopened; a leader must not go on in the same epoch (followers
/// may hold records of it that are gone here). `is_final`: too many attempts failed, the log stays closed.
struct LogFailed {
    TopicPartition tp;
    Offset log_end_offset;
    bool is_final = false;
    bool operator==(const LogFailed&) const = default;
};
/// A failed log was cut to its durable end, re-read and verified; it takes appends again.
struct LogReopened {
    TopicPartition tp;
    Offset log_end_offset;
    bool operator==(const LogReopened&) const = default;
};
/// No space for `name`. Commits stand still until resume(). If it is a segment, its LogFailed is reported as well.
struct DiskFull {
    FileName name;
    bool operator==(const DiskFull&) const = default;
};
/// A sync of the journal failed, for the `attempts`-th time in a row; it is being rewritten into a new file.
/// `is_final`: given up, nothing will be persisted any more.
struct JournalFailed {
    int attempts = 0;
    bool is_final = false;
    bool operator==(const JournalFailed&) const = default;
};
/// The files of a dropped log could not be removed durably, too many times. They are tried again at resume().
struct RemovalGivenUp {
    TopicPartition tp;
    bool operator==(const RemovalGivenUp&) const = default;
};

using StoreReport = std::variant<Persisted, RecordsRead, ReadFailed, LogDamaged, LogFailed, LogReopened, DiskFull,
                                 JournalFailed, RemovalGivenUp>;

/// Where a call puts what it wants done and said. Effects are to be carried out in order; reports are facts already.
struct StoreOutputs {
    std::vector<FileEffect> effects;
    std::vector<StoreReport> reports;
    void clear() {
        effects.clear();
        reports.clear();
    }
    bool operator==(const StoreOutputs&) const = default;
};

enum class AppendRefusal : std::uint8_t {
    kUnknownPartition,
    kBadBatch,       // not whole, valid batch headers
    kNotContiguous,  // does not start at the log end, or a gap inside (F4)
    kEpochWentBack,  // an epoch below the history's latest, or negative
    kClosed,         // damaged or failed
    kBusy,           // held_bytes_max
};
const char* describe(AppendRefusal refusal);

enum class LogCondition : std::uint8_t {
    kOpen,
    kFailed,   // L9, being cut and verified, or given up
    kDamaged,  // L4
};

/// What a broker may ask about a log at any time.
struct LogView {
    Offset log_start_offset;
    Offset log_end_offset;      // exclusive, held appends included
    Offset durable_end_offset;  // exclusive; 0 until Persisted was reported in this life of the store, and since a
                                // reset: what recovery found may have been in the memory of a surviving kernel only
    Offset high_watermark;
    LogCondition condition = LogCondition::kOpen;
    std::optional<Offset> damaged_at;
    bool is_history_unvouched = false;  // see PartitionRecord; until reset()
    bool operator==(const LogView&) const = default;
};

/// A cut that has to become durable first in the journal, then in the files, before anything is written past it.
struct CutRequest {
    PendingCut kind = PendingCut::kNone;
    Offset cut_to;  // log start of the emptied log for kAll
    bool operator==(const CutRequest&) const = default;
};

enum class CutStage : std::uint8_t {
    kNone,
    kJournaling,  // in the journal commit in flight
    kCutting,     // file effects are out, syncs outstanding
    kVerifying,   // a failed log's kept records are being read again
    kGivenUp,     // failed too often, and was reported; resume() tries again
};

/// A place that the device refused to read, over and over.
struct Unreadable {
    Offset from;
    int failures = 0;
    bool operator==(const Unreadable&) const = default;
};

/// One partition. Data of LogStore, spelled out so that it can be compared and hashed.
struct PartitionLog {
    TopicPartition tp;
    SegmentLog files;  // what was handed to files
    EpochHistory history;
    bool is_history_unvouched = false;  // see PartitionRecord; until reset()
    EpochHistory journaled_history;     // as the journal's latest commit, in flight or durable, has it
    std::optional<Offset> history_cut;  // lowest cut of `history` since then
    std::uint64_t history_version = 0;
    std::uint64_t history_version_journaled = 0;  // in the commit in flight or durable
    std::uint64_t history_version_durable = 0;
    Offset log_start_offset;
    Offset log_start_journaled;  // in the commit in flight or durable
    Offset log_end_offset;
    Offset durable_end_offset;
    Offset high_watermark;
    LogCondition condition = LogCondition::kOpen;
    std::optional<Offset> damaged_at;
    std::vector<BatchRun> held;  // appended, not handed to files
    std::uint64_t held_bytes = 0;
    CutRequest wanted_cut;  // not yet in a durable journal commit
    CutRequest active_cut;
    CutStage cut_stage = CutStage::kNone;
    int cut_syncs_outstanding = 0;
    bool is_cut_failed = false;  // one of the syncs of this attempt failed
    int cut_attempts = 0;
    Offset verified_to;  // kVerifying: kept records below were read back well
    bool is_verify_retried = false;
    bool needs_new_file = false;  // L9: nothing more is to be written to the file whose sync failed
    bool is_dirty = false;        // something for the next commit
    bool is_dropping = false;
    bool is_in_commit = false;
    bool is_names_in_commit = false;     // the commit's directory sync is for this log too
    Offset captured_end;                 // meaningful while is_in_commit
    LeaderEpoch reported_epoch;          // Persisted was reported with this epoch
    bool is_promised = false;            // Persisted was reported in this life of the store, and since the last reset
    std::vector<Unreadable> unreadable;  // where the device answered errors, and has not been read well since
    std::uint64_t cut_count = 0;         // the store's at the latest cut; a read that was out while it moved is void
    std::vector<FileName> doomed_files;  // found by recovery past damage; go with the next cut
    bool operator==(const PartitionLog&) const = default;
};

struct ReadRequest {
    ReadId read_id;
    TopicPartition tp;
    Offset from;                  // inclusive
    Offset up_to;                 // exclusive; clamped to the log end
    std::uint64_t bytes_max = 0;  // at least one batch is returned
    bool operator==(const ReadRequest&) const = default;
};

class LogStore {
  public:
    /// The store of an empty data directory.
    explicit LogStore(const LogStoreConfig& config) : config_(config) {}

    /// To be called once, after construction or recovery, when the broker has made durable whatever the recovery's
    /// findings demand (a renewed incarnation, I10): begins repairs, after which the findings are no longer visible on
    /// disk.
    void start(StoreOutputs& out);
    /// Starts a commit if none is in flight and something is dirty. To be called at the end of every broker step that
    /// called anything here, step() included, so that one commit serves all of it.
    void flush(StoreOutputs& out);
    /// Takes a completion; ignores those of other owners.
    void step(const FileEvent& event, StoreOutputs& out);
    /// Tries again what stood still since DiskFull (and logs and journal that were given up).
    void resume(StoreOutputs& out);

    /// Begins an empty log at offset 0. One that exists already stays as it is.
    void create_partition(const TopicPartition& tp);
    /// Removes a log: durably in the journal first, then its files. No reports about it any more but RemovalGivenUp.
    void drop_partition(const TopicPartition& tp);
    /// Appends whole batches that are stamped and start at the log end. Epochs new to the history are noted at their
    /// first record (L3). Records of epoch 0 are taken only while the history is empty.
    Result<void, AppendRefusal> append(const TopicPartition& tp, const Bytes& batches, StoreOutputs& out);
    /// F5: notes that an epoch starts at the log end or past it, before any record of it. Durable when Persisted names
    /// it.
    Result<void, HistoryRefusal> note_epoch(const TopicPartition& tp, const EpochStart& entry);
    /// Goes to disk with the next commit, for whatever reason that happens. Clamped to the log end; never moves back.
    void set_high_watermark(const TopicPartition& tp, Offset high_watermark);
    /// L7: moves the log start forward (clamped to the durable end; never back). Files go once that is durable.
    void advance_log_start(const TopicPartition& tp, Offset log_start_offset);
    /// Cuts everything at and past `to`, or past the start of the batch holding `to`. Returns the new log end, which
    /// counts at once. The caller answers for L8. The high watermark is clamped. Ends damage at or past the new end.
    Offset truncate(const TopicPartition& tp, Offset to);
    /// L7, L3: drops everything, history and high watermark included; the log starts again, empty, at `start_offset`.
    void reset(const TopicPartition& tp, Offset start_offset);
    /// Answered by RecordsRead or ReadFailed with its read_id, at once or later.
    void read(const ReadRequest& request, StoreOutputs& out);

    /// Empty for an unknown partition, or one being dropped.
    [[nodiscard]] std::optional<LogView> view(const TopicPartition& tp) const;
    /// From where on records at or past `from` may be no older than `timestamp_ms`: nothing between the two is. Empty:
    /// none in the files is that new.
    [[nodiscard]] std::optional<Offset> place_to_look(const TopicPartition& tp, Offset from,
                                                      std::int64_t timestamp_ms) const;
    /// Null for an unknown partition. Valid until the next call that changes the store.
    [[nodiscard]] const EpochHistory* history(const TopicPartition& tp) const;
    [[nodiscard]] const std::vector<PartitionLog>& logs() const { return logs_; }
    [[nodiscard]] bool is_commit_in_flight() const { return commit_stage_ != CommitStage::kIdle; }
    /// Commits that have ended in this life.
    [[nodiscard]] std::uint64_t commit_count() const { return commit_count_; }
    /// Nothing can be persisted any more (JournalFailed is_final) until resume().
    [[nodiscard]] bool is_given_up() const { return commit_stage_ == CommitStage::kGivenUp; }
    [[nodiscard]] const LogStoreConfig& config() const { return config_; }
    void fold(Digest& digest) const;
    bool operator==(const LogStore&) const = default;

  private:
    friend class StoreRecoverer;
    friend void check_invariants(const LogStore& store);

    enum class CommitStage : std::uint8_t {
        kIdle,
        kSyncingData,
        kSyncingJournal,
        kSyncingNewJournal,    // a rewritten journal: its file
        kSyncingNewDirectory,  // and its name
        kStalled,              // the journal could not be written for lack of space
        kGivenUp,
    };
    enum class OpKind : std::uint8_t { kDataSync, kNamesSync, kCutSync, kJournalSync, kRead, kVerifyRead };
    /// A completion that is waited for.
    struct PendingOp {
        FileOpId op;
        OpKind kind = OpKind::kDataSync;
        TopicPartition tp;
        ReadRequest read;  // kRead
        FileRange range;   // kRead, kVerifyRead
        std::uint64_t cut_count = 0;
        bool is_retry = false;  // kRead: the second attempt
        bool operator==(const PendingOp&) const = default;
    };

    PartitionLog* find(const TopicPartition& tp);
    [[nodiscard]] const PartitionLog* find(const TopicPartition& tp) const;
    FileOpId expect(PendingOp op);
    std::optional<PendingOp> take_op(FileOpId op);
    void mark_dirty(PartitionLog& log);
    void on_synced(const FileSynced& synced, StoreOutputs& out);
    void on_read(const FileReadDone& done, StoreOutputs& out);
    void on_write_failed(const WriteFailed& failed, StoreOutputs& out);

    // log_append.cc
    void release_held(PartitionLog& log, StoreOutputs& out);
    [[nodiscard]] bool must_hold(const PartitionLog& log) const;

    // log_cut.cc
    void request_cut(PartitionLog& log, const CutRequest& cut);
    void lower_ends(PartitionLog& log, Offset log_end_offset);
    void begin_cut(PartitionLog& log, StoreOutputs& out);
    void on_cut_synced(PartitionLog& log, bool is_ok, StoreOutputs& out);
    void on_cut_failed(PartitionLog& log, StoreOutputs& out);
    void finish_cut(PartitionLog& log, StoreOutputs& out);
    void remove_log(TopicPartition tp);  // by value: the log it names goes

    // log_failure.cc
    void fail_log(PartitionLog& log, StoreOutputs& out);
    void mark_damaged(PartitionLog& log, Offset at, StoreOutputs& out);
    void begin_verification(PartitionLog& log, StoreOutputs& out);
    void verify_next(PartitionLog& log, StoreOutputs& out);
    void on_verify_read(const PendingOp& op, const FileReadDone& done, StoreOutputs& out);

    // group_commit.cc
    void begin_commit(StoreOutputs& out);
    void capture(PartitionLog& log, StoreOutputs& out);
    void on_data_synced(PartitionLog* log, bool is_ok, StoreOutputs& out);
    void on_names_synced(bool is_ok, StoreOutputs& out);
    void write_journal(StoreOutputs& out);
    void rotate_journal(StoreOutputs& out);
    void on_journal_synced(bool is_ok, StoreOutputs& out);
    void on_journal_failed(StoreOutputs& out);
    void finish_rotation(StoreOutputs& out);
    void seal_journal(StoreOutputs& out);
    void finish_commit(StoreOutputs& out);
    void finish_partition_commit(PartitionLog& log, StoreOutputs& out);

    // log_reading.cc
    void issue_read(const ReadRequest& request, bool is_retry, const PartitionLog& log, StoreOutputs& out);
    void on_read_done(const PendingOp& op, const FileReadDone& done, StoreOutputs& out);
    int note_read_failure(PartitionLog& log, Offset from);
    void on_bad_read(const PendingOp& op, PartitionLog& log, std::optional<Offset> bad_at, StoreOutputs& out);

    LogStoreConfig config_;
    std::vector<PartitionLog> logs_;     // sorted by tp
    std::vector<TopicPartition> dirty_;  // logs with is_dirty, in the order they became so
    std::vector<PendingOp> pending_;
    std::uint64_t next_op_ = 1;
    std::uint64_t cut_count_ = 0;  // of all logs, gone ones included
    bool is_started_ = false;
    bool is_full_ = false;
    bool has_journal_ = false;  // one of this life is durable. Until then nothing is written to segments and no file is
                                // removed: what recovery went by may be known to this kernel only, and segments without
                                // a journal always mean that one was lost

    CommitStage commit_stage_ = CommitStage::kIdle;
    std::uint64_t commit_count_ = 0;
    bool is_journal_draft_ = false;  // the newest journal has not got its name yet
    std::vector<TopicPartition> in_commit_;
    int commit_syncs_outstanding_ = 0;
    bool is_names_dirty_ = false;  // removals, or names found at recovery

    std::uint64_t journal_generation_ = 0;  // 0: none written yet
    std::uint64_t journal_size_bytes_ = 0;
    std::uint64_t journal_snapshot_bytes_ = 0;  // what the journal began with
    std::uint64_t commit_sequence_ = 0;         // of the latest commit written to the present journal file
    bool must_rotate_journal_ = true;
    bool is_journal_write_failed_ = false;
    int journal_attempts_ = 0;
    std::vector<std::uint64_t> old_journals_;  // to be removed once a new one is durable
    std::vector<WriteFile> rewrites_;          // for start(): see LogScan::rewrites
    std::vector<FileName> stray_files_;        // found by recovery; to be removed once a new journal is durable
};

/// CHECKs what only a bug here can break. Costly: for tests and simulation.
void check_invariants(const LogStore& store);

}  // namespace tidelock::storage
