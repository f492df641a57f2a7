/// Recovery of one partition: reads its segments batch by batch against what the journal promised (L3, L4), and decides
/// what is kept, what is a torn tail to be cut, and what is damage.
#pragma once

#include <vector>

#include "protocol/storage/recovery.h"

namespace tidelock::storage {

/// A segment as found; pointers into the image, valid during recovery only.
struct SegmentFile {
    Offset base_offset;
    FileName name;
    const ImageFile* file = nullptr;
    const ImageFile* index = nullptr;  // null if there is none
    bool operator==(const SegmentFile&) const = default;
};

struct LogScanInput {
    const PartitionRecord& record;
    const std::vector<SegmentFile>& segments;  // by base offset
    bool is_journal_trusted = true;  // if not: durable ends are lower bounds, histories come from batch headers, any
                                     // bad byte may have been promised
    const LogStoreConfig& config;
};

struct LogScan {
    SegmentLog files;  // what is kept, or the good prefix of a damaged log
    EpochHistory history;
    bool is_history_rebuilt = false;
    Offset end_offset;  // exclusive
    PartitionDamage damage = PartitionDamage::kNone;
    Offset unverified_end_offset;  // exclusive; 0: everything was read and verified
    bool needs_cut = false;
    CutRequest cut;
    std::vector<FileName> doomed;           // past the cut or the damage
    std::vector<FileName> below_log_start;  // not needed any more
    /// Kept records above the durable end, to be written again as they are before they are synced: if a sync of them
    /// had failed before the process died, the kernel holds them as clean, and a sync alone would report ok for nothing
    /// (L9).
    std::vector<WriteFile> rewrites;
};

LogScan scan_log(const LogScanInput& input);

/// Adds a segment's file and its index, if it has one.
void doom(const SegmentFile& segment, std::vector<FileName>& files);

}  // namespace tidelock::storage
