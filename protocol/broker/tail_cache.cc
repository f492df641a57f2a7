#include "protocol/broker/tail_cache.h"

#include <algorithm>
#include <cstring>

namespace tidelock::broker {

void TailCache::append(Offset base_offset, Offset next_offset, Bytes batch) {
    if (!entries_.empty() && entries_.back().next_offset != base_offset) clear();
    size_bytes_ += batch.size();
    entries_.push_back(CachedBatches{base_offset, next_offset, std::move(batch)});
    while (size_bytes_ > bytes_max_ && entries_.size() > 1) {
        size_bytes_ -= entries_.front().batches.size();
        entries_.pop_front();
    }
}

std::optional<CachedBatches> TailCache::find(Offset from, Offset up_to, std::size_t bytes_max) const {
    if (entries_.empty() || from < entries_.front().base_offset || from >= entries_.back().next_offset)
        return std::nullopt;
    const auto first =
        std::ranges::partition_point(entries_, [&](const CachedBatches& e) { return e.next_offset <= from; });
    std::size_t size = first->batches.size();
    auto end = first + 1;
    // One that reaches past `up_to` would hide those before it from a reader who may not see it (I7).
    while (end != entries_.end() && end->next_offset <= up_to && size + end->batches.size() <= bytes_max) {
        size += end->batches.size();
        ++end;
    }
    if (end == first + 1) return *first;
    Bytes joined = Bytes::build(size, [&](std::span<std::byte> into) {
        for (auto entry = first; entry != end; ++entry) {
            std::memcpy(into.data(), entry->batches.data(), entry->batches.size());
            into = into.subspan(entry->batches.size());
        }
    });
    return CachedBatches{first->base_offset, (end - 1)->next_offset, std::move(joined)};
}

void TailCache::truncate(Offset end_offset) {
    while (!entries_.empty() && entries_.back().next_offset > end_offset) {
        size_bytes_ -= entries_.back().batches.size();
        entries_.pop_back();
    }
}

void TailCache::clear() {
    entries_.clear();
    size_bytes_ = 0;
}

}  // namespace tidelock::broker
