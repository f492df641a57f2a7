// Reads that no successor can have made stale: a majority answers something sent after the read (Raft thesis 6.4).
#include <catch2/catch.hpp>

#include "rig.h"

namespace tidelock::raft {
namespace {

Rig leader_of(int members) {
    Rig rig(config_of(1, members), voter_state(1, members, {1, 1}, 1));
    rig.lead();
    for (int peer = 2; peer <= members; ++peer) rig.receive(peer, rig.accepted_by(peer, rig.last()));
    return rig;
}

AppendAnswer answer_of(const Rig& rig, int peer, std::int64_t round) {
    AppendAnswer answer = rig.accepted_by(peer, rig.last());
    answer.read_round = ReadRound(round);
    return answer;
}

std::vector<LeadershipConfirmed> confirmed_up_to(std::int64_t round) {
    return {LeadershipConfirmed{ReadRound(round)}};
}

}  // namespace

TEST_CASE("a leader asks everybody at once whether it leads, and a majority is enough") {
    Rig rig = leader_of(5);
    rig.apply(ConfirmationRequested{ReadRound(1)});
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    const auto asked = rig.sent<AppendRequest>();
    REQUIRE(asked.size() == 4);
    for (const AppendRequest& request : asked) REQUIRE(request.read_round == ReadRound(1));
    rig.receive(2, answer_of(rig, 2, 1));
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    rig.receive(2, answer_of(rig, 2, 1));
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    rig.receive(4, answer_of(rig, 4, 1));
    REQUIRE(rig.all<LeadershipConfirmed>() == confirmed_up_to(1));
    rig.receive(3, answer_of(rig, 3, 1));
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
}

TEST_CASE("a leader alone is its own majority") {
    Rig rig = leader_of(1);
    rig.apply(ConfirmationRequested{ReadRound(7)});
    REQUIRE(rig.all<LeadershipConfirmed>() == confirmed_up_to(7));
}

TEST_CASE("an answer to what was sent before the read came confirms nothing") {
    Rig rig = leader_of(3);
    rig.apply(ConfirmationRequested{ReadRound(1)});
    rig.apply(ConfirmationRequested{ReadRound(2)});
    REQUIRE(rig.sent<AppendRequest>().empty());  // a round is under way; what it misses waits for the next
    rig.receive(2, answer_of(rig, 2, 0));
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    rig.receive(2, answer_of(rig, 2, 1));
    REQUIRE(rig.all<LeadershipConfirmed>() == confirmed_up_to(1));
    REQUIRE(rig.sent<AppendRequest>(3).back().read_round == ReadRound(2));
    rig.receive(3, answer_of(rig, 3, 1));
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    rig.receive(3, answer_of(rig, 3, 2));
    REQUIRE(rig.all<LeadershipConfirmed>() == confirmed_up_to(2));
}

TEST_CASE("a lost round is sent again with the next heartbeat") {
    Rig rig = leader_of(3);
    rig.apply(ConfirmationRequested{ReadRound(1)});
    rig.pass(milliseconds(50));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    REQUIRE(rig.sent<AppendRequest>(2).back().read_round == ReadRound(1));
}

TEST_CASE("a refusal in the leader's term confirms as well as an agreement does") {
    Rig rig = leader_of(3);
    rig.apply(ConfirmationRequested{ReadRound(1)});
    AppendAnswer refusal = rig.refused_by(3, 1, 1, 0);
    refusal.read_round = ReadRound(1);
    rig.receive(3, refusal);
    REQUIRE(rig.all<LeadershipConfirmed>() == confirmed_up_to(1));
}

TEST_CASE("R11 who does not count confirms nothing") {
    Rig rig = leader_of(3);
    rig.apply(ConfirmationRequested{ReadRound(1)});
    AppendAnswer answer = answer_of(rig, 2, 1);
    SECTION("a learner") {
        answer.participation = Participation::kLearner;
    }
    SECTION("an emptied replica") {
        answer.participation = Participation::kEmpty;
    }
    SECTION("another life") {
        answer.follower_incarnation = Incarnation(9);
    }
    rig.receive(2, answer);
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
}

TEST_CASE("a round nobody asked for and a leadership that is over confirm nothing") {
    Rig rig = leader_of(3);
    rig.receive(2, answer_of(rig, 2, 5));
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    rig.apply(ConfirmationRequested{ReadRound(1)});
    const AppendAnswer late = answer_of(rig, 2, 1);
    rig.apply(StepDownRequested{});
    rig.receive(2, late);
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    rig.apply(ConfirmationRequested{ReadRound(2)});
    REQUIRE_FALSE(rig.has<LeadershipConfirmed>());
    REQUIRE(rig.sent<AppendRequest>().empty());
}

TEST_CASE("a follower repeats the round it was asked in, in the newest answer it keeps back for its disk") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1, 1}, 2));
    AppendRequest first = rig.append_from(2, 2, 2, 1, {2});
    first.read_round = ReadRound(3);
    rig.receive(2, first);
    REQUIRE(rig.sent<AppendAnswer>().empty());
    AppendRequest repeated = rig.append_from(2, 2, 2, 1, {2});
    repeated.read_round = ReadRound(2);  // overtaken on the way
    rig.receive(2, repeated);
    rig.persist();
    REQUIRE(rig.sent<AppendAnswer>(2).back().read_round == ReadRound(3));
}

}  // namespace tidelock::raft
