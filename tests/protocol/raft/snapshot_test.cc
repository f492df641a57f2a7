// Compaction and snapshot transfer (R8).
#include <catch2/catch.hpp>

#include "protocol/base/crc32c.h"
#include "rig.h"

namespace tidelock::raft {
namespace {

Snapshot snapshot_at(std::int64_t index, int term) {
    Snapshot snapshot;
    snapshot.last_index = LogIndex(index);
    snapshot.last_term = Term(term);
    for (int i = 1; i <= 3; ++i) snapshot.membership.push_back({BrokerId(i), life_of(i)});
    snapshot.data = Bytes::copy_of("applied state");
    return snapshot;
}

/// All chunks of `snapshot`, as leader 2 of `term` sends them.
std::vector<SnapshotRequest> chunks_of(const Snapshot& snapshot, int term, std::size_t chunk_bytes) {
    ByteWriter out;
    write_snapshot(out, snapshot);
    const Bytes encoded = out.take();
    std::vector<SnapshotRequest> chunks;
    for (std::size_t at = 0; at < encoded.size(); at += chunk_bytes) {
        SnapshotRequest request{Term(term),
                                life_of(2),
                                life_of(1),
                                snapshot.last_index,
                                snapshot.last_term,
                                crc32c(encoded.span()),
                                encoded.size(),
                                at,
                                {},
                                {}};
        request.chunk = encoded.slice(at, std::min(chunk_bytes, encoded.size() - at));
        chunks.push_back(request);
    }
    return chunks;
}

Rig follower(std::vector<int> terms, int term) {
    return {config_of(1, 3), voter_state(1, 3, std::move(terms), term)};
}

/// A leader that has compacted its log up to index 3; its claim is entry 4.
Rig compacted_leader(std::uint32_t chunk_bytes) {
    Config config = config_of(1, 3);
    config.snapshot_chunk_bytes_max = chunk_bytes;
    Rig rig(config, voter_state(1, 3, {1, 1, 1}, 1));
    rig.lead();
    rig.receive(3, rig.accepted_by(3, 4));
    rig.apply(SnapshotReady{LogIndex(3), Bytes::copy_of("applied state")});
    return rig;
}

SnapshotAnswer answer_of(const Rig& rig, std::uint64_t next_offset, bool installed = false) {
    SnapshotAnswer answer{rig.node.persistent.term,
                          life_of(2),
                          life_of(2),
                          life_of(1),
                          Participation::kVoter,
                          ReadRound(),
                          LogIndex(3),
                          installed,
                          next_offset};
    return answer;
}

}  // namespace

TEST_CASE("R8 a log past its bound asks once for a snapshot, and only when something is committed") {
    Config config = config_of(1, 3);
    config.log_entries_max = 2;
    Rig rig(config, voter_state(1, 3, {1, 1, 1}, 1));
    CHECK_FALSE(rig.has<NeedSnapshot>());
    rig.receive(2, rig.append_from(2, 1, 3, 1, {}, 2));
    CHECK(rig.has<NeedSnapshot>());
    rig.receive(2, rig.append_from(2, 1, 3, 1, {}, 2));
    CHECK_FALSE(rig.has<NeedSnapshot>());
    rig.apply(SnapshotReady{LogIndex(2), Bytes::copy_of("s")});
    CHECK(rig.node.persistent.snapshot.last_index == LogIndex(2));
    CHECK(rig.node.persistent.entries.size() == 1);
    CHECK(rig.has<Persist>());
}

TEST_CASE("R8 an older snapshot than the one held is ignored") {
    Rig rig = follower({1, 1, 1}, 1);
    rig.receive(2, rig.append_from(2, 1, 3, 1, {}, 3));
    rig.apply(SnapshotReady{LogIndex(3), Bytes::copy_of("new")});
    rig.apply(SnapshotReady{LogIndex(2), Bytes::copy_of("old")});
    CHECK(rig.node.persistent.snapshot.data == Bytes::copy_of("new"));
    CHECK(rig.effects.empty());
}

TEST_CASE("R8 R11 compaction keeps who was admitted") {
    PersistentState state = voter_state(1, 3, {1}, 1);
    state.entries.push_back(
        {LogIndex(2), Term(1), EntryKind::kAdmission, encode_admission({BrokerId(3), Incarnation(333)})});
    Rig rig(config_of(1, 3), state);
    rig.receive(2, rig.append_from(2, 1, 2, 1, {}, 2));
    rig.apply(SnapshotReady{LogIndex(2), {}});
    CHECK(incarnation_in_force(rig.node, BrokerId(3)) == Incarnation(333));
    CHECK(rig.node.admissions.empty());
    CHECK(rig.node.persistent.snapshot.membership[2].incarnation == Incarnation(333));
}

TEST_CASE("R8 BUGS-49 BUGS-52 a follower behind the snapshot gets the snapshot, never a guess") {
    Rig rig = compacted_leader(1'000);
    rig.receive(2, rig.refused_by(2, 3, 1, 0));
    CHECK(rig.sent<AppendRequest>(2).empty());
    REQUIRE(rig.sent<SnapshotRequest>(2).size() == 1);
    CHECK(rig.sent<SnapshotRequest>(2)[0].last_index == LogIndex(3));
    CHECK(term_at(rig.node.persistent, LogIndex(2)) == std::nullopt);
    rig.receive(2, answer_of(rig, 0, true));
    REQUIRE(rig.sent<AppendRequest>(2).size() == 1);
    CHECK(rig.sent<AppendRequest>(2)[0].prev_log_index == LogIndex(3));
    CHECK(rig.progress_of(2).match_index == LogIndex(3));
}

TEST_CASE("R8 chunks follow each other; a repeated answer sends nothing, the heartbeat sends again") {
    Rig rig = compacted_leader(40);
    rig.receive(2, rig.refused_by(2, 3, 1, 0));
    rig.receive(2, answer_of(rig, 40));
    REQUIRE(rig.sent<SnapshotRequest>(2).size() == 1);
    CHECK(rig.sent<SnapshotRequest>(2)[0].offset == 40);
    rig.receive(2, answer_of(rig, 40));
    CHECK(rig.sent<SnapshotRequest>(2).empty());
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK(rig.sent<SnapshotRequest>(2)[0].offset == 40);
    rig.receive(2, answer_of(rig, 0));  // it lost what it had
    CHECK(rig.sent<SnapshotRequest>(2)[0].offset == 0);
}

TEST_CASE("R8 chunks are put together in order, whatever comes twice or too early") {
    Rig rig = follower({1, 1}, 3);
    const std::vector<SnapshotRequest> chunks = chunks_of(snapshot_at(5, 3), 3, 20);
    REQUIRE(chunks.size() >= 4);
    rig.receive(2, chunks[1]);
    CHECK(rig.sent<SnapshotAnswer>(2)[0].next_offset == 0);
    rig.receive(2, chunks[0]);
    rig.receive(2, chunks[0]);
    CHECK(rig.sent<SnapshotAnswer>(2)[0].next_offset == 20);
    for (std::size_t i = 1; i < chunks.size(); ++i) rig.receive(2, chunks[i]);
    CHECK(rig.all<SnapshotInstalled>() ==
          std::vector<SnapshotInstalled>{{LogIndex(5), Bytes::copy_of("applied state")}});
    CHECK(rig.sent<SnapshotAnswer>().empty());
    rig.persist();
    CHECK(rig.sent<SnapshotAnswer>(2)[0].installed);
    CHECK(rig.node.commit_index == LogIndex(5));
}

TEST_CASE("R8 a snapshot whose bytes are not what the leader summed up is dropped") {
    Rig rig = follower({1, 1}, 3);
    std::vector<SnapshotRequest> chunks = chunks_of(snapshot_at(5, 3), 3, 1'000);
    chunks[0].snapshot_crc ^= 1U;
    rig.receive(2, chunks[0]);
    CHECK_FALSE(rig.has<SnapshotInstalled>());
    CHECK_FALSE(rig.sent<SnapshotAnswer>(2)[0].installed);
    CHECK(rig.last() == 2);
}

TEST_CASE("R8 a snapshot of another group, or too large, is dropped") {
    Rig rig = follower({1, 1}, 3);
    Snapshot foreign = snapshot_at(5, 3);
    foreign.membership[2].broker = BrokerId(7);
    rig.receive(2, chunks_of(foreign, 3, 1'000)[0]);
    CHECK_FALSE(rig.has<SnapshotInstalled>());
    rig.node.config.snapshot_bytes_max = 10;
    rig.receive(2, chunks_of(snapshot_at(5, 3), 3, 1'000)[0]);
    CHECK_FALSE(rig.has<SnapshotInstalled>());
}

TEST_CASE("R8 BUGS-59 BUGS-61 installing keeps the log above only if it agrees at the snapshot's end") {
    struct Row {
        std::vector<int> log;
        std::int64_t last_after;
        bool truncated;
    };
    const Row table[] = {
        {{1, 1, 2, 3, 3}, 5, false},  // agrees at (4, 3)
        {{1, 1, 2, 2, 2}, 4, true},   // contradicts it
        {{1, 1}, 4, true},            // short and possibly contradicting
    };
    for (const Row& row : table) {
        Rig rig = follower(row.log, 3);
        rig.receive(2, chunks_of(snapshot_at(4, 3), 3, 1'000)[0]);
        CHECK(rig.has<SnapshotInstalled>());
        CHECK(rig.has<EntriesTruncated>() == row.truncated);
        CHECK(rig.last() == row.last_after);
    }
}

TEST_CASE("R8 a late snapshot below the commit index installs nothing and is answered as held") {
    Rig rig = follower({1, 1, 1}, 3);
    rig.receive(2, rig.append_from(2, 3, 3, 1, {}, 3));
    rig.receive(2, chunks_of(snapshot_at(2, 1), 3, 1'000)[0]);
    CHECK_FALSE(rig.has<SnapshotInstalled>());
    REQUIRE(rig.sent<SnapshotAnswer>(2).size() == 1);
    CHECK(rig.sent<SnapshotAnswer>(2)[0].installed);
    CHECK(rig.last() == 3);
}

TEST_CASE("R8 R9 an append that begins below the snapshot agrees there, and its new entries are taken") {
    Rig rig = follower({1, 1, 1}, 3);
    rig.receive(2, rig.append_from(2, 3, 3, 1, {}, 3));
    rig.apply(SnapshotReady{LogIndex(3), {}});
    rig.receive(2, rig.append_from(2, 3, 1, 1, {1, 1, 3}));
    CHECK(rig.last() == 4);
    rig.persist();
    CHECK(rig.sent<AppendAnswer>(2)[0].match_index == LogIndex(4));
    rig.receive(2, rig.append_from(2, 3, 0, 0, {1}));
    CHECK(rig.sent<AppendAnswer>(2)[0].match_index == LogIndex(1));
}

TEST_CASE("R8 a snapshot of an older term is answered with the newer one") {
    Rig rig = follower({1, 1}, 5);
    rig.receive(2, chunks_of(snapshot_at(5, 3), 3, 1'000)[0]);
    CHECK(rig.sent<SnapshotAnswer>(2)[0].term == Term(5));
    CHECK_FALSE(rig.has<SnapshotInstalled>());
}

TEST_CASE("R8 a leader that compacts while it sends starts again with the newer snapshot") {
    Rig rig = compacted_leader(40);
    rig.receive(2, rig.refused_by(2, 3, 1, 0));
    rig.receive(2, answer_of(rig, 40));
    rig.apply(SnapshotReady{LogIndex(4), Bytes::copy_of("newer state")});
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    REQUIRE(rig.sent<SnapshotRequest>(2).size() == 1);
    CHECK(rig.sent<SnapshotRequest>(2)[0].last_index == LogIndex(4));
    CHECK(rig.sent<SnapshotRequest>(2)[0].offset == 0);
}

TEST_CASE("R8 who is sent a snapshot tells the leader by its pieces that it leads still") {
    Rig rig = compacted_leader(4);
    rig.receive(2, rig.refused_by(2, 3, 1, 0));
    REQUIRE(rig.progress_of(2).mode == ProgressMode::kSnapshot);
    rig.apply(ConfirmationRequested{ReadRound(1)});
    REQUIRE(rig.sent<SnapshotRequest>(2).back().read_round == ReadRound(1));
    SnapshotAnswer answer = answer_of(rig, 4);
    answer.read_round = ReadRound(1);
    rig.receive(2, answer);
    REQUIRE(rig.all<LeadershipConfirmed>() == std::vector<LeadershipConfirmed>{{ReadRound(1)}});
}

}  // namespace tidelock::raft
