/// The files of one partition's log: a row of segments, each named by the offset of its first record, the last one open
/// for appending. Knows which bytes of which file hold which offsets; moves no byte itself.
///
/// Invariants: segments are contiguous, each index is strictly rising in offset and position and starts at (base, 0),
/// every segment but the last is sealed. A position is never written twice without a durable truncation in between; the
/// owner (log_store) sees to that by holding appends back.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/storage/epoch_history.h"
#include "protocol/storage/files.h"
#include "protocol/storage/record_batch.h"

namespace tidelock::storage {

/// `<topic id, 16 hex digits>-<partition>/<base offset, 20 digits>.log`
FileName segment_file_name(const TopicPartition& tp, Offset base_offset);
/// The same with `.index`.
FileName index_file_name(const TopicPartition& tp, Offset base_offset);

enum class PartitionFileKind : std::uint8_t { kSegment, kIndex };
struct PartitionFile {
    TopicPartition tp;
    Offset base_offset;
    PartitionFileKind kind = PartitionFileKind::kSegment;
    bool operator==(const PartitionFile&) const = default;
};
/// What a file of the data directory is, if it has exactly the form of a segment's or an index's name.
std::optional<PartitionFile> parse_partition_file(std::string_view name);

struct SegmentConfig {
    std::uint32_t segment_bytes_max = 64U << 20U;  // a batch that would cross it opens the next segment
    std::uint32_t index_interval_bytes = 4096;  // spacing of index entries in sealed segments below the high watermark
    BatchLimits batch;
    bool operator==(const SegmentConfig&) const = default;
};

/// The batch starting at `base_offset + offset_delta` starts at byte `position`.
struct IndexEntry {
    std::uint32_t offset_delta = 0;
    std::uint32_t position = 0;
    bool operator==(const IndexEntry&) const = default;
};

struct Segment {
    Offset base_offset;
    Offset next_offset;  // exclusive end
    std::uint32_t size_bytes = 0;
    bool is_dirty = false;    // written or truncated since its last sync was asked for
    bool is_thinned = false;  // the index is sparse
    std::vector<IndexEntry> index;
    /// No record here is newer by its own time; after a cut none need be that new.
    std::int64_t max_timestamp_ms = std::numeric_limits<std::int64_t>::min();
    bool operator==(const Segment&) const = default;
};

/// Bytes [position, position + length) of a segment's file; starts and ends at batch boundaries.
struct FileRange {
    Offset segment_base_offset;
    std::uint64_t position = 0;
    std::uint64_t length = 0;
    Offset first_offset;  // where the batch at `position` begins
    bool operator==(const FileRange&) const = default;
};

struct ReadRange {
    Offset from;   // inclusive
    Offset up_to;  // exclusive
    std::uint64_t bytes_max = 0;
};

/// Contiguous whole batches and their headers.
struct BatchRun {
    Bytes bytes;
    std::vector<BatchHeader> headers;
    bool operator==(const BatchRun&) const = default;
};

class SegmentLog {
  public:
    SegmentLog() = default;
    /// A log without files whose first record will be at `start_offset`.
    SegmentLog(const TopicPartition& tp, Offset start_offset) : tp_(tp), start_offset_(start_offset) {}

    /// Writes a run at the end, rolling segments; its batches must be contiguous with the log. `high_watermark` bounds
    /// what may be thinned in segments sealed by this.
    void append(const BatchRun& run, const SegmentConfig& config, Offset high_watermark,
                std::vector<FileEffect>& effects);
    /// The largest batch boundary known at or below `to`, within [start, end].
    [[nodiscard]] Offset boundary_at_or_below(Offset to) const;
    /// Cuts to `to`, which must be a boundary: removes later segments, shortens the one it falls into and marks it
    /// dirty.
    void truncate(Offset to, std::vector<FileEffect>& effects);
    /// Asks for all file effects of a cut to the present end once more (after one of them failed).
    void repeat_cut(std::vector<FileEffect>& effects);
    /// Removes all segments; the next record will be at `start_offset`.
    void clear(Offset start_offset, std::vector<FileEffect>& effects);
    /// Removes sealed segments that end at or below `log_start_offset`. Returns whether there were any.
    bool remove_below(Offset log_start_offset, std::vector<FileEffect>& effects);
    /// Nothing is appended to the open segment any more: the next append starts a new file.
    void seal_open_segment() { is_open_sealed_ = true; }

    /// Where to read: whole batches of one segment, from the one holding `range.from` on; at least one batch, otherwise
    /// no more than bytes_max. Empty if `from` is outside the files.
    [[nodiscard]] std::optional<FileRange> locate(const ReadRange& range) const;

    [[nodiscard]] const TopicPartition& tp() const { return tp_; }
    [[nodiscard]] Offset first_offset() const {
        return segments_.empty() ? start_offset_ : segments_.front().base_offset;
    }
    [[nodiscard]] Offset end_offset() const { return segments_.empty() ? start_offset_ : segments_.back().next_offset; }
    [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
    /// Names created or removed since the last directory sync was asked for.
    [[nodiscard]] bool is_names_dirty() const { return is_names_dirty_; }
    [[nodiscard]] std::uint64_t size_bytes() const;

    /// Calls `sync(base offset)` for each dirty segment and marks it, and the names, clean.
    template <typename Sync>
    void take_dirty(Sync&& sync) {
        for (Segment& segment : segments_) {
            if (segment.is_dirty) sync(segment.base_offset);
            segment.is_dirty = false;
        }
        is_names_dirty_ = false;
    }
    void mark_names_dirty() { is_names_dirty_ = true; }

    /// Puts a segment found by recovery at the end; it must be contiguous.
    void adopt(Segment segment);
    void fold(Digest& digest) const;
    bool operator==(const SegmentLog&) const = default;

  private:
    [[nodiscard]] const Segment* segment_of(Offset offset) const;
    Segment& open_segment(std::uint64_t batch_bytes, const SegmentConfig& config, Offset high_watermark,
                          std::vector<FileEffect>& effects);
    void seal_last(const SegmentConfig& config, Offset high_watermark, std::vector<FileEffect>& effects);

    TopicPartition tp_;
    Offset start_offset_;
    std::vector<Segment> segments_;
    bool is_open_sealed_ = false;
    bool is_names_dirty_ = false;
};

/// What is on disk next to a sealed segment.
struct SegmentIndex {
    Offset base_offset;
    Offset next_offset;
    std::uint32_t size_bytes = 0;
    std::vector<IndexEntry> entries;
    bool operator==(const SegmentIndex&) const = default;
};
Bytes encode_segment_index(const SegmentIndex& index);
/// Total: CRC, order, bounds.
Result<SegmentIndex, DecodeError> decode_segment_index(const Bytes& bytes);

/// Entries at least `interval_bytes` apart, the first one always kept.
std::vector<IndexEntry> thin_index(std::span<const IndexEntry> entries, std::uint32_t interval_bytes);

/// Whole batches cut out of a file read.
struct BatchSlice {
    Offset first_offset;  // of the first batch, at or below what was asked for
    Offset next_offset;   // exclusive end of the last batch; equal to first_offset if the first batch passes up_to
    Bytes bytes;
    bool operator==(const BatchSlice&) const = default;
};
/// A batch that cannot be vouched for.
struct BatchDamage {
    Offset at_offset;  // where the bad batch should start
    BatchError error = BatchError::kBadCrc;
    bool operator==(const BatchDamage&) const = default;
};
/// From `bytes`, which start with the batch that begins at `first_offset`, the batches from the one holding
/// `range.from` up to the first that would pass `range.up_to`, or bytes_max (but at least one batch). Checks each
/// batch's CRC, that they are contiguous, and its epoch against `history` (offset and epoch are outside the CRC).
Result<BatchSlice, BatchDamage> slice_batches(const Bytes& bytes, Offset first_offset, const ReadRange& range,
                                              const EpochHistory& history, const BatchLimits& limits = {});

}  // namespace tidelock::storage
