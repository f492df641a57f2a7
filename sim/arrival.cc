#include "sim/arrival.h"

namespace tidelock::sim {

std::string_view text_of(DiskError error) {
    switch (error) {
        case DiskError::kNone:
            return "none";
        case DiskError::kNoSuchFile:
            return "no_such_file";
        case DiskError::kReadFailed:
            return "read_failed";
        case DiskError::kSyncFailed:
            return "sync_failed";
        case DiskError::kNoSpace:
            return "no_space";
        case DiskError::kWriteFailed:
            return "write_failed";
    }
    return "?";
}

}  // namespace tidelock::sim
