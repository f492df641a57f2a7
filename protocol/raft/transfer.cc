// Handing leadership over: on request (R10), and by a caretaker until somebody eligible leads (G9).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/quorum.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

void start_transfer(Step& s, Leader& leader, Progress& progress) {
    leader.transfer = Transfer{progress.broker, false};
    const Duration timeout = s.node.config.transfer_timeout;
    emit(s, SetTimer{TimerKind::kTransfer, timeout, timeout});
    send_append(s, leader, progress, false);
    tell_target_if_ready(s, leader);
}

bool is_reachable(const Node& node, const Progress& progress, Instant now) {
    return counts(node, progress) && progress.contact &&
           since(*progress.contact, now) < node.config.election_timeout_max;
}

bool is_eligible(const Node& node, BrokerId broker) {
    return std::find(node.eligible_members.begin(), node.eligible_members.end(), broker) != node.eligible_members.end();
}

/// The first reachable eligible member after the one tried last, in a circle: one that never answers does not block the
/// rest.
Progress* next_target(const Node& node, Leader& leader, Instant now) {
    Progress* first = nullptr;
    for (Progress& progress : leader.followers) {
        if (!is_eligible(node, progress.broker) || !is_reachable(node, progress, now)) continue;
        if (!leader.last_target || progress.broker > *leader.last_target) return &progress;
        if (first == nullptr) first = &progress;
    }
    return first;
}

}  // namespace

void on_transfer_requested(Step& s, BrokerId target) {
    Node& node = s.node;
    Leader* leader = std::get_if<Leader>(&node.role);
    Progress* progress = leader != nullptr ? find_progress(*leader, target) : nullptr;
    if (progress == nullptr || leader->transfer || !counts(node, *progress))
        return emit(s, TransferFinished{target, false});
    start_transfer(s, *leader, *progress);
}

void on_transfer_timeout(Step& s) {
    Leader* leader = std::get_if<Leader>(&s.node.role);
    if (leader != nullptr && leader->transfer) finish_transfer(s, *leader, false);
}

void tell_target_if_ready(Step& s, Leader& leader) {
    const Node& node = s.node;
    if (!leader.transfer || leader.transfer->told) return;
    const Progress* progress = find_progress(leader, leader.transfer->target);
    CHECK(progress != nullptr);
    if (!counts(node, *progress) || progress->match_index != last_index(node)) return;
    leader.transfer->told = true;
    send(s, progress->broker,
         TimeoutNow{node.persistent.term, node.persistent.incarnation, progress->incarnation, last_index(node)});
}

void finish_transfer(Step& s, Leader& leader, bool succeeded) {
    emit(s, CancelTimer{TimerKind::kTransfer});
    emit(s, TransferFinished{leader.transfer->target, succeeded, !succeeded && leader.transfer->told});
    leader.transfer.reset();
}

void start_caretaker_transfer(Step& s) {
    Leader* leader = std::get_if<Leader>(&s.node.role);
    if (leader == nullptr || !leader->caretaker || leader->transfer) return;
    Progress* target = next_target(s.node, *leader, s.now);
    if (target == nullptr) return;
    leader->last_target = target->broker;
    start_transfer(s, *leader, *target);
}

bool is_caretaking_in_vain(const Leader& leader, const Config& config, Instant now) {
    return leader.caretaker && since(leader.gained_at, now) > config.transfer_timeout * 2;
}

void give_up_caretaking(Step& s) {
    Node& node = s.node;
    node.caretakings_in_vain = std::min(node.caretakings_in_vain + 1, kCaretakingsInVainMax);
    become_follower(s, node.persistent.term, StepDownReason::kCaretakingInVain);
}

void on_timeout_now(Step& s, BrokerId from, const TimeoutNow& message) {
    const Node& node = s.node;
    if (message.term != node.persistent.term || message.follower_incarnation != node.persistent.incarnation) return;
    const Follower* follower = std::get_if<Follower>(&node.role);
    if (follower == nullptr || follower->leader != from) return;
    if (!node.persistent.voter || node.eligibility != Eligibility::kMayLead) return;
    // It came late: the leader has given the transfer up, and has written on.
    if (last_term(node.persistent) == message.term && last_index(node) > message.last_index) return;
    start_election(s, true);
}

}  // namespace tidelock::raft
