#include "protocol/storage/record_batch.h"

#include <algorithm>
#include <limits>

#include "protocol/base/check.h"
#include "protocol/base/crc32c.h"

namespace tidelock::storage {
namespace {

constexpr std::uint8_t kMagic = 2;
constexpr std::size_t kCrcAt = 17;
constexpr std::size_t kLeaderEpochAt = 12;
constexpr std::int32_t kBatchLengthMin = static_cast<std::int32_t>(kBatchHeaderBytes - kBatchLengthPrefixBytes);
constexpr std::int64_t kOffsetMax = std::int64_t{1} << 62;  // far from where adding to an offset overflows
constexpr int kCompressionMax = 4;                          // none, gzip, snappy, lz4, zstd
constexpr std::int16_t kAttributesKnown = 0x7F;  // compression, timestamp type, transactional, control, delete horizon

Failure<BatchError> failure(BatchError error) {
    return Failure<BatchError>(error);
}

void put_be(std::span<std::byte> into, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        into[at + i] = static_cast<std::byte>((value >> (8 * (size - 1 - i))) & 0xFFU);
}

BatchHeader read_header(ByteReader& in, std::uint8_t& magic) {
    BatchHeader header;
    header.base_offset = Offset(in.i64_be());
    header.batch_length = in.i32_be();
    header.leader_epoch = LeaderEpoch(in.i32_be());
    magic = in.u8();
    header.crc = in.u32_be();
    header.attributes = in.i16_be();
    header.last_offset_delta = in.i32_be();
    header.base_timestamp_ms = in.i64_be();
    header.max_timestamp_ms = in.i64_be();
    header.producer_id = ProducerId(in.i64_be());
    header.producer_epoch = ProducerEpoch(in.i16_be());
    header.base_sequence = in.i32_be();
    header.record_count = in.i32_be();
    return header;
}

std::optional<BatchError> fault_of(const BatchHeader& header, std::uint8_t magic, const BatchLimits& limits) {
    if (header.batch_length < kBatchLengthMin) return BatchError::kBadLength;
    if (header.batch_length > limits.batch_bytes_max - static_cast<std::int32_t>(kBatchLengthPrefixBytes))
        return BatchError::kBadLength;
    if (magic != kMagic) return BatchError::kBadMagic;
    if (header.record_count < 1 || header.record_count > limits.record_count_max) return BatchError::kBadCount;
    if (header.last_offset_delta != header.record_count - 1) return BatchError::kBadCount;
    if (header.base_offset.value < 0 || header.base_offset.value > kOffsetMax - header.record_count)
        return BatchError::kBadOffset;
    if ((header.attributes & ~kAttributesKnown) != 0) return BatchError::kBadAttributes;
    if (header.compression() > kCompressionMax) return BatchError::kBadAttributes;
    return std::nullopt;
}

/// The bytes of a length that may be -1 for null; anything below that fails the reader.
std::optional<BytesView> read_nullable(ByteReader& in) {
    const std::int64_t size = in.varint();
    if (size == -1) return std::nullopt;
    if (size < 0) in.fail();
    return in.raw(static_cast<std::size_t>(size));
}

RecordHeaderView read_header_view(ByteReader& in) {
    RecordHeaderView view;
    const std::optional<BytesView> key = read_nullable(in);
    if (!key) in.fail();  // a header's key is never null
    if (key) view.key = {reinterpret_cast<const char*>(key->data()), key->size()};
    view.value = read_nullable(in);
    return view;
}

/// Offset and timestamp of a record from its deltas; empty if a delta points out of the batch or wraps.
std::optional<RecordView> place_record(const BatchHeader& header, std::int64_t timestamp_delta,
                                       std::int64_t offset_delta, std::int32_t expected_delta) {
    if (offset_delta != expected_delta) return std::nullopt;
    std::int64_t timestamp_ms = 0;
    if (__builtin_add_overflow(header.base_timestamp_ms, timestamp_delta, &timestamp_ms)) return std::nullopt;
    RecordView view;
    view.offset = header.base_offset + offset_delta;
    view.timestamp_ms = timestamp_ms;
    return view;
}

void put_nullable(ByteWriter& out, const std::optional<BytesView>& bytes) {
    out.varint(bytes ? static_cast<std::int64_t>(bytes->size()) : -1);
    if (bytes) out.raw(*bytes);
}

std::optional<BytesView> view_of(const std::optional<Bytes>& bytes) {
    return bytes ? std::optional<BytesView>(bytes->span()) : std::nullopt;
}

std::optional<Bytes> copy_of(const std::optional<BytesView>& view) {
    return view ? std::optional<Bytes>(Bytes::copy_of(*view)) : std::nullopt;
}

}  // namespace

const char* describe(BatchError error) {
    switch (error) {
        case BatchError::kTooShort:
            return "too short";
        case BatchError::kBadLength:
            return "bad length";
        case BatchError::kBadMagic:
            return "bad magic";
        case BatchError::kBadOffset:
            return "bad offset";
        case BatchError::kBadCount:
            return "bad record count";
        case BatchError::kBadAttributes:
            return "bad attributes";
        case BatchError::kBadCrc:
            return "bad crc";
        case BatchError::kBadRecord:
            return "bad record";
        case BatchError::kCompressed:
            return "compressed";
    }
    return "unknown";
}

Result<BatchHeader, BatchError> decode_batch_header(std::span<const std::byte> bytes, const BatchLimits& limits) {
    if (bytes.size() < kBatchHeaderBytes) return failure(BatchError::kTooShort);
    ByteReader in(bytes);
    std::uint8_t magic = 0;
    const BatchHeader header = read_header(in, magic);
    if (const std::optional<BatchError> fault = fault_of(header, magic, limits)) return failure(*fault);
    if (header.size_bytes() > bytes.size()) return failure(BatchError::kTooShort);
    return header;
}

Result<BatchHeader, BatchError> check_batch(std::span<const std::byte> bytes, const BatchLimits& limits) {
    Result<BatchHeader, BatchError> header = decode_batch_header(bytes, limits);
    if (!header) return header;
    const std::size_t covered_bytes = header->size_bytes() - kBatchCrcCoversFrom;
    if (crc32c(bytes.subspan(kBatchCrcCoversFrom, covered_bytes)) != header->crc) return failure(BatchError::kBadCrc);
    return header;
}

Result<BatchHeader, BatchError> validate_batch(std::span<const std::byte> bytes, const BatchLimits& limits) {
    Result<BatchHeader, BatchError> header = check_batch(bytes, limits);
    if (!header || header->compression() != 0) return header;
    RecordReader records(bytes.first(header->size_bytes()), *header);
    while (true) {
        const Result<std::optional<RecordView>, BatchError> record = records.next();
        if (!record) return failure(record.error());
        if (!record->has_value()) return header;
    }
}

Result<std::vector<BatchView>, BatchError> split_batches(const Bytes& bytes, const BatchLimits& limits) {
    std::vector<BatchView> batches;
    for (std::size_t at = 0; at < bytes.size();) {
        const Result<BatchHeader, BatchError> header = decode_batch_header(bytes.span().subspan(at), limits);
        if (!header) return failure(header.error());
        batches.push_back({*header, bytes.slice(at, header->size_bytes())});
        at += header->size_bytes();
    }
    return batches;
}

Bytes stamp(const Bytes& batches, const BatchStamp& with) {
    return Bytes::build(batches.size(), [&](std::span<std::byte> into) {
        std::ranges::copy(batches.span(), into.begin());
        Offset next = with.base_offset;
        for (std::size_t at = 0; at < into.size();) {
            std::uint8_t magic = 0;
            CHECK(into.size() - at >= kBatchHeaderBytes);
            ByteReader in(into.subspan(at));
            const BatchHeader header = read_header(in, magic);
            CHECK(header.batch_length >= kBatchLengthMin);
            put_be(into, at, static_cast<std::uint64_t>(next.value), sizeof(std::int64_t));
            put_be(into, at + kLeaderEpochAt, static_cast<std::uint32_t>(with.leader_epoch.value),
                   sizeof(std::int32_t));
            next += header.last_offset_delta + 1;
            at += header.size_bytes();
        }
    });
}

RecordReader::RecordReader(std::span<const std::byte> batch, const BatchHeader& header)
    : in_(batch.subspan(std::min(kBatchHeaderBytes, batch.size()))), header_(header) {}

Result<std::optional<RecordView>, BatchError> RecordReader::next() {
    if (header_.compression() != 0) return failure(BatchError::kCompressed);
    if (failed_) return failure(BatchError::kBadRecord);
    failed_ = true;  // until this record has proved well-formed
    if (read_count_ == header_.record_count) {
        if (!in_.at_end()) return failure(BatchError::kBadRecord);
        failed_ = false;
        return std::nullopt;
    }
    const std::int64_t length = in_.varint();
    if (in_.failed() || length < 0) return failure(BatchError::kBadRecord);
    ByteReader body(in_.raw(static_cast<std::size_t>(length)));
    if (in_.failed()) return failure(BatchError::kBadRecord);
    body.u8();  // attributes of a record: none are defined
    const std::int64_t timestamp_delta = body.varint();
    const std::int64_t offset_delta = body.varint();
    std::optional<RecordView> record = place_record(header_, timestamp_delta, offset_delta, read_count_);
    if (!record) return failure(BatchError::kBadRecord);
    record->key = read_nullable(body);
    record->value = read_nullable(body);
    const std::int64_t header_count = body.varint();
    if (body.failed() || header_count < 0 || header_count > static_cast<std::int64_t>(body.left()))
        return failure(BatchError::kBadRecord);
    record->header_count = static_cast<std::uint32_t>(header_count);
    ByteReader headers(body.raw(body.left()));
    ByteReader encoded = headers;
    for (std::uint32_t i = 0; i < record->header_count; ++i) read_header_view(headers);
    if (!headers.at_end()) return failure(BatchError::kBadRecord);
    record->headers = encoded.raw(encoded.left());
    ++read_count_;
    failed_ = false;
    return record;
}

std::vector<RecordHeaderView> read_headers(const RecordView& record) {
    std::vector<RecordHeaderView> headers;
    headers.reserve(record.header_count);
    ByteReader in(record.headers);
    for (std::uint32_t i = 0; i < record.header_count; ++i) headers.push_back(read_header_view(in));
    return headers;
}

void RecordBatchBuilder::note_timestamp(std::int64_t timestamp_ms) {
    if (record_count_ == 0) base_timestamp_ms_ = max_timestamp_ms_ = timestamp_ms;
    max_timestamp_ms_ = std::max(max_timestamp_ms_, timestamp_ms);
}

void RecordBatchBuilder::put_record(std::span<const std::byte> body) {
    records_.varint(static_cast<std::int64_t>(body.size()));
    records_.raw(body);
    ++record_count_;
}

void RecordBatchBuilder::add(std::int64_t timestamp_ms, std::optional<BytesView> key, std::optional<BytesView> value) {
    note_timestamp(timestamp_ms);
    body_.clear();
    body_.u8(0);
    body_.varint(timestamp_ms - base_timestamp_ms_);
    body_.varint(record_count_);
    put_nullable(body_, key);
    put_nullable(body_, value);
    body_.varint(0);
    put_record(body_.span());
}

void RecordBatchBuilder::add(const Record& record) {
    note_timestamp(record.timestamp_ms);
    body_.clear();
    body_.u8(0);
    body_.varint(record.timestamp_ms - base_timestamp_ms_);
    body_.varint(record_count_);
    put_nullable(body_, view_of(record.key));
    put_nullable(body_, view_of(record.value));
    body_.varint(static_cast<std::int64_t>(record.headers.size()));
    for (const RecordHeader& header : record.headers) {
        put_nullable(body_, std::as_bytes(std::span(header.key.data(), header.key.size())));
        put_nullable(body_, view_of(header.value));
    }
    put_record(body_.span());
}

Bytes RecordBatchBuilder::build() const {
    CHECK(record_count_ > 0);
    const std::span<const std::byte> records = records_.span();
    return Bytes::build(size_bytes(), [&](std::span<std::byte> into) {
        const auto attributes = static_cast<std::uint64_t>((options_.is_transactional ? kAttributeTransactional : 0) |
                                                           (options_.is_control ? kAttributeControl : 0));
        put_be(into, 0, static_cast<std::uint64_t>(options_.base_offset.value), 8);
        put_be(into, 8, into.size() - kBatchLengthPrefixBytes, 4);
        put_be(into, kLeaderEpochAt, static_cast<std::uint32_t>(options_.leader_epoch.value), 4);
        into[16] = static_cast<std::byte>(kMagic);
        put_be(into, 21, attributes, 2);
        put_be(into, 23, static_cast<std::uint32_t>(record_count_ - 1), 4);
        put_be(into, 27, static_cast<std::uint64_t>(base_timestamp_ms_), 8);
        put_be(into, 35, static_cast<std::uint64_t>(max_timestamp_ms_), 8);
        put_be(into, 43, static_cast<std::uint64_t>(options_.producer_id.value), 8);
        put_be(into, 51, static_cast<std::uint16_t>(options_.producer_epoch.value), 2);
        put_be(into, 53, static_cast<std::uint32_t>(options_.base_sequence), 4);
        put_be(into, 57, static_cast<std::uint32_t>(record_count_), 4);
        std::memcpy(into.data() + kBatchHeaderBytes, records.data(), records.size());
        put_be(into, kCrcAt, crc32c(into.subspan(kBatchCrcCoversFrom)), 4);
    });
}

Result<std::vector<Record>, BatchError> decode_records(const Bytes& batch, const BatchLimits& limits) {
    const Result<BatchHeader, BatchError> header = check_batch(batch.span(), limits);
    if (!header) return failure(header.error());
    if (header->size_bytes() != batch.size()) return failure(BatchError::kBadLength);
    RecordReader reader(batch.span(), *header);
    std::vector<Record> records;
    while (true) {
        const Result<std::optional<RecordView>, BatchError> view = reader.next();
        if (!view) return failure(view.error());
        if (!view->has_value()) return records;
        Record record{(*view)->timestamp_ms, copy_of((*view)->key), copy_of((*view)->value), {}};
        for (const RecordHeaderView& each : read_headers(**view))
            record.headers.push_back({std::string(each.key), copy_of(each.value)});
        records.push_back(std::move(record));
    }
}

}  // namespace tidelock::storage
