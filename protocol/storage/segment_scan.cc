#include "protocol/storage/segment_scan.h"

#include <algorithm>
#include <limits>

#include "protocol/base/check.h"

namespace tidelock::storage {
namespace {

/// How far one segment file was good.
struct SegmentScan {
    Segment segment;
    bool is_whole = true;  // the file ends where the last good batch ends
    bool is_unreadable = false;
};

class LogScanner {
  public:
    explicit LogScanner(const LogScanInput& input) : input_(input) {
        const PartitionRecord& record = input.record;
        scan_.history = input.is_journal_trusted ? record.history : EpochHistory();
        scan_.is_history_rebuilt = !input.is_journal_trusted;
        promised_end_ = record.durable_end_offset;
        if (record.pending_cut == PendingCut::kTail) {
            limit_ = record.cut_to;
            promised_end_ = std::min(promised_end_, limit_);
        }
    }

    LogScan run() {
        const PartitionRecord& record = input_.record;
        scan_.files = SegmentLog(record.tp, record.log_start_offset);
        if (record.pending_cut == PendingCut::kAll) return cut_all();
        skip_below_log_start();
        while (next_ < input_.segments.size() && take_segment()) {
        }
        return conclude();
    }

  private:
    LogScan cut_all() {
        for (const SegmentFile& segment : input_.segments) doom(segment, scan_.doomed);
        scan_.end_offset = input_.record.log_start_offset;
        scan_.history.drop_past(scan_.end_offset);
        scan_.needs_cut = true;
        scan_.cut = {PendingCut::kAll, input_.record.log_start_offset};
        return std::move(scan_);
    }

    /// Removed segments may have come back, one or the other, if their removal was not durable.
    void skip_below_log_start() {
        const std::vector<SegmentFile>& segments = input_.segments;
        for (; next_ + 1 < segments.size() && segments[next_ + 1].base_offset <= input_.record.log_start_offset;
             ++next_)
            doom(segments[next_], scan_.below_log_start);
    }

    /// Takes the next segment as far as it is good; false if the log ends here for whatever reason.
    bool take_segment() {
        const SegmentFile& file = input_.segments[next_];
        const bool is_first = scan_.files.segments().empty();
        const Offset place =
            is_first ? std::min(file.base_offset, input_.record.log_start_offset) : scan_.files.end_offset();
        if (file.base_offset != place || file.base_offset >= limit_) return false;
        const bool is_trusted = can_trust_index(file);
        SegmentScan found = is_trusted ? adopt_by_index(file) : scan_segment(file);
        if (is_trusted) scan_.unverified_end_offset = found.segment.next_offset;
        is_unreadable_ = found.is_unreadable;
        has_left_over_ = !found.is_whole;
        if (found.segment.size_bytes == 0) return false;  // nothing good in it: goes with what is doomed
        ++next_;
        found.segment.is_dirty = found.segment.next_offset > promised_end_;
        if (found.segment.is_dirty) rewrite_unpromised(file, found.segment);
        scan_.files.adopt(std::move(found.segment));
        return !has_left_over_;
    }

    /// kFromCheckpoint: of what is promised, shown to consumers and sealed, only the batch headers are read again.
    bool can_trust_index(const SegmentFile& file) const {
        if (input_.config.scan != RecoveryScan::kFromCheckpoint || !input_.is_journal_trusted) return false;
        if (file.index == nullptr || !file.index->content || !file.file->content) return false;
        if (next_ + 1 >= input_.segments.size()) return false;
        const Result<SegmentIndex, DecodeError> index = decode_segment_index(*file.index->content);
        if (!index || index->base_offset != file.base_offset) return false;
        const Offset trusted_end = std::min(promised_end_, input_.record.high_watermark);
        return index->next_offset <= trusted_end && index->size_bytes == file.file->content->size() &&
               index->next_offset == input_.segments[next_ + 1].base_offset && do_headers_agree(file, *index);
    }

    /// The index is of this very content: one that came back from an earlier life of the file need not be. Headers that
    /// do not fit are damage, and the scan will find it.
    bool do_headers_agree(const SegmentFile& file, const SegmentIndex& index) const {
        const std::span<const std::byte> bytes = file.file->content->span();
        std::size_t position = 0;
        Offset next = index.base_offset;
        auto entry = index.entries.begin();
        while (position < bytes.size()) {
            const auto header = decode_batch_header(bytes.subspan(position));
            if (!header || header->size_bytes() > bytes.size() - position || header->base_offset != next) return false;
            const bool is_below_start = header->next_offset() <= input_.record.log_start_offset;
            if (!is_below_start && header->leader_epoch != scan_.history.epoch_at(next)) return false;
            if (entry != index.entries.end() && entry->position == position) {
                if (index.base_offset + entry->offset_delta != next) return false;
                ++entry;
            }
            position += header->size_bytes();
            next = header->next_offset();
        }
        return entry == index.entries.end() && next == index.next_offset;
    }

    /// By headers that have been found to agree with the index.
    static std::int64_t newest_time(std::span<const std::byte> bytes) {
        std::int64_t newest = std::numeric_limits<std::int64_t>::min();
        for (std::size_t at = 0; at < bytes.size();) {
            const auto header = decode_batch_header(bytes.subspan(at));
            CHECK(header.has_value());
            newest = std::max(newest, header->max_timestamp_ms);
            at += header->size_bytes();
        }
        return newest;
    }

    static SegmentScan adopt_by_index(const SegmentFile& file) {
        Result<SegmentIndex, DecodeError> index = decode_segment_index(*file.index->content);
        CHECK(index.has_value());
        SegmentScan found;
        found.segment = {index->base_offset,
                         index->next_offset,
                         index->size_bytes,
                         false,
                         true,
                         std::move(index->entries),
                         newest_time(file.file->content->span())};
        return found;
    }

    SegmentScan scan_segment(const SegmentFile& file) {
        SegmentScan found;
        found.segment.base_offset = found.segment.next_offset = file.base_offset;
        found.is_unreadable = !file.file->content.has_value();
        found.is_whole = !found.is_unreadable;
        if (found.is_unreadable) return found;
        const std::span<const std::byte> bytes = file.file->content->span();
        while (found.segment.size_bytes < bytes.size()) {
            found.is_whole = take_batch(bytes.subspan(found.segment.size_bytes), found.segment);
            if (!found.is_whole) break;
        }
        return found;
    }

    bool take_batch(std::span<const std::byte> bytes, Segment& segment) {
        const Result<BatchHeader, BatchError> header = check_batch(bytes, input_.config.segment.batch);
        if (!header || header->base_offset != segment.next_offset) return false;
        const Offset next = header->next_offset();
        constexpr std::int64_t kDeltaMax = std::numeric_limits<std::uint32_t>::max();
        if (next - segment.base_offset > kDeltaMax || segment.size_bytes + header->size_bytes() > kDeltaMax)
            return false;
        if (next > limit_ || !is_epoch_right(*header)) return false;
        const auto offset_delta = static_cast<std::uint32_t>(header->base_offset - segment.base_offset);
        segment.index.push_back({offset_delta, segment.size_bytes});
        segment.size_bytes += static_cast<std::uint32_t>(header->size_bytes());
        segment.next_offset = next;
        segment.max_timestamp_ms = std::max(segment.max_timestamp_ms, header->max_timestamp_ms);
        return true;
    }

    /// The epoch field is outside the batch's CRC. The history was durable before the first record of each epoch was
    /// written, so a batch that disagrees with it is bad.
    bool is_epoch_right(const BatchHeader& header) {
        if (header.leader_epoch.value < 0) return false;
        if (header.next_offset() <= input_.record.log_start_offset) return true;
        if (input_.is_journal_trusted) return header.leader_epoch == scan_.history.epoch_at(header.base_offset);
        if (header.leader_epoch == scan_.history.latest_epoch()) return true;
        return scan_.history.assign({header.leader_epoch, header.base_offset}).has_value();
    }

    void rewrite_unpromised(const SegmentFile& file, const Segment& segment) {
        std::uint32_t from = 0;
        for (const IndexEntry& entry : segment.index)
            if (segment.base_offset + entry.offset_delta <= promised_end_) from = entry.position;
        scan_.files.mark_names_dirty();  // its name may be as new as its records
        // A copy: the image may be the very file, borrowed from whoever gave it, until the boot is over.
        const std::span<const std::byte> rest = file.file->content->span().subspan(from, segment.size_bytes - from);
        scan_.rewrites.push_back({file.name, from, Bytes::copy_of(rest)});
    }

    LogScan conclude() {
        const Offset log_start = input_.record.log_start_offset;
        const bool is_below_start = scan_.files.end_offset() < log_start;
        scan_.end_offset = std::max(scan_.files.end_offset(), log_start);
        const bool has_rest = has_left_over_ || next_ < input_.segments.size();
        scan_.damage = judge(has_rest, is_below_start);
        for (std::size_t i = next_; i < input_.segments.size(); ++i) doom(input_.segments[i], scan_.doomed);
        if (is_below_start) drop_good_prefix();
        // The history's entries past a damage are kept: they are still promised, and truncate() will drop them.
        if (scan_.damage != PartitionDamage::kNone) scan_.rewrites.clear();
        if (scan_.damage != PartitionDamage::kNone) return std::move(scan_);
        scan_.history.drop_past(scan_.end_offset);
        scan_.needs_cut = has_rest || is_below_start || input_.record.pending_cut != PendingCut::kNone;
        const bool is_all = scan_.files.segments().empty();
        scan_.cut = {is_all ? PendingCut::kAll : PendingCut::kTail, scan_.end_offset};
        return std::move(scan_);
    }

    PartitionDamage judge(bool has_rest, bool is_below_start) const {
        const bool is_short =
            scan_.end_offset < promised_end_ || (is_below_start && promised_end_ > input_.record.log_start_offset);
        const bool is_beyond_cut = scan_.files.end_offset() >= limit_;
        if (is_unreadable_ && !is_beyond_cut) return PartitionDamage::kBad;
        if (is_short) return has_left_over_ ? PartitionDamage::kBad : PartitionDamage::kMissing;
        if (!input_.is_journal_trusted && has_rest && !is_beyond_cut) return PartitionDamage::kBad;
        return PartitionDamage::kNone;
    }

    /// Batches below the log start are of no use without one that reaches it.
    void drop_good_prefix() {
        for (std::size_t i = 0; i < next_; ++i) doom(input_.segments[i], scan_.doomed);
        scan_.rewrites.clear();
        scan_.files = SegmentLog(input_.record.tp, input_.record.log_start_offset);
    }

    const LogScanInput& input_;
    LogScan scan_;
    std::size_t next_ = 0;                                    // segment to be looked at
    Offset limit_{std::numeric_limits<std::int64_t>::max()};  // exclusive: what is past it is to be cut
    Offset promised_end_;
    bool has_left_over_ = false;
    bool is_unreadable_ = false;
};

}  // namespace

LogScan scan_log(const LogScanInput& input) {
    return LogScanner(input).run();
}

void doom(const SegmentFile& segment, std::vector<FileName>& files) {
    files.push_back(segment.name);
    if (segment.index != nullptr) files.push_back(segment.index->name);
}

}  // namespace tidelock::storage
