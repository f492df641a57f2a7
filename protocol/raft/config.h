/// What a Raft replica is told once: who the members are, how long to wait, how much to send (R3, R5, R6, R8-R10).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/time.h"

namespace tidelock::raft {

using BrokerIds = std::vector<BrokerId>;

/// Fixed for a node's life. `members` holds `self`, is sorted and has no duplicates (R3).
struct Config {
    BrokerId self;
    BrokerIds members;
    Duration election_timeout_min = milliseconds(150);  // also how long a live leader protects from votes (R6)
    Duration election_timeout_max =
        milliseconds(300);  // also how long a leader lasts without its majority (R5) or its disk
    Duration heartbeat_interval = milliseconds(50);
    Duration disconnect_stand_max =
        milliseconds(50);                           // after its leader's connection broke a follower stands within this
    Duration caretaker_delay = milliseconds(300);   // how much later than others a caretaker stands (G9)
    Duration transfer_timeout = milliseconds(300);  // R10
    bool pre_vote = true;                           // R6; off: no pre-vote, and no protection from votes either (000)
    bool check_quorum = true;                       // R5
    std::uint32_t entries_per_append_max = 64;
    std::uint32_t append_window_max = 256;  // entries sent but not acknowledged, per follower
    std::uint32_t log_entries_max = 1'024;  // more ask for a snapshot (R8)
    std::uint32_t snapshot_chunk_bytes_max = 64 * 1'024;
    std::uint64_t snapshot_bytes_max = 64ULL * 1'024 * 1'024;
    bool operator==(const Config&) const = default;
};

/// What the owner lets this replica become (R7, G2, G9).
enum class Eligibility : std::uint8_t {
    kNever,          // does not stand
    kCaretakerOnly,  // stands late, and only to hand leadership to an eligible member
    kMayLead,
};

enum class TimerKind : std::uint8_t { kElection, kHeartbeat, kTransfer, kFormation };

}  // namespace tidelock::raft
