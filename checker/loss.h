/// When a copy that should hold a stable prefix does not: what is missing first, and whether the faults account for it.
#pragma once

#include <optional>
#include <string>

#include "checker/cluster_view.h"

namespace tidelock::checker {

struct Loss {
    Offset first_missing;
    bool is_excused = false;  // more copies of it were destroyed by disk faults than its policy survives (G8)
    std::string explanation;  // what the copy has instead, where copies are, what faults took
};

/// What `broker`'s copy lacks of `prefix` below `end`, if anything. Records below a legally moved log start are not
/// missed. Logarithmic; the explanation is only built when there is a loss.
std::optional<Loss> find_loss(const ClusterView& view, const BrokerView& broker, PartitionNumber number,
                              const StablePrefix& prefix, Offset end);

}  // namespace tidelock::checker
