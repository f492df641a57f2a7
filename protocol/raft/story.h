/// What the stories of one step share: raft.cc dispatches, each other file tells one story. Not for owners.
#pragma once

#include <algorithm>

#include "protocol/raft/raft.h"

namespace tidelock::raft {

/// One step in progress.
struct Step {
    Node& node;
    Instant now;
    Effects& effects;
    SmallVector<Send, 4> promised{};  // leave when everything this step leaves behind is durable (R2)
};

inline void emit(Step& s, Effect effect) {
    s.effects.push_back(std::move(effect));
}
/// For what rests on nothing that could be lost.
inline void send(Step& s, BrokerId to, Message message) {
    emit(s, Send{to, std::move(message)});
}
/// For promises: votes, append answers, requests for real votes (R2).
inline void send_when_durable(Step& s, BrokerId to, Message message) {
    s.promised.push_back({to, std::move(message)});
}

// raft.cc: the log as all stories change it.
LogIndex last_index(const Node& node);
bool knows_membership(const Node& node);
/// A write has been under way for longer than an election timeout: what rests on the disk is not to be promised.
bool is_storage_stalled(const Node& node, Instant now);
void push_entry(Node& node, Entry entry);
void truncate_from(Step& s, LogIndex from);
/// Moves the commit index forward to `index`, which is in the log, and tells the owner.
void commit_up_to(Step& s, LogIndex index);

// election.cc
/// Whether it may stand now: a voter whose owner does not veto.
bool may_stand(const Node& node);
/// [min, max] from now, later for a caretaker; nothing while it may not stand.
void arm_election_timer(Step& s, Duration min, Duration max);
void arm_election_timer(Step& s);
/// Follows in `term`, which is not lower than its own. A leader steps down for `reason`.
void become_follower(Step& s, Term term, StepDownReason reason = StepDownReason::kHigherTerm);
/// Stands without asking first.
void start_election(Step& s, bool transfer);
void on_election_timeout(Step& s);
void on_candidacy_durable(Step& s);
void on_leader_disconnected(Step& s);
void on_eligibility_changed(Step& s, Eligibility eligibility);
void on_pre_vote_request(Step& s, BrokerId from, const PreVoteRequest& request);
void on_pre_vote_answer(Step& s, BrokerId from, const PreVoteAnswer& answer);
void on_vote_request(Step& s, BrokerId from, const VoteRequest& request);
void on_vote_answer(Step& s, BrokerId from, const VoteAnswer& answer);

// replication.cc (leader) and following.cc (follower)
Progress* find_progress(Leader& leader, BrokerId broker);
void become_leader(Step& s);
void append_as_leader(Step& s, EntryKind kind, Bytes payload);
/// Sends what `progress` lacks as far as its window allows; `heartbeat`: at least an empty append.
void send_append(Step& s, Leader& leader, Progress& progress, bool heartbeat);
/// To every follower what it lacks; `heartbeat`: at least an empty append.
void broadcast(Step& s, bool heartbeat);
void on_heartbeat_timeout(Step& s);
void on_append_answer(Step& s, BrokerId from, const AppendAnswer& answer);
void on_leader_durable(Step& s);
/// After match or voter news: commit, admit, hand over, send on.
void after_progress(Step& s);
/// Whether an answer comes from the life this leader talks to; takes a newer life over (R11).
bool recognise(Progress& progress, Incarnation sender, Incarnation believed);
/// A follower answered in this leader's term: an append or a piece of the snapshot, whatever the answer was.
void note_contact(const Step& s, Progress& progress, Participation participation);

// read_index.cc
void on_confirmation_requested(Step& s, ReadRound round);
/// A follower answered in this leader's term: does a majority stand behind what was asked?
void note_read_round(Step& s, Leader& leader, Progress& progress, Participation participation, ReadRound round);

/// Accepts `from` as leader of `term`. False: older term, or a second leader of the term; then nothing else may be
/// done.
bool follow(Step& s, BrokerId from, Term term);
void on_append_request(Step& s, BrokerId from, const AppendRequest& request);

// snapshot.cc
void begin_snapshot(Step& s, Leader& leader, Progress& progress);
void send_chunk(Step& s, Leader& leader, Progress& progress);
void on_snapshot_request(Step& s, BrokerId from, const SnapshotRequest& request);
void on_snapshot_answer(Step& s, BrokerId from, const SnapshotAnswer& answer);
void on_snapshot_ready(Step& s, const SnapshotReady& ready);
void request_snapshot_if_long(Step& s);

// membership.cc
Participation participation(const Node& node);
/// After the log, the commit index or the membership changed: does this replica count?
void refresh_participation(Step& s);
void propose_admission_if_due(Step& s);
void start_formation(Step& s);
void on_formation_timeout(Step& s);
void on_formation_statement(Step& s, BrokerId from, const FormationStatement& statement);
/// `members` (sorted by broker) are exactly the configured brokers.
bool are_configured(const Config& config, const Membership& members);

// transfer.cc
void on_transfer_requested(Step& s, BrokerId target);
void on_transfer_timeout(Step& s);
/// Tells the target to stand once its log is as new as the leader's.
void tell_target_if_ready(Step& s, Leader& leader);
void finish_transfer(Step& s, Leader& leader, bool succeeded);
/// A caretaker picks the next reachable eligible member (G9).
void start_caretaker_transfer(Step& s);
/// A caretaker that nobody took over from, for two transfers' time in which no follower's log came closer to its own:
/// while it leads, nobody else can try who reaches an eligible member that it does not reach (G9).
bool is_caretaking_in_vain(const Leader& leader, const Config& config, Instant now);
void give_up_caretaking(Step& s);
void on_timeout_now(Step& s, BrokerId from, const TimeoutNow& message);

/// The answer's head, as every follower begins it: whose it is, whom it answers, in which term.
template <typename Answer, typename Request>
Answer begin_answer(const Node& node, const Request& request) {
    Answer answer;
    // Who does not know its group yet has no term of its own.
    const bool knows_group = !is_empty(node.persistent);
    answer.term = std::max(node.persistent.term, knows_group ? Term(0) : request.term);
    answer.follower_incarnation = node.persistent.incarnation;
    answer.believed_incarnation = request.follower_incarnation;
    answer.leader_incarnation = request.leader_incarnation;
    answer.participation = participation(node);
    answer.read_round = request.read_round;
    return answer;
}

}  // namespace tidelock::raft
