#include "protocol/clients/groups.h"

#include <fmt/format.h>

#include "protocol/base/check.h"
#include "protocol/base/digest.h"
#include "protocol/clients/group_story.h"

namespace tidelock::clients {
namespace {

constexpr std::size_t kClientIdBytesMax = 255;  // of it, in a member's id

}  // namespace

std::string_view to_text(GroupChange change) {
    switch (change) {
        case GroupChange::kMemberJoined:
            return "member-joined";
        case GroupChange::kMemberLeft:
            return "member-left";
        case GroupChange::kMemberSilent:
            return "member-silent";
        case GroupChange::kMemberTooLate:
            return "member-too-late";
        case GroupChange::kMemberReplaced:
            return "member-replaced";
        case GroupChange::kRebalance:
            return "rebalance";
        case GroupChange::kGeneration:
            return "generation";
        case GroupChange::kAssigned:
            return "assigned";
        case GroupChange::kEmpty:
            return "empty";
    }
    return "?";
}

void GroupCoordinator::sync(Instant now, const ClientRef& client, const SyncGroupRequest& request,
                            GroupEffects& effects) {
    SyncGroupAnswer refusal;
    const auto at = groups_.find(request.group);
    if (at == groups_.end()) {
        refusal.error = ErrorCode::kUnknownMember;
        return effects.answers.push_back({client, refusal});
    }
    Group& group = at->second;
    Story story{*this, now, at->first, group, effects};
    refusal.error = story.check_member(request.member, request.instance);
    const auto differs = [](const std::string& said, const std::string& real) { return !said.empty() && said != real; };
    if (refusal.error == ErrorCode::kNone) {
        if (request.generation != group.generation)
            refusal.error = ErrorCode::kIllegalGeneration;
        else if (group.state == GroupState::kPreparingRebalance)
            refusal.error = ErrorCode::kRebalanceInProgress;
        else if (differs(request.protocol_type, group.protocol_type) || differs(request.protocol, group.protocol))
            refusal.error = ErrorCode::kInconsistentGroupProtocol;
    }
    for (const GroupAssignment& each : request.assignments)
        if (each.assignment.size() > static_cast<std::size_t>(limits_.member_bytes_max))
            refusal.error = ErrorCode::kMessageTooLarge;
    if (refusal.error != ErrorCode::kNone) return effects.answers.push_back({client, refusal});

    GroupMember& member = group.members.at(request.member);
    if (member.syncing) story.refuse_sync(member, ErrorCode::kRebalanceInProgress);
    member.syncing = client;
    member.has_synced = true;
    story.live_on(member);
    if (group.state == GroupState::kStable) return story.answer_sync(member);
    if (member.id != group.leader) return;
    for (const GroupAssignment& each : request.assignments) {
        const auto assigned = group.members.find(each.member);
        if (assigned != group.members.end()) assigned->second.assignment = Bytes::copy_of(each.assignment.span());
    }
    group.state = GroupState::kStable;
    story.tell(GroupChange::kAssigned);
    for (auto& [id, each] : group.members)
        if (each.syncing) story.answer_sync(each);
    story.note_deadlines();
}

void GroupCoordinator::leave(Instant now, const ClientRef& client, const LeaveGroupRequest& request,
                             GroupEffects& effects) {
    LeaveGroupAnswer answer;
    const auto at = groups_.find(request.group);
    bool has_gone = false;
    bool was_invited = false;
    for (const LeavingMember& each : request.members) {
        ErrorCode& error = answer.members.emplace_back(ErrorCode::kUnknownMember);
        if (at == groups_.end()) continue;
        Story story{*this, now, at->first, at->second, effects};
        std::string id = each.member;
        const auto instance = at->second.instances.find(each.instance);
        if (id.empty() && instance != at->second.instances.end()) id = instance->second;
        if (at->second.invited.erase(id) > 0) {
            error = ErrorCode::kNone;
            was_invited = true;
            continue;
        }
        error = story.check_member(id, each.instance);
        if (error != ErrorCode::kNone) continue;
        GroupMember& member = at->second.members.at(id);
        if (member.joining) story.refuse_join(*member.joining, ErrorCode::kUnknownMember, id);
        if (member.syncing) story.refuse_sync(member, ErrorCode::kUnknownMember);
        story.remove_member(id, GroupChange::kMemberLeft);
        has_gone = true;
    }
    effects.answers.push_back({client, std::move(answer)});
    if (!has_gone && !was_invited) return;
    Story story{*this, now, at->first, at->second, effects};
    // One that had not joined takes nothing with it: the others go on, or need not wait for it any more.
    if (has_gone)
        story.go_on_without();
    else
        story.complete_join_if_ready();
    story.note_deadlines();
    if (at->second.members.empty() && at->second.invited.empty()) groups_.erase(at);
}

ErrorCode GroupCoordinator::heartbeat(Instant now, const HeartbeatRequest& request) {
    const auto at = groups_.find(request.group);
    if (at == groups_.end()) return ErrorCode::kUnknownMember;
    GroupEffects none;
    const Story story{*this, now, at->first, at->second, none};
    const ErrorCode error = story.check_member(request.member, request.instance);
    if (error != ErrorCode::kNone) return error;
    if (request.generation != at->second.generation) return ErrorCode::kIllegalGeneration;
    story.live_on(at->second.members.at(request.member));
    return at->second.state == GroupState::kPreparingRebalance ? ErrorCode::kRebalanceInProgress : ErrorCode::kNone;
}

/// While members are asked to come again their generation still stands, so that they can commit what they have read
/// before they join; between a generation and its assignments nobody has anything to commit.
ErrorCode GroupCoordinator::admit_commit(Instant now, const HeartbeatRequest& committer) {
    const auto at = groups_.find(committer.group);
    // Whoever assigns to itself commits in no generation; it may have a name that it never joined under.
    if (at == groups_.end() || at->second.members.empty())
        return committer.generation < 0 ? ErrorCode::kNone : ErrorCode::kIllegalGeneration;
    GroupEffects none;
    const Story story{*this, now, at->first, at->second, none};
    const ErrorCode error = story.check_member(committer.member, committer.instance);
    if (error != ErrorCode::kNone) return error;
    if (committer.generation != at->second.generation) return ErrorCode::kIllegalGeneration;
    story.live_on(at->second.members.at(committer.member));
    return at->second.state == GroupState::kCompletingRebalance ? ErrorCode::kRebalanceInProgress : ErrorCode::kNone;
}

/// A member that waited for an answer lives on for its session, to come again; one that never heard its id cannot, and
/// would be waited for in vain.
void GroupCoordinator::disconnect(Instant now, ConnectionId connection, GroupEffects& effects) {
    const auto waits_here = [&](const std::optional<ClientRef>& client) {
        return client && client->connection == connection;
    };
    for (auto at = groups_.begin(); at != groups_.end();) {
        Story story{*this, now, at->first, at->second, effects};
        std::vector<std::string> nameless;
        bool was_here = false;
        for (auto& [id, member] : at->second.members) {
            if (waits_here(member.syncing))
                member.syncing.reset();
            else if (!waits_here(member.joining))
                continue;
            was_here = true;
            if (waits_here(member.joining)) {
                member.joining.reset();
                if (!member.was_in_generation && !member.is_static()) nameless.push_back(id);
            }
            story.live_on(member);
        }
        for (const std::string& id : nameless) story.remove_member(id, GroupChange::kMemberLeft);
        if (!nameless.empty()) story.go_on_without();
        if (was_here) story.note_deadlines();
        const bool is_gone = at->second.members.empty() && at->second.invited.empty();
        at = is_gone ? groups_.erase(at) : std::next(at);
    }
}

std::string GroupCoordinator::new_member_id(const std::string& client_id) {
    Digest high(entropy_);
    high.add(++ids_given_);
    Digest low(~entropy_);
    low.add(high.value());
    return fmt::format("{}-{:016x}{:016x}", std::string_view(client_id).substr(0, kClientIdBytesMax), high.value(),
                       low.value());
}

void GroupCoordinator::Story::answer_sync(GroupMember& member) {
    effects.answers.push_back(
        {*member.syncing, SyncGroupAnswer{ErrorCode::kNone, group.protocol_type, group.protocol, member.assignment}});
    member.syncing.reset();
    live_on(member);
}

void GroupCoordinator::Story::refuse_sync(GroupMember& member, ErrorCode error) {
    SyncGroupAnswer refusal;
    refusal.error = error;
    effects.answers.push_back({*member.syncing, refusal});
    member.syncing.reset();
    live_on(member);
}

void GroupCoordinator::Story::live_on(GroupMember& member) const {
    member.session_ends = now + member.session_timeout;
}

void GroupCoordinator::Story::tell(GroupChange change, const std::string& member) const {
    effects.news.push_back({change, name, member, group.generation, static_cast<std::int32_t>(group.members.size())});
}

ErrorCode GroupCoordinator::Story::check_member(const std::string& member, const std::string& instance) const {
    if (!instance.empty()) {
        const auto at = group.instances.find(instance);
        if (at == group.instances.end()) return ErrorCode::kUnknownMember;
        return at->second == member ? ErrorCode::kNone : ErrorCode::kFencedInstance;
    }
    return group.members.contains(member) ? ErrorCode::kNone : ErrorCode::kUnknownMember;
}

}  // namespace tidelock::clients
