// The log: sending, agreeing, counting, committing (R4, R9).
#include <catch2/catch.hpp>

#include "rig.h"

namespace tidelock::raft {
namespace {

Rig follower(std::vector<int> terms, int term) {
    return {config_of(1, 3), voter_state(1, 3, std::move(terms), term)};
}

Rig leader(std::vector<int> terms, int term, Config config = config_of(1, 3)) {
    const int members = static_cast<int>(config.members.size());
    Rig rig(std::move(config), voter_state(1, members, std::move(terms), term));
    rig.lead();
    return rig;
}

std::vector<int> terms_of(const Rig& rig) {
    std::vector<int> terms;
    for (const Entry& entry : rig.node.persistent.entries) terms.push_back(static_cast<int>(entry.term.value));
    return terms;
}

}  // namespace

TEST_CASE("R9 a follower takes what is new, replaces what differs and keeps what agrees") {
    struct Row {
        std::vector<int> log;
        std::int64_t prev;
        int prev_term;
        std::vector<int> sent;
        std::vector<int> becomes;
    };
    const Row table[] = {
        {{1, 1}, 2, 1, {4}, {1, 1, 4}},              // new
        {{1, 1, 2, 2}, 2, 1, {4}, {1, 1, 4}},        // replaces a whole tail
        {{1, 1, 2, 2}, 1, 1, {1}, {1, 1, 2, 2}},     // an old append shortens nothing
        {{1, 1, 2, 2}, 1, 1, {}, {1, 1, 2, 2}},      // nor does a heartbeat
        {{1, 1, 2, 2}, 2, 1, {2, 3}, {1, 1, 2, 3}},  // agrees in part
        {{}, 0, 0, {1, 1}, {1, 1}},
    };
    for (const Row& row : table) {
        Rig rig = follower(row.log, 4);
        rig.receive(2, rig.append_from(2, 4, row.prev, row.prev_term, row.sent));
        CHECK(terms_of(rig) == row.becomes);
        rig.persist();
        if (rig.sent<AppendAnswer>().empty()) rig.receive(2, rig.append_from(2, 4, row.prev, row.prev_term, row.sent));
        REQUIRE(rig.sent<AppendAnswer>(2).size() == 1);
        CHECK(rig.sent<AppendAnswer>(2)[0].accepted);
        CHECK(rig.sent<AppendAnswer>(2)[0].match_index.value == row.prev + static_cast<std::int64_t>(row.sent.size()));
    }
}

TEST_CASE("R9 the owner hears of the cut before it hears of what replaces it") {
    Rig rig = follower({1, 1, 2}, 4);
    rig.receive(2, rig.append_from(2, 4, 1, 1, {3, 4}));
    REQUIRE(rig.all<EntriesTruncated>() == std::vector<EntriesTruncated>{{LogIndex(2)}});
    REQUIRE(rig.all<EntriesAppended>() == std::vector<EntriesAppended>{{LogIndex(2), LogIndex(3)}});
}

TEST_CASE("R9 a refusal names the follower's term there and where that term begins, or the end of a short log") {
    struct Row {
        std::int64_t prev;
        int prev_term;
        std::int64_t conflict_index;
        int conflict_term;
    };
    const Row table[] = {{9, 4, 6, 0}, {5, 4, 3, 2}, {3, 4, 3, 2}, {2, 4, 1, 1}};
    for (const Row& row : table) {
        Rig rig = follower({1, 1, 2, 2, 2}, 4);
        rig.receive(2, rig.append_from(2, 4, row.prev, row.prev_term, {4}));
        REQUIRE(rig.sent<AppendAnswer>(2).size() == 1);
        const AppendAnswer answer = rig.sent<AppendAnswer>(2)[0];
        CHECK_FALSE(answer.accepted);
        CHECK(answer.match_index == LogIndex(row.prev));
        CHECK(answer.conflict_index == LogIndex(row.conflict_index));
        CHECK(answer.conflict_term == Term(row.conflict_term));
    }
}

TEST_CASE("R9 a leader skips the follower's whole term, or goes to where its own of that term ends") {
    struct Row {
        std::int64_t refused;
        std::int64_t conflict_index;
        int conflict_term;
        std::int64_t next;
    };
    // Leader's log: 1 1 2 2 4 4, then its claim of term 6.
    const Row table[] = {
        {6, 4, 3, 4},  // no term 3 here: to where the follower's began
        {6, 2, 1, 3},  // term 1 ends at 2 here: try after it
        {6, 3, 0, 3},  // a short log
        {6, 9, 0, 6},  // nonsense never raises it
    };
    for (const Row& row : table) {
        Rig rig = leader({1, 1, 2, 2, 4, 4}, 5);
        rig.receive(2, rig.refused_by(2, row.refused, row.conflict_index, row.conflict_term));
        CHECK(rig.progress_of(2).next_index == LogIndex(row.next));
        REQUIRE(rig.sent<AppendRequest>(2).size() == 1);
        CHECK(rig.sent<AppendRequest>(2)[0].prev_log_index == LogIndex(row.next - 1));
    }
}

TEST_CASE("R9 BUGS-36 late answers never take match back or next to it") {
    Rig rig = leader({1, 1, 1}, 1);
    rig.receive(2, rig.accepted_by(2, 4));
    rig.receive(2, rig.accepted_by(2, 2));
    CHECK(rig.progress_of(2).match_index == LogIndex(4));
    rig.receive(2, rig.refused_by(2, 3, 1, 0));
    rig.receive(2, rig.refused_by(2, 4, 1, 0));
    CHECK(rig.progress_of(2).match_index == LogIndex(4));
    CHECK(rig.progress_of(2).next_index == LogIndex(5));
    rig.receive(2, rig.accepted_by(2, 99));  // past the leader's own log
    CHECK(rig.progress_of(2).match_index == LogIndex(4));
}

TEST_CASE("R9 while a probe is unanswered nothing but heartbeats repeats it") {
    Rig rig = leader({1, 1, 1}, 1);
    rig.receive(2, rig.refused_by(2, 3, 1, 0));
    CHECK(rig.progress_of(2).mode == ProgressMode::kProbe);
    rig.apply(Proposed{EntryKind::kCommand, {}});
    CHECK(rig.sent<AppendRequest>(2).empty());
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK(rig.sent<AppendRequest>(2).size() == 1);
}

TEST_CASE("R9 appends run ahead of their answers up to the window, in pieces") {
    Config config = config_of(1, 3);
    config.entries_per_append_max = 2;
    config.append_window_max = 5;
    Rig rig = leader({1}, 1, config);
    rig.receive(2, rig.accepted_by(2, 2));
    for (int i = 0; i < 9; ++i) rig.apply(Proposed{EntryKind::kCommand, {}});
    CHECK(rig.progress_of(2).next_index == LogIndex(8));
    rig.receive(2, rig.accepted_by(2, 5));
    std::size_t sent = 0;
    for (const AppendRequest& request : rig.sent<AppendRequest>(2)) {
        CHECK(request.entries.size() <= 2);
        sent += request.entries.size();
    }
    CHECK(sent == 3);
    CHECK(rig.progress_of(2).next_index == LogIndex(11));
}

TEST_CASE("R4 R9 an entry commits when a majority holds it durably, the leader's own copy included only once it is") {
    Rig rig = leader({1}, 1);
    rig.receive(2, rig.accepted_by(2, 2));
    CHECK(rig.node.commit_index == LogIndex(2));
    rig.apply(Proposed{EntryKind::kCommand, Bytes::copy_of("y")});
    rig.receive(2, rig.accepted_by(2, 3));
    CHECK(rig.node.commit_index == LogIndex(2));
    rig.persist();
    CHECK(rig.node.commit_index == LogIndex(3));
    REQUIRE(rig.all<Committed>().size() == 1);
    CHECK(rig.all<Committed>()[0].entry.payload == Bytes::copy_of("y"));
}

TEST_CASE("R4 M13 an entry of an older term commits only under one of the leader's own") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1, 2}, 2));
    rig.lead(false);
    rig.receive(2, rig.accepted_by(2, 2));
    rig.receive(3, rig.accepted_by(3, 2));
    CHECK(rig.node.commit_index == LogIndex(0));
    rig.apply(Proposed{EntryKind::kClaim, {}});
    rig.persist();
    rig.receive(3, rig.accepted_by(3, 3));
    CHECK(rig.node.commit_index == LogIndex(3));
    CHECK(rig.all<Committed>().size() == 3);
}

TEST_CASE("R9 five members: the third highest position commits") {
    Rig rig = leader({}, 0, config_of(1, 5));
    for (int i = 0; i < 4; ++i) rig.apply(Proposed{EntryKind::kCommand, {}});
    rig.persist();
    rig.receive(2, rig.accepted_by(2, 5));
    CHECK(rig.node.commit_index == LogIndex(0));
    rig.receive(3, rig.accepted_by(3, 3));
    CHECK(rig.node.commit_index == LogIndex(3));
    rig.receive(4, rig.accepted_by(4, 4));
    CHECK(rig.node.commit_index == LogIndex(4));
}

TEST_CASE("R9 a follower commits no further than it agrees, and never back") {
    Rig rig = follower({1, 1, 2, 2}, 3);
    rig.receive(2, rig.append_from(2, 3, 2, 1, {}, 4));
    CHECK(rig.node.commit_index == LogIndex(2));
    rig.receive(2, rig.append_from(2, 3, 2, 1, {3}, 3));
    CHECK(rig.node.commit_index == LogIndex(3));
    rig.receive(2, rig.append_from(2, 3, 3, 3, {}, 1));
    CHECK(rig.node.commit_index == LogIndex(3));
}

TEST_CASE("V8 an append against a committed entry is named and ignored") {
    Rig rig = follower({1, 1}, 3);
    rig.receive(2, rig.append_from(2, 3, 2, 1, {}, 2));
    rig.receive(2, rig.append_from(2, 3, 1, 1, {2}));
    CHECK(rig.all<ProtocolViolated>()[0].kind == ViolationKind::kCommittedEntryConflict);
    rig.receive(2, rig.append_from(2, 3, 2, 3, {3}));
    CHECK(rig.all<ProtocolViolated>()[0].kind == ViolationKind::kCommittedEntryConflict);
    CHECK(terms_of(rig) == std::vector<int>{1, 1});
}

TEST_CASE("R9 a new commit index goes out at once") {
    Rig rig = leader({1}, 1);
    rig.receive(2, rig.accepted_by(2, 2));
    REQUIRE(rig.sent<AppendRequest>(3).size() == 1);
    CHECK(rig.sent<AppendRequest>(3)[0].commit_index == LogIndex(2));
}

TEST_CASE("R9 a lost connection puts a follower back to what it is known to hold") {
    Rig rig = leader({1}, 1);
    rig.receive(2, rig.accepted_by(2, 2));
    for (int i = 0; i < 3; ++i) rig.apply(Proposed{EntryKind::kCommand, {}});
    CHECK(rig.progress_of(2).next_index == LogIndex(6));
    rig.apply(PeerDisconnected{BrokerId(2)});
    CHECK(rig.progress_of(2).next_index == LogIndex(3));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK(rig.sent<AppendRequest>(2)[0].entries.size() == 3);
}

TEST_CASE("R9 answers of an older term, of a follower's wrong leader or to no leader change nothing") {
    Rig rig = leader({1}, 1);
    AppendAnswer old = rig.accepted_by(2, 2);
    old.term = Term(1);
    rig.receive(2, old);
    AppendAnswer foreign = rig.accepted_by(2, 2);
    foreign.leader_incarnation = Incarnation(5);
    rig.receive(2, foreign);
    CHECK(rig.progress_of(2).match_index == LogIndex(0));
    Rig idle = follower({1}, 2);
    const Node before = idle.node;
    AppendAnswer stray = idle.accepted_by(2, 1);
    idle.receive(2, stray);
    CHECK(idle.node == before);
}

TEST_CASE("R1 the same node and event give the same node and effects") {
    Rig first = leader({1, 2}, 2);
    Rig second = leader({1, 2}, 2);
    first.apply(Proposed{EntryKind::kCommand, Bytes::copy_of("z")});
    second.apply(Proposed{EntryKind::kCommand, Bytes::copy_of("z")});
    CHECK(first.node == second.node);
    CHECK(first.effects == second.effects);
}

}  // namespace tidelock::raft
