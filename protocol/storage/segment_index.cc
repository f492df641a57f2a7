// The file next to a sealed segment: its sparse index, so that recovery need not read the segment to find offsets in
// it.
#include "protocol/base/crc32c.h"
#include "protocol/storage/segment_log.h"

namespace tidelock::storage {
namespace {

constexpr std::uint32_t kMagic = 0x4954'4C54U;  // "TLTI"
constexpr std::size_t kEntryBytes = 8;

std::optional<DecodeError> fault_of(const SegmentIndex& index) {
    if (index.base_offset.value < 0 || index.next_offset <= index.base_offset)
        return DecodeError{"segment index: offsets"};
    if (index.entries.empty() || index.entries.front() != IndexEntry{})
        return DecodeError{"segment index: first entry"};
    for (std::size_t i = 1; i < index.entries.size(); ++i) {
        const bool is_rising = index.entries[i].offset_delta > index.entries[i - 1].offset_delta &&
                               index.entries[i].position > index.entries[i - 1].position;
        if (!is_rising) return DecodeError{"segment index: order"};
    }
    const bool is_inside = index.entries.back().position < index.size_bytes &&
                           index.entries.back().offset_delta < index.next_offset - index.base_offset;
    if (!is_inside) return DecodeError{"segment index: entry past the end"};
    return std::nullopt;
}

}  // namespace

Bytes encode_segment_index(const SegmentIndex& index) {
    ByteWriter out;
    out.u32(kMagic);
    out.u32(0);  // the CRC of what follows
    out.i64(index.base_offset.value);
    out.i64(index.next_offset.value);
    out.u32(index.size_bytes);
    out.u32(static_cast<std::uint32_t>(index.entries.size()));
    for (const IndexEntry& entry : index.entries) {
        out.u32(entry.offset_delta);
        out.u32(entry.position);
    }
    out.patch_u32(4, crc32c(out.span().subspan(8)));
    return out.take();
}

Result<SegmentIndex, DecodeError> decode_segment_index(const Bytes& bytes) {
    ByteReader in(bytes);
    if (in.u32() != kMagic) return decode_failure("segment index: magic");
    const std::uint32_t crc = in.u32();
    if (in.failed() || crc32c(bytes.span().subspan(8)) != crc) return decode_failure("segment index: crc");
    SegmentIndex index;
    index.base_offset = Offset(in.i64());
    index.next_offset = Offset(in.i64());
    index.size_bytes = in.u32();
    const std::uint32_t count = in.count(kEntryBytes);
    index.entries.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t offset_delta = in.u32();
        index.entries.push_back({offset_delta, in.u32()});
    }
    if (!in.at_end()) return decode_failure("segment index: length");
    if (std::optional<DecodeError> fault = fault_of(index)) return Failure<DecodeError>(std::move(*fault));
    return index;
}

}  // namespace tidelock::storage
