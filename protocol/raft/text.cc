#include "protocol/raft/text.h"

#include <fmt/format.h>

namespace tidelock::raft {
namespace {

std::string text_of(const PreVoteRequest& m) {
    return fmt::format("pre-vote request round={} next_term={} life={:x} last=({}, {})", m.round, m.next_term.value,
                       m.candidate_incarnation.value, m.last_log_index.value, m.last_log_term.value);
}

std::string text_of(const PreVoteAnswer& m) {
    return fmt::format("pre-vote answer round={} term={} next_term={} voter={:x} candidate={:x} {}", m.round,
                       m.term.value, m.next_term.value, m.voter_incarnation.value, m.candidate_incarnation.value,
                       m.granted ? "granted" : "refused");
}

std::string text_of(const VoteRequest& m) {
    return fmt::format("vote request term={} life={:x} last=({}, {}){}", m.term.value, m.candidate_incarnation.value,
                       m.last_log_index.value, m.last_log_term.value, m.transfer ? " transfer" : "");
}

std::string text_of(const VoteAnswer& m) {
    return fmt::format("vote answer term={} voter={:x} candidate={:x} {}", m.term.value, m.voter_incarnation.value,
                       m.candidate_incarnation.value, m.granted ? "granted" : "refused");
}

std::string text_of(const AppendRequest& m) {
    return fmt::format("append request term={} life={:x} to={:x} prev=({}, {}) commit={} round={} entries={}",
                       m.term.value, m.leader_incarnation.value, m.follower_incarnation.value, m.prev_log_index.value,
                       m.prev_log_term.value, m.commit_index.value, m.read_round.value, m.entries.size());
}

std::string_view name_of(Participation participation) {
    switch (participation) {
        case Participation::kEmpty:
            return "empty";
        case Participation::kLearner:
            return "learner";
        case Participation::kVoter:
            return "voter";
    }
    return "?";
}

std::string text_of(const AppendAnswer& m) {
    const std::string head = fmt::format("append answer term={} life={:x} believed={:x} {} round={}", m.term.value,
                                         m.follower_incarnation.value, m.believed_incarnation.value,
                                         name_of(m.participation), m.read_round.value);
    if (m.accepted) return fmt::format("{} match={}", head, m.match_index.value);
    return fmt::format("{} refused prev={} conflict=({}, {})", head, m.match_index.value, m.conflict_index.value,
                       m.conflict_term.value);
}

std::string text_of(const SnapshotRequest& m) {
    return fmt::format("snapshot request term={} life={:x} to={:x} last=({}, {}) round={} bytes=[{}, {}) of {}",
                       m.term.value, m.leader_incarnation.value, m.follower_incarnation.value, m.last_index.value,
                       m.last_term.value, m.read_round.value, m.offset, m.offset + m.chunk.size(), m.snapshot_bytes);
}

std::string text_of(const SnapshotAnswer& m) {
    return fmt::format("snapshot answer term={} life={:x} believed={:x} {} round={} last={} {}", m.term.value,
                       m.follower_incarnation.value, m.believed_incarnation.value, name_of(m.participation),
                       m.read_round.value, m.last_index.value,
                       m.installed ? std::string("installed") : fmt::format("next_offset={}", m.next_offset));
}

std::string text_of(const TimeoutNow& m) {
    return fmt::format("timeout now term={}", m.term.value);
}

std::string text_of(const std::vector<FormedMember>& members) {
    std::string text;
    for (const FormedMember& member : members)
        text += fmt::format("{}{}:{:x}", text.empty() ? "" : " ", member.broker.value, member.incarnation.value);
    return text;
}

std::string text_of(const FormationStatement& m) {
    return fmt::format("formation statement {} life={:x} view={:x} echo={:x} members=[{}]",
                       m.formed ? "formed" : "empty", m.incarnation.value, m.view, m.echoed_view, text_of(m.members));
}

std::string_view name_of(TimerKind timer) {
    switch (timer) {
        case TimerKind::kElection:
            return "election";
        case TimerKind::kHeartbeat:
            return "heartbeat";
        case TimerKind::kTransfer:
            return "transfer";
        case TimerKind::kFormation:
            return "formation";
    }
    return "?";
}

std::string_view name_of(EntryKind kind) {
    switch (kind) {
        case EntryKind::kClaim:
            return "claim";
        case EntryKind::kCommand:
            return "command";
        case EntryKind::kAdmission:
            return "admission";
    }
    return "?";
}

std::string_view name_of(Eligibility eligibility) {
    switch (eligibility) {
        case Eligibility::kNever:
            return "never";
        case Eligibility::kCaretakerOnly:
            return "caretaker only";
        case Eligibility::kMayLead:
            return "may lead";
    }
    return "?";
}

std::string_view name_of(StepDownReason reason) {
    switch (reason) {
        case StepDownReason::kHigherTerm:
            return "higher term";
        case StepDownReason::kQuorumLost:
            return "quorum lost";
        case StepDownReason::kStorageStalled:
            return "storage stalled";
        case StepDownReason::kCaretakingInVain:
            return "caretaking in vain";
        case StepDownReason::kNotEligible:
            return "not eligible";
        case StepDownReason::kRequested:
            return "requested";
    }
    return "?";
}

std::string_view name_of(RefusalReason reason) {
    switch (reason) {
        case RefusalReason::kNotLeader:
            return "not leader";
        case RefusalReason::kCaretaker:
            return "caretaker";
        case RefusalReason::kTransferring:
            return "transferring";
    }
    return "?";
}

std::string_view name_of(ViolationKind kind) {
    switch (kind) {
        case ViolationKind::kTwoLeadersInTerm:
            return "two leaders in a term";
        case ViolationKind::kCommittedEntryConflict:
            return "conflict with a committed entry";
    }
    return "?";
}

std::string text_of(const BrokerIds& brokers) {
    std::string text;
    for (const BrokerId broker : brokers) text += fmt::format("{}{}", text.empty() ? "" : " ", broker.value);
    return text;
}

std::string text_of(const Started&) {
    return "started";
}
std::string text_of(const MessageReceived& e) {
    return fmt::format("received from {}: {}", e.from.value, to_text(e.message));
}
std::string text_of(const TimerFired& e) {
    return fmt::format("{} timer fired", name_of(e.timer));
}
std::string text_of(const Proposed& e) {
    return fmt::format("proposed {} of {} bytes", name_of(e.kind), e.payload.size());
}
std::string text_of(const Persisted& e) {
    return fmt::format("persisted {}", e.sequence.value);
}
std::string text_of(const PeerDisconnected& e) {
    return fmt::format("peer {} disconnected", e.peer.value);
}
std::string text_of(const EligibilityChanged& e) {
    return fmt::format("eligibility: {}", name_of(e.eligibility));
}
std::string text_of(const EligibleMembersChanged& e) {
    return fmt::format("eligible members: [{}]", text_of(e.members));
}
std::string text_of(const ConfirmationRequested& e) {
    return fmt::format("confirmation of round {} requested", e.round.value);
}
std::string text_of(const TransferRequested& e) {
    return fmt::format("transfer to {} requested", e.target.value);
}
std::string text_of(const StepDownRequested&) {
    return "step down requested";
}
std::string text_of(const SnapshotReady& e) {
    return fmt::format("snapshot ready: last={} of {} bytes", e.last_index.value, e.data.size());
}

std::string text_of(const Send& e) {
    return fmt::format("send to {}: {}", e.to.value, to_text(e.message));
}
std::string text_of(const Persist& e) {
    return fmt::format("persist {}", e.sequence.value);
}
std::string text_of(const SetTimer& e) {
    return fmt::format("set {} timer [{}, {}] us", name_of(e.timer), e.min.value / 1'000, e.max.value / 1'000);
}
std::string text_of(const CancelTimer& e) {
    return fmt::format("cancel {} timer", name_of(e.timer));
}
std::string text_of(const EntriesAppended& e) {
    return fmt::format("appended [{}, {}]", e.first.value, e.last.value);
}
std::string text_of(const EntriesTruncated& e) {
    return fmt::format("truncated from {}", e.from.value);
}
std::string text_of(const Committed& e) {
    return fmt::format("committed {} ({} of term {})", e.entry.index.value, name_of(e.entry.kind), e.entry.term.value);
}
std::string text_of(const BecameFollower& e) {
    return fmt::format("became follower in term {}", e.term.value);
}
std::string text_of(const BecameCandidate& e) {
    return fmt::format("became {} in term {}", e.pre_vote ? "pre-candidate" : "candidate", e.term.value);
}
std::string text_of(const BecameLeader& e) {
    return fmt::format("became {} of term {}", e.caretaker ? "caretaker" : "leader", e.term.value);
}
std::string text_of(const SteppedDown& e) {
    return fmt::format("stepped down in term {}: {}", e.term.value, name_of(e.reason));
}
std::string text_of(const LeadershipConfirmed& e) {
    return fmt::format("leadership confirmed up to round {}", e.up_to.value);
}
std::string text_of(const LeaderKnown& e) {
    return e.leader ? fmt::format("leader {} of term {}", e.leader->value, e.term.value)
                    : fmt::format("no leader known in term {}", e.term.value);
}
std::string text_of(const VoteGranted& e) {
    return fmt::format("voted for {}:{:x} in term {}", e.candidate.broker.value, e.candidate.incarnation.value,
                       e.term.value);
}
std::string text_of(const SnapshotInstalled& e) {
    return fmt::format("installed snapshot: last={} of {} bytes", e.last_index.value, e.data.size());
}
std::string text_of(const NeedSnapshot&) {
    return "need snapshot";
}
std::string text_of(const TransferFinished& e) {
    return fmt::format("transfer to {} {}", e.target.value, e.succeeded ? "succeeded" : "failed");
}
std::string text_of(const ProposalRefused& e) {
    return fmt::format("proposal refused: {}", name_of(e.reason));
}
std::string text_of(const Formed& e) {
    return fmt::format("formed [{}]", text_of(e.members));
}
std::string text_of(const VoterChanged& e) {
    return e.voter ? "counts from now on" : "counts no more";
}
std::string text_of(const ProtocolViolated& e) {
    return fmt::format("violation by {}: {}", e.peer.value, name_of(e.kind));
}

std::string role_text(const Role& role) {
    if (const Leader* leader = std::get_if<Leader>(&role)) return leader->caretaker ? "caretaker" : "leader";
    if (const Candidate* candidate = std::get_if<Candidate>(&role))
        return candidate->pre_vote ? "pre-candidate" : "candidate";
    return "follower";
}

}  // namespace

std::string to_text(const Message& message) {
    return std::visit([](const auto& body) { return text_of(body); }, message);
}

std::string to_text(const Event& event) {
    return std::visit([](const auto& body) { return text_of(body); }, event);
}

std::string to_text(const Effect& effect) {
    return std::visit([](const auto& body) { return text_of(body); }, effect);
}

std::string to_text(const Node& node) {
    const PersistentState& state = node.persistent;
    const std::string vote =
        state.voted_for ? fmt::format("{}:{:x}", state.voted_for->broker.value, state.voted_for->incarnation.value)
                        : std::string("none");
    return fmt::format("{} {} term={} vote={} log=({}, {}] last_term={} commit={} {}", node.config.self.value,
                       role_text(node.role), state.term.value, vote, state.snapshot.last_index.value,
                       last_index(state).value, last_term(state).value, node.commit_index.value,
                       is_empty(state) ? "empty"
                       : state.voter   ? "voter"
                                       : "learner");
}

}  // namespace tidelock::raft
