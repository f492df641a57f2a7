#include "protocol/clients/partition_producers.h"

#include <algorithm>

namespace tidelock::clients {
namespace {

Offset end_of(const ProducerBatch& batch) {
    return batch.base_offset + std::max(batch.record_count, 1);
}

}  // namespace

PartitionProducers::PartitionProducers(std::size_t producers_max) : newest_(producers_max), confirmed_(producers_max) {}

void PartitionProducers::on_batch(const ProducerBatch& batch) {
    if (batch.producer_id == kNoProducer) return;
    newest_.on_batch(batch);
    if (end_of(batch) <= high_watermark_)
        confirmed_.on_batch(batch);
    else
        unconfirmed_.push_back(batch);
}

void PartitionProducers::on_high_watermark(Offset high_watermark) {
    if (high_watermark <= high_watermark_) return;
    high_watermark_ = high_watermark;
    while (unconfirmed_begin_ < unconfirmed_.size() && end_of(unconfirmed_[unconfirmed_begin_]) <= high_watermark)
        confirmed_.on_batch(unconfirmed_[unconfirmed_begin_++]);
    // Each is moved once on average, however far the high watermark lags.
    if (unconfirmed_begin_ * 2 < unconfirmed_.size()) return;
    unconfirmed_.erase(unconfirmed_.begin(), unconfirmed_.begin() + static_cast<std::ptrdiff_t>(unconfirmed_begin_));
    unconfirmed_begin_ = 0;
}

void PartitionProducers::adopt(ProducerId id, const ProducerState& state) {
    newest_.adopt(id, state);
    confirmed_.adopt(id, state);
}

void PartitionProducers::forget_below(Offset end) {
    newest_.forget_below(end);
    confirmed_.forget_below(end);
}

bool PartitionProducers::truncate_to(Offset end) {
    while (unconfirmed_.size() > unconfirmed_begin_ && unconfirmed_.back().base_offset >= end) unconfirmed_.pop_back();
    high_watermark_ = std::min(high_watermark_, end);
    const bool is_newest_known = newest_.truncate_to(end);
    const bool is_confirmed_known = confirmed_.truncate_to(end);
    return is_newest_known && is_confirmed_known;
}

void PartitionProducers::clear() {
    newest_.clear();
    confirmed_.clear();
    high_watermark_ = Offset();
    unconfirmed_.clear();
    unconfirmed_begin_ = 0;
}

}  // namespace tidelock::clients
