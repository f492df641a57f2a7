// What a leader counts a follower for, that one holds.
#include "scenarios/match_witness.h"

#include <catch2/catch.hpp>

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

raft::Node node_of(int broker, int term, std::initializer_list<int> entry_terms) {
    raft::Node node;
    node.config.self = BrokerId(broker);
    node.persistent.term = Term(term);
    node.persistent.incarnation = Incarnation(static_cast<unsigned>(broker));
    std::int64_t index = 0;
    for (const int entry_term : entry_terms)
        node.persistent.entries.push_back({LogIndex(++index), Term(entry_term), raft::EntryKind::kCommand, {}});
    return node;
}

/// Broker 1 leads term 3 over [1, 1, 3] and counts broker 2 for what lies up to `match`.
raft::Node leader_with_match(int match) {
    raft::Node leader = node_of(1, 3, {1, 1, 3});
    raft::Leader role;
    raft::Progress progress;
    progress.broker = BrokerId(2);
    progress.incarnation = Incarnation(2);
    progress.match_index = LogIndex(match);
    role.followers.push_back(progress);
    leader.role = role;
    return leader;
}

}  // namespace

TEST_CASE("a follower that holds what it is counted for, or more, is as its leader thinks") {
    REQUIRE_FALSE(unheld_match(leader_with_match(3), node_of(2, 3, {1, 1, 3})).has_value());
    REQUIRE_FALSE(unheld_match(leader_with_match(2), node_of(2, 3, {1, 1, 2})).has_value());
    REQUIRE_FALSE(unheld_match(leader_with_match(0), node_of(2, 3, {})).has_value());
}

TEST_CASE("one that is counted for too much is seen") {
    REQUIRE(unheld_match(leader_with_match(3), node_of(2, 3, {1})) ==
            "entries up to 3, of which it holds those up to 1");
    REQUIRE(unheld_match(leader_with_match(3), node_of(2, 3, {1, 1, 2})) ==
            "entry 3 of term 3, where it holds one of term 2");
}

TEST_CASE("who has not reached the leader's term has answered for nothing in it") {
    REQUIRE(unheld_match(leader_with_match(2), node_of(2, 2, {1, 1})) ==
            "entries up to 2 in term 3, of which it has not heard: it is in term 2");
    REQUIRE_FALSE(unheld_match(leader_with_match(0), node_of(2, 2, {1, 1})).has_value());
}

TEST_CASE("a later term or another life is none of that leader's business") {
    REQUIRE_FALSE(unheld_match(leader_with_match(3), node_of(2, 4, {1})).has_value());
    raft::Node reborn = node_of(2, 3, {});
    reborn.persistent.incarnation = Incarnation(22);
    REQUIRE_FALSE(unheld_match(leader_with_match(3), reborn).has_value());
    REQUIRE_FALSE(unheld_match(node_of(1, 3, {1}), node_of(2, 3, {})).has_value());
}
