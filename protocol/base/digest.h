/// A rolling 64-bit hash of typed values, the same on every compiler: what determinism is judged by (V17).
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/base/tagged.h"

namespace tidelock {

/// Feed values field by field, never structs as bytes (padding shows) and never addresses.
class Digest {
  public:
    constexpr Digest() = default;
    constexpr explicit Digest(std::uint64_t seed) : state_(seed) {}

    template <std::integral Int>
    constexpr void add(Int number) {
        mix(static_cast<std::uint64_t>(number));
    }
    template <typename Tag, typename Rep>
    constexpr void add(const Tagged<Tag, Rep>& tagged) {
        mix(static_cast<std::uint64_t>(tagged.value));
    }
    void add(std::span<const std::byte> bytes);
    void add(std::string_view text);

    [[nodiscard]] constexpr std::uint64_t value() const { return state_; }
    bool operator==(const Digest&) const = default;

  private:
    constexpr void mix(std::uint64_t number) {
        std::uint64_t x = (state_ ^ number) * 0x9E37'79B9'7F4A'7C15ULL;
        x ^= x >> 32;
        x *= 0xD6E8'FEB8'6659'FD93ULL;
        state_ = x ^ (x >> 29);
    }

    std::uint64_t state_ = 0x7469'6465'6C6F'636BULL;
};

/// 64-bit hash of some bytes, for content comparison (not for adversaries).
std::uint64_t hash_bytes(std::span<const std::byte> bytes);

}  // namespace tidelock
