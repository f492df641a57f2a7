/// Holds what a Raft leader counts against what its follower has, which neither of them can see.
#pragma once

#include <optional>
#include <string>

#include "protocol/raft/raft.h"

namespace tidelock::scenarios {

/// What `leader` counts `follower` for and that one does not hold, in words; empty: nothing, or `follower` is in a
/// later term, or another life than the one counted. In one term of its leader a follower never gives up what it
/// answered for, and what it answered in an earlier term it may have given up since: a follower that has not reached
/// the leader's term cannot be counted for anything (R2, R9, R11).
std::optional<std::string> unheld_match(const raft::Node& leader, const raft::Node& follower);

}  // namespace tidelock::scenarios
