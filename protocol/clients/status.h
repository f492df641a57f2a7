/// The words in which a broker says what it is and what a confirmed record is worth (O1, G8). Apart from the messages
/// that carry them, so that who watches brokers needs no message.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidelock::clients {

enum class StatusRole : std::uint8_t { kFollower, kCandidate, kClaiming, kLeader, kCaretaker };
/// What a confirmed record (acks=all) is worth right now (G8).
enum class StatusDurability : std::uint8_t { kMinorityLoss, kSingleDisk, kReceivedOnly };

/// "leader", for traces.
std::string_view name_of(StatusRole role);
/// "survives a minority", for traces.
std::string_view name_of(StatusDurability durability);

}  // namespace tidelock::clients
