#include "sim/partitions.h"

#include <algorithm>

namespace tidelock::sim {
namespace {

LinkSet in_order(LinkSet links) {
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

}  // namespace

LinkSet two_sided(std::span<const HostId> one_side, std::span<const HostId> other_side) {
    LinkSet links = one_way(one_side, other_side);
    const LinkSet back = one_way(other_side, one_side);
    links.insert(links.end(), back.begin(), back.end());
    return in_order(std::move(links));
}

LinkSet one_way(std::span<const HostId> senders, std::span<const HostId> receivers) {
    LinkSet links;
    for (const HostId sender : senders)
        for (const HostId receiver : receivers)
            if (sender != receiver) links.push_back(DirectedLink{sender, receiver});
    return in_order(std::move(links));
}

LinkSet bridged(std::span<const HostId> one_side, std::span<const HostId> other_side) {
    return two_sided(one_side, other_side);
}

LinkSet ring(std::span<const HostId> hosts) {
    LinkSet links;
    const std::size_t count = hosts.size();
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t distance = 2; distance + 2 <= count; ++distance)
            links.push_back(DirectedLink{hosts[i], hosts[(i + distance) % count]});
    return in_order(std::move(links));
}

LinkSet isolated(HostId host, std::span<const HostId> others) {
    return two_sided(std::span<const HostId>(&host, 1), others);
}

}  // namespace tidelock::sim
