// Who counts (R11): forming a group, admitting a replica that lost its state, and messages of lives that are over.
#include <catch2/catch.hpp>

#include "rig.h"

namespace tidelock::raft {
namespace {

Rig empty_replica(int self = 1, int members = 3) {
    return {config_of(self, members), fresh_state(life_of(self))};
}

FormedMember line_of(int broker, Incarnation life) {
    return {BrokerId(broker), life, Bytes::copy_of("p")};
}
FormedMember line_of(int broker) {
    return line_of(broker, life_of(broker));
}

/// What broker `from` says in answer to the rig's present view.
FormationStatement statement(const Rig& rig, int from, std::vector<FormedMember> members, bool formed = false) {
    return {life_of(from), formed, 1'000 + static_cast<std::uint64_t>(from), rig.node.formation.view,
            std::move(members)};
}

const std::vector<FormedMember> kAll = {line_of(1), line_of(2), line_of(3)};

/// The rig hears of 2 and 3 for the first time.
void introduce(Rig& rig) {
    for (int from : {2, 3}) rig.receive(from, statement(rig, from, {line_of(from)}));
}

AppendAnswer answer_of(const Rig& rig, Incarnation life, Incarnation believed, Participation participation,
                       std::int64_t match) {
    AppendAnswer answer = rig.accepted_by(2, match);
    answer.follower_incarnation = life;
    answer.believed_incarnation = believed;
    answer.participation = participation;
    return answer;
}

/// A leader of three whose claim (entry 2) is committed by 3; member 2 has come back as life 222.
Rig leader_hearing_of_222() {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.lead();
    rig.receive(3, rig.accepted_by(3, 2));
    rig.receive(2, answer_of(rig, Incarnation(222), life_of(2), Participation::kLearner, 1));
    return rig;
}

}  // namespace

TEST_CASE("R11 an empty replica neither votes nor stands nor takes entries nor raises its term") {
    Rig rig = empty_replica();
    const PersistentState before = rig.node.persistent;
    rig.receive(2, VoteRequest{Term(3), life_of(2), LogIndex(9), Term(2), false});
    CHECK(rig.effects.empty());
    rig.receive(2, PreVoteRequest{Term(3), life_of(2), LogIndex(9), Term(2)});
    CHECK(rig.effects.empty());
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.effects.empty());
    rig.receive(2, TimeoutNow{Term(0), life_of(2), life_of(1)});
    CHECK(rig.effects.empty());
    rig.receive(2, rig.append_from(2, 3, 0, 0, {1}));
    REQUIRE(rig.sent<AppendAnswer>(2).size() == 1);
    CHECK(rig.sent<AppendAnswer>(2)[0].participation == Participation::kEmpty);
    CHECK_FALSE(rig.sent<AppendAnswer>(2)[0].accepted);
    CHECK(rig.node.persistent == before);
}

TEST_CASE("R11 a group forms when everybody is empty and knows the same lives") {
    Rig rig = empty_replica();
    CHECK(rig.sent<FormationStatement>().size() == 2);
    introduce(rig);
    rig.receive(2, statement(rig, 2, kAll));
    CHECK_FALSE(rig.has<Formed>());
    rig.receive(3, statement(rig, 3, kAll));
    CHECK(rig.all<Formed>() == std::vector<Formed>{{kAll}});
    CHECK(rig.all<VoterChanged>() == std::vector<VoterChanged>{{true, LogIndex(0)}});
    CHECK(rig.sent<FormationStatement>().empty());  // not before the disk has it
    rig.persist();
    REQUIRE(rig.sent<FormationStatement>(2).size() == 1);
    CHECK(rig.sent<FormationStatement>(2)[0].formed);
}

TEST_CASE("R11 a statement counts only if it names the same lives and answers the present view") {
    Rig rig = empty_replica();
    introduce(rig);
    rig.receive(3, statement(rig, 3, kAll));
    rig.receive(2, statement(rig, 2, {line_of(1), line_of(2)}));
    CHECK_FALSE(rig.has<Formed>());
    rig.receive(2, statement(rig, 2, {line_of(1, Incarnation(5)), line_of(2), line_of(3)}));
    CHECK_FALSE(rig.has<Formed>());
    FormationStatement stale = statement(rig, 2, kAll);
    stale.echoed_view -= 1;
    rig.receive(2, stale);
    CHECK_FALSE(rig.has<Formed>());
    rig.receive(2, statement(rig, 2, kAll));
    CHECK(rig.has<Formed>());
}

TEST_CASE("R11 another life of a peer voids what all others agreed to") {
    Rig rig = empty_replica();
    introduce(rig);
    rig.receive(3, statement(rig, 3, kAll));
    const std::uint64_t view = rig.node.formation.view;
    FormationStatement reborn = statement(rig, 2, {line_of(2, Incarnation(222))});
    reborn.incarnation = Incarnation(222);
    rig.receive(2, reborn);
    CHECK(rig.node.formation.view != view);
    CHECK(rig.sent<FormationStatement>().size() == 2);
    // The life before it said this in time; it comes late and brings the old view of things, not an agreement.
    FormationStatement ghost = statement(rig, 2, kAll);
    ghost.echoed_view = view;
    rig.receive(2, ghost);
    rig.receive(3, statement(rig, 3, kAll));
    rig.receive(2, ghost);
    CHECK_FALSE(rig.has<Formed>());
    CHECK(is_empty(rig.node.persistent));
}

TEST_CASE("R11 who missed the last word adopts what the others formed with, if it is named and the word is fresh") {
    Rig rig = empty_replica();
    FormationStatement stale = statement(rig, 2, kAll, true);
    stale.echoed_view -= 1;
    rig.receive(2, stale);
    CHECK(is_empty(rig.node.persistent));
    rig.receive(2, statement(rig, 2, {line_of(1, Incarnation(5)), line_of(2), line_of(3)}, true));
    CHECK(is_empty(rig.node.persistent));
    rig.receive(2, statement(rig, 2, {line_of(1), line_of(2)}, true));
    CHECK(is_empty(rig.node.persistent));
    rig.receive(2, statement(rig, 2, kAll, true));
    CHECK(rig.node.persistent.voter);
}

TEST_CASE("R11 a formed replica never calls itself empty again; it tells whoever asks") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {}, 0));
    FormationStatement asking = statement(rig, 2, {line_of(2)});
    rig.receive(2, asking);
    REQUIRE(rig.sent<FormationStatement>(2).size() == 1);
    CHECK(rig.sent<FormationStatement>(2)[0].formed);
    CHECK(rig.sent<FormationStatement>(2)[0].echoed_view == asking.view);
    rig.apply(TimerFired{TimerKind::kFormation});
    CHECK(rig.effects.empty());
}

TEST_CASE("R11 an empty replica gets the base snapshot, even of a log that was never compacted") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.lead();
    AppendAnswer answer = answer_of(rig, Incarnation(222), life_of(2), Participation::kEmpty, 0);
    answer.accepted = false;
    rig.receive(2, answer);
    REQUIRE(rig.sent<SnapshotRequest>(2).size() == 1);
    const SnapshotRequest request = rig.sent<SnapshotRequest>(2)[0];
    CHECK(request.last_index == LogIndex(0));

    Rig reborn(config_of(2, 3), fresh_state(Incarnation(222)));
    reborn.receive(1, request);
    CHECK(reborn.has<Formed>());
    CHECK_FALSE(reborn.has<SnapshotInstalled>());
    CHECK_FALSE(reborn.node.persistent.voter);
    CHECK(reborn.node.persistent.term == rig.node.persistent.term);
    reborn.persist();
    REQUIRE(reborn.sent<SnapshotAnswer>(1).size() == 1);
    CHECK(reborn.sent<SnapshotAnswer>(1)[0].participation == Participation::kLearner);
    reborn.receive(1, VoteRequest{Term(9), life_of(1), LogIndex(9), Term(9), false});
    CHECK(reborn.effects.empty());
}

TEST_CASE("R11 a leader that hears of another life of a member proposes to admit it, once") {
    Rig rig = leader_hearing_of_222();
    REQUIRE(rig.all<EntriesAppended>().size() == 1);
    const Entry& entry = rig.node.persistent.entries.back();
    CHECK(entry.kind == EntryKind::kAdmission);
    CHECK(decode_admission(entry.payload) == Member{BrokerId(2), Incarnation(222)});
    rig.receive(2, answer_of(rig, Incarnation(222), Incarnation(222), Participation::kLearner, 2));
    CHECK_FALSE(rig.has<EntriesAppended>());
}

TEST_CASE("R11 R4 no admission before the claim") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.lead(false);
    rig.receive(2, answer_of(rig, Incarnation(222), life_of(2), Participation::kLearner, 1));
    CHECK(rig.last() == 1);
}

TEST_CASE("R11 an admission commits by the others; the admitted one counts once it says that it knows") {
    Rig rig = leader_hearing_of_222();
    rig.persist();
    rig.receive(2, answer_of(rig, Incarnation(222), Incarnation(222), Participation::kLearner, 3));
    CHECK(rig.node.commit_index == LogIndex(2));
    rig.receive(3, rig.accepted_by(3, 3));
    CHECK(rig.node.commit_index == LogIndex(3));
    rig.apply(Proposed{EntryKind::kCommand, {}});
    rig.persist();
    rig.receive(2, answer_of(rig, Incarnation(222), Incarnation(222), Participation::kLearner, 4));
    CHECK(rig.node.commit_index == LogIndex(3));
    rig.receive(2, answer_of(rig, Incarnation(222), Incarnation(222), Participation::kVoter, 4));
    CHECK(rig.node.commit_index == LogIndex(4));
}

TEST_CASE(
    "R11 the life before counts no more once another is in the log, and is recognised no more once another was heard") {
    Rig rig = leader_hearing_of_222();
    rig.persist();
    rig.receive(2, answer_of(rig, life_of(2), life_of(2), Participation::kVoter, 2));
    CHECK(rig.progress_of(2).incarnation == Incarnation(222));
    CHECK(rig.progress_of(2).match_index == LogIndex(1));
    CHECK(rig.node.commit_index == LogIndex(2));
}

TEST_CASE(
    "R11 a learner becomes a voter when it knows that its admission is committed, and says so when its disk does") {
    PersistentState state = voter_state(1, 3, {1}, 1);
    state.voter = false;
    state.incarnation = Incarnation(111);
    Rig rig(config_of(1, 3), state);
    AppendRequest request = rig.append_from(2, 1, 1, 1, {}, 1);
    request.entries.push_back(
        {LogIndex(2), Term(1), EntryKind::kAdmission, encode_admission({BrokerId(1), Incarnation(111)})});
    rig.receive(2, request);
    CHECK_FALSE(rig.node.persistent.voter);
    rig.persist();
    CHECK(rig.sent<AppendAnswer>(2)[0].participation == Participation::kLearner);
    rig.receive(2, rig.append_from(2, 1, 2, 1, {}, 2));
    CHECK(rig.all<VoterChanged>() == std::vector<VoterChanged>{{true, LogIndex(2)}});
    CHECK(rig.sent<AppendAnswer>().empty());
    rig.persist();
    CHECK(rig.sent<AppendAnswer>(2)[0].participation == Participation::kVoter);
}

TEST_CASE(
    "R11 votes count for the life that the candidate's log names, and only in answer to this life of the candidate") {
    PersistentState state = voter_state(1, 3, {1}, 1);
    state.entries.push_back(
        {LogIndex(2), Term(1), EntryKind::kAdmission, encode_admission({BrokerId(2), Incarnation(222)})});
    Config config = config_of(1, 3);
    config.pre_vote = false;
    Rig rig(config, state);
    rig.apply(TimerFired{TimerKind::kElection});
    rig.persist();
    rig.receive(2, rig.vote_of(2));  // the life before
    CHECK_FALSE(is_leader(rig.node));
    VoteAnswer to_another = rig.vote_of(3);
    to_another.candidate_incarnation = Incarnation(5);
    rig.receive(3, to_another);
    CHECK_FALSE(is_leader(rig.node));
    VoteAnswer admitted = rig.vote_of(2);
    admitted.voter_incarnation = Incarnation(222);
    rig.receive(2, admitted);
    CHECK(is_leader(rig.node));
}

TEST_CASE("R11 a replica whose life is superseded in its own log counts no more") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    AppendRequest request = rig.append_from(2, 1, 1, 1, {});
    request.entries.push_back(
        {LogIndex(2), Term(1), EntryKind::kAdmission, encode_admission({BrokerId(1), Incarnation(111)})});
    rig.receive(2, request);
    // The refresh comes with the next look at the commit index, which every append takes.
    CHECK(rig.all<VoterChanged>() == std::vector<VoterChanged>{{false, LogIndex(2)}});
    rig.apply(TimerFired{TimerKind::kElection});
    CHECK(rig.effects.empty());
}

TEST_CASE("R11 a caretaker repeats an admission that an older term left uncommitted") {
    PersistentState state = voter_state(1, 3, {1}, 1);
    state.entries.push_back(
        {LogIndex(2), Term(1), EntryKind::kAdmission, encode_admission({BrokerId(2), Incarnation(222)})});
    Rig rig(config_of(1, 3), state);
    rig.apply(EligibilityChanged{Eligibility::kCaretakerOnly});
    rig.node.config.pre_vote = false;
    rig.apply(TimerFired{TimerKind::kElection});
    rig.persist();
    rig.receive(3, rig.vote_of(3));
    REQUIRE(is_caretaker(rig.node));
    rig.receive(3, rig.accepted_by(3, 2));
    CHECK(rig.last() == 3);
    rig.persist();
    rig.receive(3, rig.accepted_by(3, 3));
    CHECK(rig.node.commit_index == LogIndex(3));
}

}  // namespace tidelock::raft
