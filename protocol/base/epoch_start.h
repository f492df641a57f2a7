/// Entries of an epoch history, as storage keeps them and replicas compare them (L3, L5).
#pragma once

#include "protocol/base/ids.h"

namespace tidelock {

/// The first offset written under an epoch (inclusive). Both strictly rise along a history (L3).
struct EpochStart {
    LeaderEpoch leader_epoch;
    Offset start_offset;
    constexpr auto operator<=>(const EpochStart&) const = default;
};

/// Where an epoch ends in a log (exclusive).
struct EpochEnd {
    LeaderEpoch leader_epoch;
    Offset end_offset;
    constexpr auto operator<=>(const EpochEnd&) const = default;
};

}  // namespace tidelock
