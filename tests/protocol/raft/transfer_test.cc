// Handing leadership over (R10, G9).
#include <catch2/catch.hpp>

#include "rig.h"

namespace tidelock::raft {
namespace {

/// Leads three members with its claim as entry 2; member 2 holds it, member 3 has not answered.
Rig leader() {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.lead();
    rig.receive(2, rig.accepted_by(2, 2));
    return rig;
}

Rig caretaker(BrokerIds eligible) {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.apply(EligibilityChanged{Eligibility::kCaretakerOnly});
    rig.apply(EligibleMembersChanged{std::move(eligible)});
    rig.lead();
    return rig;
}

/// Beats until the caretaker leads no more, member 3 silent or without an ear; why it went. Empty: it did not.
std::optional<StepDownReason> serve_in_vain(Rig& rig, bool is_reachable) {
    for (int beat = 0; beat < 20; ++beat) {
        rig.pass(milliseconds(50));
        rig.receive(2, rig.accepted_by(2, 1));
        if (is_reachable) rig.receive(3, rig.accepted_by(3, 1));
        rig.apply(TimerFired{TimerKind::kHeartbeat});
        if (rig.has<SteppedDown>()) return rig.all<SteppedDown>()[0].reason;
        if (beat % 6 == 5) rig.apply(TimerFired{TimerKind::kTransfer});
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("R10 a caught-up target is told at once, a lagging one when it has caught up") {
    Rig rig = leader();
    rig.apply(TransferRequested{BrokerId(2)});
    CHECK(rig.sent<TimeoutNow>(2).size() == 1);

    Rig lagging = leader();
    lagging.apply(Proposed{EntryKind::kCommand, {}});
    lagging.apply(TransferRequested{BrokerId(2)});
    CHECK(lagging.sent<TimeoutNow>().empty());
    lagging.receive(2, lagging.accepted_by(2, 3));
    CHECK(lagging.sent<TimeoutNow>(2).size() == 1);
    lagging.receive(2, lagging.accepted_by(2, 3));
    CHECK(lagging.sent<TimeoutNow>().empty());
}

TEST_CASE("R10 proposals are refused meanwhile and taken again after the deadline") {
    Rig rig = leader();
    rig.apply(TransferRequested{BrokerId(2)});
    CHECK(rig.all<SetTimer>()[0].timer == TimerKind::kTransfer);
    rig.apply(Proposed{EntryKind::kCommand, {}});
    CHECK(rig.all<ProposalRefused>()[0].reason == RefusalReason::kTransferring);
    rig.apply(TimerFired{TimerKind::kTransfer});
    // It was told, and may stand yet.
    CHECK(rig.all<TransferFinished>() == std::vector<TransferFinished>{{BrokerId(2), false, true}});
    rig.apply(Proposed{EntryKind::kCommand, {}});
    CHECK(rig.has<EntriesAppended>());
}

TEST_CASE(
    "R10 a transfer to oneself, to a stranger, to one that does not count, or while another runs, fails at once") {
    for (const int target : {1, 9, 3}) {
        Rig rig = leader();
        rig.apply(TransferRequested{BrokerId(target)});
        CHECK(rig.all<TransferFinished>() == std::vector<TransferFinished>{{BrokerId(target), false}});
    }
    Rig rig = leader();
    rig.receive(3, rig.accepted_by(3, 2));
    rig.apply(TransferRequested{BrokerId(2)});
    rig.apply(TransferRequested{BrokerId(3)});
    CHECK(rig.all<TransferFinished>() == std::vector<TransferFinished>{{BrokerId(3), false}});
}

TEST_CASE("R10 the target's election ends the transfer as a success, a lost quorum does not") {
    Rig rig = leader();
    rig.apply(TransferRequested{BrokerId(2)});
    rig.receive(2, VoteRequest{Term(3), life_of(2), LogIndex(2), Term(2), true});
    CHECK(rig.all<TransferFinished>() == std::vector<TransferFinished>{{BrokerId(2), true}});
    rig.persist();
    CHECK(rig.sent<VoteAnswer>(2)[0].granted);

    Rig lost = leader();
    lost.apply(TransferRequested{BrokerId(2)});
    lost.pass(seconds(1));
    lost.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK(lost.all<TransferFinished>() == std::vector<TransferFinished>{{BrokerId(2), false, true}});
}

TEST_CASE("R10 R6 the target stands at once, without pre-vote, and its request passes a live leader's protection") {
    Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 1));
    rig.receive(2, rig.append_from(2, 1, 1, 1, {}));
    rig.receive(2, TimeoutNow{Term(1), life_of(2), life_of(1), LogIndex(1)});
    CHECK(rig.all<BecameCandidate>() == std::vector<BecameCandidate>{{Term(2), false}});
    rig.persist();
    REQUIRE(rig.sent<VoteRequest>(3).size() == 1);
    CHECK(rig.sent<VoteRequest>(3)[0].transfer);

    Rig voter(config_of(3, 3), voter_state(3, 3, {1}, 1));
    voter.receive(2, voter.append_from(2, 1, 1, 1, {}));
    voter.receive(1, rig.sent<VoteRequest>(3)[0]);
    voter.persist();
    CHECK(voter.sent<VoteAnswer>(1)[0].granted);
}

TEST_CASE(
    "R10 being told to stand counts only from the present leader, in its term, to this life of one that may lead") {
    const auto is_ignored = [](int from, TimeoutNow message, Eligibility eligibility) {
        Rig rig(config_of(1, 3), voter_state(1, 3, {1}, 2));
        rig.apply(EligibilityChanged{eligibility});
        rig.receive(2, rig.append_from(2, 2, 1, 1, {}));
        rig.receive(from, message);
        return !rig.has<BecameCandidate>();
    };
    CHECK_FALSE(is_ignored(2, {Term(2), life_of(2), life_of(1)}, Eligibility::kMayLead));
    CHECK(is_ignored(3, {Term(2), life_of(3), life_of(1)}, Eligibility::kMayLead));
    CHECK(is_ignored(2, {Term(1), life_of(2), life_of(1)}, Eligibility::kMayLead));
    CHECK(is_ignored(2, {Term(2), life_of(2), Incarnation(5)}, Eligibility::kMayLead));
    CHECK(is_ignored(2, {Term(2), life_of(2), life_of(1)}, Eligibility::kCaretakerOnly));
}

TEST_CASE("R10 being told to stand comes too late once the leader has written on") {
    const auto stands = [](LogIndex leader_ended_at) {
        Rig rig(config_of(1, 3), voter_state(1, 3, {1, 2}, 2));
        rig.receive(2, rig.append_from(2, 2, 2, 2, {}));
        rig.receive(2, TimeoutNow{Term(2), life_of(2), life_of(1), leader_ended_at});
        return rig.has<BecameCandidate>();
    };
    CHECK(stands(LogIndex(2)));
    CHECK_FALSE(stands(LogIndex(1)));
}

TEST_CASE("G9 a caretaker brings an eligible member up to date and hands over to it") {
    Rig rig = caretaker({BrokerId(3)});
    rig.receive(2, rig.accepted_by(2, 1));
    CHECK(rig.sent<TimeoutNow>().empty());
    rig.receive(3, rig.refused_by(3, 1, 1, 0));
    REQUIRE(rig.sent<AppendRequest>(3).size() == 1);
    CHECK(rig.sent<AppendRequest>(3)[0].entries.size() == 1);
    rig.receive(3, rig.accepted_by(3, 1));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    CHECK(rig.sent<TimeoutNow>(3).size() == 1);
}

TEST_CASE("G9 a caretaker goes on trying, one eligible member after the other") {
    Rig rig = caretaker({BrokerId(2), BrokerId(3)});
    std::vector<int> told;
    for (int beat = 0; beat < 8; ++beat) {
        rig.receive(2, rig.accepted_by(2, 1));
        rig.receive(3, rig.accepted_by(3, 1));
        rig.apply(TimerFired{TimerKind::kHeartbeat});
        for (const int peer : {2, 3})
            if (!rig.sent<TimeoutNow>(peer).empty()) told.push_back(peer);
        rig.apply(TimerFired{TimerKind::kTransfer});
    }
    CHECK(told == std::vector<int>{2, 3, 2, 3, 2, 3, 2, 3});
}

TEST_CASE("G9 a caretaker that may lead now hands over no more, and its claim is taken") {
    Rig rig = caretaker({BrokerId(3)});
    rig.receive(2, rig.accepted_by(2, 1));
    rig.receive(3, rig.accepted_by(3, 1));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    REQUIRE(rig.sent<TimeoutNow>(3).size() == 1);
    rig.apply(EligibilityChanged{Eligibility::kMayLead});
    REQUIRE(rig.all<BecameLeader>() == std::vector<BecameLeader>{{Term(2), false}});
    rig.apply(Proposed{EntryKind::kClaim, {}});
    CHECK_FALSE(rig.has<ProposalRefused>());
    CHECK(rig.has<EntriesAppended>());
}

TEST_CASE("G9 a caretaker waits for somebody eligible while it has its majority, and goes with it") {
    Rig rig = caretaker({BrokerId(3)});
    for (int beat = 0; beat < 10; ++beat) {
        rig.pass(milliseconds(50));
        rig.receive(2, rig.accepted_by(2, 1));
        rig.apply(TimerFired{TimerKind::kHeartbeat});
        REQUIRE(is_caretaker(rig.node));
        CHECK(rig.sent<TimeoutNow>().empty());
    }
    rig.pass(milliseconds(300));
    rig.apply(TimerFired{TimerKind::kHeartbeat});
    REQUIRE(rig.all<SteppedDown>().size() == 1);
    CHECK(rig.all<SteppedDown>()[0].reason == StepDownReason::kQuorumLost);
}

TEST_CASE("G9 a caretaker that nobody takes over from lets others try, each time for longer, until a claim commits") {
    for (const bool is_reachable : {false, true}) {
        Rig rig = caretaker({BrokerId(3)});
        const Duration delay = rig.node.config.caretaker_delay;
        const auto last_delay = [&] { return rig.all<SetTimer>().back().min - rig.node.config.election_timeout_min; };
        for (const int times : {2, 4, 8, 8}) {
            REQUIRE(serve_in_vain(rig, is_reachable) == StepDownReason::kCaretakingInVain);
            CHECK(last_delay() == delay * times);
            rig.pass(delay * times + rig.node.config.election_timeout_max);
            rig.lead();
            REQUIRE(is_caretaker(rig.node));
        }
        const std::int64_t end = rig.last();
        const int term = static_cast<int>(rig.node.persistent.term.value) + 1;
        AppendRequest claim = rig.append_from(3, term, end, 1, {term}, end);
        claim.entries.back().kind = EntryKind::kClaim;
        rig.receive(3, claim);
        CHECK(rig.node.caretakings_in_vain == kCaretakingsInVainMax);
        rig.receive(3, rig.append_from(3, term, end + 1, term, {}, end + 1));
        CHECK(rig.node.caretakings_in_vain == 0);
    }
}

TEST_CASE("G9 a caretaker goes on while it brings somebody up to date") {
    Rig rig(config_of(1, 3), voter_state(1, 3, std::vector<int>(40, 1), 1));
    rig.apply(EligibilityChanged{Eligibility::kCaretakerOnly});
    rig.apply(EligibleMembersChanged{{BrokerId(3)}});
    rig.lead();
    for (int beat = 1; beat <= 40; ++beat) {
        rig.pass(milliseconds(200));
        rig.receive(2, rig.accepted_by(2, 1));
        rig.receive(3, rig.accepted_by(3, beat));
        rig.apply(TimerFired{TimerKind::kHeartbeat});
        REQUIRE(is_caretaker(rig.node));
    }
    CHECK(rig.node.caretakings_in_vain == 0);
}

}  // namespace tidelock::raft
