/// Everything ever appended to one partition, shared by all copies: by log matching (V4) a batch, named by its leader
/// epoch and base offset, has one content and one predecessor, so a copy's log is a path and two copies are compared at
/// one batch.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "checker/hash_index.h"
#include "protocol/base/ids.h"
#include "protocol/broker/observation.h"

namespace tidelock::checker {

/// Number of a batch in its partition's BatchTable.
using BatchNumber = Tagged<struct BatchNumberTag, std::uint32_t>;
/// No batch; as a predecessor: none known (first in the log of the copy that appended it).
inline constexpr BatchNumber kNoBatch{std::numeric_limits<std::uint32_t>::max()};

struct KnownBatch {
    broker::BatchSummary summary;
    BatchNumber previous;
    BatchNumber older;  // another batch that is looked up together with this one; of this name only in `static`
};

/// True when both are one batch: same place, same bytes.
bool is_same_batch(const broker::BatchSummary& a, const broker::BatchSummary& b);

class BatchTable {
  public:
    /// The batch of that name, the newest when there are several.
    [[nodiscard]] std::optional<BatchNumber> find(LeaderEpoch leader_epoch, Offset base_offset) const;
    /// The very batch, its bytes included.
    [[nodiscard]] std::optional<BatchNumber> find_same(const broker::BatchSummary& summary) const;
    /// Finds or adds the batch; learns its predecessor when that was not known.
    BatchNumber intern(const broker::BatchSummary& summary, BatchNumber previous);
    [[nodiscard]] const KnownBatch& at(BatchNumber batch) const { return batches_[batch.value]; }
    [[nodiscard]] const broker::BatchSummary& summary(BatchNumber batch) const { return at(batch).summary; }

  private:
    std::vector<KnownBatch> batches_;
    HashIndex by_name_;
};

/// A run of batches in one log, by rising offset. Only its numbers are kept, the batches live in the table.
class BatchRun {
  public:
    [[nodiscard]] bool empty() const { return head_ == numbers_.size(); }
    [[nodiscard]] std::size_t size() const { return numbers_.size() - head_; }
    [[nodiscard]] BatchNumber front() const { return empty() ? kNoBatch : numbers_[head_]; }
    [[nodiscard]] BatchNumber back() const { return empty() ? kNoBatch : numbers_.back(); }
    [[nodiscard]] std::span<const BatchNumber> all() const { return std::span(numbers_).subspan(head_); }
    /// The batch that holds `offset`; kNoBatch when there is none. Logarithmic, constant at the tail.
    [[nodiscard]] BatchNumber holding(const BatchTable& table, Offset offset) const;
    /// Position in all() of the first batch that ends past `offset`; size() when there is none.
    [[nodiscard]] std::size_t first_ending_past(const BatchTable& table, Offset offset) const;

    void push(BatchNumber batch) { numbers_.push_back(batch); }
    /// Removes batches that reach `to` or past it.
    void cut_tail(const BatchTable& table, Offset to);
    /// Removes batches that end before `start`.
    void cut_head(const BatchTable& table, Offset start);
    void clear();

  private:
    std::vector<BatchNumber> numbers_;
    std::size_t head_ = 0;  // batches before it were removed
};

/// Records that must never be lost again: a path that starts at the log start and only grows, unless a loss is
/// accounted for.
struct StablePrefix {
    BatchRun batches;
    Offset end;  // exclusive
};

}  // namespace tidelock::checker
