/// Latencies as integers: how long something takes, drawn from a named shape.
#pragma once

#include <cstdint>

#include "sim/rng.h"

namespace tidelock::sim {

enum class Shape : std::uint8_t { kFixed, kUniform, kLongTail };

/// A distribution of durations. A value; draws nothing by itself.
struct Distribution {
    Shape shape = Shape::kFixed;
    Duration low;   // smallest possible value
    Duration high;  // largest possible value, inclusive
    Duration mean;  // kLongTail: about where the body of the distribution ends up; unused otherwise

    static constexpr Distribution fixed(Duration d) { return {Shape::kFixed, d, d, d}; }
    /// Uniform in [low, high].
    static constexpr Distribution uniform(Duration low, Duration high) { return {Shape::kUniform, low, high, low}; }
    /// `low` plus an exponential excess of about `mean - low`; two draws in a hundred are stretched by 4, 16, 64 ...;
    /// never above `high`.
    static constexpr Distribution long_tail(Duration low, Duration mean, Duration high) {
        return {Shape::kLongTail, low, high, mean};
    }

    /// The value that belongs to this uniform 64-bit number.
    [[nodiscard]] Duration at(std::uint64_t number) const { return shape == Shape::kFixed ? low : varied_at(number); }
    /// Takes exactly one number from the stream, whatever the shape, so that changing a shape shifts nothing.
    Duration draw(Rng& rng) const { return at(rng.next()); }

    bool operator==(const Distribution&) const = default;

    /// `at` for the shapes that vary.
    [[nodiscard]] Duration varied_at(std::uint64_t number) const;
};

}  // namespace tidelock::sim
