// One replica on a bench: given a state, apply events, look at what it asks for.
#pragma once

#include <string>
#include <vector>

#include "protocol/raft/raft.h"
#include "protocol/raft/text.h"

namespace tidelock::raft {

/// The life of member `broker` in these tests, unless said otherwise.
inline Incarnation life_of(int broker) {
    return Incarnation(static_cast<std::uint64_t>(100 * broker));
}

inline Config config_of(int self, int member_count) {
    Config config;
    config.self = BrokerId(self);
    for (int i = 1; i <= member_count; ++i) config.members.push_back(BrokerId(i));
    return config;
}

/// A formed voter whose log has one command entry for each of `terms`, in term `term`, without a vote.
inline PersistentState voter_state(int self, int member_count, std::vector<int> terms, int term) {
    PersistentState state = fresh_state(life_of(self));
    for (int i = 1; i <= member_count; ++i) state.snapshot.membership.push_back({BrokerId(i), life_of(i)});
    state.voter = true;
    state.term = Term(term);
    for (const int entry_term : terms)
        state.entries.push_back({last_index(state) + 1, Term(entry_term), EntryKind::kCommand, Bytes::copy_of("x")});
    return state;
}

class Rig {
  public:
    Rig(Config config, PersistentState state)
        : node(make_node(std::move(config), std::move(state), Bytes::copy_of("p"), 1)) {
        apply(EligibilityChanged{Eligibility::kMayLead});
        apply(Started{});
    }

    const Effects& apply(Event event) {
        effects.clear();
        step(node, now, event, effects);
        return effects;
    }
    const Effects& receive(int from, Message message) {
        return apply(MessageReceived{BrokerId(from), std::move(message)});
    }
    /// The disk catches up with everything asked for.
    const Effects& persist() { return apply(Persisted{node.requested_sequence}); }
    void pass(Duration span) { now = now + span; }

    /// All effects of type E of the last event.
    template <typename E>
    std::vector<E> all() const {
        std::vector<E> found;
        for (const Effect& effect : effects)
            if (const E* one = std::get_if<E>(&effect)) found.push_back(*one);
        return found;
    }
    template <typename E>
    bool has() const {
        return !all<E>().empty();
    }
    /// All messages of type M the last event sent to `to`; 0 is anybody.
    template <typename M>
    std::vector<M> sent(int to = 0) const {
        std::vector<M> found;
        for (const Send& send : all<Send>())
            if (const M* one = std::get_if<M>(&send.message); one != nullptr && (to == 0 || send.to == BrokerId(to)))
                found.push_back(*one);
        return found;
    }

    /// Wins an election in the next term against silent disks and willing voters, then proposes a claim unless told not
    /// to.
    void lead(bool claim = true) {
        apply(TimerFired{TimerKind::kElection});
        if (const Candidate* asking = std::get_if<Candidate>(&node.role); asking != nullptr && asking->pre_vote)
            for (int peer : peers())
                receive(peer, PreVoteAnswer{node.persistent.term, Term(node.persistent.term.value + 1), life_of(peer),
                                            node.persistent.incarnation, true, node.pre_vote_round});
        persist();
        for (int peer : peers())
            if (!is_leader(node)) receive(peer, vote_of(peer));
        if (claim && !is_caretaker(node)) {
            apply(Proposed{EntryKind::kClaim, Bytes::copy_of("claim")});
            persist();
        }
    }
    VoteAnswer vote_of(int peer) const {
        return {node.persistent.term, life_of(peer), node.persistent.incarnation, true};
    }
    /// A voter's answer that it holds everything up to `match`.
    AppendAnswer accepted_by(int peer, std::int64_t match) const {
        AppendAnswer answer;
        answer.term = node.persistent.term;
        answer.follower_incarnation = life_of(peer);
        answer.believed_incarnation = life_of(peer);
        answer.leader_incarnation = node.persistent.incarnation;
        answer.participation = Participation::kVoter;
        answer.accepted = true;
        answer.match_index = LogIndex(match);
        return answer;
    }
    AppendAnswer refused_by(int peer, std::int64_t prev, std::int64_t conflict_index, int conflict_term) const {
        AppendAnswer answer = accepted_by(peer, prev);
        answer.accepted = false;
        answer.conflict_index = LogIndex(conflict_index);
        answer.conflict_term = Term(conflict_term);
        return answer;
    }
    /// An append of leader `from` with one command entry for each of `terms` after (prev, prev_term).
    AppendRequest append_from(int from, int term, std::int64_t prev, int prev_term, std::vector<int> terms,
                              std::int64_t commit = 0) const {
        AppendRequest request{Term(term),
                              life_of(from),
                              node.persistent.incarnation,
                              LogIndex(prev),
                              Term(prev_term),
                              LogIndex(commit),
                              ReadRound(0),
                              {}};
        for (const int entry_term : terms)
            request.entries.push_back({LogIndex(++prev), Term(entry_term), EntryKind::kCommand, Bytes::copy_of("x")});
        return request;
    }
    const Progress& progress_of(int peer) const {
        for (const Progress& progress : std::get<Leader>(node.role).followers)
            if (progress.broker == BrokerId(peer)) return progress;
        throw std::out_of_range("no such peer");
    }
    std::int64_t last() const { return last_index(node.persistent).value; }
    std::vector<int> peers() const {
        std::vector<int> others;
        for (const BrokerId member : node.config.members)
            if (member != node.config.self) others.push_back(member.value);
        return others;
    }

    Node node;
    Instant now{1'000'000'000};
    Effects effects;
};

}  // namespace tidelock::raft
