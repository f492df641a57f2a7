#include "protocol/storage/segment_log.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "protocol/base/check.h"
#include "protocol/base/crc32c.h"

namespace tidelock::storage {
namespace {

constexpr std::size_t kTopicDigits = 16;
constexpr std::size_t kOffsetDigits = 20;
constexpr std::string_view kSegmentSuffix = ".log";
constexpr std::string_view kIndexSuffix = ".index";

FileName partition_file_name(const TopicPartition& tp, Offset base_offset, std::string_view suffix) {
    std::array<char, kFileNameBytesMax> text{};
    constexpr std::string_view kHex = "0123456789abcdef";
    for (std::size_t i = 0; i < kTopicDigits; ++i)
        text[i] = kHex[(tp.topic.value >> (4 * (kTopicDigits - 1 - i))) & 0xFU];
    text[kTopicDigits] = '-';
    char* const text_end = text.data() + text.size();
    char* at = std::to_chars(text.data() + kTopicDigits + 1, text_end, tp.partition.value).ptr;
    *at++ = '/';
    auto rest = static_cast<std::uint64_t>(base_offset.value);
    for (std::size_t i = kOffsetDigits; i > 0; --i, rest /= 10) at[i - 1] = static_cast<char>('0' + rest % 10);
    at += kOffsetDigits;
    FileName name(std::string_view(text.data(), static_cast<std::size_t>(at - text.data())));
    name.append(suffix);
    return name;
}

template <typename Int>
bool parse_digits(std::string_view text, Int& into, int base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
    return error == std::errc() && end == text.data() + text.size();
}

bool is_index_before(const IndexEntry& entry, std::uint32_t offset_delta) {
    return entry.offset_delta < offset_delta;
}

std::uint32_t delta_of(const Segment& segment, Offset offset) {
    return static_cast<std::uint32_t>(offset - segment.base_offset);
}

/// The last entry at or below `offset`, which is inside the segment.
std::size_t entry_at_or_below(const Segment& segment, Offset offset) {
    const auto after =
        std::upper_bound(segment.index.begin(), segment.index.end(), delta_of(segment, offset),
                         [](std::uint32_t d, const IndexEntry& entry) { return d < entry.offset_delta; });
    CHECK(after != segment.index.begin());
    return static_cast<std::size_t>(after - segment.index.begin()) - 1;
}

/// Where the boundary after entry `at` is, in bytes.
std::uint64_t position_after(const Segment& segment, std::size_t at) {
    return at + 1 < segment.index.size() ? segment.index[at + 1].position : segment.size_bytes;
}

/// Whether the next batch goes into this segment. Offsets inside a segment are kept as 32-bit deltas.
bool has_room(const Segment& segment, std::uint64_t batch_bytes, const SegmentConfig& config) {
    if (segment.next_offset - segment.base_offset > std::numeric_limits<std::int32_t>::max()) return false;
    return segment.size_bytes == 0 || segment.size_bytes + batch_bytes <= config.segment_bytes_max;
}

}  // namespace

FileName segment_file_name(const TopicPartition& tp, Offset base_offset) {
    return partition_file_name(tp, base_offset, kSegmentSuffix);
}

FileName index_file_name(const TopicPartition& tp, Offset base_offset) {
    return partition_file_name(tp, base_offset, kIndexSuffix);
}

std::optional<PartitionFile> parse_partition_file(std::string_view name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash < kTopicDigits + 2 || name[kTopicDigits] != '-') return std::nullopt;
    const std::string_view file = name.substr(slash + 1);
    if (file.size() <= kOffsetDigits) return std::nullopt;
    PartitionFile parsed;
    std::int64_t base_offset = 0;
    std::int32_t partition = 0;
    if (!parse_digits(name.substr(0, kTopicDigits), parsed.tp.topic.value, 16)) return std::nullopt;
    if (!parse_digits(name.substr(kTopicDigits + 1, slash - kTopicDigits - 1), partition, 10)) return std::nullopt;
    if (!parse_digits(file.substr(0, kOffsetDigits), base_offset, 10)) return std::nullopt;
    parsed.tp.partition = PartitionIndex(partition);
    parsed.base_offset = Offset(base_offset);
    const bool is_segment = file.substr(kOffsetDigits) == kSegmentSuffix;
    parsed.kind = is_segment ? PartitionFileKind::kSegment : PartitionFileKind::kIndex;
    // One spelling only: what does not print back is somebody else's file.
    const FileName again =
        is_segment ? segment_file_name(parsed.tp, parsed.base_offset) : index_file_name(parsed.tp, parsed.base_offset);
    return again == FileName(name) ? std::optional<PartitionFile>(parsed) : std::nullopt;
}

void SegmentLog::append(const BatchRun& run, const SegmentConfig& config, Offset high_watermark,
                        std::vector<FileEffect>& effects) {
    std::size_t run_position = 0;
    for (std::size_t next = 0; next < run.headers.size();) {
        CHECK(run.headers[next].base_offset == end_offset());
        Segment& segment = open_segment(run.headers[next].size_bytes(), config, high_watermark, effects);
        const std::uint32_t write_position = segment.size_bytes;
        do {
            const BatchHeader& header = run.headers[next];
            segment.index.push_back({delta_of(segment, header.base_offset), segment.size_bytes});
            segment.size_bytes += static_cast<std::uint32_t>(header.size_bytes());
            segment.next_offset = header.next_offset();
            segment.max_timestamp_ms = std::max(segment.max_timestamp_ms, header.max_timestamp_ms);
            ++next;
        } while (next < run.headers.size() && has_room(segment, run.headers[next].size_bytes(), config));
        segment.is_dirty = true;
        const std::size_t write_bytes = segment.size_bytes - write_position;
        effects.push_back(WriteFile{segment_file_name(tp_, segment.base_offset), write_position,
                                    run.bytes.slice(run_position, write_bytes)});
        run_position += write_bytes;
    }
    CHECK(run_position == run.bytes.size());
}

Segment& SegmentLog::open_segment(std::uint64_t batch_bytes, const SegmentConfig& config, Offset high_watermark,
                                  std::vector<FileEffect>& effects) {
    if (!segments_.empty() && !is_open_sealed_ && has_room(segments_.back(), batch_bytes, config))
        return segments_.back();
    const Offset base_offset = end_offset();
    if (!segments_.empty()) seal_last(config, high_watermark, effects);
    segments_.push_back(
        Segment{base_offset, base_offset, 0, false, false, {}, std::numeric_limits<std::int64_t>::min()});
    is_open_sealed_ = false;
    is_names_dirty_ = true;
    return segments_.back();
}

void SegmentLog::seal_last(const SegmentConfig& config, Offset high_watermark, std::vector<FileEffect>& effects) {
    const Segment& last = segments_.back();
    const SegmentIndex index{last.base_offset, last.next_offset, last.size_bytes,
                             thin_index(last.index, config.index_interval_bytes)};
    effects.push_back(WriteFile{index_file_name(tp_, last.base_offset), 0, encode_segment_index(index)});
    // A cut needs exact boundaries, and there is none below the high watermark (L8) but one that may round down.
    for (auto segment = segments_.rbegin(); segment != segments_.rend() && !segment->is_thinned; ++segment) {
        if (segment->next_offset > high_watermark) continue;
        segment->index = thin_index(segment->index, config.index_interval_bytes);
        segment->is_thinned = true;
    }
}

const Segment* SegmentLog::segment_of(Offset offset) const {
    const auto after = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                        [](Offset o, const Segment& segment) { return o < segment.base_offset; });
    if (after == segments_.begin() || offset >= end_offset()) return nullptr;
    return &*std::prev(after);
}

Offset SegmentLog::boundary_at_or_below(Offset to) const {
    if (to >= end_offset()) return end_offset();
    const Segment* segment = segment_of(to);
    if (segment == nullptr) return first_offset();
    return segment->base_offset + segment->index[entry_at_or_below(*segment, to)].offset_delta;
}

void SegmentLog::truncate(Offset to, std::vector<FileEffect>& effects) {
    CHECK(to == boundary_at_or_below(to));
    while (!segments_.empty() && segments_.back().base_offset >= to) {
        effects.push_back(RemoveFile{segment_file_name(tp_, segments_.back().base_offset)});
        effects.push_back(RemoveFile{index_file_name(tp_, segments_.back().base_offset)});
        start_offset_ = segments_.back().base_offset;
        segments_.pop_back();
        is_names_dirty_ = true;
    }
    is_open_sealed_ = false;
    if (segments_.empty()) return;
    Segment& last = segments_.back();
    if (last.next_offset > to) {
        const auto cut = std::lower_bound(last.index.begin(), last.index.end(), delta_of(last, to), is_index_before);
        CHECK(cut != last.index.end());
        last.size_bytes = cut->position;
        last.next_offset = to;
        last.index.erase(cut, last.index.end());
    }
    repeat_cut(effects);
}

void SegmentLog::repeat_cut(std::vector<FileEffect>& effects) {
    if (segments_.empty()) return;
    Segment& last = segments_.back();
    effects.push_back(TruncateFile{segment_file_name(tp_, last.base_offset), last.size_bytes});
    effects.push_back(RemoveFile{index_file_name(tp_, last.base_offset)});
    last.is_dirty = true;
    is_names_dirty_ = true;
}

void SegmentLog::clear(Offset start_offset, std::vector<FileEffect>& effects) {
    for (const Segment& segment : segments_) {
        effects.push_back(RemoveFile{segment_file_name(tp_, segment.base_offset)});
        effects.push_back(RemoveFile{index_file_name(tp_, segment.base_offset)});
    }
    segments_.clear();
    start_offset_ = start_offset;
    is_open_sealed_ = false;
    is_names_dirty_ = true;
}

bool SegmentLog::remove_below(Offset log_start_offset, std::vector<FileEffect>& effects) {
    std::size_t removed = 0;
    while (removed + 1 < segments_.size() && segments_[removed].next_offset <= log_start_offset) {
        effects.push_back(RemoveFile{segment_file_name(tp_, segments_[removed].base_offset)});
        effects.push_back(RemoveFile{index_file_name(tp_, segments_[removed].base_offset)});
        ++removed;
    }
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(removed));
    return removed > 0;
}

std::optional<FileRange> SegmentLog::locate(const ReadRange& range) const {
    const Segment* segment = segment_of(range.from);
    if (segment == nullptr || range.up_to <= range.from) return std::nullopt;
    const std::size_t first = entry_at_or_below(*segment, range.from);
    const std::uint64_t position = segment->index[first].position;
    std::size_t last = first;
    while (last + 1 < segment->index.size()) {
        if (segment->base_offset + segment->index[last + 1].offset_delta >= range.up_to) break;
        if (position_after(*segment, last + 1) - position > range.bytes_max) break;
        ++last;
    }
    return FileRange{segment->base_offset, position, position_after(*segment, last) - position,
                     segment->base_offset + segment->index[first].offset_delta};
}

std::uint64_t SegmentLog::size_bytes() const {
    std::uint64_t size = 0;
    for (const Segment& segment : segments_) size += segment.size_bytes;
    return size;
}

void SegmentLog::adopt(Segment segment) {
    CHECK(segments_.empty() || segment.base_offset == end_offset());
    CHECK(segment.index.empty() == (segment.size_bytes == 0));
    segments_.push_back(std::move(segment));
}

void SegmentLog::fold(Digest& digest) const {
    digest.add(tp_.topic);
    digest.add(tp_.partition);
    digest.add(start_offset_);
    digest.add(segments_.size());
    for (const Segment& segment : segments_) {
        digest.add(segment.base_offset);
        digest.add(segment.next_offset);
        digest.add(segment.size_bytes);
        digest.add(segment.is_dirty ? 1 : 0);
        digest.add(segment.index.size());
    }
    digest.add((is_open_sealed_ ? 2 : 0) + (is_names_dirty_ ? 1 : 0));
}

std::vector<IndexEntry> thin_index(std::span<const IndexEntry> entries, std::uint32_t interval_bytes) {
    std::vector<IndexEntry> kept;
    for (const IndexEntry& entry : entries)
        if (kept.empty() || entry.position - kept.back().position >= interval_bytes) kept.push_back(entry);
    return kept;
}

}  // namespace tidelock::storage
