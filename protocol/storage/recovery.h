/// Boot: from the files as they are found to a LogStore, and what was found (L3, L4, I10). A pure function of the
/// directory image; nothing on disk changes before LogStore::start.
#pragma once

#include <optional>
#include <vector>

#include "protocol/storage/log_store.h"

namespace tidelock::storage {

enum class PartitionDamage : std::uint8_t {
    kNone,
    kBad,      // a bad or unreadable batch below the durable end
    kMissing,  // files end, or begin, where the journal promises records
};

/// What recovery found about one partition.
struct PartitionRecovery {
    TopicPartition tp;
    Offset log_start_offset;
    Offset log_end_offset;      // exclusive; the end of the good prefix if damaged
    Offset durable_end_offset;  // exclusive; as on record, to be told to nobody before Persisted confirms it
    Offset high_watermark;
    EpochHistory history;
    PartitionDamage damage = PartitionDamage::kNone;
    Offset damaged_at;                // meaningful if damaged
    bool is_foreign = false;          // L3: records, all without an epoch, and no history: discard and recopy
    bool is_history_rebuilt = false;  // from batch headers
    /// Rebuilt at this boot or at an earlier one, and not reset since. A batch's checksum does not cover its epoch, so
    /// the copy is to be copied again (L3).
    bool is_history_unvouched = false;
    /// RecoveryScan::kFromCheckpoint: batches below it were taken by their headers, which nothing vouches for but their
    /// own agreement with the index and the history. Records are verified when they are read, as ever.
    Offset unverified_end_offset;
    bool has_torn_tail = false;  // something past the log end is cut at start
    bool operator==(const PartitionRecovery&) const = default;
};

struct StoreRecovery {
    LogStore store;
    JournalCondition journal = JournalCondition::kEmpty;
    std::vector<PartitionRecovery> partitions;  // sorted by tp
    /// Partition folders the journal does not know (never promised, or dropped): their files are removed after start.
    std::vector<TopicPartition> strays;

    /// Some promised records, or the journal of promises, cannot be vouched for: the data incarnation has to be
    /// renewed, durably, before LogStore::start (I10).
    [[nodiscard]] bool has_damage() const;
};

/// Files that are none of the log store's (no '/' in the name, not a journal) are left alone.
StoreRecovery recover(const DirectoryImage& image, const LogStoreConfig& config);

}  // namespace tidelock::storage
