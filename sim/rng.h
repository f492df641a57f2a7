/// Chance, named. Every stream of random numbers is a function of (seed, purpose, entity), so that adding a draw in one
/// place shifts no other stream. Integers only: the same numbers on every compiler.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "protocol/base/time.h"

namespace tidelock::sim {

/// Chances are parts of this.
inline constexpr std::uint32_t kMillion = 1'000'000;

/// One step of splitmix64: a bijection that spreads every input bit over the output.
constexpr std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9E37'79B9'7F4A'7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return x ^ (x >> 31);
}

/// FNV-1a of a purpose's name.
constexpr std::uint64_t purpose_hash(std::string_view purpose) {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;
    for (const char letter : purpose) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x0000'0100'0000'01B3ULL;
    return hash;
}

/// The seed of the stream for `purpose` and `entity` under `seed`.
constexpr std::uint64_t stream_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t entity) {
    return scrambled(scrambled(seed ^ purpose_hash(purpose)) + entity);
}

/// A draw without a stream: the n-th number that belongs to `key`. Turning one such draw off moves no other.
constexpr std::uint64_t numbered_draw(std::uint64_t key, std::uint64_t number) {
    return scrambled(key ^ scrambled(number));
}

/// Maps a uniform 64-bit number to [0, bound); `bound` > 0. The bias is below bound / 2^64.
constexpr std::uint64_t scaled_below(std::uint64_t number, std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(number) * bound) >> 64);
}

/// Maps a uniform 64-bit number to an exponentially distributed one of about the given mean (piecewise linear between
/// powers of two, at most 45 times the mean).
std::uint64_t scaled_exponential(std::uint64_t number, std::uint64_t mean);

/// A stream of random numbers (xoshiro256**). A value: copying it forks the stream.
class Rng {
  public:
    explicit Rng(std::uint64_t seed);
    Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t entity) : Rng(stream_seed(seed, purpose, entity)) {}

    /// 64 uniform bits.
    std::uint64_t next() {
        const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotated(state_[3], 45);
        return result;
    }
    /// Uniform in [0, bound); `bound` > 0.
    std::uint64_t below(std::uint64_t bound) { return scaled_below(next(), bound); }
    /// Uniform in [low, high], both inclusive; `low` <= `high`.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
        const std::uint64_t distance = span == 0 ? next() : below(span);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + distance);
    }
    /// Uniform in [low, high], both inclusive.
    Duration between(Duration low, Duration high) { return Duration(between(low.value, high.value)); }
    /// True `parts_per_million` times in a million.
    bool chance(std::uint32_t parts_per_million) { return below(kMillion) < parts_per_million; }
    /// Exponentially distributed with about this mean.
    std::uint64_t exponential(std::uint64_t mean) { return scaled_exponential(next(), mean); }

    bool operator==(const Rng&) const = default;

  private:
    static constexpr std::uint64_t rotated(std::uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

    std::array<std::uint64_t, 4> state_;
};

}  // namespace tidelock::sim
