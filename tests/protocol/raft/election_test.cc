// Terms, votes, and who stands when (R2-R7, G2, G9).
#include <catch2/catch.hpp>

#include "protocol/raft/quorum.h"
#include "rig.h"

namespace tidelock::raft {
namespace {

VoteRequest vote_request(int from, int term, std::int64_t last_index, int last_term, bool transfer = false) {
    return {Term(term), life_of(from), LogIndex(last_index), Term(last_term), transfer};
}

PreVoteRequest pre_vote_request(int from, int next_term, std::int64_t last_index, int last_term) {
    return {Term(next_term), life_of(from), LogIndex(last_index), Term(last_term)};
}

Rig voter(std::vector<int> terms = {1, 1, 2}, int term = 2) {
    return {config_of(1, 3), voter_state(1, 3, std::move(terms), term)};
}

}  // namespace

TEST_CASE("R3 a majority is more than half of the members, odd or even") {
    const std::pair<std::size_t, std::size_t> table[] = {{1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 3}, {6, 4}, {7, 4}};
    for (const auto& [members, needed] : table) CHECK(majority(members) == needed);
}

TEST_CASE("R3 a single member forms and elects itself, each step once its disk has it") {
    Rig rig(config_of(1, 1), fresh_state(life_of(1)));
    CHECK(rig.has<Formed>());
    rig.persist();
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK_FALSE(is_leader(rig.node));
    rig.persist();
    CHECK(is_leader(rig.node));
    rig.apply(Proposed{EntryKind::kClaim, {}});
    CHECK(rig.node.commit_index == LogIndex(0));
    rig.persist();
    CHECK(rig.node.commit_index == LogIndex(1));
}

TEST_CASE("R3 of two members neither leads alone") {
    Rig rig(config_of(1, 2), voter_state(1, 2, {1}, 1));
    rig.apply(TimerFired{TimerKind::kElection});
    rig.persist();
    CHECK_FALSE(is_leader(rig.node));
    rig.lead();
    CHECK(is_leader(rig.node));
}

TEST_CASE("R2 a vote is told only when the disk has it") {
    Rig rig = voter();
    rig.receive(2, vote_request(2, 3, 3, 2));
    CHECK(rig.sent<VoteAnswer>().empty());
    CHECK_FALSE(rig.has<VoteGranted>());
    REQUIRE(rig.all<Persist>().size() == 1);
    rig.persist();
    REQUIRE(rig.sent<VoteAnswer>(2).size() == 1);
    CHECK(rig.sent<VoteAnswer>(2)[0].granted);
    CHECK(rig.has<VoteGranted>());
}

TEST_CASE("R2 a repeated request does not get its answer sooner than the first") {
    Rig rig = voter();
    rig.receive(2, vote_request(2, 3, 3, 2));
    rig.receive(2, vote_request(2, 3, 3, 2));
    CHECK(rig.sent<VoteAnswer>().empty());
    rig.persist();
    CHECK(rig.sent<VoteAnswer>(2).size() == 1);
}

TEST_CASE("R2 a write releases what rests on it and nothing that rests on a later one") {
    Rig rig = voter();
    rig.receive(2, rig.append_from(2, 2, 3, 2, {2}));
    const PersistSequence first = rig.node.requested_sequence;
    rig.receive(2, rig.append_from(2, 2, 4, 2, {2}));
    rig.apply(Persisted{first});
    REQUIRE(rig.sent<AppendAnswer>().size() == 1);
    CHECK(rig.sent<AppendAnswer>()[0].match_index == LogIndex(4));
    rig.persist();
    CHECK(rig.sent<AppendAnswer>()[0].match_index == LogIndex(5));
}

TEST_CASE("R2 a candidate asks for votes, and votes for itself, only when its disk has term and vote") {
    Rig rig = voter();
    rig.node.config.pre_vote = false;
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.node.persistent.term == Term(3));
    CHECK(rig.sent<VoteRequest>().empty());
    CHECK(std::get<Candidate>(rig.node.role).granted.empty());
    rig.persist();
    CHECK(rig.sent<VoteRequest>().size() == 2);
    CHECK(std::get<Candidate>(rig.node.role).granted == BrokerIds{BrokerId(1)});
}

TEST_CASE("V8 one vote a term: the same candidate again, nobody else, not even in another life") {
    Rig rig = voter();
    rig.receive(2, vote_request(2, 3, 3, 2));
    rig.persist();
    rig.receive(2, vote_request(2, 3, 3, 2));
    CHECK(rig.sent<VoteAnswer>(2)[0].granted);
    rig.receive(3, vote_request(3, 3, 9, 2));
    CHECK_FALSE(rig.sent<VoteAnswer>(3)[0].granted);
    VoteRequest reborn = vote_request(2, 3, 9, 2);
    reborn.candidate_incarnation = Incarnation(999);
    rig.receive(2, reborn);
    CHECK_FALSE(rig.sent<VoteAnswer>(2)[0].granted);
}

TEST_CASE("V8 stepping down in the same term keeps the vote") {
    Rig rig = voter();
    rig.lead();
    rig.apply(StepDownRequested{});
    CHECK(rig.node.persistent.voted_for == Member{BrokerId(1), life_of(1)});
    rig.receive(2, vote_request(2, 3, 9, 3));
    CHECK_FALSE(rig.sent<VoteAnswer>(2)[0].granted);
}

TEST_CASE("V8 votes and pre-votes compare logs by last term, then by index; an equal log is good enough") {
    struct Row {
        std::int64_t last_index;
        int last_term;
        bool granted;
    };
    const Row table[] = {{3, 2, true}, {4, 2, true}, {2, 2, false}, {9, 1, false}, {1, 3, true}};
    for (const Row& row : table) {
        Rig rig = voter();
        rig.receive(2, pre_vote_request(2, 4, row.last_index, row.last_term));
        CHECK(rig.sent<PreVoteAnswer>(2)[0].granted == row.granted);
        CHECK(rig.node.persistent.term == Term(2));
        rig.receive(2, vote_request(2, 4, row.last_index, row.last_term));
        rig.persist();
        const bool told_granted = !rig.sent<VoteAnswer>(2).empty() && rig.sent<VoteAnswer>(2)[0].granted;
        CHECK(told_granted == row.granted);
        CHECK(rig.node.persistent.term == Term(4));
    }
}

TEST_CASE("R6 a candidate asks for pre-votes first and raises no term before a majority agrees") {
    Rig rig = voter();
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.sent<PreVoteRequest>().size() == 2);
    CHECK_FALSE(rig.has<Persist>());
    CHECK(rig.node.persistent.term == Term(2));
    const std::uint64_t round = rig.sent<PreVoteRequest>().front().round;
    rig.receive(2, PreVoteAnswer{Term(2), Term(2), life_of(2), life_of(1), true, round});  // of an older term
    CHECK(rig.node.persistent.term == Term(2));
    rig.receive(2, PreVoteAnswer{Term(2), Term(3), life_of(2), life_of(1), true, round});
    CHECK(rig.node.persistent.term == Term(3));
}

TEST_CASE("R6 a grant that outlives a restart is no grant of a round of the next boot") {
    const auto booted = [](std::uint64_t nonce) {
        return make_node(config_of(1, 3), voter_state(1, 3, {1}, 2), Bytes::copy_of("p"), nonce).pre_vote_round;
    };
    CHECK(booted(77) != booted(78));
}

TEST_CASE("R6 a pre-vote that was granted before a leader was heard does not help to depose it") {
    Rig rig = voter();
    rig.apply(TimerFired{TimerKind::kElection});
    const std::uint64_t first = rig.sent<PreVoteRequest>().front().round;
    rig.apply(TimerFired{TimerKind::kElection});
    const std::uint64_t second = rig.node.pre_vote_round;
    REQUIRE(second != first);
    rig.receive(2, PreVoteAnswer{Term(2), Term(3), life_of(2), life_of(1), true, first});
    CHECK(rig.node.persistent.term == Term(2));
    rig.receive(2, PreVoteAnswer{Term(2), Term(3), life_of(2), life_of(1), true, second});
    CHECK(rig.node.persistent.term == Term(3));
}

TEST_CASE("R6 the answer to a pre-vote names the round that was asked about") {
    Rig rig = voter();
    PreVoteRequest request = pre_vote_request(2, 3, 100, 2);
    request.round = 77;
    rig.receive(2, request);
    CHECK(rig.sent<PreVoteAnswer>(2)[0].round == 77);
}

TEST_CASE("R6 a real vote never counts as a pre-vote, nor the other way round") {
    Rig rig = voter();
    rig.apply(TimerFired{TimerKind::kElection});
    rig.receive(2, VoteAnswer{Term(2), life_of(2), life_of(1), true});
    CHECK(std::get<Candidate>(rig.node.role).pre_vote);
    rig.receive(2, PreVoteAnswer{Term(2), Term(3), life_of(2), life_of(1), true, 1});
    rig.persist();
    rig.receive(3, PreVoteAnswer{Term(3), Term(4), life_of(3), life_of(1), true, 1});
    CHECK_FALSE(is_leader(rig.node));
}

TEST_CASE("R6 each candidacy in vain widens the draw, so that several who stand at once part; a leader ends that") {
    Rig rig = voter();
    const Duration shortest = rig.node.config.election_timeout_min;
    const auto drawn_up_to = [&] {
        const auto timers = rig.all<SetTimer>();
        const auto timer = std::find_if(timers.begin(), timers.end(),
                                        [](const SetTimer& set) { return set.timer == TimerKind::kElection; });
        REQUIRE(timer != timers.end());
        CHECK(timer->min == shortest);
        return timer->max;
    };
    Duration widest = rig.node.config.election_timeout_max;
    for (int i = 0; i < kElectionsInVainMax + 3; ++i) {
        rig.apply(TimerFired{TimerKind::kElection});
        CHECK(drawn_up_to() == widest);
        if (i < kElectionsInVainMax) widest = widest + Duration(shortest.value / 2);
    }
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    CHECK(rig.node.elections_in_vain == 0);
}

TEST_CASE("R6 while a live leader is heard, votes and pre-votes are refused and the term stays") {
    Rig rig = voter();
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    rig.pass(rig.node.config.election_timeout_min - nanoseconds(1));
    rig.receive(3, pre_vote_request(3, 3, 9, 9));
    CHECK_FALSE(rig.sent<PreVoteAnswer>(3)[0].granted);
    rig.receive(3, vote_request(3, 3, 9, 9));
    CHECK_FALSE(rig.sent<VoteAnswer>(3)[0].granted);
    CHECK(rig.node.persistent.term == Term(2));
    rig.pass(nanoseconds(1));
    rig.receive(3, pre_vote_request(3, 3, 9, 9));
    CHECK(rig.sent<PreVoteAnswer>(3)[0].granted);
}

TEST_CASE("R6 off: a rejoining replica forces an election") {
    Config config = config_of(1, 3);
    config.pre_vote = false;
    Rig rig(config, voter_state(1, 3, {1}, 1));
    rig.lead();
    rig.receive(3, vote_request(3, 7, 9, 9));
    CHECK(rig.all<SteppedDown>().size() == 1);
    CHECK(rig.node.persistent.term == Term(7));
}

TEST_CASE("R6 a broken connection to the leader ends its protection and is a reason to stand soon") {
    Rig rig = voter();
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    rig.apply(PeerDisconnected{BrokerId(3)});
    CHECK(rig.effects.empty());
    rig.apply(PeerDisconnected{BrokerId(2)});
    REQUIRE(rig.all<SetTimer>().size() == 1);
    CHECK(rig.all<SetTimer>()[0].max == rig.node.config.disconnect_stand_max);
    rig.receive(3, pre_vote_request(3, 3, 3, 2));
    CHECK(rig.sent<PreVoteAnswer>(3)[0].granted);
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.has<BecameCandidate>());
}

TEST_CASE("R6 G9 only the first report of a broken connection is news: refused reconnects put off nobody") {
    Rig rig = voter();
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    rig.apply(PeerDisconnected{BrokerId(2)});
    CHECK(rig.has<SetTimer>());
    rig.apply(PeerDisconnected{BrokerId(2)});
    CHECK_FALSE(rig.has<SetTimer>());
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));  // it lives after all
    rig.apply(PeerDisconnected{BrokerId(2)});
    CHECK(rig.has<SetTimer>());
}

TEST_CASE("R6 a timer that fires while the leader is heard is set again for the rest only") {
    Rig rig = voter();
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    rig.pass(milliseconds(100));
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK_FALSE(rig.has<BecameCandidate>());
    REQUIRE(rig.all<SetTimer>().size() == 1);
    CHECK(rig.all<SetTimer>()[0].min == milliseconds(50));
    CHECK(rig.all<SetTimer>()[0].max == milliseconds(200));
}

TEST_CASE("R5 a leader that has not heard a majority for an election timeout steps down") {
    Rig rig = voter();
    rig.lead();
    rig.pass(milliseconds(200));
    rig.receive(2, rig.accepted_by(2, 4));
    rig.pass(milliseconds(299));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK(is_leader(rig.node));
    rig.pass(milliseconds(1));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    REQUIRE(rig.all<SteppedDown>().size() == 1);
    CHECK(rig.all<SteppedDown>()[0].reason == StepDownReason::kQuorumLost);
}

TEST_CASE("R5 replicas that do not count do not keep a leader alive") {
    Rig rig = voter();
    rig.lead();
    rig.pass(milliseconds(300));
    AppendAnswer learner = rig.accepted_by(2, 4);
    learner.participation = Participation::kLearner;
    rig.receive(2, learner);
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK_FALSE(is_leader(rig.node));
}

TEST_CASE("R5 a voter is heard by any answer of the term, whatever it says of the log") {
    const auto leads_on = [](auto&& answer) {
        Rig rig = voter();
        rig.lead();
        for (int beat = 0; beat < 20; ++beat) {
            rig.pass(milliseconds(50));
            answer(rig);
            rig.apply(TimerFired{TimerKind::kHeartbeat});
            if (!is_leader(rig.node)) return false;
        }
        return committable_index(rig.node, std::get<Leader>(rig.node.role)) == rig.node.commit_index;
    };
    CHECK(leads_on([](Rig& rig) { rig.receive(2, rig.refused_by(2, 3, 1, 0)); }));
    CHECK(leads_on([](Rig& rig) {
        SnapshotAnswer chunk;
        chunk.term = rig.node.persistent.term;
        chunk.follower_incarnation = life_of(2);
        chunk.believed_incarnation = life_of(2);
        chunk.leader_incarnation = rig.node.persistent.incarnation;
        chunk.participation = Participation::kVoter;
        rig.receive(2, chunk);
    }));
    CHECK_FALSE(leads_on([](Rig& rig) {
        AppendAnswer learner = rig.refused_by(2, 3, 1, 0);
        learner.participation = Participation::kLearner;
        rig.receive(2, learner);
    }));
    CHECK_FALSE(leads_on([](Rig& rig) {
        AppendAnswer older = rig.refused_by(2, 3, 1, 0);
        older.term = Term(rig.node.persistent.term.value - 1);
        rig.receive(2, older);
    }));
}

TEST_CASE("R5 BUGS-27 a leader whose disk hangs does not look alive for ever") {
    Rig rig = voter();
    rig.lead();
    rig.apply(Proposed{EntryKind::kCommand, {}});
    for (int beat = 0; beat < 6; ++beat) {
        rig.pass(milliseconds(50));
        rig.receive(2, rig.accepted_by(2, 5));
        rig.apply(TimerFired{TimerKind::kHeartbeat});
        REQUIRE(is_leader(rig.node));
    }
    rig.pass(milliseconds(1));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    REQUIRE(rig.all<SteppedDown>().size() == 1);
    CHECK(rig.all<SteppedDown>()[0].reason == StepDownReason::kStorageStalled);
}

TEST_CASE("R2 a replica whose disk hangs does not stand: it piles up no terms that it could not keep") {
    Rig rig = voter();
    rig.receive(2, vote_request(2, 3, 3, 2));
    rig.pass(rig.node.config.election_timeout_max + nanoseconds(1));
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK_FALSE(rig.has<BecameCandidate>());
    CHECK(rig.has<SetTimer>());
    rig.persist();
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.has<BecameCandidate>());
}

TEST_CASE("R4 a leader appends nothing by itself; its claim is the owner's to propose") {
    Rig rig = voter();
    rig.lead(false);
    CHECK(is_leader(rig.node));
    CHECK(rig.last() == 3);
    rig.apply(Proposed{EntryKind::kClaim, Bytes::copy_of("c")});
    CHECK(rig.all<EntriesAppended>() == std::vector<EntriesAppended>{{LogIndex(4), LogIndex(4)}});
    CHECK(rig.node.persistent.entries.back().kind == EntryKind::kClaim);
    for (const AppendRequest& request : rig.sent<AppendRequest>()) CHECK(request.entries.size() == 1);
}

TEST_CASE("BUGS-21 whoever is in an older term is told the newer one") {
    Rig rig = voter({1}, 5);
    rig.receive(2, rig.append_from(2, 4, 1, 1, {}));
    CHECK(rig.sent<AppendAnswer>(2)[0].term == Term(5));
    rig.receive(2, vote_request(2, 4, 9, 4));
    CHECK(rig.sent<VoteAnswer>(2)[0].term == Term(5));
    rig.receive(2, pre_vote_request(2, 4, 9, 4));
    CHECK(rig.sent<PreVoteAnswer>(2)[0].term == Term(5));
    CHECK_FALSE(rig.sent<PreVoteAnswer>(2)[0].granted);
    Rig behind = voter({1}, 2);
    behind.apply(TimerFired{TimerKind::kElection});
    behind.receive(2, PreVoteAnswer{Term(5), Term(3), life_of(2), life_of(1), false});
    CHECK(behind.node.persistent.term == Term(5));
}

TEST_CASE("BUGS-26 appends of an older term do not keep a follower from standing") {
    Rig rig = voter({1}, 5);
    rig.receive(2, rig.append_from(2, 4, 1, 1, {}));
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.has<BecameCandidate>());
}

TEST_CASE("R7 the owner's veto: never standing, and giving up what it has") {
    Rig rig = voter();
    rig.apply(EligibilityChanged{Eligibility::kNever});
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.effects.empty());
    rig.apply(EligibilityChanged{Eligibility::kMayLead});
    rig.lead();
    rig.apply(EligibilityChanged{Eligibility::kCaretakerOnly});
    REQUIRE(rig.all<SteppedDown>().size() == 1);
    CHECK(rig.all<SteppedDown>()[0].reason == StepDownReason::kNotEligible);
}

TEST_CASE("G9 a caretaker stands later than everybody else") {
    Rig rig = voter();
    rig.apply(EligibilityChanged{Eligibility::kCaretakerOnly});
    REQUIRE(rig.all<SetTimer>().size() == 1);
    CHECK(rig.all<SetTimer>()[0].min == rig.node.config.election_timeout_min + rig.node.config.caretaker_delay);
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    rig.pass(rig.node.config.election_timeout_max);
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK_FALSE(rig.has<BecameCandidate>());
    rig.pass(rig.node.config.caretaker_delay);
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.has<BecameCandidate>());
}

TEST_CASE("G9 a caretaker takes no proposal, and leads in earnest once it is eligible") {
    Rig rig = voter();
    rig.apply(EligibilityChanged{Eligibility::kCaretakerOnly});
    rig.lead();
    REQUIRE(is_caretaker(rig.node));
    rig.apply(Proposed{EntryKind::kClaim, {}});
    CHECK(rig.all<ProposalRefused>()[0].reason == RefusalReason::kCaretaker);
    rig.apply(EligibilityChanged{Eligibility::kMayLead});
    CHECK(rig.all<BecameLeader>() == std::vector<BecameLeader>{{Term(3), false}});
    rig.apply(Proposed{EntryKind::kClaim, {}});
    CHECK(rig.has<EntriesAppended>());
}

TEST_CASE("V8 a second leader of a term is named and ignored") {
    Rig rig = voter();
    rig.receive(2, rig.append_from(2, 2, 3, 2, {}));
    rig.receive(3, rig.append_from(3, 2, 3, 2, {2}));
    CHECK(rig.all<ProtocolViolated>()[0].kind == ViolationKind::kTwoLeadersInTerm);
    CHECK(rig.last() == 3);
}

TEST_CASE("R1 a stranger's messages change nothing") {
    Rig rig = voter();
    const Node before = rig.node;
    rig.receive(9, vote_request(9, 8, 9, 7));
    rig.receive(1, vote_request(1, 8, 9, 7));
    CHECK(rig.node == before);
}

}  // namespace tidelock::raft
