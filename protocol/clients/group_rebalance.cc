// How a group comes to its next generation: who is waited for, for how long, and who is out.
#include <algorithm>

#include "protocol/clients/group_story.h"

namespace tidelock::clients {

void GroupCoordinator::Story::begin_rebalance() {
    for (auto& [id, member] : group.members) {
        if (member.syncing) refuse_sync(member, ErrorCode::kRebalanceInProgress);
        member.has_synced = false;
    }
    group.is_first_generation = group.state == GroupState::kEmpty;
    group.state = GroupState::kPreparingRebalance;
    group.sync_ends.reset();
    const Duration wait = rebalance_timeout_of(group);
    group.rebalance_latest = now + wait;
    group.rebalance_ends =
        now + (group.is_first_generation ? std::min(coordinator.limits_.first_rebalance_delay, wait) : wait);
    group.has_newcomers = false;
    tell(GroupChange::kRebalance);
    complete_join_if_ready();
}

void GroupCoordinator::Story::complete_join_if_ready() {
    if (group.state != GroupState::kPreparingRebalance) return;
    const bool waits_for_more = group.is_first_generation && group.rebalance_ends > now;
    if (!waits_for_more && has_everybody_joined(group)) complete_join();
}

/// Members of a new group start together, but not at once: each that comes draws the wait out, up to the bound.
void GroupCoordinator::Story::prolong_first_wait() {
    group.has_newcomers = false;
    group.rebalance_ends = std::min(group.rebalance_latest, now + coordinator.limits_.first_rebalance_delay);
}

/// A static member is away until its session is over: it keeps its place without having joined (KIP-345).
void GroupCoordinator::Story::remove_late_members() {
    std::vector<std::string> late;
    for (const auto& [id, member] : group.members)
        if (!member.joining && !member.is_static()) late.push_back(id);
    for (const std::string& id : late) remove_member(id, GroupChange::kMemberTooLate);
}

void GroupCoordinator::Story::complete_join() {
    remove_late_members();
    if (group.members.empty()) return become_empty();
    if (!group.members.at(group.leader).joining) {
        const auto joined = std::find_if(group.members.begin(), group.members.end(),
                                         [](const auto& each) { return each.second.joining.has_value(); });
        if (joined == group.members.end()) {  // static members only, all of them away
            group.rebalance_ends = now + std::max(rebalance_timeout_of(group), milliseconds(1));
            return;
        }
        group.leader = joined->first;
    }
    group.generation += 1;
    group.protocol = chosen_protocol(group);
    group.state = GroupState::kCompletingRebalance;
    group.is_first_generation = false;
    group.sync_ends = now + rebalance_timeout_of(group);
    tell(GroupChange::kGeneration);
    for (auto& [id, member] : group.members) {
        member.assignment = {};
        member.has_synced = !member.joining;  // an absent static member has not to sync
        if (member.joining) answer_join(member);
    }
}

void GroupCoordinator::Story::remove_member(const std::string& id, GroupChange why) {
    const auto at = group.members.find(id);
    if (at->second.is_static()) group.instances.erase(at->second.instance);
    group.members.erase(at);
    if (group.leader == id) {
        // The one that waits already, if any: it is there to assign.
        const auto joined = std::find_if(group.members.begin(), group.members.end(),
                                         [](const auto& each) { return each.second.joining.has_value(); });
        const auto next = joined != group.members.end() ? joined : group.members.begin();
        group.leader = next != group.members.end() ? next->first : std::string();
    }
    tell(why, id);
}

void GroupCoordinator::Story::go_on_without() {
    if (group.members.empty()) return become_empty();
    if (group.state == GroupState::kPreparingRebalance) return complete_join_if_ready();
    begin_rebalance();
}

/// Its generation goes on from where it was as long as somebody is invited; else the coordinator forgets the group.
void GroupCoordinator::Story::become_empty() {
    const bool was_empty = group.state == GroupState::kEmpty;
    group.state = GroupState::kEmpty;
    group.protocol_type.clear();
    group.protocol.clear();
    group.sync_ends.reset();
    if (!was_empty) tell(GroupChange::kEmpty);
}

void GroupCoordinator::Story::expire() {
    std::vector<std::pair<std::string, GroupChange>> out;
    const bool is_sync_over = group.sync_ends && *group.sync_ends <= now;
    for (const auto& [id, member] : group.members) {
        if (member.joining || member.syncing) continue;  // its connection stands
        if (member.session_ends <= now)
            out.emplace_back(id, GroupChange::kMemberSilent);
        else if (is_sync_over && !member.has_synced)
            out.emplace_back(id, GroupChange::kMemberTooLate);
    }
    if (is_sync_over) group.sync_ends.reset();
    for (const auto& [id, why] : out) remove_member(id, why);
    const std::size_t forgotten = std::erase_if(group.invited, [&](const auto& each) { return each.second <= now; });
    if (!out.empty())
        go_on_without();
    else if (forgotten > 0)
        complete_join_if_ready();
    if (group.state != GroupState::kPreparingRebalance || group.rebalance_ends > now) return;
    if (group.is_first_generation && group.has_newcomers && group.rebalance_latest > now) return prolong_first_wait();
    complete_join();
}

void GroupCoordinator::Story::note_deadlines() const {
    if (group.state == GroupState::kPreparingRebalance) coordinator.note_deadline(group.rebalance_ends);
    if (group.sync_ends) coordinator.note_deadline(*group.sync_ends);
    for (const auto& [id, until] : group.invited) coordinator.note_deadline(until);
    for (const auto& [id, member] : group.members)
        if (!member.joining && !member.syncing) coordinator.note_deadline(member.session_ends);
}

void GroupCoordinator::expire(Instant now, GroupEffects& effects) {
    if (!next_deadline_ || *next_deadline_ > now) return;
    next_deadline_.reset();
    for (auto at = groups_.begin(); at != groups_.end();) {
        Story story{*this, now, at->first, at->second, effects};
        story.expire();
        story.note_deadlines();
        const bool is_gone = at->second.members.empty() && at->second.invited.empty();
        at = is_gone ? groups_.erase(at) : std::next(at);
    }
}

void GroupCoordinator::note_deadline(Instant deadline) {
    next_deadline_ = next_deadline_ ? std::min(*next_deadline_, deadline) : deadline;
}

}  // namespace tidelock::clients
