#include "protocol/clients/producers.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::clients {
namespace {

constexpr std::uint8_t kBlockVersion = 1;

Offset end_of(const RememberedBatch& batch) {
    return batch.base_offset + batch.record_count;
}

/// None is left out between the batches.
bool are_consecutive(const std::vector<RememberedBatch>& batches) {
    for (std::size_t i = 1; i < batches.size(); ++i) {
        const RememberedBatch& before = batches[i - 1];
        if (sequence_after(before.base_sequence, before.record_count) != batches[i].base_sequence) return false;
    }
    return true;
}

/// There are, or may be, older batches of the producer than are remembered: some were dropped from here, or it begins
/// where the log has no records any more, as nobody begins at another sequence than 0.
bool misses_older(const ProducerState& state) {
    return state.has_forgotten || (!state.batches.empty() && state.batches.front().base_sequence != 0);
}

/// What the two know together of one epoch of a producer.
ProducerState merged(const ProducerState& a, const ProducerState& b) {
    std::vector<RememberedBatch> all(a.batches.begin(), a.batches.end());
    for (const RememberedBatch& batch : b.batches)
        if (std::ranges::find(all, batch.base_offset, &RememberedBatch::base_offset) == all.end()) all.push_back(batch);
    std::ranges::sort(all, {}, &RememberedBatch::base_offset);
    const std::size_t dropped = all.size() - std::min(all.size(), kRememberedBatches);
    ProducerState both;
    both.producer_epoch = a.producer_epoch;
    both.last_offset = std::max(a.last_offset, b.last_offset);
    both.has_forgotten = a.has_forgotten || b.has_forgotten || dropped > 0 || !are_consecutive(all);
    both.batches.assign(all.begin() + static_cast<std::ptrdiff_t>(dropped), all.end());
    return both;
}

}  // namespace

// --- decisions -----------------------------------------------------------------------------------------------

ProducerVerdict ProducerTable::check_known(const ProducerState& entry, const ProducerBatch& batch) {
    if (batch.producer_epoch < entry.producer_epoch) return RefuseBatch{ErrorCode::kInvalidProducerEpoch};
    if (batch.is_control) return AcceptBatch{};
    if (batch.producer_epoch > entry.producer_epoch || entry.batches.empty()) {
        // A new epoch, or one that only a marker has opened, starts its sequence anew.
        if (batch.base_sequence == 0) return AcceptBatch{};
        return RefuseBatch{ErrorCode::kOutOfOrderSequence};
    }
    // The newest first: who was forgotten meanwhile began again at 0.
    for (auto known = entry.batches.end(); known != entry.batches.begin();) {
        --known;
        if (known->base_sequence == batch.base_sequence && known->record_count == batch.record_count)
            return DuplicateBatch{known->base_offset, known->base_offset + (known->record_count - 1)};
    }
    const RememberedBatch& last = entry.batches.back();
    const std::int32_t expected = sequence_after(last.base_sequence, last.record_count);
    if (batch.base_sequence == expected) return AcceptBatch{};
    // Half the sequence space back counts as written before, the other half as not yet written.
    const std::int32_t distance_back = sequence_after(expected, -batch.base_sequence);
    const bool is_old = misses_older(entry) && distance_back < std::numeric_limits<std::int32_t>::max() / 2;
    return RefuseBatch{is_old ? ErrorCode::kDuplicateSequence : ErrorCode::kOutOfOrderSequence};
}

ProducerTable::ProducerTable(std::size_t producers_max) : producers_max_(producers_max) {
    CHECK(producers_max >= 1);
}

ProducerVerdict ProducerTable::check(const ProducerBatch& batch) const {
    if (batch.producer_id == kNoProducer) return AcceptBatch{};
    const bool has_sense = batch.producer_id.value >= 0 && batch.producer_epoch.value >= 0 &&
                           (batch.is_control || (batch.base_sequence >= 0 && batch.record_count > 0));
    if (!has_sense) return RefuseBatch{ErrorCode::kInvalidRequest};
    const auto at = entries_.find(batch.producer_id);
    if (at != entries_.end()) return check_known(at->second, batch);
    if (batch.is_control || batch.base_sequence == 0) return AcceptBatch{};
    return RefuseBatch{ErrorCode::kUnknownProducerId};
}

// --- the log's story -----------------------------------------------------------------------------------------

void ProducerTable::on_batch(const ProducerBatch& batch) {
    if (batch.producer_id == kNoProducer) return;
    const auto [at, is_new] = entries_.try_emplace(batch.producer_id);
    ProducerState& entry = at->second;
    if (batch.base_offset <= entry.last_offset) return;
    if (is_new) {
        entry.producer_epoch = batch.producer_epoch;
        entry.has_forgotten = forgotten_end_ > Offset(0);  // it may be one that was forgotten
    }
    // What is in the log rules, also an older epoch: a leader that had forgotten the producer took it (T2).
    if (batch.producer_epoch != entry.producer_epoch) {
        entry.producer_epoch = batch.producer_epoch;
        entry.batches.clear();
        entry.has_forgotten = true;
    }
    entry.last_offset = batch.base_offset + (std::max(batch.record_count, 1) - 1);
    if (batch.is_control) {
        entry.has_forgotten = true;  // a cut at the marker cannot be undone from what is kept
    } else {
        if (entry.batches.size() == kRememberedBatches) {
            entry.batches.erase(entry.batches.begin());
            entry.has_forgotten = true;
        }
        entry.batches.push_back({batch.base_sequence, batch.record_count, batch.base_offset});
    }
    if (entries_.size() > producers_max_) forget_oldest();
}

void ProducerTable::adopt(ProducerId id, const ProducerState& state) {
    // Who was forgotten may have written since, and would be known as it was before.
    if (state.last_offset < forgotten_below_ && entries_.find(id) == entries_.end()) return;
    const auto [at, is_new] = entries_.try_emplace(id, state);
    ProducerState& known = at->second;
    if (!is_new && known.producer_epoch == state.producer_epoch) {
        known = merged(known, state);
    } else if (!is_new) {
        if (state.last_offset > known.last_offset) known = state;
        known.has_forgotten = true;
    }
    if (entries_.size() > producers_max_) forget_oldest();
}

void ProducerTable::forget_below(Offset end) {
    if (end <= forgotten_below_) return;
    forgotten_end_ = std::max(forgotten_end_, end);
    drop_below(end);
}

bool ProducerTable::truncate_to(Offset end) {
    if (end < forgotten_end_) return false;
    for (auto at = entries_.begin(); at != entries_.end();) {
        ProducerState& entry = at->second;
        if (entry.last_offset < end) {
            ++at;
        } else if (misses_older(entry)) {
            return false;
        } else {
            // Every batch of this producer is here, so what is left of it is exact.
            while (!entry.batches.empty() && entry.batches.back().base_offset >= end) entry.batches.pop_back();
            if (entry.batches.empty()) {
                at = entries_.erase(at);
                continue;
            }
            entry.last_offset = end_of(entry.batches.back()) - 1;
            ++at;
        }
    }
    return true;
}

std::vector<std::pair<ProducerId, ProducerState>> ProducerTable::states_between(Offset from, Offset end) const {
    std::vector<std::pair<ProducerId, ProducerState>> found;
    for (const auto& [id, entry] : entries_) {
        ProducerState state = entry;
        if (state.last_offset >= end) {
            while (!state.batches.empty() && state.batches.back().base_offset >= end) state.batches.pop_back();
            if (state.batches.empty()) continue;
            state.last_offset = end_of(state.batches.back()) - 1;
        }
        if (state.last_offset >= from) found.emplace_back(id, std::move(state));
    }
    return found;
}

void ProducerTable::forget_oldest() {
    std::vector<Offset> last_offsets;
    last_offsets.reserve(entries_.size());
    for (const auto& [id, entry] : entries_) last_offsets.push_back(entry.last_offset);
    const auto bound = last_offsets.begin() + static_cast<std::ptrdiff_t>(producers_forgotten_at_once(producers_max_));
    std::ranges::nth_element(last_offsets, bound);
    const Offset oldest_kept = *bound;
    // A cut that takes back what one was forgotten for has to bring it back.
    forgotten_end_ = std::max(forgotten_end_, *std::ranges::max_element(last_offsets) + 1);
    drop_below(oldest_kept);
}

void ProducerTable::drop_below(Offset oldest_kept) {
    forgotten_below_ = std::max(forgotten_below_, oldest_kept);
    FlatMap<ProducerId, ProducerState> kept;
    kept.reserve(entries_.size());
    for (auto& [id, entry] : entries_)
        if (entry.last_offset >= oldest_kept) kept.emplace_hint(kept.end(), id, std::move(entry));
    entries_ = std::move(kept);
}

void ProducerTable::clear() {
    *this = ProducerTable(producers_max_);
}

// --- producer ids --------------------------------------------------------------------------------------------

Bytes encode_block(const ProducerIdBlock& block) {
    ByteWriter out;
    out.u8(kBlockVersion);
    out.i64(block.first.value);
    out.i64(block.count);
    return out.take();
}

Result<ProducerIdBlock, DecodeError> decode_block(const Bytes& value) {
    ByteReader in(value);
    if (in.u8() != kBlockVersion) return decode_failure("producer id block: unknown version");
    ProducerIdBlock block;
    block.first = ProducerId(in.i64());
    block.count = in.i64();
    const bool has_sense = block.first.value >= 0 && block.count > 0 &&
                           block.count <= std::numeric_limits<std::int64_t>::max() - block.first.value;
    if (!in.at_end() || !has_sense) return decode_failure("producer id block: short or bad field");
    return block;
}

void ProducerIdAllocator::begin_rebuild() {
    *this = ProducerIdAllocator(block_size_);
}

void ProducerIdAllocator::on_block_record(const ProducerIdBlock& block) {
    next_unreserved_ = std::max(next_unreserved_, ProducerId(block.first.value + block.count));
}

std::optional<ProducerId> ProducerIdAllocator::take() {
    if (available_.count == 0) return std::nullopt;
    const ProducerId id = available_.first;
    ++available_.first.value;
    --available_.count;
    return id;
}

std::optional<ProducerIdBlock> ProducerIdAllocator::block_wanted() const {
    const bool has_enough = available_.count > block_size_ / 10;
    if (has_enough || under_way_) return std::nullopt;
    return ProducerIdBlock{next_unreserved_, block_size_};
}

void ProducerIdAllocator::on_block_appended(const ProducerIdBlock& block, Offset record_offset) {
    CHECK(!under_way_);
    CHECK(block.first >= next_unreserved_);
    on_block_record(block);
    under_way_ = Reservation{block, record_offset};
}

void ProducerIdAllocator::on_high_watermark(Offset high_watermark) {
    if (!under_way_ || high_watermark <= under_way_->record_offset) return;
    // What the present block has left is given up: one block is in use at a time, and ids are plenty.
    available_ = under_way_->block;
    under_way_.reset();
}

std::optional<ProducerIdBlock> ProducerIdAllocator::reserved() const {
    if (next_unreserved_.value <= 1) return std::nullopt;
    return ProducerIdBlock{ProducerId(1), next_unreserved_.value - 1};
}

}  // namespace tidelock::clients
