/// How long things took, in buckets that grow with what they hold: every value is known to one part in 128, whatever
/// its size, in a table of fixed size (as HdrHistogram does it). Integers throughout.
#pragma once

#include <array>
#include <cstdint>

namespace tidelock::load {

/// A share of all values: 999/1000 is the 99.9th percentile.
struct Share {
    std::int64_t part = 0;
    std::int64_t whole = 1;
};

class Histogram {
  public:
    /// Counts a value of nanoseconds; what is negative counts as 0.
    void add(std::int64_t value_ns) { add(value_ns, 1); }
    void add(std::int64_t value_ns, std::uint64_t times);
    void merge(const Histogram& other);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// Exact. 0 when nothing was counted.
    [[nodiscard]] std::int64_t max_ns() const { return max_ns_; }
    [[nodiscard]] std::int64_t mean_ns() const;
    /// The smallest value that at least this share of all values does not exceed, rounded up to the end of its bucket
    /// and never above the largest value; 0 when nothing was counted. The share lies in (0, 1].
    [[nodiscard]] std::int64_t percentile_ns(Share share) const;

  private:
    // Values below 256 have a bucket each; above, each doubling is cut into 128.
    static constexpr int kSubBits = 7;
    static constexpr std::size_t kBuckets = std::size_t{64 - kSubBits + 1} << kSubBits;

    static std::size_t bucket_of(std::uint64_t value);
    static std::uint64_t last_of(std::size_t bucket);

    std::array<std::uint64_t, kBuckets> buckets_{};
    std::uint64_t count_ = 0;
    std::int64_t max_ns_ = 0;
    std::uint64_t sum_ns_ = 0;
};

}  // namespace tidelock::load
