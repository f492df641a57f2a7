#include "protocol/clients/status.h"

namespace tidelock::clients {

std::string_view name_of(StatusRole role) {
    switch (role) {
        case StatusRole::kFollower:
            return "follower";
        case StatusRole::kCandidate:
            return "candidate";
        case StatusRole::kClaiming:
            return "claiming";
        case StatusRole::kLeader:
            return "leader";
        case StatusRole::kCaretaker:
            return "caretaker";
    }
    return "unknown";
}

std::string_view name_of(StatusDurability durability) {
    switch (durability) {
        case StatusDurability::kMinorityLoss:
            return "survives a minority";
        case StatusDurability::kSingleDisk:
            return "one disk";
        case StatusDurability::kReceivedOnly:
            return "received only";
    }
    return "unknown";
}

}  // namespace tidelock::clients
