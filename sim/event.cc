#include "sim/event.h"

namespace tidelock::sim {

std::string_view text_of(EventKind kind) {
    switch (kind) {
        case EventKind::kFiberStart:
            return "fiber_start";
        case EventKind::kFiberWake:
            return "fiber_wake";
        case EventKind::kHostReady:
            return "host_ready";
        case EventKind::kTimer:
            return "timer";
        case EventKind::kPost:
            return "post";
        case EventKind::kFrame:
            return "frame";
        case EventKind::kConnectionBroken:
            return "connection_broken";
        case EventKind::kDiskSynced:
            return "disk_synced";
        case EventKind::kDiskRead:
            return "disk_read";
        case EventKind::kDiskWriteFailed:
            return "disk_write_failed";
        case EventKind::kCall:
            return "call";
    }
    return "?";
}

}  // namespace tidelock::sim
