#include "sim/disk_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidelock::sim {

void DiskFile::write(std::uint64_t position, Bytes content, std::uint64_t order) {
    apply(cached_, position, content.span());
    subtract(unreadable_, ByteRange{position, position + content.size()});
    unsynced_.push_back(Unsynced{order, false, position, std::move(content)});
}

void DiskFile::truncate(std::uint64_t size, std::uint64_t order) {
    cached_.resize(size);
    subtract(unreadable_, ByteRange{size, UINT64_MAX});
    unsynced_.push_back(Unsynced{order, true, size, Bytes()});
}

void DiskFile::make_durable(std::uint64_t order) {
    const std::size_t count = count_up_to(order);
    for (std::size_t i = 0; i < count; ++i) land(unsynced_[i]);
    forget_first(count);
}

ByteRange DiskFile::first_unsynced_write(std::uint64_t order) const {
    for (const Unsynced& operation : unsynced_)
        if (operation.order <= order && !operation.is_truncation && !operation.content.empty())
            return operation.range();
    return {};
}

void DiskFile::make_durable_misdirected(std::uint64_t order, std::uint64_t instead) {
    const std::size_t count = count_up_to(order);
    bool was_misdirected = false;
    for (std::size_t i = 0; i < count; ++i) {
        const Unsynced& operation = unsynced_[i];
        const bool is_victim = !was_misdirected && !operation.is_truncation && !operation.content.empty();
        if (!is_victim) {
            land(operation);
            continue;
        }
        was_misdirected = true;
        // The file's length is the file system's affair and is right; only the bytes went astray.
        durable_.resize(std::max<std::size_t>(durable_.size(), operation.range().to));
        hurt_.push_back(operation.range());
        if (instead < durable_.size()) {
            const std::size_t strayed = std::min<std::size_t>(durable_.size() - instead, operation.content.size());
            apply(durable_, instead, operation.content.span().first(strayed));
            hurt_.push_back(ByteRange{instead, instead + strayed});
        }
    }
    forget_first(count);
    cache_differs_ = true;
}

std::vector<ByteRange> DiskFile::drop_dirty(std::uint64_t order) {
    const std::size_t count = count_up_to(order);
    std::vector<ByteRange> dropped;
    for (std::size_t i = 0; i < count; ++i) dropped.push_back(unsynced_[i].range());
    forget_first(count);
    cache_differs_ = cache_differs_ || count != 0;
    return dropped;
}

void DiskFile::evict_cache() {
    if (!std::exchange(cache_differs_, false)) return;
    cached_ = durable_;
    for (const Unsynced& operation : unsynced_) apply(cached_, operation);
}

PowerLossOutcome DiskFile::lose_power(const PowerLossModel& model, Rng& rng) {
    PowerLossOutcome outcome;
    if (model.may_reorder) {
        lose_subset(rng, outcome);
    } else if (model.may_lose) {
        lose_suffix(model.may_tear, rng, outcome);
    } else {
        make_durable(UINT64_MAX);
    }
    unsynced_.clear();
    cached_ = durable_;
    cache_differs_ = false;
    return outcome;
}

void DiskFile::lose_suffix(bool may_tear, Rng& rng, PowerLossOutcome& outcome) {
    const std::size_t survivors = rng.below(unsynced_.size() + 1);
    for (std::size_t i = 0; i < survivors; ++i) land(unsynced_[i]);
    for (std::size_t i = survivors; i < unsynced_.size(); ++i) {
        const Unsynced& operation = unsynced_[i];
        const bool is_torn = may_tear && i == survivors && !operation.is_truncation && operation.content.size() > 1;
        if (is_torn) tear(operation, rng);
        (is_torn ? outcome.torn : outcome.lost).push_back(operation.range());
    }
}

void DiskFile::tear(const Unsynced& operation, Rng& rng) {
    const std::uint64_t size = operation.content.size();
    const std::uint64_t kept = 1 + rng.below(size - 1);
    // The length reached the medium, the bytes behind the tear did not: they read as zeros.
    const bool rest_is_zeros = rng.chance(kMillion / 2);
    land(operation.position, operation.content.span().first(kept));
    if (rest_is_zeros) durable_.resize(std::max<std::size_t>(durable_.size(), operation.position + size));
}

void DiskFile::lose_subset(Rng& rng, PowerLossOutcome& outcome) {
    std::vector<ByteRange> lost_so_far;
    for (const Unsynced& operation : unsynced_) {
        SectorsSurvived survived{true, true};
        const bool is_split = !operation.is_truncation && operation.content.size() > kSectorBytes;
        if (rng.chance(kMillion / 2)) {
            land(operation);
        } else {
            survived = is_split ? apply_some_sectors(operation, rng) : SectorsSurvived{false, false};
        }
        if (survived.any) {
            outcome.reordered.insert(outcome.reordered.end(), lost_so_far.begin(), lost_so_far.end());
            lost_so_far.clear();
        }
        if (!survived.all) lost_so_far.push_back(operation.range());
    }
    outcome.lost = std::move(lost_so_far);
}

DiskFile::SectorsSurvived DiskFile::apply_some_sectors(const Unsynced& operation, Rng& rng) {
    const ByteRange range = operation.range();
    SectorsSurvived survived;
    for (std::uint64_t from = range.from; from < range.to;) {
        const std::uint64_t to = std::min(range.to, (from / kSectorBytes + 1) * kSectorBytes);
        const bool survives = rng.chance(kMillion / 2);
        if (survives) land(from, operation.content.span().subspan(from - range.from, to - from));
        survived.any = survived.any || survives;
        survived.all = survived.all && survives;
        from = to;
    }
    return survived;
}

void DiskFile::flip_bit(std::uint64_t position, std::uint32_t bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    durable_[position] ^= mask;
    const ByteRange hit{position, position + 1};
    hurt_.push_back(hit);
    const bool is_dirty = std::any_of(unsynced_.begin(), unsynced_.end(), [hit](const Unsynced& operation) {
        return operation.is_truncation ? operation.position <= hit.from : operation.range().overlaps(hit);
    });
    if (!is_dirty && position < cached_.size()) cached_[position] ^= mask;
}

bool DiskFile::is_readable(ByteRange range) const {
    return std::none_of(unreadable_.begin(), unreadable_.end(),
                        [range](const ByteRange& bad) { return bad.overlaps(range); });
}

void DiskFile::apply(std::vector<std::byte>& to, std::uint64_t position, std::span<const std::byte> content) {
    if (content.empty()) return;
    if (position == to.size()) {
        to.insert(to.end(), content.begin(), content.end());
        return;
    }
    if (to.size() < position + content.size()) to.resize(position + content.size());
    std::memcpy(to.data() + position, content.data(), content.size());
}

void DiskFile::apply(std::vector<std::byte>& to, const Unsynced& operation) {
    if (operation.is_truncation) {
        to.resize(operation.position);
    } else {
        apply(to, operation.position, operation.content.span());
    }
}

void DiskFile::land(std::uint64_t position, std::span<const std::byte> content) {
    apply(durable_, position, content);
    subtract(hurt_, ByteRange{position, position + content.size()});
}

void DiskFile::land(const Unsynced& operation) {
    if (!operation.is_truncation) return land(operation.position, operation.content.span());
    apply(durable_, operation);
    subtract(hurt_, ByteRange{operation.position, UINT64_MAX});
}

std::size_t DiskFile::count_up_to(std::uint64_t order) const {
    const auto beyond = std::partition_point(unsynced_.begin(), unsynced_.end(),
                                             [order](const Unsynced& operation) { return operation.order <= order; });
    return static_cast<std::size_t>(beyond - unsynced_.begin());
}

void DiskFile::forget_first(std::size_t count) {
    unsynced_.erase(unsynced_.begin(), unsynced_.begin() + static_cast<std::ptrdiff_t>(count));
}

void DiskFile::subtract(std::vector<ByteRange>& from, ByteRange overwritten) {
    if (from.empty()) return;
    std::vector<ByteRange> left;
    for (const ByteRange& each : from) {
        if (!each.overlaps(overwritten)) {
            left.push_back(each);
            continue;
        }
        if (each.from < overwritten.from) left.push_back(ByteRange{each.from, overwritten.from});
        if (overwritten.to < each.to) left.push_back(ByteRange{overwritten.to, each.to});
    }
    from = std::move(left);
}

}  // namespace tidelock::sim
