/// What a schedule's results count as faults: everything the world can deliver, and what only the layer above knows of.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidelock::scenarios {

class Cluster;

/// All names, sorted: the same for every schedule.
std::vector<std::string> counted_fault_names();
/// Delivered faults by name, every name listed, sorted.
std::vector<std::pair<std::string, std::int64_t>> fault_counts(Cluster& cluster);

}  // namespace tidelock::scenarios
