// When success may be told (A1-A6): the decision as a table, laws of evidence, and the queue of those who wait.
#include <catch2/catch.hpp>

#include <type_traits>

#include "protocol/replication/acknowledgement.h"
#include "protocol/replication/pending_acknowledgements.h"
#include "tests/law.h"

namespace tidelock::replication {
namespace {

constexpr Replica kA{BrokerId(1), Incarnation(1)};
constexpr Replica kB{BrokerId(2), Incarnation(1)};
constexpr Replica kC{BrokerId(3), Incarnation(1)};
constexpr Replica kD{BrokerId(4), Incarnation(1)};
constexpr WriteAuthority kNow{BrokerId(1), LeaderEpoch(5)};
constexpr AckPolicy kLocal{AckRule::kLocalDurable, 0};
constexpr AckPolicy kTwo{AckRule::kReplicaCount, 2};
constexpr AckPolicy kThree{AckRule::kReplicaCount, 3};
constexpr AckPolicy kAll{AckRule::kAllInSync, 0};

struct Evidence {
    std::vector<Replica> set{kA, kB, kC};
    std::vector<ReplicaPosition> positions;
    Offset required{10};
    Offset local{10};
    WriteAuthority expected = kNow;
    WriteAuthority current = kNow;
    bool holds = true;
    std::int32_t committed = 3;
    std::int32_t min_in_sync = 2;

    [[nodiscard]] Observation observation() const {
        return {expected, current,   holds,     required,   local, SyncStateSetEpoch(4),
                set,      positions, committed, min_in_sync};
    }
    [[nodiscard]] Decision decide(AckPolicy policy) const { return decide_replication(observation(), policy); }
};

bool is_acknowledged(const Decision& decision) {
    return std::holds_alternative<ReplicationAcknowledgement>(decision);
}
Durability durability_of(const Decision& decision) {
    return std::get<ReplicationAcknowledgement>(decision).durability();
}

}  // namespace

// A4: nobody but decide_replication makes one.
static_assert(!std::is_default_constructible_v<ReplicationAcknowledgement>);
static_assert(!std::is_constructible_v<ReplicationAcknowledgement, Observation, Durability>);
static_assert(!std::is_aggregate_v<ReplicationAcknowledgement>);

TEST_CASE("A1: authority is judged first, then the local end, then the policy") {
    Evidence evidence;
    evidence.local = Offset(3);
    evidence.set = {};
    evidence.holds = false;
    CHECK(evidence.decide(kAll) == Decision(Reject{RejectReason::kNoAuthority}));
    evidence.holds = true;
    evidence.expected.leader_epoch = LeaderEpoch(4);
    CHECK(evidence.decide(kAll) == Decision(Reject{RejectReason::kStaleAuthority}));
    evidence.expected = {BrokerId(2), LeaderEpoch(5)};
    CHECK(evidence.decide(kAll) == Decision(Reject{RejectReason::kAuthorityMismatch}));
    evidence.expected = {BrokerId(1), LeaderEpoch(6)};
    CHECK(evidence.decide(kAll) == Decision(Reject{RejectReason::kAuthorityMismatch}));
    evidence.expected = kNow;
    CHECK(evidence.decide(kAll) == Decision(Wait{WaitReason::kLocalDurability}));
    evidence.local = Offset(10);
    CHECK(evidence.decide(kAll) == Decision(Reject{RejectReason::kInvalidSyncStateSet}));
}

TEST_CASE("A2: LOCAL_DURABLE asks for the local end alone") {
    const Decision decision = Evidence().decide(kLocal);
    REQUIRE(is_acknowledged(decision));
    const auto& proof = std::get<ReplicationAcknowledgement>(decision);
    CHECK(proof.durability() == Durability::kLocal);
    CHECK(proof.proven_end_offset() == Offset(10));
    CHECK(proof.authority() == kNow);
    CHECK(proof.set_version() == SyncStateSetEpoch(4));
}

TEST_CASE("A2: REPLICA_COUNT counts distinct members, the leader among them; a count below 2 is no such policy") {
    Evidence evidence;
    CHECK(evidence.decide(kTwo) == Decision(Wait{WaitReason::kReplicas}));
    evidence.positions = {{kB, Offset(9)}};
    CHECK(evidence.decide(kTwo) == Decision(Wait{WaitReason::kReplicas}));
    evidence.positions = {{kB, Offset(10)}};
    REQUIRE(is_acknowledged(evidence.decide(kTwo)));
    CHECK(durability_of(evidence.decide(kTwo)) == Durability::kReplicated);
    CHECK(evidence.decide(kThree) == Decision(Wait{WaitReason::kReplicas}));
    CHECK(evidence.decide({AckRule::kReplicaCount, 1}) == Decision(Reject{RejectReason::kInvalidPolicy}));
}

TEST_CASE("A2: ALL_IN_SYNC asks every member; a set of one proves only Local") {
    Evidence evidence;
    evidence.positions = {{kB, Offset(10)}};
    CHECK(evidence.decide(kAll) == Decision(Wait{WaitReason::kReplicas}));
    evidence.positions.push_back({kC, Offset(11)});
    REQUIRE(is_acknowledged(evidence.decide(kAll)));
    CHECK(durability_of(evidence.decide(kAll)) == Durability::kReplicated);
    evidence.set = {kA};
    evidence.committed = evidence.min_in_sync = 1;
    REQUIRE(is_acknowledged(evidence.decide(kAll)));
    CHECK(durability_of(evidence.decide(kAll)) == Durability::kLocal);
}

TEST_CASE("A3: strangers, repeats and other lives add nothing; a set with a repeat or without the leader is none") {
    Evidence evidence;
    evidence.positions = {
        {kB, Offset(10)}, {kB, Offset(10)}, {kD, Offset(10)}, {{BrokerId(3), Incarnation(2)}, Offset(10)}};
    CHECK(evidence.decide(kThree) == Decision(Wait{WaitReason::kReplicas}));
    CHECK(evidence.decide(kAll) == Decision(Wait{WaitReason::kReplicas}));
    evidence.set = {kA, kB, kB};
    CHECK(evidence.decide(kTwo) == Decision(Reject{RejectReason::kInvalidSyncStateSet}));
    evidence.set = {kB, kC};
    CHECK(evidence.decide(kTwo) == Decision(Reject{RejectReason::kInvalidSyncStateSet}));
}

TEST_CASE("A3: two lives of one broker in the set are one copy to a count, and both are asked by ALL_IN_SYNC") {
    const Replica reborn{BrokerId(2), Incarnation(2)};
    Evidence evidence;
    evidence.set = {kA, kB, reborn};
    evidence.positions = {{kB, Offset(10)}, {reborn, Offset(10)}};
    CHECK(evidence.decide(kThree) == Decision(Wait{WaitReason::kReplicas}));
    CHECK(is_acknowledged(evidence.decide(kAll)));
    evidence.positions = {{reborn, Offset(10)}};
    CHECK(evidence.decide(kAll) == Decision(Wait{WaitReason::kReplicas}));
}

TEST_CASE("I8: with too few committed members nothing is confirmed, however many copies there are") {
    Evidence evidence;
    evidence.positions = {{kB, Offset(10)}, {kC, Offset(10)}};
    evidence.committed = 1;
    CHECK(evidence.decide(kAll) == Decision(Reject{RejectReason::kNotEnoughInSync}));
    CHECK(is_acknowledged(evidence.decide(kTwo)));
}

TEST_CASE("A1: more evidence never turns an acknowledgement into anything else") {
    check_law(
        [](std::vector<std::pair<std::uint8_t, std::uint8_t>> told, std::uint8_t more_broker, std::uint8_t more_end) {
            Evidence evidence;
            for (const auto& [broker, end] : told)
                evidence.positions.push_back({{BrokerId(broker % 5 + 1), Incarnation(1)}, Offset(end % 20)});
            Evidence more = evidence;
            more.positions.push_back({{BrokerId(more_broker % 5 + 1), Incarnation(1)}, Offset(more_end % 20)});
            more.local = Offset(15);
            for (const AckPolicy policy : {kLocal, kTwo, kThree, kAll})
                if (is_acknowledged(evidence.decide(policy))) RC_ASSERT(is_acknowledged(more.decide(policy)));
        });
}

TEST_CASE("A2: an acknowledged count or set really is covered, counted another way") {
    check_law([](const std::vector<std::pair<std::uint8_t, std::uint8_t>>& told) {
        Evidence evidence;
        bool covers[6] = {};
        covers[1] = true;
        for (const auto& [broker, end] : told) {
            const int id = broker % 5 + 1;
            evidence.positions.push_back({{BrokerId(id), Incarnation(1)}, Offset(end % 20)});
            covers[id] = covers[id] || end % 20 >= 10;
        }
        const int count = int{covers[1]} + int{covers[2]} + int{covers[3]};
        RC_ASSERT(is_acknowledged(evidence.decide(kTwo)) == (count >= 2));
        RC_ASSERT(is_acknowledged(evidence.decide(kThree)) == (count >= 3));
        RC_ASSERT(is_acknowledged(evidence.decide(kAll)) == (count == 3));
    });
}

// --- those who wait ------------------------------------------------------------------------------------------

namespace {

Instant at(std::int64_t ns) {
    return Instant(ns);
}
bool is_acked(const ResolvedWaiter& waiter) {
    return std::holds_alternative<ReplicationAcknowledgement>(waiter.outcome);
}

}  // namespace

TEST_CASE("waiters end in offset order as the evidence comes in, each with its own proof") {
    PendingAcknowledgements pending(10);
    for (std::uint64_t i = 1; i <= 3; ++i) pending.add({WaiterId(i), Offset(i * 10), at(100)}, kAll, kNow);
    Evidence evidence;
    evidence.local = Offset(30);
    evidence.positions = {{kB, Offset(30)}, {kC, Offset(20)}};
    std::vector<ResolvedWaiter> resolved;
    pending.resolve(evidence.observation(), resolved);
    REQUIRE(resolved.size() == 2);
    CHECK(resolved[1].id == WaiterId(2));
    CHECK(std::get<ReplicationAcknowledgement>(resolved[1].outcome).proven_end_offset() == Offset(20));
    CHECK(pending.size() == 1);
}

TEST_CASE("a waiter of a weaker policy does not stand behind one of a stronger policy") {
    PendingAcknowledgements pending(10);
    pending.add({WaiterId(1), Offset(5), at(100)}, kAll, kNow);
    pending.add({WaiterId(2), Offset(9), at(100)}, kLocal, kNow);
    std::vector<ResolvedWaiter> resolved;
    pending.resolve(Evidence().observation(), resolved);
    REQUIRE(resolved.size() == 1);
    CHECK(resolved[0].id == WaiterId(2));
}

TEST_CASE("a duplicate's waiter asks for an offset below others' and is not held up by them") {
    PendingAcknowledgements pending(10);
    pending.add({WaiterId(1), Offset(20), at(100)}, kAll, kNow);
    pending.add({WaiterId(2), Offset(10), at(100)}, kAll, kNow);
    Evidence evidence;
    evidence.positions = {{kB, Offset(10)}, {kC, Offset(10)}};
    std::vector<ResolvedWaiter> resolved;
    pending.resolve(evidence.observation(), resolved);
    REQUIRE(resolved.size() == 1);
    CHECK(resolved[0].id == WaiterId(2));
}

TEST_CASE("A5: a deadline ends the wait and nothing else") {
    PendingAcknowledgements pending(10);
    pending.add({WaiterId(1), Offset(10), at(100)}, kAll, kNow);
    pending.add({WaiterId(2), Offset(20), at(50)}, kAll, kNow);
    CHECK(pending.next_deadline() == at(50));
    std::vector<ResolvedWaiter> resolved;
    pending.expire(at(49), resolved);
    CHECK(resolved.empty());
    pending.expire(at(50), resolved);
    CHECK(resolved == std::vector<ResolvedWaiter>{{WaiterId(2), TimedOut{}}});
    CHECK(pending.next_deadline() == at(100));
}

TEST_CASE("A6: a role change ends every wait as unknown, and A -> B -> A brings none back") {
    PendingAcknowledgements pending(10);
    pending.add({WaiterId(1), Offset(10), at(100)}, kAll, kNow);
    Evidence later;  // the same broker leads again
    later.current = {BrokerId(1), LeaderEpoch(7)};
    later.positions = {{kB, Offset(10)}, {kC, Offset(10)}};
    std::vector<ResolvedWaiter> resolved;
    pending.resolve(later.observation(), resolved);
    CHECK(resolved == std::vector<ResolvedWaiter>{{WaiterId(1), OutcomeUnknown{}}});

    pending.add({WaiterId(2), Offset(10), at(100)}, kAll, kNow);
    resolved.clear();
    pending.end_all(resolved);
    CHECK(resolved == std::vector<ResolvedWaiter>{{WaiterId(2), OutcomeUnknown{}}});
    CHECK(pending.is_empty());
    CHECK_FALSE(pending.next_deadline());
}

TEST_CASE("I8: the set shrank below the minimum meanwhile") {
    PendingAcknowledgements pending(10);
    pending.add({WaiterId(1), Offset(10), at(100)}, kAll, kNow);
    Evidence evidence;
    evidence.set = {kA};
    evidence.committed = 1;
    std::vector<ResolvedWaiter> resolved;
    pending.resolve(evidence.observation(), resolved);
    CHECK(resolved == std::vector<ResolvedWaiter>{{WaiterId(1), NotEnoughInSync{}}});
}

TEST_CASE("every waiter ends exactly once, and is acknowledged only when decide_replication would") {
    check_law([] {
        PendingAcknowledgements pending(1000);
        std::vector<ResolvedWaiter> resolved;
        std::int64_t end = 0;
        std::int64_t covered = 0;
        std::uint64_t next_id = 1;
        std::int64_t now = 0;
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
        for (const int step : steps) {
            ++now;
            if (step == 0) {
                end += *rc::gen::inRange(1, 4);
                pending.add({WaiterId(next_id++), Offset(end), at(now + *rc::gen::inRange(1, 30))}, kAll, kNow);
            } else if (step == 1 || step == 2) {
                covered = std::min(end, covered + *rc::gen::inRange(0, 4));
                Evidence evidence;
                evidence.local = Offset(end);
                evidence.positions = {{kB, Offset(covered)}, {kC, Offset(end)}};
                const std::size_t before = resolved.size();
                pending.resolve(evidence.observation(), resolved);
                for (std::size_t i = before; i < resolved.size(); ++i)
                    RC_ASSERT(std::get<ReplicationAcknowledgement>(resolved[i].outcome).proven_end_offset().value <=
                              covered);
            } else {
                pending.expire(at(now), resolved);
            }
            RC_ASSERT(pending.size() + resolved.size() == next_id - 1);
        }
        pending.end_all(resolved);
        std::vector<std::uint64_t> ids;
        for (const ResolvedWaiter& waiter : resolved) ids.push_back(waiter.id.value);
        std::sort(ids.begin(), ids.end());
        for (std::size_t i = 0; i < ids.size(); ++i) RC_ASSERT(ids[i] == i + 1);
        RC_ASSERT(ids.size() == next_id - 1);
    });
    CHECK(PendingAcknowledgements(0).is_full());
    CHECK_FALSE(is_acked({WaiterId(1), TimedOut{}}));
}

}  // namespace tidelock::replication
