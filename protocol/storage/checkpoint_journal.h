/// The checkpoint journal's format: what a broker has promised to hold, per partition. A bad batch below the durable
/// end recorded here is damage; one above it is a torn tail (L4, I10).
///
/// A file `checkpoint.<generation>` is a row of commits. A commit is a row of 64-byte slots, each with its own CRC
/// (seeded with the generation, so that a slot from another file never passes), padded with zeros to a 512-byte sector,
/// so that no write ever touches a sector that holds an earlier promise. The first commit of a file is a snapshot of
/// everything; the file is written under a draft's name and renamed when it is durable. A commit counts if all of it is
/// there. One that is not is a torn tail if nothing valid follows, and damage if it does. When a commit is durable a
/// seal follows it, which the next commit overwrites: so rot of the last commit is told from a torn tail too, unless a
/// power loss takes the seal, for which nobody waits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"
#include "protocol/storage/epoch_history.h"
#include "protocol/storage/files.h"

namespace tidelock::storage {

inline constexpr std::size_t kJournalSlotBytes = 64;
inline constexpr std::size_t kJournalSectorBytes = 512;

FileName journal_file_name(std::uint64_t generation);
/// Where a new file is written; it gets its own name when all of it is durable. So a file under its own name was whole.
FileName journal_draft_name(std::uint64_t generation);
/// The generation of a name of exactly that form.
std::optional<std::uint64_t> parse_journal_file_name(std::string_view name);
std::optional<std::uint64_t> parse_journal_draft_name(std::string_view name);

/// A cut of a log's files that the journal knows of and the files may not show yet. Recovery carries it out again.
enum class PendingCut : std::uint8_t {
    kNone,
    kTail,  // everything at and past cut_to is to go
    kAll,   // all files are to go; the log starts again, empty, at its log start
};

/// What the journal says of one partition.
struct PartitionRecord {
    TopicPartition tp;
    Offset log_start_offset;
    Offset durable_end_offset;  // exclusive
    Offset high_watermark;
    PendingCut pending_cut = PendingCut::kNone;
    Offset cut_to;  // meaningful for kTail
    EpochHistory history;
    /// The history was read from batch headers, because the journal before this one was lost: an epoch in it may be
    /// rot. Until the log is reset nothing vouches for it, at no later boot either (L3).
    bool is_history_unvouched = false;
    bool operator==(const PartitionRecord&) const = default;
};

/// A slot's content.
enum class SlotKind : std::uint8_t {
    kPartition = 1,   // everything of PartitionRecord but the history
    kHistoryCut = 2,  // history entries that start at `offset` or past it are gone
    kEpochEntry = 3,  // then this entry was assigned
    kDropped = 4,     // the partition is gone
    kFileHeader = 5,  // first slot of a file
    kSeal = 6,        // alone in its commit: the one before is durable
};

/// Collects the slots of one commit and encodes them.
class CommitWriter {
  public:
    CommitWriter(std::uint64_t generation, std::uint64_t sequence) : generation_(generation), sequence_(sequence) {}
    void add_file_header();
    /// The record without its history.
    void add_partition(const PartitionRecord& record);
    void add_history_cut(const TopicPartition& tp, Offset from);
    void add_epoch_entry(const TopicPartition& tp, const EpochStart& entry);
    void add_dropped(const TopicPartition& tp);
    void add_seal();
    [[nodiscard]] bool empty() const { return slot_count_ == 0; }
    /// The commit's bytes, a whole number of sectors. At least one slot must have been added.
    Bytes finish();

  private:
    struct SlotBody;
    void put(SlotKind kind, const SlotBody& body);

    std::uint64_t generation_;
    std::uint64_t sequence_;
    std::uint32_t slot_count_ = 0;
    ByteWriter out_;
};

enum class JournalCondition : std::uint8_t {
    kEmpty,  // no journal and nothing that would need one
    kWhole,
    kTornTail,  // the last commit was never completed: nothing rests on it
    kDamaged,   // promises may be missing: durable ends are lower bounds, histories are to be rebuilt
};

/// What all journal files of a directory say together.
struct JournalState {
    JournalCondition condition = JournalCondition::kEmpty;
    std::uint64_t generation_max = 0;         // highest in use by any file, drafts included
    std::vector<std::uint64_t> generations;   // of all files found under their own names, rising
    std::vector<std::uint64_t> drafts;        // of those that never got theirs: nothing rests on them
    std::vector<PartitionRecord> partitions;  // sorted by tp
    bool operator==(const JournalState&) const = default;
};
/// Total over any files.
JournalState read_journal(const DirectoryImage& image);

}  // namespace tidelock::storage
