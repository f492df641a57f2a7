// Whatever a peer sends, a broker does not fall over: it refuses, says so, or stops with a reason (R4, R8).
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "bench.h"
#include "protocol/base/crc32c.h"

namespace tidelock::broker {
namespace {

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    return bench;
}

/// The leader's next append to a follower, with one entry of this payload that is committed already.
raft::AppendRequest append_of(const Broker& leader, const Broker& follower, raft::EntryKind kind, Bytes payload) {
    const raft::PersistentState& state = follower.raft.persistent;
    const LogIndex last = raft::last_index(state);
    raft::AppendRequest request;
    request.term = leader.raft.persistent.term;
    request.leader_incarnation = leader.raft.persistent.incarnation;
    request.follower_incarnation = state.incarnation;
    request.prev_log_index = last;
    request.prev_log_term = state.entries.empty() ? state.snapshot.last_term : state.entries.back().term;
    request.commit_index = last + 1;
    request.entries.push_back(raft::Entry{last + 1, request.term, kind, std::move(payload)});
    return request;
}

/// A snapshot of the broker's group that ends one past its log, whole in one chunk, from the leader of `term`.
raft::SnapshotRequest snapshot_for(const Broker& follower, const Broker& leader, Term term, Bytes data) {
    const raft::PersistentState& state = follower.raft.persistent;
    const LogIndex index = raft::last_index(state) + 1;
    ByteWriter out;
    raft::write_snapshot(out, {index, term, state.snapshot.membership, state.snapshot.formation, std::move(data)});
    raft::SnapshotRequest request;
    request.term = term;
    request.leader_incarnation = leader.raft.persistent.incarnation;
    request.follower_incarnation = state.incarnation;
    request.last_index = index;
    request.last_term = term;
    request.chunk = out.take();
    request.snapshot_crc = crc32c(request.chunk.span());
    request.snapshot_bytes = request.chunk.size();
    return request;
}

}  // namespace

TEST_CASE("a snapshot that no broker writes stops whoever takes it, follower or leader, for good (R8)", "[broker]") {
    for (const bool was_leading : {false, true}) {
        Bench bench = formed_group();
        const std::int32_t leader = bench.serving();
        const std::int32_t other = leader == 1 ? 2 : 1;
        const std::int32_t taker = was_leading ? leader : other;
        const std::int32_t sender = was_leading ? other : leader;
        const Term term(bench.at(leader).raft.persistent.term.value + (was_leading ? 1 : 0));
        const raft::SnapshotRequest bad =
            snapshot_for(bench.at(taker), bench.at(sender), term, Bytes::copy_of("no metadata"));
        bench.cut_off(taker);
        bench.step(taker, PeerMessageReceived{BrokerId(sender), PeerMessage(raft::Message(bad))});
        REQUIRE(bench.at(taker).lifecycle == Lifecycle::kRefused);
        REQUIRE(bench.refusal(taker) == "raft: a peer sent a snapshot that no broker writes; rejoin as empty (R8)");
        REQUIRE_FALSE(bench.at(taker).leading);
        // What it took may be on its disk: a restart does not make it any better.
        bench.start(taker);
        REQUIRE(bench.at(taker).lifecycle == Lifecycle::kRefused);
        REQUIRE(bench.refusal(taker).starts_with("raft: the snapshot cannot be read"));
        // The others go on without it.
        REQUIRE(bench.advance_until([&] { return bench.serving() != 0 && bench.serving() != taker; }));
    }
}

TEST_CASE("a snapshot that a broker could have written is taken over (R8)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    group::Metadata decided = bench.at(follower).decided;
    decided.in_sync_set_version = decided.in_sync_set_version + 1;
    const raft::SnapshotRequest good = snapshot_for(bench.at(follower), bench.at(leader),
                                                    bench.at(leader).raft.persistent.term, group::encode(decided));
    bench.cut_off(follower);
    bench.step(follower, PeerMessageReceived{BrokerId(leader), PeerMessage(raft::Message(good))});
    REQUIRE(bench.at(follower).lifecycle == Lifecycle::kRunning);
    REQUIRE(bench.at(follower).decided == decided);
    REQUIRE(bench.at(follower).applied_index == good.last_index);
}

TEST_CASE("a restarted follower follows nobody while a newer claim in its log may be committed (F2)", "[broker]") {
    Bench bench = formed_group();
    const BrokerId former(bench.serving());
    const BrokerId follower(former.value == 1 ? 2 : 1);
    const BrokerId newer(6 - former.value - follower.value);
    bench.cut_off(follower.value);
    const Term term(bench.at(former.value).raft.persistent.term.value + 1);
    const group::Claim claim{group::leader_epoch_of(term), newer, bench.at(follower.value).decided.in_sync_replicas};
    raft::AppendRequest append = append_of(bench.at(newer.value), bench.at(follower.value), raft::EntryKind::kClaim,
                                           group::encode(group::Entry(claim)));
    append.term = term;
    append.entries.front().term = term;
    const LogIndex claimed_at = append.entries.front().index;
    const auto append_committed = [&](LogIndex commit_index) {
        append.commit_index = commit_index;
        bench.step(follower.value, PeerMessageReceived{newer, PeerMessage(raft::Message(append))});
    };
    append_committed(LogIndex(0));

    bench.start(follower.value);
    append_committed(append.prev_log_index);
    REQUIRE(bench.at(follower.value).decided.leader == former);
    REQUIRE(bench.at(follower.value).fetcher.phase() == replication::FetchPhase::kIdle);
    REQUIRE(status(bench.at(follower.value)).leader == BrokerId(0));

    append_committed(claimed_at);
    REQUIRE(bench.at(follower.value).fetcher.leader_epoch() == claim.leader_epoch);
    REQUIRE(status(bench.at(follower.value)).leader == newer);
}

TEST_CASE("a committed entry that no broker writes means nothing, and is observed (R4)", "[broker]") {
    for (const raft::EntryKind kind : {raft::EntryKind::kClaim, raft::EntryKind::kCommand}) {
        Bench bench = formed_group();
        const std::int32_t leader = bench.serving();
        const std::int32_t follower = leader == 1 ? 2 : 1;
        const group::Metadata decided = bench.at(follower).decided;
        const raft::AppendRequest bad =
            append_of(bench.at(leader), bench.at(follower), kind, Bytes::copy_of("no entry"));
        bench.cut_off(follower);  // so that the leader does not notice
        bench.step(follower, PeerMessageReceived{BrokerId(leader), PeerMessage(raft::Message(bad))});
        REQUIRE(bench.at(follower).applied_index == bad.commit_index);
        REQUIRE(bench.at(follower).decided == decided);
        REQUIRE(bench.at(follower).lifecycle == Lifecycle::kRunning);
    }
}

TEST_CASE("a claim for another epoch than its term's means nothing (R4)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    const group::Metadata decided = bench.at(follower).decided;
    const group::Claim claim{LeaderEpoch(std::numeric_limits<std::int32_t>::max()), BrokerId(leader),
                             decided.in_sync_replicas};
    const raft::AppendRequest bad =
        append_of(bench.at(leader), bench.at(follower), raft::EntryKind::kClaim, group::encode(group::Entry(claim)));
    bench.cut_off(follower);
    bench.step(follower, PeerMessageReceived{BrokerId(leader), PeerMessage(raft::Message(bad))});
    REQUIRE(bench.at(follower).decided == decided);
}

TEST_CASE("a term that no election reaches is not taken over (R4)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    const Term before = bench.at(leader).raft.persistent.term;
    raft::VoteRequest vote;
    vote.term = Term(std::numeric_limits<std::int64_t>::max() - 1);
    vote.candidate_incarnation = bench.at(follower).raft.persistent.incarnation;
    bench.step(leader, PeerMessageReceived{BrokerId(follower), PeerMessage(raft::Message(vote))});
    raft::PreVoteRequest pre_vote;
    pre_vote.next_term = vote.term;
    bench.step(leader, PeerMessageReceived{BrokerId(follower), PeerMessage(raft::Message(pre_vote))});
    bench.advance(seconds(2));
    REQUIRE(bench.at(leader).raft.persistent.term == before);
    REQUIRE(bench.serving() == leader);
}

TEST_CASE("a late or doubled fetch does not take the place of the one that is waited for (F3)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    REQUIRE(bench.advance_until([&] { return bench.at(leader).leading->parked.size() == 2; }));
    const replication::FetchRequest parked = bench.at(leader).leading->parked.fetches().front().request;
    const BrokerId follower = parked.header.follower.broker;
    replication::FetchRequest late = parked;
    late.header.request_id = replication::RequestId(parked.header.request_id.value - 1);
    bench.step(leader, PeerMessageReceived{follower, PeerMessage(replication::Message(late))});
    const auto is_waited_for = [&](const replication::ParkedFetch& each) {
        return each.request.header.request_id == parked.header.request_id;
    };
    REQUIRE(std::ranges::any_of(bench.at(leader).leading->parked.fetches(), is_waited_for));
    // A follower that begins to number anew is heard all the same.
    late.header.request_id = replication::RequestId(parked.header.request_id.value - 1'000'000);
    bench.step(leader, PeerMessageReceived{follower, PeerMessage(replication::Message(late))});
    REQUIRE(std::ranges::none_of(bench.at(leader).leading->parked.fetches(), is_waited_for));
}

TEST_CASE("a connection that ends over and over does not keep another member that lags in the set (I2)", "[broker]") {
    Bench bench(3, [](Config& config) { config.isr_lag = seconds(2); });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    REQUIRE(bench.transfer_to(1));
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    bench.hold(2, storage::FileOwner::kLogStore);
    bench.ask(1, produce_to("orders", clients::Acks::kLeader, seconds(5)));
    const auto is_out = [&] { return bench.at(1).in_sync.committed().members.size() == 2; };
    for (int i = 0; i < 60 && !is_out(); ++i) {
        bench.step(1, PeerDisconnected{BrokerId(3)});
        bench.ask(1, produce_to("orders", clients::Acks::kLeader, seconds(5)));
        bench.advance(milliseconds(50));
    }
    REQUIRE(is_out());
    REQUIRE(bench.at(1).leading.has_value());
}

}  // namespace tidelock::broker
