/// Holds what a leader counts as a follower's position against what that follower has, which neither of them can see.
#pragma once

#include <string>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/broker/broker.h"

namespace tidelock::scenarios {

struct UnheldPosition {
    TopicPartition partition;
    std::string what;  // in words
};

/// Positions that `leader` counts for the very life of data that `follower` is in, and that its copies do not reach.
/// Nothing where the follower has heard of a newer term, whose leader may have had it cut, or gives that life up; nor
/// of partitions that it has dropped, nor below the leader's log start, where nothing is to be held. For groups that
/// count durable positions: those are never lost in one epoch and life but to a disk fault (L2, I1, I10).
std::vector<UnheldPosition> unheld_positions(const broker::Broker& leader, const broker::Broker& follower);

}  // namespace tidelock::scenarios
