/// Strong types for ids and offsets, so that a term can never be passed as an epoch (STYLE 2).
#pragma once

#include <compare>
#include <cstdint>

namespace tidelock {

/// A number with a meaning. Ordered, hash it with Digest; reads its number by `.value`.
template <typename Tag, typename Rep>
struct Tagged {
    Rep value{};
    using rep = Rep;

    constexpr Tagged() = default;
    constexpr explicit Tagged(Rep v) : value(v) {}
    constexpr auto operator<=>(const Tagged&) const = default;
};

/// A tagged number that counts along a line: adding a distance gives a later point, subtracting two points a distance.
template <typename Tag>
struct Position : Tagged<Tag, std::int64_t> {
    using Tagged<Tag, std::int64_t>::Tagged;
    constexpr auto operator<=>(const Position&) const = default;

    constexpr Position& operator+=(std::int64_t distance) {
        this->value += distance;
        return *this;
    }
    friend constexpr Position operator+(Position p, std::int64_t distance) { return Position(p.value + distance); }
    friend constexpr Position operator-(Position p, std::int64_t distance) { return Position(p.value - distance); }
    friend constexpr std::int64_t operator-(Position a, Position b) { return a.value - b.value; }
};

}  // namespace tidelock
