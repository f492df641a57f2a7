#include "protocol/raft/invariants.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::raft {
namespace {

std::string find_broken_log(const Node& node) {
    const PersistentState& state = node.persistent;
    const LogIndex last = last_index(state);
    if (node.commit_index < state.snapshot.last_index) return "the commit index is below the snapshot";
    if (node.commit_index > last) return "the commit index is past the log";
    if (last_term(state) > state.term) return "the log is newer than the term";
    if (!state.entries.empty() && state.entries.front().index != state.snapshot.last_index + 1)
        return "a gap after the snapshot";
    if (!state.entries.empty() && state.entries.back().index != last) return "a gap in the log";
    if (!state.entries.empty() && state.entries.front().term < state.snapshot.last_term)
        return "an entry older than the snapshot below it";
    if (!node.admissions.empty() && node.admissions.front().index <= state.snapshot.last_index)
        return "an admission below the snapshot";
    if (!node.admissions.empty() && node.admissions.back().index > last) return "an admission past the log";
    return {};
}

std::string find_broken_participation(const Node& node) {
    const PersistentState& state = node.persistent;
    if (is_empty(state)) {
        if (state.term.value != 0 || state.voted_for || state.voter) return "an empty replica took part";
        if (last_index(state).value != 0) return "an empty replica has a log";
    }
    if (state.voter && incarnation_in_force(node, node.config.self) != state.incarnation)
        return "a voter whose life is not in force";
    if (!state.voter && !std::holds_alternative<Follower>(node.role))
        return "a replica that does not count stands or leads";
    return {};
}

std::string find_broken_progress(const Node& node, const Progress& progress) {
    if (progress.next_index <= progress.match_index) return "next index not above match index";
    if (progress.match_index > last_index(node.persistent)) return "match index past the leader's log";
    if (progress.next_index > last_index(node.persistent) + 1) return "next index past the leader's log";
    if (progress.read_round > std::get<Leader>(node.role).asked_round) return "a round answered that nobody asked for";
    return {};
}

std::string find_broken_role(const Node& node) {
    const PersistentState& state = node.persistent;
    const Candidate* candidate = std::get_if<Candidate>(&node.role);
    const Leader* leader = std::get_if<Leader>(&node.role);
    const Member self{node.config.self, state.incarnation};
    if (candidate != nullptr && !candidate->pre_vote && state.voted_for != self)
        return "a candidate did not vote for itself";
    if (leader == nullptr) return {};
    if (state.voted_for != self) return "a leader did not vote for itself";
    if (leader->durable_index > last_index(state)) return "a leader counts entries it does not have";
    if (leader->sent_round > leader->asked_round) return "a leader sent a round that nobody asked for";
    if (leader->confirmed_round > leader->sent_round) return "a leader confirmed a round that it did not send";
    if (leader->followers.size() + 1 != node.config.members.size()) return "a leader without all its followers";
    for (const Progress& progress : leader->followers)
        if (std::string broken = find_broken_progress(node, progress); !broken.empty()) return broken;
    return {};
}

std::string find_broken_promise(const Node& node) {
    if (node.dirty) return "a change was not handed to the disk";
    if (node.durable_sequence > node.requested_sequence) return "a write is durable that was never asked for";
    if (node.elections_in_vain < 0 || node.elections_in_vain > kElectionsInVainMax)
        return "elections in vain out of range";
    if (node.caretakings_in_vain < 0 || node.caretakings_in_vain > kCaretakingsInVainMax)
        return "caretakings in vain out of range";
    if (node.outstanding.empty() != (node.durable_sequence == node.requested_sequence))
        return "outstanding writes do not add up";
    if (!node.waiting.empty() && node.waiting.front().sequence <= node.durable_sequence)
        return "a promise is kept back";
    if (!node.waiting.empty() && node.waiting.back().sequence > node.requested_sequence)
        return "a promise waits for ever";
    return {};
}

std::string find_changed_commit(const Node& before, const Node& after) {
    const LogIndex kept_from = std::max(before.persistent.snapshot.last_index, after.persistent.snapshot.last_index);
    for (LogIndex index = kept_from + 1; index <= before.commit_index; index += 1) {
        if (index > last_index(after.persistent)) return "a committed entry is gone";
        if (entry_at(before.persistent, index) != entry_at(after.persistent, index)) return "a committed entry changed";
    }
    return {};
}

}  // namespace

std::string find_broken_invariant(const Node& node) {
    if (std::string broken = find_broken_log(node); !broken.empty()) return broken;
    if (std::string broken = find_broken_participation(node); !broken.empty()) return broken;
    if (std::string broken = find_broken_role(node); !broken.empty()) return broken;
    return find_broken_promise(node);
}

void check_invariants(const Node& node) {
    const std::string broken = find_broken_invariant(node);
    if (!broken.empty()) check_failed(__FILE__, __LINE__, broken.c_str());
}

std::string find_broken_delta(const Node& before, const Node& after) {
    if (after.persistent.term < before.persistent.term) return "the term went back";
    if (after.persistent.term == before.persistent.term && before.persistent.voted_for &&
        after.persistent.voted_for != before.persistent.voted_for)
        return "the vote changed within a term";
    if (after.persistent.incarnation != before.persistent.incarnation) return "the incarnation changed within a boot";
    if (after.commit_index < before.commit_index) return "the commit index went back";
    if (after.persistent.snapshot.last_index < before.persistent.snapshot.last_index) return "the snapshot went back";
    if (is_leader(before) && is_leader(after) && after.persistent.term == before.persistent.term &&
        last_index(after.persistent) < last_index(before.persistent))
        return "a leader shortened its log";
    return find_changed_commit(before, after);
}

}  // namespace tidelock::raft
