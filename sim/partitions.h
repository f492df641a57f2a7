/// Patterns of cut links. The world knows one primitive, a directed link that is cut; every partition is a set of them.
#pragma once

#include <span>
#include <vector>

#include "sim/ids.h"

namespace tidelock::sim {

/// The way from one host to another.
struct DirectedLink {
    HostId from;
    HostId to;
    constexpr auto operator<=>(const DirectedLink&) const = default;
};
/// Sorted, no duplicates.
using LinkSet = std::vector<DirectedLink>;

/// Both ways between every host of one side and every host of the other.
LinkSet two_sided(std::span<const HostId> one_side, std::span<const HostId> other_side);
/// Everything from `senders` to `receivers`; the way back stays open.
LinkSet one_way(std::span<const HostId> senders, std::span<const HostId> receivers);
/// Two sides that do not reach each other, while `bridge` hosts (in neither list) reach both: the same links as
/// two_sided.
LinkSet bridged(std::span<const HostId> one_side, std::span<const HostId> other_side);
/// Each host reaches only its two neighbours in the given order. Nothing is cut with three hosts or fewer.
LinkSet ring(std::span<const HostId> hosts);
/// Both ways between one host and all the others.
LinkSet isolated(HostId host, std::span<const HostId> others);

}  // namespace tidelock::sim
