/// What must hold of one replica after every step, and between a replica before and after a step (V8).
#pragma once

#include <string>

#include "protocol/raft/raft.h"

namespace tidelock::raft {

/// Names the first broken invariant; empty when all hold. Linear in the number of members, not in the log.
std::string find_broken_invariant(const Node& node);
/// CHECKs find_broken_invariant; step() calls it last.
void check_invariants(const Node& node);

/// What one step may not do: lower the term, change a vote within a term, lower the commit index, change or lose a
/// committed entry. Names the first broken one; empty when all hold. `before` and `after` are one boot of one replica.
std::string find_broken_delta(const Node& before, const Node& after);

}  // namespace tidelock::raft
