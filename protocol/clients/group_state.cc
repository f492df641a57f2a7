#include "protocol/clients/group_state.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace tidelock::clients {
namespace {

bool understands(const std::vector<GroupProtocol>& protocols, const std::string& name) {
    return std::any_of(protocols.begin(), protocols.end(),
                       [&](const GroupProtocol& each) { return each.name == name; });
}

/// What every member understands. Each member's list is gone through once: there may be a thousand of them.
std::set<std::string_view> common_protocols(const Group& group) {
    std::map<std::string_view, std::size_t> understood_by;
    for (const auto& [id, member] : group.members) {
        std::set<std::string_view> own;
        for (const GroupProtocol& each : member.protocols)
            if (own.insert(each.name).second) ++understood_by[each.name];
    }
    std::set<std::string_view> common;
    for (const auto& [name, count] : understood_by)
        if (count == group.members.size()) common.insert(name);
    return common;
}

}  // namespace

std::string_view to_text(GroupState state) {
    switch (state) {
        case GroupState::kEmpty:
            return "Empty";
        case GroupState::kPreparingRebalance:
            return "PreparingRebalance";
        case GroupState::kCompletingRebalance:
            return "CompletingRebalance";
        case GroupState::kStable:
            return "Stable";
        case GroupState::kDead:
            return "Dead";
    }
    return "Dead";
}

std::string chosen_protocol(const Group& group) {
    const auto leader = group.members.find(group.leader);
    if (leader == group.members.end()) return {};
    const std::set<std::string_view> common = common_protocols(group);
    std::map<std::string_view, std::size_t> votes;
    for (const auto& [id, member] : group.members) {
        const auto first = std::find_if(member.protocols.begin(), member.protocols.end(),
                                        [&](const GroupProtocol& each) { return common.contains(each.name); });
        if (first != member.protocols.end()) ++votes[first->name];
    }
    std::string best;
    std::size_t best_votes = 0;
    for (const GroupProtocol& candidate : leader->second.protocols) {
        if (!common.contains(candidate.name)) continue;
        const std::size_t given = votes[candidate.name];
        if (best.empty() || given > best_votes) {
            best = candidate.name;
            best_votes = given;
        }
    }
    return best;
}

bool has_common_protocol(const Group& group, const std::string& joining_member,
                         const std::vector<GroupProtocol>& protocols) {
    return std::any_of(protocols.begin(), protocols.end(), [&](const GroupProtocol& candidate) {
        return std::all_of(group.members.begin(), group.members.end(), [&](const auto& each) {
            return each.first == joining_member || understands(each.second.protocols, candidate.name);
        });
    });
}

Bytes metadata_of(const GroupMember& member, const std::string& protocol) {
    for (const GroupProtocol& each : member.protocols)
        if (each.name == protocol) return each.metadata;
    return {};
}

bool has_everybody_joined(const Group& group) {
    return group.invited.empty() && std::all_of(group.members.begin(), group.members.end(),
                                                [](const auto& each) { return each.second.joining.has_value(); });
}

Duration rebalance_timeout_of(const Group& group) {
    Duration longest;
    for (const auto& [id, member] : group.members) longest = std::max(longest, member.rebalance_timeout);
    return longest;
}

}  // namespace tidelock::clients
