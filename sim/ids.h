/// The names of things in a simulated world. A host here is a machine with one process on it: broker, client or nemesis
/// alike; the world never knows which.
#pragma once

#include <cstdint>

#include "protocol/base/time.h"

namespace tidelock::sim {

/// A host of the world; 0 to 9999, chosen by whoever adds the host.
using HostId = Tagged<struct HostIdTag, std::int32_t>;
/// True virtual time: nanoseconds since the world began. No host can read it; only the world and its observers do.
using TimeNs = Position<struct TrueTimeTag>;
/// A host's idea of the wall clock, nanoseconds since 1970. Jumps both ways under faults.
using WallTime = Position<struct WallTimeTag>;
/// A timer of one host: a small number (below kTimerIdMax) the host's own code chooses.
using TimerId = Tagged<struct TimerIdTag, std::uint32_t>;
/// Pairs a disk completion with its request; chosen by the host's own code.
using DiskOp = Tagged<struct DiskOpTag, std::uint64_t>;

inline constexpr HostId kNoHost{-1};
inline constexpr std::int32_t kHostIdMax = 9'999;
inline constexpr std::uint32_t kTimerIdMax = 65'536;

constexpr TimeNs operator+(TimeNs t, Duration d) {
    return TimeNs(t.value + d.value);
}
constexpr TimeNs operator-(TimeNs t, Duration d) {
    return TimeNs(t.value - d.value);
}
/// How long after `earlier` the moment `later` is.
constexpr Duration since(TimeNs earlier, TimeNs later) {
    return Duration(later.value - earlier.value);
}

}  // namespace tidelock::sim
