// Out of the bytes of a file read, the batches that were asked for, each of them vouched for.
#include "protocol/storage/segment_log.h"

namespace tidelock::storage {
namespace {

struct Extent {
    std::size_t from = 0;
    std::size_t to = 0;
    Offset first_offset;
    Offset next_offset;
};

}  // namespace

Result<BatchSlice, BatchDamage> slice_batches(const Bytes& bytes, Offset first_offset, const ReadRange& range,
                                              const EpochHistory& history, const BatchLimits& limits) {
    Extent extent{0, 0, range.from, range.from};
    Offset place = first_offset;
    for (std::size_t at = 0; at < bytes.size();) {
        const Result<BatchHeader, BatchError> header = check_batch(bytes.span().subspan(at), limits);
        if (!header) return Failure<BatchDamage>({place, header.error()});
        const bool is_skipped = header->next_offset() <= range.from;
        // Neither offset nor epoch is covered by the CRC. Batches before the one asked for may lie below the log start,
        // where the history has no entries any more.
        const bool is_in_place = header->base_offset == place &&
                                 (is_skipped || header->leader_epoch == history.epoch_at(header->base_offset));
        if (!is_in_place) return Failure<BatchDamage>({place, BatchError::kBadOffset});
        const std::size_t after = at + header->size_bytes();
        if (!is_skipped) {
            const bool is_first = extent.to == 0;
            if (is_first && header->base_offset > range.from)
                return Failure<BatchDamage>({place, BatchError::kBadOffset});
            if (is_first && header->next_offset() > range.up_to) return BatchSlice{range.from, range.from, Bytes()};
            if (!is_first && (header->next_offset() > range.up_to || after - extent.from > range.bytes_max)) break;
            if (is_first) extent = {at, after, header->base_offset, header->next_offset()};
            extent.to = after;
            extent.next_offset = header->next_offset();
        }
        place = header->next_offset();
        at = after;
    }
    if (extent.to == 0) return Failure<BatchDamage>({range.from, BatchError::kTooShort});
    return BatchSlice{extent.first_offset, extent.next_offset, bytes.slice(extent.from, extent.to - extent.from)};
}

}  // namespace tidelock::storage
