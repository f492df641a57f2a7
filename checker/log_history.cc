#include "checker/log_history.h"

#include <algorithm>

namespace tidelock::checker {
namespace {

/// Not of one batch alone: a rotten header may name any epoch and any offset.
std::uint64_t key_of(LeaderEpoch leader_epoch, Offset base_offset) {
    return (static_cast<std::uint64_t>(leader_epoch.value) << 32) ^ static_cast<std::uint64_t>(base_offset.value);
}

}  // namespace

bool is_same_batch(const broker::BatchSummary& a, const broker::BatchSummary& b) {
    return a == b;
}

std::optional<BatchNumber> BatchTable::find(LeaderEpoch leader_epoch, Offset base_offset) const {
    const std::optional<std::uint32_t> number = by_name_.find(key_of(leader_epoch, base_offset));
    for (BatchNumber batch(number.value_or(kNoBatch.value)); batch != kNoBatch; batch = at(batch).older) {
        const broker::BatchSummary& named = at(batch).summary;
        if (named.leader_epoch == leader_epoch && named.base_offset == base_offset) return batch;
    }
    return std::nullopt;
}

std::optional<BatchNumber> BatchTable::find_same(const broker::BatchSummary& summary) const {
    const std::optional<std::uint32_t> newest = by_name_.find(key_of(summary.leader_epoch, summary.base_offset));
    for (BatchNumber batch(newest.value_or(kNoBatch.value)); batch != kNoBatch; batch = at(batch).older) {
        if (is_same_batch(at(batch).summary, summary)) return batch;
    }
    return std::nullopt;
}

BatchNumber BatchTable::intern(const broker::BatchSummary& summary, BatchNumber previous) {
    if (const std::optional<BatchNumber> known = find_same(summary)) {
        KnownBatch& batch = batches_[known->value];
        if (batch.previous == kNoBatch) batch.previous = previous;
        return *known;
    }
    const BatchNumber older(by_name_.find(key_of(summary.leader_epoch, summary.base_offset)).value_or(kNoBatch.value));
    const BatchNumber batch(static_cast<std::uint32_t>(batches_.size()));
    batches_.push_back(KnownBatch{summary, previous, older});
    by_name_.put(key_of(summary.leader_epoch, summary.base_offset), batch.value);
    return batch;
}

std::size_t BatchRun::first_ending_past(const BatchTable& table, Offset offset) const {
    const std::span<const BatchNumber> run = all();
    if (run.empty() || table.summary(run.back()).last_offset < offset) return run.size();
    // Most questions are about the newest batch.
    if (table.summary(run.back()).base_offset <= offset) return run.size() - 1;
    const auto found = std::partition_point(
        run.begin(), run.end(), [&](BatchNumber batch) { return table.summary(batch).last_offset < offset; });
    return static_cast<std::size_t>(found - run.begin());
}

BatchNumber BatchRun::holding(const BatchTable& table, Offset offset) const {
    const std::size_t position = first_ending_past(table, offset);
    if (position == size()) return kNoBatch;
    const BatchNumber batch = all()[position];
    return table.summary(batch).base_offset <= offset ? batch : kNoBatch;
}

void BatchRun::cut_tail(const BatchTable& table, Offset to) {
    while (!empty() && table.summary(back()).last_offset >= to) numbers_.pop_back();
    if (empty()) clear();
}

void BatchRun::cut_head(const BatchTable& table, Offset start) {
    while (!empty() && table.summary(front()).last_offset < start) ++head_;
    if (empty()) clear();
}

void BatchRun::clear() {
    numbers_.clear();
    head_ = 0;
}

}  // namespace tidelock::checker
