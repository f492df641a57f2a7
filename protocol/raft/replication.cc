// The leader's side of the log (R4, R5, R9, R11): sending, counting, committing.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/quorum.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

Progress first_progress(const Node& node, BrokerId broker) {
    Progress progress;
    progress.broker = broker;
    progress.incarnation = incarnation_in_force(node, broker);
    progress.mode = ProgressMode::kPipeline;  // hope that the logs agree: the claim then needs one round trip
    progress.next_index = last_index(node) + 1;
    return progress;
}

/// How many entries may go to this follower now.
std::size_t sendable_count(const Node& node, const Progress& progress) {
    const std::int64_t lacking = last_index(node) - progress.next_index + 1;
    std::int64_t count = std::min<std::int64_t>(lacking, node.config.entries_per_append_max);
    if (progress.mode == ProgressMode::kPipeline) {
        const std::int64_t in_flight = progress.next_index - progress.match_index - 1;
        const bool is_known = progress.contact.has_value();  // before the first answer match_index says nothing
        if (is_known) count = std::min<std::int64_t>(count, node.config.append_window_max - in_flight);
    }
    return static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
}

void send_entries(Step& s, Progress& progress, std::size_t count) {
    const Node& node = s.node;
    const PersistentState& state = node.persistent;
    AppendRequest request;
    request.term = state.term;
    request.leader_incarnation = state.incarnation;
    request.follower_incarnation = progress.incarnation;
    request.prev_log_index = progress.next_index - 1;
    const std::optional<Term> prev_term = term_at(state, request.prev_log_index);
    CHECK(prev_term.has_value());
    request.prev_log_term = *prev_term;
    request.commit_index = node.commit_index;
    request.read_round = std::get<Leader>(node.role).asked_round;
    const auto first = state.entries.begin() + (progress.next_index - state.snapshot.last_index - 1);
    request.entries.assign(first, first + static_cast<std::ptrdiff_t>(count));
    send(s, progress.broker, std::move(request));
}

/// Where to look next, from what the follower has at the refused place (R9): whole terms are skipped.
LogIndex next_after_refusal(const Node& node, const AppendAnswer& answer) {
    if (answer.conflict_term.value == 0) return answer.conflict_index;
    const PersistentState& state = node.persistent;
    LogIndex index = std::min(answer.match_index, last_index(node));
    while (index > state.snapshot.last_index && entry_at(state, index).term > answer.conflict_term) index = index - 1;
    return term_at(state, index) == answer.conflict_term ? index + 1 : answer.conflict_index;
}

void on_refused(Step& s, Leader& leader, Progress& progress, const AppendAnswer& answer) {
    const LogIndex refused = answer.match_index;
    if (progress.mode == ProgressMode::kSnapshot || refused <= progress.match_index) return;  // older than what we know
    if (progress.mode == ProgressMode::kProbe && refused != progress.next_index - 1) return;
    if (refused >= progress.next_index) return;
    progress.mode = ProgressMode::kProbe;
    progress.probe_outstanding = false;
    progress.next_index = std::clamp(next_after_refusal(s.node, answer), progress.match_index + 1, refused);
    send_append(s, leader, progress, false);
}

void on_accepted(Step& s, Leader& leader, Progress& progress, const AppendAnswer& answer) {
    if (answer.match_index > last_index(s.node)) return;
    if (answer.match_index > progress.match_index) leader.gained_at = s.now;
    if (answer.match_index >= progress.match_index) {
        progress.match_index = answer.match_index;
        progress.participation = answer.participation;
    }
    const bool needs_snapshot = progress.match_index < s.node.persistent.snapshot.last_index;
    if (progress.mode == ProgressMode::kProbe || (progress.mode == ProgressMode::kSnapshot && !needs_snapshot)) {
        progress.mode = ProgressMode::kPipeline;
        progress.probe_outstanding = false;
        progress.next_index = progress.match_index + 1;
    }
    progress.next_index = std::max(progress.next_index, progress.match_index + 1);
    after_progress(s);
    // after_progress may have ended the leadership
    if (std::get_if<Leader>(&s.node.role) == &leader) send_append(s, leader, progress, false);
}

}  // namespace

Progress* find_progress(Leader& leader, BrokerId broker) {
    const auto at = std::find_if(leader.followers.begin(), leader.followers.end(),
                                 [broker](const Progress& progress) { return progress.broker == broker; });
    return at == leader.followers.end() ? nullptr : &*at;
}

void become_leader(Step& s) {
    Node& node = s.node;
    Leader leader;
    leader.caretaker = node.eligibility != Eligibility::kMayLead;
    leader.since = s.now;
    leader.gained_at = s.now;
    leader.durable_index = last_index(node);  // the write that made its own vote durable held this log
    for (const BrokerId member : node.config.members)
        if (member != node.config.self) leader.followers.push_back(first_progress(node, member));
    const bool caretaker = leader.caretaker;
    node.role = std::move(leader);
    node.elections_in_vain = 0;
    emit(s, CancelTimer{TimerKind::kElection});
    emit(s, SetTimer{TimerKind::kHeartbeat, node.config.heartbeat_interval, node.config.heartbeat_interval});
    emit(s, BecameLeader{node.persistent.term, caretaker});
    broadcast(s, true);
}

void append_as_leader(Step& s, EntryKind kind, Bytes payload) {
    Node& node = s.node;
    const LogIndex index = last_index(node) + 1;
    push_entry(node, {index, node.persistent.term, kind, std::move(payload)});
    emit(s, EntriesAppended{index, index});
    refresh_participation(s);
    if (is_leader(node)) broadcast(s, false);
}

void send_append(Step& s, Leader& leader, Progress& progress, bool heartbeat) {
    const Node& node = s.node;
    if (progress.mode == ProgressMode::kSnapshot) {
        if (heartbeat) send_chunk(s, leader, progress);
        return;
    }
    if (progress.next_index <= node.persistent.snapshot.last_index) return begin_snapshot(s, leader, progress);
    if (progress.mode == ProgressMode::kProbe) {
        if (progress.probe_outstanding && !heartbeat) return;
        progress.probe_outstanding = true;
        return send_entries(s, progress, sendable_count(node, progress));
    }
    for (std::size_t count = sendable_count(node, progress); count > 0 || heartbeat;
         count = sendable_count(node, progress)) {
        send_entries(s, progress, count);
        progress.next_index += static_cast<std::int64_t>(count);
        heartbeat = false;
    }
}

void broadcast(Step& s, bool heartbeat) {
    Leader& leader = std::get<Leader>(s.node.role);
    for (Progress& progress : leader.followers) send_append(s, leader, progress, heartbeat);
}

void on_heartbeat_timeout(Step& s) {
    Node& node = s.node;
    Leader* leader = std::get_if<Leader>(&node.role);
    if (leader == nullptr) return;
    if (is_storage_stalled(node, s.now))
        return become_follower(s, node.persistent.term, StepDownReason::kStorageStalled);
    if (node.config.check_quorum && !has_contact_quorum(node, *leader, s.now))
        return become_follower(s, node.persistent.term, StepDownReason::kQuorumLost);
    if (is_caretaking_in_vain(*leader, node.config, s.now)) return give_up_caretaking(s);
    emit(s, SetTimer{TimerKind::kHeartbeat, node.config.heartbeat_interval, node.config.heartbeat_interval});
    start_caretaker_transfer(s);
    broadcast(s, true);
}

bool recognise(Progress& progress, Incarnation sender, Incarnation believed) {
    if (sender == progress.incarnation) return true;
    // An answer to a request meant for the life we know now: the sender came after it. Any other is an older life's.
    if (believed != progress.incarnation) return false;
    const BrokerId broker = progress.broker;
    const LogIndex next_index = progress.next_index;
    progress = Progress{};
    progress.broker = broker;
    progress.incarnation = sender;
    progress.next_index = next_index;
    return true;
}

void note_contact(const Step& s, Progress& progress, Participation participation) {
    progress.contact = s.now;
    if (participation == Participation::kVoter) progress.voter_contact = s.now;
}

void on_append_answer(Step& s, BrokerId from, const AppendAnswer& answer) {
    Node& node = s.node;
    if (answer.leader_incarnation != node.persistent.incarnation || !knows_membership(node)) return;
    if (answer.term > node.persistent.term) return become_follower(s, answer.term);
    Leader* leader = std::get_if<Leader>(&node.role);
    if (leader == nullptr || answer.term != node.persistent.term) return;
    Progress* progress = find_progress(*leader, from);
    if (!recognise(*progress, answer.follower_incarnation, answer.believed_incarnation)) return;
    note_contact(s, *progress, answer.participation);
    note_read_round(s, *leader, *progress, answer.participation, answer.read_round);
    if (answer.participation == Participation::kEmpty) {
        if (progress->match_index.value == 0 && progress->mode != ProgressMode::kSnapshot)
            begin_snapshot(s, *leader, *progress);
        return after_progress(s);
    }
    if (answer.accepted) return on_accepted(s, *leader, *progress, answer);
    on_refused(s, *leader, *progress, answer);
}

void on_leader_durable(Step& s) {
    if (is_leader(s.node)) after_progress(s);
}

void after_progress(Step& s) {
    Node& node = s.node;
    const LogIndex index = committable_index(node, std::get<Leader>(node.role));
    if (index > node.commit_index) {
        commit_up_to(s, index);
        if (!is_leader(node)) return;
        broadcast(s, true);
    }
    propose_admission_if_due(s);
    if (Leader* leader = std::get_if<Leader>(&node.role)) tell_target_if_ready(s, *leader);
}

}  // namespace tidelock::raft
