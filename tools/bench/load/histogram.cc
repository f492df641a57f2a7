#include "tools/bench/load/histogram.h"

#include <algorithm>
#include <bit>

namespace tidelock::load {

void Histogram::add(std::int64_t value_ns, std::uint64_t times) {
    value_ns = std::max<std::int64_t>(value_ns, 0);
    buckets_[bucket_of(static_cast<std::uint64_t>(value_ns))] += times;
    count_ += times;
    sum_ns_ += static_cast<std::uint64_t>(value_ns) * times;
    if (times > 0) max_ns_ = std::max(max_ns_, value_ns);
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ns_ += other.sum_ns_;
    max_ns_ = std::max(max_ns_, other.max_ns_);
}

std::int64_t Histogram::mean_ns() const {
    return count_ == 0 ? 0 : static_cast<std::int64_t>(sum_ns_ / count_);
}

std::int64_t Histogram::percentile_ns(Share share) const {
    if (count_ == 0) return 0;
    const auto scaled = count_ * static_cast<std::uint64_t>(share.part);
    const auto whole = static_cast<std::uint64_t>(share.whole);
    const auto wanted = std::clamp<std::uint64_t>((scaled + whole - 1) / whole, 1, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
        seen += buckets_[i];
        if (seen >= wanted) return std::min(static_cast<std::int64_t>(last_of(i)), max_ns_);
    }
    return max_ns_;
}

std::size_t Histogram::bucket_of(std::uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kSubBits - 1);
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(value >> shift);
}

std::uint64_t Histogram::last_of(std::size_t bucket) {
    constexpr std::size_t kSingles = std::size_t{2} << kSubBits;
    if (bucket < kSingles) return bucket;
    const std::size_t shift = (bucket >> kSubBits) - 1;
    const std::uint64_t first = static_cast<std::uint64_t>(bucket - (shift << kSubBits)) << shift;
    return first + ((std::uint64_t{1} << shift) - 1);
}

}  // namespace tidelock::load
