// JoinGroup: who comes, who comes again, and who takes the place of its former life.
#include <algorithm>

#include "protocol/clients/group_story.h"

namespace tidelock::clients {
namespace {

constexpr std::size_t kNameBytesMax = 1'024;  // of groups, members and instances
constexpr std::size_t kProtocolsMax = 64;     // of a member; what all have in common costs their square

std::vector<GroupProtocol> copies_of(const std::vector<GroupProtocol>& protocols) {
    std::vector<GroupProtocol> copies;  // of their own: what comes shares storage with a whole frame
    copies.reserve(protocols.size());
    for (const GroupProtocol& each : protocols) copies.push_back({each.name, Bytes::copy_of(each.metadata.span())});
    return copies;
}

/// What a member says of itself when it joins, for the first time or again.
void take_down(GroupMember& member, const ClientRef& client, const JoinGroupRequest& request,
               const GroupLimits& limits) {
    member.joining = client;
    member.client_id = request.client_id;
    member.client_host = request.client_host;
    member.session_timeout = request.session_timeout;
    member.rebalance_timeout = std::min(request.rebalance_timeout, limits.rebalance_timeout_max);
    member.may_skip_assignment = request.may_skip_assignment;
    if (member.protocols != request.protocols) member.protocols = copies_of(request.protocols);
}

std::size_t bytes_of(const JoinGroupRequest& request) {
    std::size_t bytes = request.client_id.size() + request.client_host.size() + request.protocol_type.size();
    for (const GroupProtocol& each : request.protocols) bytes += each.name.size() + each.metadata.size();
    return bytes;
}

ErrorCode check_request(const JoinGroupRequest& request, const GroupLimits& limits) {
    if (request.group.empty() || request.group.size() > kNameBytesMax) return ErrorCode::kInvalidGroup;
    if (request.member.size() > kNameBytesMax * 2 || request.instance.size() > kNameBytesMax ||
        request.rebalance_timeout < Duration(0))
        return ErrorCode::kInvalidRequest;
    if (request.session_timeout < limits.session_timeout_min || request.session_timeout > limits.session_timeout_max)
        return ErrorCode::kInvalidSessionTimeout;
    if (request.protocol_type.empty() || request.protocols.empty()) return ErrorCode::kInconsistentGroupProtocol;
    if (request.protocols.size() > kProtocolsMax) return ErrorCode::kInvalidRequest;
    if (bytes_of(request) > static_cast<std::size_t>(limits.member_bytes_max)) return ErrorCode::kMessageTooLarge;
    return ErrorCode::kNone;
}

}  // namespace

void GroupCoordinator::join(Instant now, const ClientRef& client, const JoinGroupRequest& request,
                            GroupEffects& effects) {
    JoinGroupAnswer refusal;
    refusal.member = request.member;
    refusal.error = check_request(request, limits_);
    const bool is_known = groups_.contains(request.group);
    if (refusal.error == ErrorCode::kNone && !is_known) {
        if (!request.member.empty()) refusal.error = ErrorCode::kUnknownMember;
        if (groups_.size() >= static_cast<std::size_t>(limits_.groups_max)) refusal.error = ErrorCode::kThrottled;
    }
    if (refusal.error != ErrorCode::kNone) return effects.answers.push_back({client, refusal});
    const auto at = groups_.try_emplace(request.group).first;
    Story story{*this, now, at->first, at->second, effects};
    if (!request.instance.empty())
        story.join_static(client, request);
    else
        story.join_new(client, request);
    story.note_deadlines();
    if (at->second.members.empty() && at->second.invited.empty()) groups_.erase(at);
}

void GroupCoordinator::Story::join_new(const ClientRef& client, const JoinGroupRequest& request) {
    const auto known = group.members.find(request.member);
    if (known != group.members.end()) {
        if (known->second.is_static()) return refuse_join(client, ErrorCode::kUnknownMember, request.member);
        return join_again(known->second, client, request);
    }
    const bool is_invited = group.invited.contains(request.member);
    if (!request.member.empty() && !is_invited) return refuse_join(client, ErrorCode::kUnknownMember, request.member);
    const std::size_t places = group.members.size() + group.invited.size();
    if (!is_invited && places >= static_cast<std::size_t>(coordinator.limits_.members_max))
        return refuse_join(client, ErrorCode::kGroupFull);
    if (is_invited) return add_member(request.member, client, request);
    std::string id = coordinator.new_member_id(request.client_id);
    if (!request.wants_member_first) return add_member(std::move(id), client, request);
    group.invited.emplace(id, now + request.session_timeout);
    refuse_join(client, ErrorCode::kMemberIdRequired, std::move(id));
}

void GroupCoordinator::Story::join_static(const ClientRef& client, const JoinGroupRequest& request) {
    const auto instance = group.instances.find(request.instance);
    if (instance != group.instances.end()) {
        GroupMember& member = group.members.at(instance->second);
        if (request.member.empty()) return replace_instance(member, client, request);
        if (request.member != member.id) return refuse_join(client, ErrorCode::kFencedInstance, request.member);
        return join_again(member, client, request);
    }
    if (!request.member.empty()) return refuse_join(client, ErrorCode::kUnknownMember, request.member);
    if (group.members.size() + group.invited.size() >= static_cast<std::size_t>(coordinator.limits_.members_max))
        return refuse_join(client, ErrorCode::kGroupFull);
    add_member(coordinator.new_member_id(request.instance), client, request);
}

void GroupCoordinator::Story::add_member(std::string id, const ClientRef& client, const JoinGroupRequest& request) {
    const bool fits = group.members.empty() || (request.protocol_type == group.protocol_type &&
                                                has_common_protocol(group, id, request.protocols));
    if (!fits) return refuse_join(client, ErrorCode::kInconsistentGroupProtocol, std::move(id));
    group.invited.erase(id);
    GroupMember member;
    member.id = id;
    member.instance = request.instance;
    take_down(member, client, request, coordinator.limits_);
    member.session_ends = now + request.session_timeout;
    if (group.members.empty()) {
        group.protocol_type = request.protocol_type;
        group.leader = id;
    }
    if (member.is_static()) group.instances[member.instance] = id;
    group.members.emplace(id, std::move(member));
    group.has_newcomers = true;
    tell(GroupChange::kMemberJoined, id);
    if (group.state == GroupState::kPreparingRebalance) return complete_join_if_ready();
    begin_rebalance();
}

/// A member comes with what it may say anew. Only news, or the leader's own wish, cost the others a new generation.
void GroupCoordinator::Story::join_again(GroupMember& member, const ClientRef& client,
                                         const JoinGroupRequest& request) {
    if (request.protocol_type != group.protocol_type || !has_common_protocol(group, member.id, request.protocols))
        return refuse_join(client, ErrorCode::kInconsistentGroupProtocol, member.id);
    const bool says_news = member.protocols != request.protocols;
    if (member.joining) refuse_join(*member.joining, ErrorCode::kRebalanceInProgress, member.id);
    if (member.syncing) refuse_sync(member, ErrorCode::kRebalanceInProgress);
    take_down(member, client, request, coordinator.limits_);
    switch (group.state) {
        case GroupState::kPreparingRebalance:
            return complete_join_if_ready();
        case GroupState::kCompletingRebalance:
            if (says_news) return begin_rebalance();
            return answer_join(member);  // its answer was lost
        case GroupState::kStable:
            if (says_news || member.id == group.leader) return begin_rebalance();
            return answer_join(member);
        case GroupState::kEmpty:
        case GroupState::kDead:
            break;
    }
    begin_rebalance();
}

/// KIP-345: a static member that has lost its id goes on in its former life's place; that life is fenced.
void GroupCoordinator::Story::replace_instance(GroupMember& old, const ClientRef& client,
                                               const JoinGroupRequest& request) {
    if (request.protocol_type != group.protocol_type || !has_common_protocol(group, old.id, request.protocols))
        return refuse_join(client, ErrorCode::kInconsistentGroupProtocol);
    if (old.joining) refuse_join(*old.joining, ErrorCode::kFencedInstance, old.id);
    if (old.syncing) refuse_sync(old, ErrorCode::kFencedInstance);
    tell(GroupChange::kMemberReplaced, old.id);
    GroupMember member = std::move(old);
    const std::string old_id = member.id;
    group.members.erase(old_id);
    member.id = coordinator.new_member_id(request.instance);
    take_down(member, client, request, coordinator.limits_);
    group.instances[member.instance] = member.id;
    if (group.leader == old_id) group.leader = member.id;
    GroupMember& kept = group.members.emplace(member.id, std::move(member)).first->second;
    if (group.state == GroupState::kPreparingRebalance) return complete_join_if_ready();
    if (group.state == GroupState::kStable && chosen_protocol(group) == group.protocol)
        return answer_join(kept, old_id);
    begin_rebalance();
}

void GroupCoordinator::Story::refuse_join(const ClientRef& client, ErrorCode error, std::string member) {
    JoinGroupAnswer refusal;
    refusal.error = error;
    refusal.member = std::move(member);
    effects.answers.push_back({client, std::move(refusal)});
}

/// Tells the member of the generation that there is. The leader learns of all members and assigns, unless it has come
/// in place of its own former life and the assignments stand (KIP-814); one that does not know of that is told that
/// its former life leads.
void GroupCoordinator::Story::answer_join(GroupMember& member, const std::string& in_place_of) {
    JoinGroupAnswer answer;
    answer.generation = group.generation;
    answer.protocol_type = group.protocol_type;
    answer.protocol = group.protocol;
    answer.member = member.id;
    answer.leader = group.leader;
    const bool leads = member.id == group.leader;
    answer.skip_assignment = leads && !in_place_of.empty() && member.may_skip_assignment;
    if (leads && !in_place_of.empty() && !member.may_skip_assignment) answer.leader = in_place_of;
    if (answer.leader == member.id)
        for (const auto& [id, each] : group.members)
            answer.members.push_back({id, each.instance, metadata_of(each, group.protocol)});
    effects.answers.push_back({*member.joining, std::move(answer)});
    member.joining.reset();
    member.was_in_generation = true;
    live_on(member);
}

}  // namespace tidelock::clients
