/// Kafka record batches, layout version 2: the one form records have at rest and on the wire (L1). A batch is never
/// re-encoded; only its base offset and leader epoch, which its CRC does not cover, are stamped when it is appended.
///
/// Layout (big endian): base offset i64, batch length i32 (bytes after this field), leader epoch i32, magic i8 = 2,
/// CRC-32C u32 of everything after it, attributes i16, last offset delta i32, base and max timestamp i64, producer id
/// i64, producer epoch i16, base sequence i32, record count i32, records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::storage {

inline constexpr std::size_t kBatchHeaderBytes = 61;
/// Bytes before the part that `batch length` counts.
inline constexpr std::size_t kBatchLengthPrefixBytes = 12;
/// Where the part starts that the CRC covers.
inline constexpr std::size_t kBatchCrcCoversFrom = 21;

/// Why some bytes are no record batch.
enum class BatchError : std::uint8_t {
    kTooShort,       // fewer bytes than the header, or than the batch says it has
    kBadLength,      // a length below the header's or above the limit
    kBadMagic,       // not layout version 2
    kBadOffset,      // negative, or past the largest offset
    kBadCount,       // record count is not last offset delta + 1, or above the limit
    kBadAttributes,  // bits without meaning, or an unknown compression
    kBadCrc,
    kBadRecord,   // the records do not decode to exactly the batch's bytes
    kCompressed,  // records were asked for of a compressed batch
};
/// A word for messages: "bad crc".
const char* describe(BatchError error);

/// Bounds that are checked before anything is allocated or followed. They are the format's: what clients may write is a
/// setting, and a batch that was stored under another one is no damage.
struct BatchLimits {
    std::int32_t batch_bytes_max = 256 << 20;  // whole batch, header included
    std::int32_t record_count_max = 1 << 20;
    bool operator==(const BatchLimits&) const = default;
};

/// The header's fields as they stand. Valid when it came out of decode_batch_header.
struct BatchHeader {
    Offset base_offset;
    std::int32_t batch_length = 0;  // bytes after the length field
    LeaderEpoch leader_epoch;
    std::uint32_t crc = 0;
    std::int16_t attributes = 0;
    std::int32_t last_offset_delta = 0;
    std::int64_t base_timestamp_ms = 0;
    std::int64_t max_timestamp_ms = 0;
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch{-1};
    std::int32_t base_sequence = -1;
    std::int32_t record_count = 0;

    /// The whole batch.
    [[nodiscard]] std::size_t size_bytes() const {
        return static_cast<std::size_t>(batch_length) + kBatchLengthPrefixBytes;
    }
    /// Offset after the batch's last record (exclusive end).
    [[nodiscard]] Offset next_offset() const { return base_offset + last_offset_delta + 1; }
    [[nodiscard]] int compression() const { return attributes & 0x7; }
    [[nodiscard]] bool is_transactional() const { return (attributes & 0x10) != 0; }
    [[nodiscard]] bool is_control() const { return (attributes & 0x20) != 0; }
    bool operator==(const BatchHeader&) const = default;
};

inline constexpr std::int16_t kAttributeTransactional = 0x10;
inline constexpr std::int16_t kAttributeControl = 0x20;

/// The header at the front of `bytes`, which may hold more. Everything but CRC and records is checked.
Result<BatchHeader, BatchError> decode_batch_header(std::span<const std::byte> bytes, const BatchLimits& limits = {});
/// As decode_batch_header, and the CRC. What a copy needs to be taken as it is.
Result<BatchHeader, BatchError> check_batch(std::span<const std::byte> bytes, const BatchLimits& limits = {});
/// As check_batch, and each record of an uncompressed batch. What a producer's batch must pass.
Result<BatchHeader, BatchError> validate_batch(std::span<const std::byte> bytes, const BatchLimits& limits = {});

/// One batch of a run, sharing the run's storage.
struct BatchView {
    BatchHeader header;
    Bytes bytes;
    bool operator==(const BatchView&) const = default;
};

/// All batches of a run; `bytes` must be whole batches with nothing left over. CRCs are not checked.
Result<std::vector<BatchView>, BatchError> split_batches(const Bytes& bytes, const BatchLimits& limits = {});

struct BatchStamp {
    Offset base_offset;
    LeaderEpoch leader_epoch;
};
/// A copy of a run of whole batches, numbered one after the other from the stamp's base offset, all under its epoch.
/// The run must have passed split_batches.
Bytes stamp(const Bytes& batches, const BatchStamp& with);

using BytesView = std::span<const std::byte>;

struct RecordHeaderView {
    std::string_view key;
    std::optional<BytesView> value;
};
/// A record inside a batch. Views live as long as the batch's bytes.
struct RecordView {
    Offset offset;
    std::int64_t timestamp_ms = 0;
    std::optional<BytesView> key;
    std::optional<BytesView> value;
    std::uint32_t header_count = 0;
    BytesView headers;  // encoded; read them with read_headers
};

/// Reads a batch's records in order. Total: any bytes end in nullopt or an error, with no more reads than bytes.
class RecordReader {
  public:
    /// `batch` is one whole batch that passed decode_batch_header.
    RecordReader(std::span<const std::byte> batch, const BatchHeader& header);
    /// The next record; nullopt after the last. After an error, the same error again.
    Result<std::optional<RecordView>, BatchError> next();

  private:
    ByteReader in_;
    BatchHeader header_;
    std::int32_t read_count_ = 0;
    bool failed_ = false;
};

/// The headers of a record that RecordReader returned.
std::vector<RecordHeaderView> read_headers(const RecordView& record);

struct RecordHeader {
    std::string key;
    std::optional<Bytes> value;
    bool operator==(const RecordHeader&) const = default;
};
/// A record to be written, or one taken out of a batch.
struct Record {
    std::int64_t timestamp_ms = 0;
    std::optional<Bytes> key;
    std::optional<Bytes> value;
    std::vector<RecordHeader> headers;
    bool operator==(const Record&) const = default;
};

/// What a batch says about itself besides its records.
struct BatchOptions {
    Offset base_offset;
    LeaderEpoch leader_epoch;
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch{-1};
    std::int32_t base_sequence = -1;
    bool is_transactional = false;
    bool is_control = false;
};

/// Encodes an uncompressed batch. At least one record.
class RecordBatchBuilder {
  public:
    explicit RecordBatchBuilder(const BatchOptions& options) : options_(options) {}
    void add(const Record& record);
    /// Adds a record without copying key and value into a Record first.
    void add(std::int64_t timestamp_ms, std::optional<BytesView> key, std::optional<BytesView> value);
    [[nodiscard]] std::int32_t record_count() const { return record_count_; }
    /// Size the batch would have now.
    [[nodiscard]] std::size_t size_bytes() const { return kBatchHeaderBytes + records_.size(); }
    /// The batch with its CRC. At least one record must have been added.
    [[nodiscard]] Bytes build() const;

  private:
    void note_timestamp(std::int64_t timestamp_ms);
    void put_record(std::span<const std::byte> body);

    BatchOptions options_;
    ByteWriter records_;
    ByteWriter body_;
    std::int32_t record_count_ = 0;
    std::int64_t base_timestamp_ms_ = 0;
    std::int64_t max_timestamp_ms_ = 0;
};

/// All records of one uncompressed batch, copied out.
Result<std::vector<Record>, BatchError> decode_records(const Bytes& batch, const BatchLimits& limits = {});

}  // namespace tidelock::storage
