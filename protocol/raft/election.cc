// Terms, votes and who stands when (R2, R5-R7, G2, G9).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/quorum.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

Member self_of(const Node& node) {
    return {node.config.self, node.persistent.incarnation};
}

/// Whoever was caretaker in vain leaves it to the others to try, each time for longer.
Duration caretaker_delay(const Node& node) {
    if (node.eligibility != Eligibility::kCaretakerOnly) return Duration(0);
    return node.config.caretaker_delay * (std::int64_t{1} << node.caretakings_in_vain);
}

bool is_up_to_date(const Node& node, LogIndex last_log_index, Term last_log_term) {
    const Term own_term = last_term(node.persistent);
    if (last_log_term != own_term) return last_log_term > own_term;
    return last_log_index >= last_index(node);
}

/// Somebody leads and is alive as far as this replica can tell: no vote for anybody else (R6).
bool is_leader_protected(const Node& node, Instant now) {
    if (!node.config.pre_vote) return false;
    if (is_leader(node)) return true;
    const Follower* follower = std::get_if<Follower>(&node.role);
    return follower != nullptr && follower->leader_contact &&
           since(*follower->leader_contact, now) < node.config.election_timeout_min;
}

void add_vote(Candidate& candidate, BrokerId voter) {
    const auto at = std::lower_bound(candidate.granted.begin(), candidate.granted.end(), voter);
    if (at == candidate.granted.end() || *at != voter) candidate.granted.insert(at, voter);
}

void adopt_term(Node& node, Term term) {
    CHECK(term >= node.persistent.term);
    if (term == node.persistent.term) return;  // same term: the vote stays whatever happens
    node.persistent.term = term;
    node.persistent.voted_for.reset();
    node.dirty = true;
}

void leave_leadership(Step& s, Leader& leader, StepDownReason reason) {
    if (leader.transfer) finish_transfer(s, leader, leader.transfer->told && reason == StepDownReason::kHigherTerm);
    emit(s, CancelTimer{TimerKind::kHeartbeat});
    emit(s, SteppedDown{s.node.persistent.term, reason});
}

void forget_leader(Step& s) {
    if (known_leader(s.node) && !is_leader(s.node)) emit(s, LeaderKnown{std::nullopt, s.node.persistent.term});
}

void become_candidate(Step& s, Candidate candidate) {
    forget_leader(s);
    emit(s, BecameCandidate{s.node.persistent.term, candidate.pre_vote});
    s.node.role = std::move(candidate);
    arm_election_timer(s);
    s.node.elections_in_vain = std::min(s.node.elections_in_vain + 1, kElectionsInVainMax);
}

void start_pre_vote(Step& s) {
    Node& node = s.node;
    Candidate candidate;
    candidate.pre_vote = true;
    candidate.granted.push_back(node.config.self);
    if (has_vote_quorum(node, candidate)) return start_election(s, false);
    become_candidate(s, std::move(candidate));
    const PreVoteRequest request{Term(node.persistent.term.value + 1), node.persistent.incarnation, last_index(node),
                                 last_term(node.persistent), ++node.pre_vote_round};
    for (const BrokerId member : node.config.members)
        if (member != node.config.self) send(s, member, request);
}

void answer_vote(Step& s, BrokerId to, const VoteRequest& request, bool granted) {
    const VoteAnswer answer{s.node.persistent.term, s.node.persistent.incarnation, request.candidate_incarnation,
                            granted};
    if (granted) return send_when_durable(s, to, answer);
    send(s, to, answer);
}

}  // namespace

bool may_stand(const Node& node) {
    return node.persistent.voter && node.eligibility != Eligibility::kNever;
}

void arm_election_timer(Step& s, Duration min, Duration max) {
    if (!may_stand(s.node) || is_leader(s.node)) return;
    const Duration delay = caretaker_delay(s.node);
    emit(s, SetTimer{TimerKind::kElection, min + delay, max + delay});
}

/// Where the network or the disks are slow for the configured range, several stand at the same time, again and again.
/// So each candidacy in vain widens the draw by half the shortest timeout.
void arm_election_timer(Step& s) {
    const Config& config = s.node.config;
    const Duration wider = Duration(config.election_timeout_min.value / 2 * s.node.elections_in_vain);
    arm_election_timer(s, config.election_timeout_min, config.election_timeout_max + wider);
}

void become_follower(Step& s, Term term, StepDownReason reason) {
    Node& node = s.node;
    const bool was_following = std::holds_alternative<Follower>(node.role);
    if (was_following && term == node.persistent.term) return;
    if (Leader* leader = std::get_if<Leader>(&node.role)) leave_leadership(s, *leader, reason);
    const bool was_candidate = std::holds_alternative<Candidate>(node.role);
    adopt_term(node, term);
    forget_leader(s);
    node.role = Follower{};
    if (was_candidate) emit(s, BecameFollower{term});
    if (!was_following) arm_election_timer(s);
}

void start_election(Step& s, bool transfer) {
    Node& node = s.node;
    CHECK(may_stand(node));
    adopt_term(node, Term(node.persistent.term.value + 1));
    node.persistent.voted_for = self_of(node);
    Candidate candidate;
    candidate.transfer = transfer;
    candidate.durable_from = node.requested_sequence + 1;
    become_candidate(s, std::move(candidate));
    const VoteRequest request{node.persistent.term, node.persistent.incarnation, last_index(node),
                              last_term(node.persistent), transfer};
    for (const BrokerId member : node.config.members)
        if (member != node.config.self) send_when_durable(s, member, request);
}

/// A follower's timer is not moved by every heartbeat; when it fires early it is set again for what is left.
void on_election_timeout(Step& s) {
    Node& node = s.node;
    if (is_leader(node) || !may_stand(node)) return;
    const Follower* follower = std::get_if<Follower>(&node.role);
    if (follower != nullptr && follower->leader_contact) {
        const Duration quiet = since(*follower->leader_contact, s.now);
        if (quiet < node.config.election_timeout_min + caretaker_delay(node))
            return arm_election_timer(s, node.config.election_timeout_min - quiet,
                                      node.config.election_timeout_max - quiet);
    }
    if (is_storage_stalled(node, s.now)) return arm_election_timer(s);  // a vote for itself would wait for that disk
    if (node.config.pre_vote) return start_pre_vote(s);
    start_election(s, false);
}

void on_candidacy_durable(Step& s) {
    Node& node = s.node;
    Candidate* candidate = std::get_if<Candidate>(&node.role);
    if (candidate == nullptr || candidate->pre_vote || node.durable_sequence < candidate->durable_from) return;
    if (std::binary_search(candidate->granted.begin(), candidate->granted.end(), node.config.self)) return;
    add_vote(*candidate, node.config.self);
    emit(s, VoteGranted{node.persistent.term, self_of(node)});
    if (has_vote_quorum(node, *candidate)) become_leader(s);
}

void on_leader_disconnected(Step& s) {
    // Only the first report is news: each attempt to reconnect to a dead leader fails too, and none may put off a
    // caretaker's longer wait (G9).
    if (!std::get<Follower>(s.node.role).leader_contact) return;
    std::get<Follower>(s.node.role).leader_contact.reset();
    arm_election_timer(s, Duration(0), s.node.config.disconnect_stand_max);
}

void on_eligibility_changed(Step& s, Eligibility eligibility) {
    Node& node = s.node;
    if (node.eligibility == eligibility) return;
    node.eligibility = eligibility;
    Leader* leader = std::get_if<Leader>(&node.role);
    if (leader != nullptr && leader->caretaker && eligibility == Eligibility::kMayLead) {
        leader->caretaker = false;
        if (leader->transfer) finish_transfer(s, *leader, false);
        return emit(s, BecameLeader{node.persistent.term, false});
    }
    const bool may_go_on = leader != nullptr && leader->caretaker && eligibility == Eligibility::kCaretakerOnly;
    if (!std::holds_alternative<Follower>(node.role) && !may_go_on)
        return become_follower(s, node.persistent.term, StepDownReason::kNotEligible);
    if (eligibility == Eligibility::kNever) return emit(s, CancelTimer{TimerKind::kElection});
    arm_election_timer(s);
}

void on_pre_vote_request(Step& s, BrokerId from, const PreVoteRequest& request) {
    const Node& node = s.node;
    if (!node.persistent.voter) return;
    const bool granted = request.next_term > node.persistent.term && !is_leader(node) &&
                         !is_leader_protected(node, s.now) &&
                         is_up_to_date(node, request.last_log_index, request.last_log_term);
    send(s, from,
         PreVoteAnswer{node.persistent.term, request.next_term, node.persistent.incarnation,
                       request.candidate_incarnation, granted, request.round});
}

void on_pre_vote_answer(Step& s, BrokerId from, const PreVoteAnswer& answer) {
    Node& node = s.node;
    if (answer.candidate_incarnation != node.persistent.incarnation || !knows_membership(node)) return;
    if (answer.term > node.persistent.term) return become_follower(s, answer.term);
    Candidate* candidate = std::get_if<Candidate>(&node.role);
    if (candidate == nullptr || !candidate->pre_vote || !answer.granted) return;
    // A grant of an earlier round was given when the leader of then was silent; there may be one by now (R6).
    if (answer.next_term.value != node.persistent.term.value + 1 || answer.round != node.pre_vote_round) return;
    if (answer.voter_incarnation != incarnation_in_force(node, from)) return;
    add_vote(*candidate, from);
    if (has_vote_quorum(node, *candidate)) start_election(s, false);
}

void on_vote_request(Step& s, BrokerId from, const VoteRequest& request) {
    Node& node = s.node;
    if (!node.persistent.voter) return;
    if (request.term < node.persistent.term) return answer_vote(s, from, request, false);
    if (!request.transfer && is_leader_protected(node, s.now)) return answer_vote(s, from, request, false);
    if (request.term > node.persistent.term) become_follower(s, request.term);
    const Member candidate{from, request.candidate_incarnation};
    const bool is_free = !node.persistent.voted_for || *node.persistent.voted_for == candidate;
    if (!is_free || !is_up_to_date(node, request.last_log_index, request.last_log_term))
        return answer_vote(s, from, request, false);
    if (!node.persistent.voted_for) {
        become_follower(s, request.term);
        node.persistent.voted_for = candidate;
        node.dirty = true;
        arm_election_timer(s);
    }
    answer_vote(s, from, request, true);
}

void on_vote_answer(Step& s, BrokerId from, const VoteAnswer& answer) {
    Node& node = s.node;
    if (answer.candidate_incarnation != node.persistent.incarnation || !knows_membership(node)) return;
    if (answer.term > node.persistent.term) return become_follower(s, answer.term);
    Candidate* candidate = std::get_if<Candidate>(&node.role);
    if (candidate == nullptr || candidate->pre_vote || answer.term != node.persistent.term || !answer.granted) return;
    if (answer.voter_incarnation != incarnation_in_force(node, from)) return;
    add_vote(*candidate, from);
    if (has_vote_quorum(node, *candidate)) become_leader(s);
}

}  // namespace tidelock::raft
