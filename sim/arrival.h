/// What the world delivers to a host: the one list of things a host's story can wake up for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/base/bytes.h"
#include "sim/ids.h"

namespace tidelock::sim {

/// What a frame is, for faults aimed by kind: the sender says so, the world never looks inside.
struct FrameTag {
    std::uint8_t kind = 0;     // below 64; the sender's own numbering
    bool is_response = false;  // an answer to a request that was carried out (fault: lost response)
    bool operator==(const FrameTag&) const = default;
};
inline constexpr std::size_t kFrameKindCount = 64;

/// A whole frame came in. `connection` is the generation it came over: frames of one generation arrive in order.
struct FrameArrived {
    HostId from;
    std::uint32_t connection = 0;
    FrameTag tag;
    Bytes frame;
    bool operator==(const FrameArrived&) const = default;
};
/// The connection to `peer` of that generation is gone; sending again opens the next one.
struct ConnectionBroken {
    HostId peer;
    std::uint32_t connection = 0;
    bool operator==(const ConnectionBroken&) const = default;
};
/// A timer set by this life of the host ran out (a cancelled or reset one never arrives).
struct TimerFired {
    TimerId timer;
    std::uint64_t setting = 0;  // which `set_timer` call of the host this belongs to
    bool operator==(const TimerFired&) const = default;
};

/// Why a disk operation failed.
enum class DiskError : std::uint8_t { kNone, kNoSuchFile, kReadFailed, kSyncFailed, kNoSpace, kWriteFailed };
std::string_view text_of(DiskError error);

/// A sync or a directory sync finished. kNone: everything written to the file before the sync was asked is durable.
struct DiskSynced {
    DiskOp op;
    DiskError error = DiskError::kNone;
    bool operator==(const DiskSynced&) const = default;
};
/// A read finished. `content` may be shorter than asked (end of file), and empty with an error.
struct DiskRead {
    DiskOp op;
    DiskError error = DiskError::kNone;
    Bytes content;
    bool operator==(const DiskRead&) const = default;
};
/// A write failed; a prefix of it may be in the file. Writes that work are not announced.
struct DiskWriteFailed {
    std::string file;
    DiskError error = DiskError::kNoSpace;
    bool operator==(const DiskWriteFailed&) const = default;
};
/// Another story posted this word to the host (World::post).
struct Woken {
    std::uint64_t word = 0;
    bool operator==(const Woken&) const = default;
};
/// `await_arrival_until` reached its deadline with nothing else to deliver.
struct DeadlinePassed {
    bool operator==(const DeadlinePassed&) const = default;
};

using Arrival = std::variant<FrameArrived, ConnectionBroken, TimerFired, DiskSynced, DiskRead, DiskWriteFailed, Woken,
                             DeadlinePassed>;

}  // namespace tidelock::sim
