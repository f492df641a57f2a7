// The follower's side of the log (R2, R9): agreeing with the leader, never losing what agrees.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

AppendAnswer answer_to(const Node& node, const AppendRequest& request) {
    auto answer = begin_answer<AppendAnswer>(node, request);
    answer.match_index = request.prev_log_index;
    return answer;
}

/// What this log has where it does not fit, so that the leader can skip whole terms.
void describe_conflict(const Node& node, LogIndex prev, AppendAnswer& answer) {
    const PersistentState& state = node.persistent;
    if (prev > last_index(node)) {
        answer.conflict_index = last_index(node) + 1;
        return;
    }
    answer.conflict_term = entry_at(state, prev).term;
    LogIndex first = prev;
    while (first > node.commit_index + 1 && entry_at(state, first - 1).term == answer.conflict_term) first = first - 1;
    answer.conflict_index = first;
}

/// Takes what is new. Entries that agree stay, whatever comes after them: an old append never shortens the log. False:
/// the request contradicts committed entries.
bool take_entries(Step& s, const AppendRequest& request) {
    Node& node = s.node;
    LogIndex first_new;
    for (const Entry& entry : request.entries) {
        if (entry.index <= node.persistent.snapshot.last_index) continue;
        const std::optional<Term> own = term_at(node.persistent, entry.index);
        if (own == entry.term) continue;
        if (own) {
            if (entry.index <= node.commit_index) return false;
            truncate_from(s, entry.index);
        }
        if (first_new.value == 0) first_new = entry.index;
        push_entry(node, entry);
    }
    if (first_new.value != 0) emit(s, EntriesAppended{first_new, last_index(node)});
    return true;
}

bool fits_log(const Node& node, const AppendRequest& request) {
    // All below the snapshot is committed: the leader has it too.
    if (request.prev_log_index < node.persistent.snapshot.last_index) return true;
    return term_at(node.persistent, request.prev_log_index) == request.prev_log_term;
}

}  // namespace

bool follow(Step& s, BrokerId from, Term term) {
    Node& node = s.node;
    if (term < node.persistent.term) return false;
    if (term > node.persistent.term || std::holds_alternative<Candidate>(node.role)) become_follower(s, term);
    Follower* follower = std::get_if<Follower>(&node.role);
    if (follower == nullptr || (follower->leader && follower->leader != from)) {
        emit(s, ProtocolViolated{from, ViolationKind::kTwoLeadersInTerm});
        return false;
    }
    follower->leader_contact = s.now;
    node.elections_in_vain = 0;
    if (!follower->leader) {
        follower->leader = from;
        emit(s, LeaderKnown{from, term});
    }
    return true;
}

void on_append_request(Step& s, BrokerId from, const AppendRequest& request) {
    Node& node = s.node;
    if (!knows_membership(node)) return send(s, from, answer_to(node, request));
    if (request.term < node.persistent.term) return send(s, from, answer_to(node, request));
    if (!follow(s, from, request.term)) return;
    if (!fits_log(node, request)) {
        if (request.prev_log_index <= node.commit_index)
            return emit(s, ProtocolViolated{from, ViolationKind::kCommittedEntryConflict});
        AppendAnswer refusal = answer_to(node, request);
        describe_conflict(node, request.prev_log_index, refusal);
        return send(s, from, refusal);
    }
    if (!take_entries(s, request)) return emit(s, ProtocolViolated{from, ViolationKind::kCommittedEntryConflict});
    // Only up to here do the logs agree; whatever this log holds above may still differ.
    const LogIndex agreed = request.prev_log_index + static_cast<std::int64_t>(request.entries.size());
    commit_up_to(s, std::max(node.commit_index, std::min(request.commit_index, agreed)));
    AppendAnswer answer = answer_to(node, request);
    answer.accepted = true;
    answer.match_index = agreed;
    send_when_durable(s, from, answer);
}

}  // namespace tidelock::raft
