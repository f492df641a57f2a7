/// Idempotent producers (T2): what is known of each producer's last batches in one partition, and how producer ids are
/// given out.
///
/// A table is a function of the batches of the log, in log order. What retention has taken comes back by adopt() and
/// forget_below(): the leader writes it into a replicated topic before the log start passes it
/// (protocol/broker/log_start.cc). How many producers a table remembers is bounded; who has not written for longest
/// goes first, by offset and not by any clock. A producer is known as its last batch left it, or not at all.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/flat_map.h"
#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/error_code.h"
#include "protocol/clients/producer_state.h"

namespace tidelock::clients {

/// The sequence `count` after `sequence`; negative counts go back. Sequences run from 0 to 2^31 - 1 and go on at 0.
[[nodiscard]] constexpr std::int32_t sequence_after(std::int32_t sequence, std::int32_t count) {
    constexpr std::int64_t kModulus = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
    return static_cast<std::int32_t>((std::int64_t{sequence} + count + kModulus) % kModulus);
}

/// The header fields of a batch that concern its producer.
struct ProducerBatch {
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch;
    std::int32_t base_sequence = -1;
    std::int32_t record_count = 0;
    Offset base_offset;       // not read by check
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

/// How many producers a partition remembers unless it is told otherwise.
inline constexpr std::size_t kProducersMaxDefault = 4096;

/// Of `producers_max` remembered producers and one more, how many are forgotten together: those that have not written
/// for longest. Whoever is not among them is known to every table of the log, however it came about.
[[nodiscard]] constexpr std::size_t producers_forgotten_at_once(std::size_t producers_max) {
    return producers_max / 4 == 0 ? 1 : producers_max / 4;
}

class ProducerTable {
  public:
    /// Remembers at most `producers_max` (1 and up). A producer that is forgotten begins anew, as if it were unknown.
    explicit ProducerTable(std::size_t producers_max = kProducersMaxDefault);

    /// What to do with a batch that wants to be appended. A batch without producer id is always accepted.
    [[nodiscard]] ProducerVerdict check(const ProducerBatch& batch) const;
    /// A batch is in the log: live after its append, or read from the log on rebuild; in log order. One that is known
    /// already changes nothing.
    void on_batch(const ProducerBatch& batch);
    /// What a record of the internal topic says of a producer: batches at the log start or below it. Known batches are
    /// kept beside them, so records and batches may come in any order.
    void adopt(ProducerId id, const ProducerState& state);
    /// What a record of the internal topic says of those that were forgotten: each of them had written below `end`, and
    /// not since. What older records say of them is as they were once.
    void forget_below(Offset end);
    /// The log was cut to `end` (exclusive). False: the table no longer knows what came before the cut and must be
    /// rebuilt (clear, then on_batch for every batch of the log, and adopt).
    [[nodiscard]] bool truncate_to(Offset end);
    /// Producers with a batch that ends in [from, end), as they were before `end`: what has to be kept elsewhere before
    /// the log start moves from `from` to `end`. Nothing is forgotten here: a producer's last batch outlives its
    /// records (KAFKA-7190, KAFKA-7298).
    [[nodiscard]] std::vector<std::pair<ProducerId, ProducerState>> states_between(Offset from, Offset end) const;
    void clear();

    /// Every producer that was forgotten had written below it, and not since; 0: none was forgotten. Has to be kept
    /// with states_between: a log without its beginning does not tell whom the table of the whole one forgot.
    [[nodiscard]] Offset forgotten_below() const { return forgotten_below_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    bool operator==(const ProducerTable&) const = default;

  private:
    static ProducerVerdict check_known(const ProducerState& entry, const ProducerBatch& batch);
    void forget_oldest();
    void drop_below(Offset oldest_kept);

    std::size_t producers_max_;
    FlatMap<ProducerId, ProducerState> entries_;
    Offset forgotten_below_;
    Offset forgotten_end_;  // exclusive: where the log ended, as far as known, when a producer was last forgotten
};

/// Internal topic of what is known of producers: blocks of ids (records without a key), each reserving its ids for
/// good, and what retention would otherwise make forgotten (producer_state.h).
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
    /// A block that stands for all reserved so far; empty: none is. Its record makes older ones superfluous.
    [[nodiscard]] std::optional<ProducerIdBlock> reserved() const;

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
