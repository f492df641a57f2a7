#include "protocol/raft/raft.h"

#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/invariants.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

bool is_valid(const Config& config) {
    return std::is_sorted(config.members.begin(), config.members.end()) &&
           std::adjacent_find(config.members.begin(), config.members.end()) == config.members.end() &&
           std::binary_search(config.members.begin(), config.members.end(), config.self) &&
           config.members.front().value > 0;
}

void rebuild_admissions(Node& node) {
    node.admissions.clear();
    for (const Entry& entry : node.persistent.entries) {
        if (entry.kind != EntryKind::kAdmission) continue;
        const Result<Member, DecodeError> member = decode_admission(entry.payload);
        CHECK(member.has_value());
        node.admissions.push_back({entry.index, *member});
    }
}

void on_event(Step& s, const Started&) {
    if (!knows_membership(s.node)) return start_formation(s);
    arm_election_timer(s);
}

void on_event(Step& s, const MessageReceived& event) {
    const Config& config = s.node.config;
    if (event.from == config.self || !std::binary_search(config.members.begin(), config.members.end(), event.from))
        return;
    const BrokerId from = event.from;
    struct Dispatch {
        Step& s;
        BrokerId from;
        void operator()(const PreVoteRequest& m) const { on_pre_vote_request(s, from, m); }
        void operator()(const PreVoteAnswer& m) const { on_pre_vote_answer(s, from, m); }
        void operator()(const VoteRequest& m) const { on_vote_request(s, from, m); }
        void operator()(const VoteAnswer& m) const { on_vote_answer(s, from, m); }
        void operator()(const AppendRequest& m) const { on_append_request(s, from, m); }
        void operator()(const AppendAnswer& m) const { on_append_answer(s, from, m); }
        void operator()(const SnapshotRequest& m) const { on_snapshot_request(s, from, m); }
        void operator()(const SnapshotAnswer& m) const { on_snapshot_answer(s, from, m); }
        void operator()(const TimeoutNow& m) const { on_timeout_now(s, from, m); }
        void operator()(const FormationStatement& m) const { on_formation_statement(s, from, m); }
    };
    std::visit(Dispatch{s, from}, event.message);
}

void on_event(Step& s, const TimerFired& event) {
    switch (event.timer) {
        case TimerKind::kElection:
            return on_election_timeout(s);
        case TimerKind::kHeartbeat:
            return on_heartbeat_timeout(s);
        case TimerKind::kTransfer:
            return on_transfer_timeout(s);
        case TimerKind::kFormation:
            return on_formation_timeout(s);
    }
}

void on_event(Step& s, const Proposed& event) {
    CHECK(event.kind != EntryKind::kAdmission);
    const Leader* leader = std::get_if<Leader>(&s.node.role);
    if (leader == nullptr) return emit(s, ProposalRefused{RefusalReason::kNotLeader});
    if (leader->caretaker) return emit(s, ProposalRefused{RefusalReason::kCaretaker});
    if (leader->transfer) return emit(s, ProposalRefused{RefusalReason::kTransferring});
    append_as_leader(s, event.kind, event.payload);
}

/// A leader counts itself only up to what this acknowledges (R2).
void on_event(Step& s, const Persisted& event) {
    Node& node = s.node;
    if (event.sequence <= node.durable_sequence) return;
    CHECK(event.sequence <= node.requested_sequence);
    node.durable_sequence = event.sequence;
    Leader* leader = std::get_if<Leader>(&node.role);
    std::size_t done = 0;
    for (; done < node.outstanding.size() && node.outstanding[done].sequence <= event.sequence; ++done) {
        const OutstandingPersist& write = node.outstanding[done];
        if (leader != nullptr && write.term == node.persistent.term)
            leader->durable_index = std::max(leader->durable_index, write.last_index);
    }
    node.outstanding.erase(node.outstanding.begin(), node.outstanding.begin() + static_cast<std::ptrdiff_t>(done));
    on_candidacy_durable(s);
    on_leader_durable(s);
}

void on_event(Step& s, const PeerDisconnected& event) {
    if (Leader* leader = std::get_if<Leader>(&s.node.role)) {
        Progress* progress = find_progress(*leader, event.peer);
        if (progress == nullptr || progress->mode != ProgressMode::kPipeline) return;
        progress->mode = ProgressMode::kProbe;  // what was in flight is lost
        progress->probe_outstanding = false;
        progress->next_index = progress->match_index + 1;
        return;
    }
    const Follower* follower = std::get_if<Follower>(&s.node.role);
    if (follower != nullptr && follower->leader == event.peer) on_leader_disconnected(s);
}

void on_event(Step& s, const EligibilityChanged& event) {
    on_eligibility_changed(s, event.eligibility);
}

void on_event(Step& s, const EligibleMembersChanged& event) {
    s.node.eligible_members = event.members;
    start_caretaker_transfer(s);
}

void on_event(Step& s, const ConfirmationRequested& event) {
    on_confirmation_requested(s, event.round);
}

void on_event(Step& s, const TransferRequested& event) {
    on_transfer_requested(s, event.target);
}

void on_event(Step& s, const StepDownRequested&) {
    if (std::holds_alternative<Follower>(s.node.role)) return;
    become_follower(s, s.node.persistent.term, StepDownReason::kRequested);
}

void on_event(Step& s, const SnapshotReady& event) {
    on_snapshot_ready(s, event);
}

/// Whether the waiting `earlier` makes `later`, which would wait at least as long, unnecessary or can take its place.
bool absorb(WaitingSend& earlier, const WaitingSend& later) {
    if (earlier.to != later.to) return false;
    if (earlier.message == later.message) return true;
    AppendAnswer* old_answer = std::get_if<AppendAnswer>(&earlier.message);
    const AppendAnswer* new_answer = std::get_if<AppendAnswer>(&later.message);
    if (old_answer == nullptr || new_answer == nullptr || earlier.sequence != later.sequence) return false;
    if (!old_answer->accepted || !new_answer->accepted || old_answer->term != new_answer->term) return false;
    if (old_answer->believed_incarnation != new_answer->believed_incarnation) return false;
    if (old_answer->match_index > new_answer->match_index) return false;
    const ReadRound read_round = std::max(old_answer->read_round, new_answer->read_round);
    *old_answer = *new_answer;
    old_answer->read_round = read_round;
    return true;
}

void queue_promises(Step& s) {
    Node& node = s.node;
    const PersistSequence rests_on = node.requested_sequence + (node.dirty ? 1 : 0);
    for (Send& promise : s.promised) {
        const WaitingSend later{rests_on, promise.to, std::move(promise.message)};
        const auto takes = [&later](WaitingSend& earlier) { return absorb(earlier, later); };
        if (std::none_of(node.waiting.begin(), node.waiting.end(), takes)) node.waiting.push_back(later);
    }
}

void release_promises(Step& s) {
    Node& node = s.node;
    std::size_t released = 0;
    for (; released < node.waiting.size() && node.waiting[released].sequence <= node.durable_sequence; ++released) {
        WaitingSend& promise = node.waiting[released];
        if (const VoteAnswer* vote = std::get_if<VoteAnswer>(&promise.message); vote != nullptr && vote->granted) {
            if (vote->term != node.persistent.term) continue;  // that election is over, nobody needs the vote
            emit(s, VoteGranted{vote->term, {promise.to, vote->candidate_incarnation}});
        }
        send(s, promise.to, std::move(promise.message));
    }
    node.waiting.erase(node.waiting.begin(), node.waiting.begin() + static_cast<std::ptrdiff_t>(released));
}

void request_persist(Step& s) {
    Node& node = s.node;
    if (!node.dirty) return;
    node.dirty = false;
    node.requested_sequence += 1;
    node.outstanding.push_back({node.requested_sequence, s.now, node.persistent.term, last_index(node)});
    emit(s, Persist{node.requested_sequence});
}

}  // namespace

bool fits(const Config& config, const PersistentState& state) {
    return is_empty(state) || are_configured(config, state.snapshot.membership);
}

Node make_node(Config config, PersistentState state, Bytes formation_payload, std::uint64_t boot_nonce) {
    CHECK(is_valid(config));
    CHECK(config.election_timeout_min <= config.election_timeout_max);
    CHECK(config.entries_per_append_max > 0 && config.append_window_max > 0 && config.snapshot_chunk_bytes_max > 0);
    CHECK(find_flaw(state).empty());
    CHECK(fits(config, state));
    CHECK(boot_nonce != 0);
    Node node;
    node.formation.view = boot_nonce;
    node.pre_vote_round = boot_nonce;
    node.formation.own_payload = std::move(formation_payload);
    for (const BrokerId member : config.members)
        if (member != config.self) node.formation.peers.push_back({member, {}, {}, 0, false});
    node.config = std::move(config);
    node.persistent = std::move(state);
    node.commit_index = node.persistent.snapshot.last_index;
    rebuild_admissions(node);
    check_invariants(node);
    return node;
}

void step(Node& node, Instant now, const Event& event, Effects& effects) {
    Step s{node, now, effects};
    std::visit([&s](const auto& happened) { on_event(s, happened); }, event);
    request_snapshot_if_long(s);
    queue_promises(s);
    release_promises(s);
    request_persist(s);
    check_invariants(node);
}

bool is_leader(const Node& node) {
    return std::holds_alternative<Leader>(node.role);
}

bool is_caretaker(const Node& node) {
    const Leader* leader = std::get_if<Leader>(&node.role);
    return leader != nullptr && leader->caretaker;
}

std::optional<BrokerId> known_leader(const Node& node) {
    if (is_leader(node)) return node.config.self;
    const Follower* follower = std::get_if<Follower>(&node.role);
    return follower != nullptr ? follower->leader : std::nullopt;
}

LogIndex last_index(const Node& node) {
    return last_index(node.persistent);
}

bool knows_membership(const Node& node) {
    return !is_empty(node.persistent);
}

bool is_storage_stalled(const Node& node, Instant now) {
    return !node.outstanding.empty() &&
           since(node.outstanding.front().requested_at, now) > node.config.election_timeout_max;
}

void push_entry(Node& node, Entry entry) {
    CHECK(entry.index == last_index(node) + 1);
    CHECK(entry.term <= node.persistent.term);
    if (entry.kind == EntryKind::kAdmission) {
        const Result<Member, DecodeError> member = decode_admission(entry.payload);
        CHECK(member.has_value());
        node.admissions.push_back({entry.index, *member});
    }
    node.persistent.entries.push_back(std::move(entry));
    node.dirty = true;
}

void truncate_from(Step& s, LogIndex from) {
    Node& node = s.node;
    CHECK(from > node.commit_index);
    if (from > last_index(node)) return;
    node.persistent.entries.resize(static_cast<std::size_t>(from - node.persistent.snapshot.last_index - 1));
    while (!node.admissions.empty() && node.admissions.back().index >= from) node.admissions.pop_back();
    node.dirty = true;
    emit(s, EntriesTruncated{from});
}

void commit_up_to(Step& s, LogIndex index) {
    Node& node = s.node;
    CHECK(index <= last_index(node));
    while (node.commit_index < index) {
        node.commit_index += 1;
        const Entry& entry = entry_at(node.persistent, node.commit_index);
        if (entry.kind == EntryKind::kClaim && entry.term == node.persistent.term) node.caretakings_in_vain = 0;
        emit(s, Committed{entry});
    }
    refresh_participation(s);
}

}  // namespace tidelock::raft
