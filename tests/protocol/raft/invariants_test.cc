// Every invariant of a replica has a state that breaks it, so that it is known to be able to fail (V8).
#include "protocol/raft/invariants.h"

#include <catch2/catch.hpp>

#include "rig.h"

namespace tidelock::raft {
namespace {

Rig leader() {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1, 1}, 1));
    rig.lead();
    rig.receive(2, rig.accepted_by(2, 3));
    return rig;
}

/// What is broken once `spoil` has been at a healthy leader.
template <typename Spoil>
std::string broken(Spoil&& spoil) {
    Node node = leader().node;
    spoil(node);
    return find_broken_invariant(node);
}

/// What is broken in the step from a healthy leader to one that `spoil` has been at.
template <typename Spoil>
std::string broken_step(Spoil&& spoil) {
    const Node before = leader().node;
    Node after = before;
    spoil(after);
    return find_broken_delta(before, after);
}

Progress& follower(Node& node) {
    return std::get<Leader>(node.role).followers[0];
}

}  // namespace

TEST_CASE("V8 a healthy replica breaks nothing") {
    CHECK(broken([](Node&) {}) == "");
    CHECK(broken_step([](Node&) {}) == "");
}

TEST_CASE("V8 each broken state is named") {
    CHECK(broken([](Node& n) { n.commit_index = LogIndex(9); }) == "the commit index is past the log");
    CHECK(broken([](Node& n) { n.commit_index = LogIndex(-1); }) == "the commit index is below the snapshot");
    CHECK(broken([](Node& n) { n.persistent.term = Term(1); }) == "the log is newer than the term");
    CHECK(broken([](Node& n) { n.persistent.entries.front().index = LogIndex(2); }) == "a gap after the snapshot");
    CHECK(broken([](Node& n) { n.persistent.entries.back().index = LogIndex(7); }) == "a gap in the log");
    CHECK(broken([](Node& n) {
              n.admissions.push_back({LogIndex(9), {BrokerId(2), life_of(2)}});
          }) == "an admission past the log");
    CHECK(broken([](Node& n) {
              n.admissions.push_back({LogIndex(0), {BrokerId(2), life_of(2)}});
          }) == "an admission below the snapshot");
    CHECK(broken([](Node& n) { n.persistent.incarnation = Incarnation(5); }) == "a voter whose life is not in force");
    CHECK(broken([](Node& n) { n.persistent.voter = false; }) == "a replica that does not count stands or leads");
    CHECK(broken([](Node& n) { n.persistent.voted_for.reset(); }) == "a leader did not vote for itself");
    CHECK(broken([](Node& n) { std::get<Leader>(n.role).durable_index = LogIndex(9); }) ==
          "a leader counts entries it does not have");
    CHECK(broken([](Node& n) { std::get<Leader>(n.role).followers.pop_back(); }) ==
          "a leader without all its followers");
    CHECK(broken([](Node& n) { follower(n).next_index = LogIndex(3); }) == "next index not above match index");
    CHECK(broken([](Node& n) { follower(n).next_index = LogIndex(9); }) == "next index past the leader's log");
    CHECK(broken([](Node& n) { follower(n).match_index = LogIndex(8), follower(n).next_index = LogIndex(9); }) ==
          "match index past the leader's log");
    CHECK(broken([](Node& n) { n.dirty = true; }) == "a change was not handed to the disk");
    CHECK(broken([](Node& n) { n.durable_sequence += 1; }) == "a write is durable that was never asked for");
    CHECK(broken([](Node& n) { n.requested_sequence += 1; }) == "outstanding writes do not add up");
    CHECK(broken([](Node& n) {
              n.waiting.push_back({n.durable_sequence, BrokerId(2), TimeoutNow{}});
          }) == "a promise is kept back");
    CHECK(broken([](Node& n) {
              n.waiting.push_back({n.requested_sequence + 1, BrokerId(2), TimeoutNow{}});
          }) == "a promise waits for ever");
}

TEST_CASE("V8 R11 an empty replica that took part, and a candidate without its own vote, are named") {
    Node empty = make_node(config_of(1, 3), fresh_state(life_of(1)), {}, 1);
    empty.persistent.term = Term(1);
    CHECK(find_broken_invariant(empty) == "an empty replica took part");
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.node.role = Candidate{};
    CHECK(find_broken_invariant(rig.node) == "a candidate did not vote for itself");
}

TEST_CASE("V8 each step that takes something back is named") {
    CHECK(broken_step([](Node& n) { n.persistent.term = Term(1); }) == "the term went back");
    CHECK(broken_step([](Node& n) {
              n.persistent.voted_for = Member{BrokerId(3), life_of(3)};
          }) == "the vote changed within a term");
    CHECK(broken_step([](Node& n) { n.persistent.voted_for.reset(); }) == "the vote changed within a term");
    CHECK(broken_step([](Node& n) { n.persistent.incarnation = Incarnation(4); }) ==
          "the incarnation changed within a boot");
    CHECK(broken_step([](Node& n) { n.commit_index = LogIndex(1); }) == "the commit index went back");
    CHECK(broken_step([](Node& n) { n.persistent.snapshot.last_index = LogIndex(-1); }) == "the snapshot went back");
    CHECK(broken_step([](Node& n) { n.persistent.entries.pop_back(); }) == "a leader shortened its log");
    CHECK(broken_step([](Node& n) { n.persistent.entries.pop_back(), n.role = Follower{}; }) ==
          "a committed entry is gone");
    CHECK(broken_step([](Node& n) { n.persistent.entries[0].payload = Bytes::copy_of("other"); }) ==
          "a committed entry changed");
}

}  // namespace tidelock::raft
