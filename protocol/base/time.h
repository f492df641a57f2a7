/// Time as the core sees it: it arrives inside events, as the host's monotonic clock in nanoseconds.
#pragma once

#include "protocol/base/tagged.h"

namespace tidelock {

/// Nanoseconds.
using Duration = Tagged<struct DurationTag, std::int64_t>;
/// A moment on one host's monotonic clock, in nanoseconds since that host's boot. Never compared across hosts.
using Instant = Position<struct InstantTag>;

constexpr Duration nanoseconds(std::int64_t n) {
    return Duration(n);
}
constexpr Duration microseconds(std::int64_t n) {
    return Duration(n * 1'000);
}
constexpr Duration milliseconds(std::int64_t n) {
    return Duration(n * 1'000'000);
}
constexpr Duration seconds(std::int64_t n) {
    return Duration(n * 1'000'000'000);
}

constexpr Duration operator+(Duration a, Duration b) {
    return Duration(a.value + b.value);
}
constexpr Duration operator-(Duration a, Duration b) {
    return Duration(a.value - b.value);
}
constexpr Duration operator*(Duration d, std::int64_t n) {
    return Duration(d.value * n);
}
constexpr Duration operator/(Duration d, std::int64_t n) {
    return Duration(d.value / n);
}
constexpr Instant operator+(Instant i, Duration d) {
    return Instant(i.value + d.value);
}
constexpr Instant operator-(Instant i, Duration d) {
    return Instant(i.value - d.value);
}
/// How long after `earlier` the moment `later` is.
constexpr Duration since(Instant earlier, Instant later) {
    return Duration(later.value - earlier.value);
}

}  // namespace tidelock
