#include "protocol/clients/producers.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::clients {
namespace {

constexpr std::uint8_t kTableVersion = 1;
constexpr std::size_t kEntryBytes = 8 + 2 + 8 + 8 + 1 + 1;

}  // namespace

// --- decisions -----------------------------------------------------------------------------------------------

ProducerVerdict ProducerTable::check_known(const Entry& entry, const ProducerBatch& batch) {
    if (batch.producer_epoch < entry.producer_epoch) return RefuseBatch{ErrorCode::kInvalidProducerEpoch};
    if (batch.is_control) return AcceptBatch{};
    if (batch.producer_epoch > entry.producer_epoch || entry.batches.empty()) {
        // A new epoch, or one that only a marker has opened, starts its sequence anew.
        if (batch.base_sequence == 0) return AcceptBatch{};
        return RefuseBatch{ErrorCode::kOutOfOrderSequence};
    }
    for (const Batch& known : entry.batches)
        if (known.base_sequence == batch.base_sequence && known.record_count == batch.record_count)
            return DuplicateBatch{known.base_offset, known.base_offset + (known.record_count - 1)};
    const Batch& last = entry.batches.back();
    const std::int32_t expected = sequence_after(last.base_sequence, last.record_count);
    if (batch.base_sequence == expected) return AcceptBatch{};
    // Half the sequence space back counts as written before, the other half as not yet written.
    const std::int32_t distance_back = sequence_after(expected, -batch.base_sequence);
    const bool is_old = entry.has_forgotten && distance_back < std::numeric_limits<std::int32_t>::max() / 2;
    return RefuseBatch{is_old ? ErrorCode::kDuplicateSequence : ErrorCode::kOutOfOrderSequence};
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
    Entry& entry = at->second;
    if (is_new) entry.producer_epoch = batch.producer_epoch;
    if (batch.producer_epoch > entry.producer_epoch) {
        entry.producer_epoch = batch.producer_epoch;
        entry.batches.clear();
        entry.has_forgotten = true;
    }
    entry.timestamp_ms = batch.timestamp_ms;
    entry.last_offset = batch.base_offset + (std::max(batch.record_count, 1) - 1);
    if (batch.is_control) {
        entry.has_forgotten = true;  // a cut at the marker cannot be undone from what is kept
        return;
    }
    if (entry.batches.size() == kRememberedBatches) {
        entry.batches.erase(entry.batches.begin());
        entry.has_forgotten = true;
    }
    entry.batches.push_back({batch.base_sequence, batch.record_count, batch.base_offset, batch.timestamp_ms});
}

bool ProducerTable::truncate_to(Offset end) {
    for (auto at = entries_.begin(); at != entries_.end();) {
        Entry& entry = at->second;
        if (entry.last_offset < end) {
            ++at;
        } else if (entry.has_forgotten) {
            return false;
        } else {
            // Every batch of this producer is here, so what is left of it is exact.
            while (!entry.batches.empty() && entry.batches.back().base_offset >= end) entry.batches.pop_back();
            if (entry.batches.empty()) {
                at = entries_.erase(at);
                continue;
            }
            const Batch& last = entry.batches.back();
            entry.last_offset = last.base_offset + (last.record_count - 1);
            entry.timestamp_ms = last.timestamp_ms;
            ++at;
        }
    }
    return true;
}

void ProducerTable::expire_before(std::int64_t oldest_timestamp_ms) {
    for (auto at = entries_.begin(); at != entries_.end();) {
        const bool is_expired =
            at->second.timestamp_ms < oldest_timestamp_ms && at->second.last_offset < log_start_offset_;
        at = is_expired ? entries_.erase(at) : at + 1;
    }
}

std::optional<Offset> ProducerTable::earliest_last_batch() const {
    std::optional<Offset> earliest;
    for (const auto& [id, entry] : entries_) {
        const Offset base = entry.batches.empty() ? entry.last_offset : entry.batches.back().base_offset;
        earliest = earliest ? std::min(*earliest, base) : base;
    }
    return earliest;
}

void ProducerTable::clear() {
    entries_.clear();
    log_start_offset_ = Offset{};
}

// --- as bytes ------------------------------------------------------------------------------------------------

void ProducerTable::encode(ByteWriter& out) const {
    out.u8(kTableVersion);
    out.i64(log_start_offset_.value);
    out.u32(static_cast<std::uint32_t>(entries_.size()));
    for (const auto& [id, entry] : entries_) {
        out.i64(id.value);
        out.u16(static_cast<std::uint16_t>(entry.producer_epoch.value));
        out.i64(entry.timestamp_ms);
        out.i64(entry.last_offset.value);
        out.boolean(entry.has_forgotten);
        out.u8(static_cast<std::uint8_t>(entry.batches.size()));
        for (const Batch& batch : entry.batches) {
            out.i32(batch.base_sequence);
            out.i32(batch.record_count);
            out.i64(batch.base_offset.value);
            out.i64(batch.timestamp_ms);
        }
    }
}

Result<ProducerTable, DecodeError> ProducerTable::decode(ByteReader& in) {
    ProducerTable table;
    if (in.u8() != kTableVersion) return decode_failure("producer table: unknown version");
    table.log_start_offset_ = Offset(in.i64());
    const std::uint32_t count = in.count(kEntryBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        const ProducerId id(in.i64());
        Entry entry;
        entry.producer_epoch = ProducerEpoch(static_cast<std::int16_t>(in.u16()));
        entry.timestamp_ms = in.i64();
        entry.last_offset = Offset(in.i64());
        entry.has_forgotten = in.boolean();
        const std::uint8_t batch_count = in.u8();
        if (batch_count > kRememberedBatches) in.fail();
        for (std::uint8_t b = 0; b < batch_count && !in.failed(); ++b) {
            Batch batch{};
            batch.base_sequence = in.i32();
            batch.record_count = in.i32();
            batch.base_offset = Offset(in.i64());
            batch.timestamp_ms = in.i64();
            if (batch.base_sequence < 0 || batch.record_count <= 0) in.fail();
            entry.batches.push_back(batch);
        }
        if (!table.entries_.empty() && id <= std::prev(table.entries_.end())->first) in.fail();
        if (!in.failed()) table.entries_.emplace_hint(table.entries_.end(), id, std::move(entry));
    }
    if (in.failed()) return decode_failure("producer table: short or bad field");
    return table;
}

void ProducerTable::add_to(Digest& digest) const {
    digest.add(entries_.size());
    for (const auto& [id, entry] : entries_) {
        digest.add(id);
        digest.add(entry.producer_epoch);
        digest.add(entry.last_offset);
        for (const Batch& batch : entry.batches) {
            digest.add(batch.base_sequence);
            digest.add(batch.record_count);
            digest.add(batch.base_offset);
        }
    }
}

// --- producer ids --------------------------------------------------------------------------------------------

Bytes encode_block(const ProducerIdBlock& block) {
    ByteWriter out;
    out.u8(kTableVersion);
    out.i64(block.first.value);
    out.i64(block.count);
    return out.take();
}

Result<ProducerIdBlock, DecodeError> decode_block(const Bytes& value) {
    ByteReader in(value);
    if (in.u8() != kTableVersion) return decode_failure("producer id block: unknown version");
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

}  // namespace tidelock::clients
