// Any bytes as record batches: decoded, sliced and stamped without reading past them, and what is valid stays valid.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "protocol/base/crc32c.h"
#include "protocol/storage/segment_log.h"

namespace {

using namespace tidelock;
using namespace tidelock::storage;

void require(bool fact) {
    if (!fact) std::abort();
}

void read_all(const BatchView& batch) {
    RecordReader reader(batch.bytes.span(), batch.header);
    for (std::size_t reads = 0; reads <= batch.bytes.size() + 1; ++reads) {
        const Result<std::optional<RecordView>, BatchError> record = reader.next();
        if (!record || !record->has_value()) return;
        require(read_headers(**record).size() == (*record)->header_count);
    }
    std::abort();  // more records than bytes
}

/// A batch as a producer would have to send it: what its header and records are worth shows only behind a good
/// checksum.
void try_mended(const BatchView& batch) {
    ByteWriter out;
    out.raw(batch.bytes.span());
    out.patch_u32_be(kBatchCrcCoversFrom - sizeof(std::uint32_t),
                     crc32c(batch.bytes.span().subspan(kBatchCrcCoversFrom)));
    const Bytes mended = out.take();
    require(check_batch(mended.span()).has_value());
    const bool is_valid = validate_batch(mended.span()).has_value();
    const auto records = decode_records(mended);
    if (!is_valid || batch.header.compression() != 0) return;
    require(records && records->size() == static_cast<std::size_t>(batch.header.record_count));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(data, size)));
    static_cast<void>(validate_batch(bytes.span()));
    static_cast<void>(slice_batches(bytes, Offset(0), {Offset(0), Offset(1000), 4096}, EpochHistory()));
    static_cast<void>(decode_segment_index(bytes));
    const Result<std::vector<BatchView>, BatchError> batches = split_batches(bytes);
    if (!batches) return 0;
    for (const BatchView& batch : *batches) {
        read_all(batch);
        try_mended(batch);
    }
    const Bytes stamped = stamp(bytes, {Offset(5), LeaderEpoch(2)});
    const Result<std::vector<BatchView>, BatchError> again = split_batches(stamped);
    require(again.has_value() && again->size() == batches->size());
    return 0;
}
