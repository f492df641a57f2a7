// Bringing a follower's log onto its leader's history (L3, L5-L8).
#include <catch2/catch.hpp>

#include <algorithm>

#include "protocol/replication/truncation.h"
#include "tests/law.h"

namespace tidelock::replication {
namespace {

using History = std::vector<EpochStart>;
using Epochs = std::vector<int>;  // the epoch of each record, from offset 0

EpochStart entry(int epoch, int start) {
    return {LeaderEpoch(epoch), Offset(start)};
}

History history_of(const Epochs& log) {
    History history;
    for (std::size_t i = 0; i < log.size(); ++i)
        if (i == 0 || log[i] != log[i - 1]) history.push_back(entry(log[i], static_cast<int>(i)));
    return history;
}

std::int64_t size_of(const Epochs& log) {
    return static_cast<std::int64_t>(log.size());
}

LeaderEpochEnd answer_of(const Epochs& leader, LeaderEpoch asked, EpochEndRule rule) {
    return {epoch_end(history_of(leader), Offset(size_of(leader)), asked, rule), Offset(0), Offset(size_of(leader))};
}

struct Outcome {
    TruncationStep last;
    std::int32_t rounds;
};

Outcome shake_hands(const Epochs& follower, const Epochs& leader, TruncationRule rule = TruncationRule::kIterative,
                    EpochEndRule end_rule = EpochEndRule::kLargestAtOrBelow, std::int64_t high_watermark = 0) {
    const History history = history_of(follower);
    TruncationHandshake handshake(rule);
    TruncationStep step = handshake.begin({history, Offset(0), Offset(size_of(follower)), Offset(high_watermark)});
    while (const auto* ask = std::get_if<AskEpochEnd>(&step))
        step = handshake.on_answer(answer_of(leader, ask->leader_epoch, end_rule));
    return {step, handshake.round_count()};
}

std::int64_t end_after(const Epochs& follower, const TruncationStep& step) {
    if (const auto* cut = std::get_if<TruncateTo>(&step)) return cut->offset.value;
    if (std::holds_alternative<ResetTo>(step)) return 0;
    return size_of(follower);
}

std::int64_t common_prefix(const Epochs& a, const Epochs& b) {
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

/// Logs of three replicas after some epochs: in each a random one leads, appends, and some follow part of the way.
std::vector<Epochs> replicas_after_elections() {
    std::vector<Epochs> logs(3);
    const int epochs = *rc::gen::inRange(1, 9);
    for (int epoch = 1; epoch <= epochs; ++epoch) {
        Epochs& leader = logs[static_cast<std::size_t>(*rc::gen::inRange(0, 3))];
        leader.insert(leader.end(), static_cast<std::size_t>(*rc::gen::inRange(0, 4)), epoch);
        Epochs& follower = logs[static_cast<std::size_t>(*rc::gen::inRange(0, 3))];
        if (&follower == &leader || !*rc::gen::arbitrary<bool>()) continue;
        follower.resize(static_cast<std::size_t>(common_prefix(follower, leader)));
        const auto copied =
            static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(size_of(follower), size_of(leader) + 1));
        follower.insert(follower.end(), leader.begin() + size_of(follower),
                        leader.begin() + static_cast<std::ptrdiff_t>(copied));
    }
    return logs;
}

}  // namespace

TEST_CASE("L5: the largest epoch at or below the asked one, and where it ends") {
    const History history = {entry(2, 0), entry(5, 10), entry(6, 20)};
    const auto end = [&](int asked) { return epoch_end(history, Offset(25), LeaderEpoch(asked)); };
    CHECK_FALSE(end(1));
    CHECK(end(2) == EpochEnd{LeaderEpoch(2), Offset(10)});
    CHECK(end(4) == EpochEnd{LeaderEpoch(2), Offset(10)});
    CHECK(end(5) == EpochEnd{LeaderEpoch(5), Offset(20)});
    CHECK(end(6) == EpochEnd{LeaderEpoch(6), Offset(25)});
    CHECK(end(9) == EpochEnd{LeaderEpoch(6), Offset(25)});
    CHECK_FALSE(epoch_end({}, Offset(0), LeaderEpoch(1)));
    CHECK(epoch_end(history, Offset(25), LeaderEpoch(4), EpochEndRule::kExactOrLogEnd) ==
          EpochEnd{LeaderEpoch(4), Offset(25)});
}

TEST_CASE("L5: an epoch ends after its last record, for any log and any asked epoch") {
    check_law([](const std::vector<std::uint8_t>& steps) {
        Epochs log;
        int epoch = 1;
        for (const std::uint8_t step : steps) log.push_back(epoch += step % 3);
        const History history = history_of(log);
        for (int asked = 0; asked <= epoch + 1; ++asked) {
            std::optional<EpochEnd> expected;
            for (std::size_t i = 0; i < log.size(); ++i)
                if (log[i] <= asked) expected = EpochEnd{LeaderEpoch(log[i]), Offset(static_cast<std::int64_t>(i) + 1)};
            RC_ASSERT(epoch_end(history, Offset(size_of(log)), LeaderEpoch(asked)) == expected);
        }
    });
}

TEST_CASE("L5, F5: an epoch that wrote nothing ends where it starts") {
    const History history = {entry(1, 0), entry(2, 5)};
    CHECK(epoch_end(history, Offset(5), LeaderEpoch(2)) == EpochEnd{LeaderEpoch(2), Offset(5)});
    CHECK(epoch_end(history, Offset(5), LeaderEpoch(1)) == EpochEnd{LeaderEpoch(1), Offset(5)});
}

TEST_CASE("L6: a log that is a prefix is left alone; an unreplicated tail is cut") {
    CHECK(std::holds_alternative<HandshakeDone>(shake_hands({1, 1, 2}, {1, 1, 2, 2, 3}).last));
    CHECK(shake_hands({1, 1, 1, 1}, {1, 1, 3}).last == TruncationStep(TruncateTo{Offset(2)}));
    CHECK(std::holds_alternative<HandshakeDone>(shake_hands({}, {1, 1}).last));
}

TEST_CASE("L6: epochs the leader never had take a round each (KIP-279); asking once leaves a diverging log (D2)") {
    const Epochs leader = {1, 1, 3, 3};
    const Epochs follower = {1, 1, 2, 2};
    const Epochs old_leader = {1, 2, 2};  // both sides have an epoch the other lacks
    CHECK(shake_hands(follower, leader).last == TruncationStep(TruncateTo{Offset(2)}));
    const Epochs deep = {1, 3, 3, 5, 5};
    const Epochs other = {1, 2, 4, 4, 6};
    const Outcome ours = shake_hands(deep, other);
    CHECK(ours.last == TruncationStep(TruncateTo{Offset(1)}));
    CHECK(ours.rounds == 3);
    const Outcome seed = shake_hands(old_leader, leader, TruncationRule::kSingleShot, EpochEndRule::kExactOrLogEnd);
    CHECK(end_after(old_leader, seed.last) > common_prefix(old_leader, leader));
}

TEST_CASE("L6: the handshake ends at exactly the common prefix, for any logs that elections can leave") {
    check_law([] {
        const std::vector<Epochs> logs = replicas_after_elections();
        for (const Epochs& leader : logs) {
            for (const Epochs& follower : logs) {
                const Outcome outcome = shake_hands(follower, leader);
                // A leader without a single record in common has nothing to compare; the follower starts over.
                RC_ASSERT(end_after(follower, outcome.last) == common_prefix(follower, leader));
                RC_ASSERT(outcome.rounds <= static_cast<std::int32_t>(history_of(follower).size()));
            }
        }
    });
}

TEST_CASE("L8: nothing is cut below the copy's own high watermark, for any pair of histories") {
    CHECK(shake_hands({1, 1, 2}, {1, 1, 3}, TruncationRule::kIterative, EpochEndRule::kLargestAtOrBelow, 3).last ==
          TruncationStep(CutRefused{Offset(2), Offset(3)}));
    check_law([](std::vector<std::uint8_t> steps_a, std::vector<std::uint8_t> steps_b, std::uint8_t mark) {
        const auto log_of = [](const std::vector<std::uint8_t>& steps) {
            Epochs log;
            int epoch = 1;
            for (const std::uint8_t step : steps) log.push_back(epoch += step % 3);
            return log;
        };
        const Epochs follower = log_of(steps_a);
        const std::int64_t high_watermark = follower.empty() ? 0 : mark % (size_of(follower) + 1);
        const Outcome outcome = shake_hands(follower, log_of(steps_b), TruncationRule::kIterative,
                                            EpochEndRule::kLargestAtOrBelow, high_watermark);
        RC_ASSERT(end_after(follower, outcome.last) >= high_watermark);
    });
}

TEST_CASE("L3: records without a history are discarded; an empty log without one has nothing to compare") {
    TruncationHandshake handshake;
    CHECK(handshake.begin({{}, Offset(0), Offset(5), Offset(5)}) == TruncationStep(DiscardAll{}));
    CHECK(handshake.begin({{}, Offset(5), Offset(5), Offset(5)}) == TruncationStep(HandshakeDone{}));
}

TEST_CASE("L7: below the leader's log start everything is dropped, even what would diverge (KAFKA-12996)") {
    const History history = {entry(1, 0)};
    TruncationHandshake handshake;
    REQUIRE(std::holds_alternative<AskEpochEnd>(handshake.begin({history, Offset(0), Offset(5), Offset(5)})));
    const LeaderEpochEnd answer{EpochEnd{LeaderEpoch(1), Offset(3)}, Offset(8), Offset(20)};
    CHECK(handshake.on_answer(answer) == TruncationStep(ResetTo{Offset(8)}));
}

TEST_CASE(
    "no epoch in common: starts over at the leader's log start, unless that would drop confirmed records (osiris#42)") {
    const History history = {entry(3, 0)};
    const LeaderEpochEnd answer{std::nullopt, Offset(15), Offset(30)};
    TruncationHandshake below;
    REQUIRE(std::holds_alternative<AskEpochEnd>(below.begin({history, Offset(0), Offset(20), Offset(10)})));
    CHECK(below.on_answer(answer) == TruncationStep(ResetTo{Offset(15)}));
    TruncationHandshake above;
    REQUIRE(std::holds_alternative<AskEpochEnd>(above.begin({history, Offset(0), Offset(20), Offset(18)})));
    CHECK(above.on_answer(answer) == TruncationStep(CutRefused{Offset(15), Offset(18)}));
}

TEST_CASE("F2: a copy that protects nothing starts over below its own log start, where its leader ends") {
    const History history = {entry(1, 10)};
    const LeaderEpochEnd answer{EpochEnd{LeaderEpoch(1), Offset(5)}, Offset(0), Offset(5)};
    TruncationHandshake handshake;
    REQUIRE(std::holds_alternative<AskEpochEnd>(handshake.begin({history, Offset(10), Offset(12), Offset(0)})));
    CHECK(handshake.on_answer(answer) == TruncationStep(ResetTo{Offset(5)}));
}

TEST_CASE("F5: an epoch that wrote nothing and that the leader never had loses its entry, not a record (FINDING-1)") {
    const History history = {entry(1, 0), entry(4, 3)};
    TruncationHandshake handshake;
    CHECK(handshake.begin({history, Offset(0), Offset(3), Offset(2)}) == TruncationStep(AskEpochEnd{LeaderEpoch(4)}));
    const LeaderEpochEnd answer{EpochEnd{LeaderEpoch(1), Offset(7)}, Offset(0), Offset(9)};
    CHECK(handshake.on_answer(answer) == TruncationStep(TruncateTo{Offset(3)}));
}

TEST_CASE("F5: an empty copy that led once is not reset when its leader has no epoch in common (FINDING-1)") {
    const History history = {entry(4, 0)};
    TruncationHandshake handshake;
    CHECK(handshake.begin({history, Offset(0), Offset(0), Offset(0)}) == TruncationStep(AskEpochEnd{LeaderEpoch(4)}));
    CHECK(handshake.on_answer({std::nullopt, Offset(0), Offset(9)}) == TruncationStep(TruncateTo{Offset(0)}));
}

}  // namespace tidelock::replication
