/// Idempotent producers (T2): what is known of each producer's last batches in one partition, and how producer ids are
/// given out.
///
/// A table is a pure function of the batches in the log, in log order: on_batch is the only way in, live and on
/// rebuild.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/flat_map.h"
#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/error_code.h"

namespace tidelock::clients {

/// The sequence `count` after `sequence`; negative counts go back. Sequences run from 0 to 2^31 - 1 and go on at 0.
[[nodiscard]] constexpr std::int32_t sequence_after(std::int32_t sequence, std::int32_t count) {
    constexpr std::int64_t kModulus = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
    return static_cast<std::int32_t>((std::int64_t{sequence} + count + kModulus) % kModulus);
}

/// The header fields of a batch that concern its producer. `timestamp_ms` is the batch's own, not a clock.
struct ProducerBatch {
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch;
    std::int32_t base_sequence = -1;
    std::int32_t record_count = 0;
    Offset base_offset;  // not read by check
    std::int64_t timestamp_ms = 0;
    bool is_control = false;  // a transaction marker: raises the epoch, has no sequence
    bool operator==(const ProducerBatch&) const = default;
};

/// Append it.
struct AcceptBatch {
    bool operator==(const AcceptBatch&) const = default;
};
/// It is in the log already: answer its original offset, once that is confirmed as the request's acks ask.
struct DuplicateBatch {
    Offset base_offset;
    Offset last_offset;  // inclusive
    bool operator==(const DuplicateBatch&) const = default;
};
/// kOutOfOrderSequence, kDuplicateSequence, kInvalidProducerEpoch, kUnknownProducerId or kInvalidRequest.
struct RefuseBatch {
    ErrorCode error;
    bool operator==(const RefuseBatch&) const = default;
};
using ProducerVerdict = std::variant<AcceptBatch, DuplicateBatch, RefuseBatch>;

/// How many batches of a producer are remembered; as many as a client may have in flight.
inline constexpr std::size_t kRememberedBatches = 5;

class ProducerTable {
  public:
    /// What to do with a batch that wants to be appended. A batch without producer id is always accepted.
    [[nodiscard]] ProducerVerdict check(const ProducerBatch& batch) const;
    /// A batch is in the log: live after its append, or read from the log on rebuild; in log order.
    void on_batch(const ProducerBatch& batch);
    /// The log was cut to `end` (exclusive). False: the table no longer knows what came before the cut and must be
    /// rebuilt (clear, then on_batch for every batch of the log).
    [[nodiscard]] bool truncate_to(Offset end);
    /// The log start moved. Nothing is forgotten: a producer's last batch outlives its records (KAFKA-7190,
    /// KAFKA-7298).
    void on_log_start_moved(Offset log_start_offset) { log_start_offset_ = log_start_offset; }
    /// Forgets producers whose last batch is older than `oldest_timestamp_ms` and no longer in the log. Run it with the
    /// same argument on every copy, or only where nothing is decided from the table: it is the one thing that is not a
    /// function of the log.
    void expire_before(std::int64_t oldest_timestamp_ms);
    /// Base offset of the earliest last batch of any known producer: a rebuild from here on knows every producer.
    /// Empty: none is known.
    [[nodiscard]] std::optional<Offset> earliest_last_batch() const;
    void clear();

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// The whole table as bytes, kept beside the log so that retention does not lose it; and back. Total.
    void encode(ByteWriter& out) const;
    [[nodiscard]] static Result<ProducerTable, DecodeError> decode(ByteReader& in);

    void add_to(Digest& digest) const;
    bool operator==(const ProducerTable&) const = default;

  private:
    struct Batch {
        std::int32_t base_sequence;
        std::int32_t record_count;
        Offset base_offset;
        std::int64_t timestamp_ms;
        bool operator==(const Batch&) const = default;
    };
    struct Entry {
        ProducerEpoch producer_epoch;
        std::int64_t timestamp_ms = 0;                   // of the last batch or marker
        Offset last_offset{-1};                          // of the last batch or marker, inclusive
        bool has_forgotten = false;                      // older batches or an older epoch were dropped from here
        SmallVector<Batch, kRememberedBatches> batches;  // of this epoch, in log order
        bool operator==(const Entry&) const = default;
    };
    static ProducerVerdict check_known(const Entry& entry, const ProducerBatch& batch);

    FlatMap<ProducerId, Entry> entries_;
    Offset log_start_offset_;
};

/// Internal topic of producer id blocks. A record of it reserves ids for good.
inline constexpr std::string_view kProducerIdsTopic = "__producer_ids";

struct ProducerIdBlock {
    ProducerId first;
    std::int64_t count = 0;
    bool operator==(const ProducerIdBlock&) const = default;
};
/// The value of a record in kProducerIdsTopic; it has no key.
[[nodiscard]] Bytes encode_block(const ProducerIdBlock& block);
[[nodiscard]] Result<ProducerIdBlock, DecodeError> decode_block(const Bytes& value);

/// Gives out producer ids from reserved blocks. Ids of a block are given only after its record is confirmed, and what a
/// former leader left of its block is never used: so no id is given twice, whatever failovers happen.
class ProducerIdAllocator {
  public:
    explicit ProducerIdAllocator(std::int64_t block_size = 1000) : block_size_(block_size) {}

    /// A new leadership: forget everything, then on_block_record for every record of the topic.
    void begin_rebuild();
    /// A block record in the log, of any leader.
    void on_block_record(const ProducerIdBlock& block);
    /// The next id, if a confirmed block has any left.
    [[nodiscard]] std::optional<ProducerId> take();
    /// The block to reserve next, when none is under way and the present one is (nearly) used up. Append its record,
    /// then say so.
    [[nodiscard]] std::optional<ProducerIdBlock> block_wanted() const;
    /// The record of block_wanted is in the log at `record_offset`.
    void on_block_appended(const ProducerIdBlock& block, Offset record_offset);
    /// The record of `block` is below the topic's high watermark: its ids may be given out.
    void on_high_watermark(Offset high_watermark);

    bool operator==(const ProducerIdAllocator&) const = default;

  private:
    struct Reservation {
        ProducerIdBlock block;
        Offset record_offset;
        bool operator==(const Reservation&) const = default;
    };
    std::int64_t block_size_;
    ProducerId next_unreserved_{1};
    ProducerIdBlock available_;
    std::optional<Reservation> under_way_;
};

}  // namespace tidelock::clients
