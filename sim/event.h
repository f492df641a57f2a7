/// One thing that will happen in a world at a virtual time.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/base/bytes.h"
#include "sim/ids.h"

namespace tidelock::sim {

enum class EventKind : std::uint8_t {
    kFiberStart,        // a: fiber
    kFiberWake,         // a: fiber, b: which sleep
    kHostReady,         // a slow host finished the arrival before
    kTimer,             // a: timer, b: its generation
    kPost,              // a: word
    kFrame,             // peer: sender, a: connection, b: tag bits; bytes: the frame
    kConnectionBroken,  // peer, a: connection
    kDiskSynced,        // a: operation, b: disk request
    kDiskRead,          // a: operation, b: disk request, and in its low 8 bits error; bytes: content
    kDiskWriteFailed,   // b: error; bytes: file name
    kCall,              // a: call
};
std::string_view text_of(EventKind kind);

/// `host` is whom it happens to (kNoHost for calls of the world itself); `life` the life it belongs to where that
/// matters.
struct Event {
    EventKind kind = EventKind::kCall;
    HostId host = kNoHost;
    HostId peer = kNoHost;
    std::uint32_t life = 0;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    Bytes bytes;
};

}  // namespace tidelock::sim
