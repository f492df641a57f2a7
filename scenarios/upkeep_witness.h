/// What a broker at rest still keeps though nothing needs it: files that no log, journal or state copy stands behind, a
/// Raft log that ought to be a snapshot, records past their retention (L7, R8). Kept for ever they fill any disk.
#pragma once

#include <string>
#include <vector>

#include "protocol/broker/broker.h"

namespace tidelock::scenarios {

/// Each in words; empty: nothing. `files` is the data directory's listing. Work that is under way may show here for a
/// moment, so it is asked until it is empty.
std::vector<std::string> overdue_upkeep(const broker::Broker& broker, const std::vector<std::string>& files);

}  // namespace tidelock::scenarios
