// Who is in sync (I1-I5, I8-I11): tables by rule, the seeds' rules beside ours, and laws over random histories.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "protocol/replication/in_sync_set.h"
#include "tests/law.h"

namespace tidelock::replication {
namespace {

constexpr LeaderEpoch kEpoch{7};
constexpr TopicPartition kOne{TopicId(1), PartitionIndex(0)};
constexpr TopicPartition kTwo{TopicId(1), PartitionIndex(1)};
constexpr Replica kA{BrokerId(1), Incarnation(11)};
constexpr Replica kB{BrokerId(2), Incarnation(21)};
constexpr Replica kC{BrokerId(3), Incarnation(31)};
constexpr Replica kC2{BrokerId(3), Incarnation(32)};

Instant at_ms(std::int64_t ms) {
    return Instant(0) + milliseconds(ms);
}

InSyncConfig config_of() {
    InSyncConfig config;
    config.self = kA;
    config.assigned_replicas = {BrokerId(1), BrokerId(2), BrokerId(3)};
    config.isr_lag = milliseconds(1000);
    config.min_insync_replicas = 2;
    return config;
}

/// A leader A of epoch 7 with one partition [0, 10), high watermark 4, epoch start 8.
struct Story {
    explicit Story(InSyncConfig config, std::vector<Replica> members = {kA, kB, kC}) : set(std::move(config)) {
        set.become_leader(kEpoch, {SyncStateSetEpoch(1), std::move(members)},
                          {{kOne, Offset(10), Offset(10), Offset(4), Offset(8)}}, at_ms(0), effects);
    }
    void fetch(Replica replica, std::int64_t position, std::int64_t ms, LeaderEpoch epoch = kEpoch) {
        effects.clear();
        const FollowerPosition told{kOne, Offset(position)};
        set.on_follower_fetched(replica, epoch, std::span(&told, 1), at_ms(ms), effects);
        set.check_invariants();
    }
    void tick(std::int64_t ms) {
        effects.clear();
        set.on_tick(at_ms(ms), effects);
        set.check_invariants();
    }
    void commit_pending() {
        const ProposeChange change = *set.pending();
        effects.clear();
        set.on_change_committed(change.leader_epoch, change.set, effects);
        set.check_invariants();
    }
    template <typename Effect>
    [[nodiscard]] std::vector<Effect> seen() const {
        std::vector<Effect> found;
        for (const InSyncEffect& effect : effects)
            if (const auto* match = std::get_if<Effect>(&effect)) found.push_back(*match);
        return found;
    }
    InSyncSet set;
    InSyncEffects effects;
};

using Members = std::vector<Replica>;

}  // namespace

TEST_CASE("I1: a position counts only under the current epoch, and an unknown one holds the high watermark back") {
    Story story(config_of());
    REQUIRE_FALSE(story.set.lowest_position(kOne));
    story.fetch(kB, 9, 10);
    story.fetch(kC, 10, 10, LeaderEpoch(6));
    REQUIRE_FALSE(story.set.lowest_position(kOne));
    story.fetch(kC, 6, 11);
    REQUIRE(story.set.lowest_position(kOne) == Offset(6));

    InSyncEffects effects;
    story.set.become_leader(LeaderEpoch(8), {SyncStateSetEpoch(2), {kA, kB, kC}},
                            {{kOne, Offset(10), Offset(10), Offset(4), Offset(10)}}, at_ms(20), effects);
    REQUIRE_FALSE(story.set.lowest_position(kOne));
}

TEST_CASE("I1: a position past the leader's end is not of this log") {
    Story story(config_of());
    story.fetch(kB, 11, 10);
    REQUIRE_FALSE(story.set.position(kB, kOne));
}

TEST_CASE("I6: the leader's own durable end is one of the positions") {
    Story story(config_of());
    story.fetch(kB, 10, 10);
    story.fetch(kC, 10, 10);
    story.set.on_leader_log_changed(kOne, Offset(12), Offset(9));
    REQUIRE(story.set.lowest_position(kOne) == Offset(9));
}

TEST_CASE(
    "I2: a member away from the leader's log end for isr_lag is proposed out, and waited for until that commits") {
    Story story(config_of());
    story.fetch(kB, 10, 10);
    story.fetch(kC, 5, 10);
    story.tick(900);
    REQUIRE(story.seen<ProposeChange>().empty());
    story.fetch(kB, 10, 1000);
    story.tick(1100);
    const auto proposed = story.seen<ProposeChange>();
    REQUIRE(proposed.size() == 1);
    REQUIRE(proposed[0].kind == ChangeKind::kShrink);
    REQUIRE(proposed[0].leader_epoch == kEpoch);
    REQUIRE(proposed[0].set == VersionedSet{SyncStateSetEpoch(2), {kA, kB}});
    REQUIRE(story.set.acknowledgement_set() == Members{kA, kB, kC});
    story.commit_pending();
    REQUIRE(story.set.acknowledgement_set() == Members{kA, kB});
    REQUIRE(story.seen<AcknowledgementSetChanged>().size() == 1);
}

TEST_CASE("I2: a follower that keeps a constant distance in time is no laggard, though never at the log end") {
    Story story(config_of());
    for (std::int64_t i = 1; i <= 100; ++i) {
        story.set.on_leader_log_changed(kOne, Offset(10 + i), Offset(10 + i));
        story.fetch(kB, 9 + i, i * 100);
        story.fetch(kC, 9 + i, i * 100);
        story.tick(i * 100);
        REQUIRE(story.seen<ProposeChange>().empty());
    }
}

TEST_CASE("I2: silence and record lag remove by their own bounds only when configured") {
    InSyncConfig silent = config_of();
    silent.isr_lag.reset();
    silent.replica_lag_timeout = milliseconds(500);
    Story fresh(silent);
    fresh.fetch(kB, 0, 400);
    fresh.fetch(kC, 0, 100);
    fresh.tick(700);
    REQUIRE(fresh.set.lagging_members() == Members{kC});

    InSyncConfig behind = config_of();
    behind.isr_lag.reset();
    behind.replica_lag_records_max = 3;
    Story near(behind);
    near.fetch(kB, 7, 10);
    near.fetch(kC, 6, 10);
    near.tick(100'000);
    REQUIRE(near.set.lagging_members() == Members{kC});
}

TEST_CASE("I3: one change is in flight, and only its own commit decides it") {
    InSyncConfig config = config_of();
    config.min_insync_replicas = 1;
    Story story(config);
    story.tick(2000);
    REQUIRE(story.seen<ProposeChange>().size() == 1);
    story.tick(2100);
    REQUIRE(story.seen<ProposeChange>().empty());

    const ProposeChange pending = *story.set.pending();
    story.effects.clear();
    story.set.on_change_committed(LeaderEpoch(6), pending.set, story.effects);
    story.set.on_change_committed(kEpoch, {SyncStateSetEpoch(1), {kA}}, story.effects);
    REQUIRE(story.set.pending() == pending);
    REQUIRE(story.effects.empty());
    story.commit_pending();
    REQUIRE_FALSE(story.set.pending());
    REQUIRE(story.set.committed() == pending.set);
}

TEST_CASE("I3: a refused change may be proposed again; a change of another version's refusal decides nothing") {
    Story story(config_of(), {kA, kB});
    story.fetch(kC, 10, 10);
    REQUIRE(story.set.pending());
    story.set.on_change_failed(kEpoch, SyncStateSetEpoch(9), story.effects);
    REQUIRE(story.set.pending());
    story.set.on_change_failed(kEpoch, SyncStateSetEpoch(2), story.effects);
    REQUIRE_FALSE(story.set.pending());
    REQUIRE(story.set.acknowledgement_set() == Members{kA, kB});
    story.fetch(kC, 10, 20);
    REQUIRE(story.set.pending());
}

TEST_CASE("I4: who is being added is waited for from before the proposal") {
    Story story(config_of(), {kA, kB});
    story.fetch(kB, 10, 5);
    story.fetch(kC, 10, 10);
    REQUIRE(story.effects.size() == 2);
    REQUIRE(std::holds_alternative<AcknowledgementSetChanged>(story.effects[0]));
    REQUIRE(std::holds_alternative<ProposeChange>(story.effects[1]));
    REQUIRE(story.set.acknowledgement_set() == Members{kA, kB, kC});
    REQUIRE(story.set.committed().members == Members{kA, kB});
}

TEST_CASE("I5: the high watermark alone lets a follower in under the seed's rule only (D1)") {
    Story ours(config_of(), {kA, kB});
    ours.fetch(kC, 4, 10);
    REQUIRE(ours.seen<ProposeChange>().empty());
    REQUIRE(ours.seen<ExpandWaitsForEpochStart>() == std::vector<ExpandWaitsForEpochStart>{{kC}});
    ours.fetch(kC, 5, 20);
    REQUIRE(ours.seen<ExpandWaitsForEpochStart>().empty());  // said once
    ours.fetch(kC, 10, 30);
    REQUIRE(ours.seen<ProposeChange>().size() == 1);

    InSyncConfig seed = config_of();
    seed.expand_rule = ExpandRule::kHighWatermarkOnly;
    Story theirs(seed, {kA, kB});
    theirs.fetch(kC, 4, 10);
    REQUIRE(theirs.seen<ProposeChange>().size() == 1);
}

TEST_CASE("I5: the lag bound lets a follower in below the high watermark under the seed's rule only (D11)") {
    InSyncConfig config = config_of();
    config.isr_lag.reset();
    config.replica_lag_records_max = 8;
    Story ours(config, {kA, kB});
    ours.fetch(kC, 3, 10);
    REQUIRE(ours.seen<ProposeChange>().empty());
    config.expand_rule = ExpandRule::kLagBound;
    Story theirs(config, {kA, kB});
    theirs.fetch(kC, 3, 10);
    REQUIRE(theirs.seen<ProposeChange>().size() == 1);
}

TEST_CASE("I5: every partition in scope counts, one that was added later too") {
    Story story(config_of(), {kA, kB});
    story.set.on_partition_added({kTwo, Offset(3), Offset(3), Offset(1), Offset(0)});
    story.fetch(kC, 10, 10);
    REQUIRE(story.seen<ProposeChange>().empty());
    const std::vector<FollowerPosition> both = {{kOne, Offset(10)}, {kTwo, Offset(3)}};
    story.set.on_follower_fetched(kC, kEpoch, both, at_ms(20), story.effects);
    REQUIRE(story.seen<ProposeChange>().size() == 1);
}

TEST_CASE("I5: a removed partition no longer counts, and the others keep their positions") {
    Story story(config_of(), {kA, kB});
    story.set.on_partition_added({kTwo, Offset(3), Offset(3), Offset(1), Offset(0)});
    story.fetch(kC, 10, 10);
    story.set.on_partition_removed(kTwo);
    REQUIRE(story.set.position(kC, kOne) == Offset(10));
    story.fetch(kC, 10, 20);
    REQUIRE(story.seen<ProposeChange>().size() == 1);
}

TEST_CASE("I5: one that is at the high watermark but would be removed at the next tick is not let in") {
    InSyncConfig config = config_of();
    config.replica_lag_records_max = 1;
    Story story(config, {kA, kB});
    story.fetch(kC, 8, 10);
    REQUIRE(story.seen<ProposeChange>().empty());
    story.fetch(kC, 9, 20);
    story.fetch(kC, 10, 30);
    REQUIRE(story.seen<ProposeChange>().size() == 1);
}

TEST_CASE("I10: another life of a member's broker is no member, counts for nothing and is no laggard's excuse") {
    Story story(config_of());
    story.fetch(kB, 10, 10);
    story.fetch(kC, 10, 10);
    REQUIRE(story.set.lowest_position(kOne) == Offset(10));
    story.fetch(kC2, 0, 20);
    REQUIRE_FALSE(story.set.lowest_position(kOne));
    REQUIRE(story.set.lagging_members() == Members{kC});
    const auto proposed = story.seen<ProposeChange>();
    REQUIRE(proposed.size() == 1);
    REQUIRE(proposed[0].kind == ChangeKind::kShrink);
    REQUIRE(proposed[0].subject == kC);
}

TEST_CASE("I10: a late message of a life that is over changes nothing") {
    Story story(config_of());
    story.fetch(kC, 9, 10);
    story.fetch(kC2, 0, 20);
    story.fetch(kC, 10, 30);
    REQUIRE_FALSE(story.set.position(kC, kOne));
    REQUIRE(story.set.position(kC2, kOne) == Offset(0));
}

TEST_CASE(
    "I10: a late message of the life that the set names is not taken for a new life, if another was heard before") {
    Story story(config_of());
    story.fetch(kC2, 3, 10);
    story.fetch(kC, 10, 20);  // on its way since before the broker lost its disk
    REQUIRE_FALSE(story.set.position(kC, kOne));
    story.fetch(kC2, 4, 30);
    REQUIRE(story.set.position(kC2, kOne) == Offset(4));
}

TEST_CASE("I10: a late word of a dead life, heard first after the present one, does not shut that one out for good") {
    Story story(config_of(), {kA, kB});
    story.fetch(kC2, 10, 10);
    story.fetch(kC, 10, 20);  // sent before C lost its data
    story.fetch(kC2, 10, 600);
    REQUIRE(story.set.position(kC2, kOne) == std::nullopt);
    story.fetch(kC2, 10, 1021);  // C has said nothing for longer than a member may
    REQUIRE(story.set.position(kC2, kOne) == Offset(10));
    REQUIRE(story.set.position(kC, kOne) == std::nullopt);
    story.fetch(kC2, 10, 1100);
    REQUIRE(story.set.pending()->subject == kC2);
    story.fetch(kC, 10, 1200);
    REQUIRE(story.set.position(kC2, kOne) == Offset(10));
}

TEST_CASE("I2: a member whose connection has ended is out when the grace is over, unless it is heard of again") {
    InSyncConfig config = config_of();
    config.disconnect_grace = milliseconds(200);
    Story story(config);
    story.fetch(kB, 10, 10);
    story.fetch(kC, 10, 10);
    REQUIRE(story.set.on_disconnected(BrokerId(3), at_ms(100)));
    REQUIRE_FALSE(story.set.on_disconnected(BrokerId(3), at_ms(150)));  // a try to reconnect failed: no news
    story.tick(299);
    REQUIRE(story.seen<ProposeChange>().empty());
    SECTION("unheard of") {
        story.tick(300);
        REQUIRE(story.seen<ProposeChange>().size() == 1);
        REQUIRE(story.seen<ProposeChange>()[0].subject == kC);
        REQUIRE(story.seen<ProposeChange>()[0].kind == ChangeKind::kShrink);
    }
    SECTION("heard of") {
        story.set.on_heard(BrokerId(3));
        story.tick(900);
        REQUIRE(story.seen<ProposeChange>().empty());
    }
    SECTION("gone before this leader claimed") {
        story.effects.clear();
        story.set.become_leader(LeaderEpoch(8), {SyncStateSetEpoch(2), {kA, kB, kC}},
                                {{kOne, Offset(10), Offset(10), Offset(4), Offset(10)}}, at_ms(250), story.effects);
        story.tick(449);  // followers have nothing to say to each other: it may be well
        REQUIRE(story.seen<ProposeChange>().empty());
        story.tick(450);
        REQUIRE(story.seen<ProposeChange>()[0].subject == kC);
    }
}

TEST_CASE("I11: at the minimum nobody is removed for an ended connection") {
    InSyncConfig config = config_of();
    config.disconnect_grace = milliseconds(200);
    Story story(config, {kA, kB});
    story.fetch(kB, 10, 10);
    story.set.on_disconnected(BrokerId(2), at_ms(100));
    story.tick(400);
    REQUIRE(story.seen<ProposeChange>().empty());
    REQUIRE(story.seen<ShrinkWithheld>() == std::vector<ShrinkWithheld>{{kB}});
}

TEST_CASE("I10: of two lives that asked for the manifest in this epoch the one that asked later is the present one") {
    Story story(config_of(), {kA, kB});
    story.set.on_manifest_asked(kC);
    story.set.on_manifest_asked(kC2);
    REQUIRE_FALSE(story.set.is_former_life(kC));  // what a life before C asked might come now, and only then first
    story.fetch(kC2, 10, 10);
    story.commit_pending();
    REQUIRE(story.set.is_former_life(kC));
    story.fetch(kC, 10, 20);  // sent before C lost its data
    REQUIRE(story.set.position(kC2, kOne) == Offset(10));
    REQUIRE(story.set.committed().members == Members{kA, kB, kC2});
    REQUIRE_FALSE(story.set.pending());
}

TEST_CASE("I10: what a dead life asked, heard first after the present one, shuts nobody out") {
    Story story(config_of());
    story.set.on_manifest_asked(kC2);
    story.set.on_manifest_asked(kC);  // the set names it; sent before C lost its data
    REQUIRE_FALSE(story.set.is_former_life(kC2));
    story.fetch(kC2, 3, 10);
    REQUIRE(story.set.position(kC2, kOne) == Offset(3));
}

TEST_CASE("I10: at the minimum a dead life is replaced by the new one in one change, so the size never falls (I11)") {
    Story story(config_of(), {kA, kC});
    story.fetch(kC2, 0, 20);
    REQUIRE(story.seen<ProposeChange>().empty());
    REQUIRE(story.seen<ShrinkWithheld>() == std::vector<ShrinkWithheld>{{kC}});
    REQUIRE_FALSE(story.set.has_enough_in_step());
    story.fetch(kC2, 10, 30);
    const auto proposed = story.seen<ProposeChange>();
    REQUIRE(proposed.size() == 1);
    REQUIRE(proposed[0].kind == ChangeKind::kReplace);
    REQUIRE(proposed[0].set.members == Members{kA, kC2});
    REQUIRE(story.set.acknowledgement_set() == Members{kA, kC, kC2});
    story.commit_pending();
    REQUIRE(story.set.acknowledgement_set() == Members{kA, kC2});
    REQUIRE(story.set.has_enough_in_step());
}

TEST_CASE("I10 off (D4): a rebooted member stays a member under any life") {
    InSyncConfig config = config_of();
    config.counts_incarnations = false;
    Story story(config);
    story.fetch(kB, 10, 10);
    story.fetch(kC, 10, 10);
    story.fetch(kC2, 3, 20);
    REQUIRE(story.set.lagging_members().empty());
    REQUIRE(story.set.lowest_position(kOne) == Offset(3));
}

TEST_CASE("I11: the set is not shrunk below the minimum; the laggard is listed and acks=all refused up front") {
    Story story(config_of(), {kA, kB});
    story.tick(2000);
    REQUIRE(story.seen<ProposeChange>().empty());
    REQUIRE(story.seen<ShrinkWithheld>() == std::vector<ShrinkWithheld>{{kB}});
    REQUIRE(story.set.lagging_members() == Members{kB});
    REQUIRE_FALSE(story.set.has_enough_in_step());
    story.tick(2100);
    REQUIRE(story.seen<ShrinkWithheld>().empty());  // said once
    story.fetch(kB, 10, 2200);
    REQUIRE(story.set.lagging_members().empty());
    REQUIRE(story.set.has_enough_in_step());
}

TEST_CASE("I11 off: the seed's rule shrinks down to the leader alone") {
    InSyncConfig config = config_of();
    config.keeps_minimum = false;
    Story story(config, {kA, kB});
    story.tick(2000);
    REQUIRE(story.seen<ProposeChange>().at(0).set.members == Members{kA});
}

TEST_CASE("I8: the leader is never proposed out, however silent the rest is") {
    InSyncConfig config = config_of();
    config.min_insync_replicas = 1;
    Story story(config);
    story.tick(5000);
    story.commit_pending();
    story.tick(5001);
    story.commit_pending();
    story.tick(5002);
    REQUIRE(story.seen<ProposeChange>().empty());
    REQUIRE(story.set.committed().members == Members{kA});
}

TEST_CASE("I9: the gauge is reported when it moves") {
    Story story(config_of());
    REQUIRE(story.seen<UnderReplicationChanged>() == std::vector<UnderReplicationChanged>{{false, 3, 3}});
    story.fetch(kB, 10, 1900);
    story.tick(2000);
    REQUIRE(story.seen<UnderReplicationChanged>() == std::vector<UnderReplicationChanged>{{true, 2, 3}});
    story.tick(2010);
    REQUIRE(story.seen<UnderReplicationChanged>().empty());
}

TEST_CASE("after stepping down nothing is tracked, answered or proposed") {
    Story story(config_of());
    story.set.step_down();
    story.fetch(kC, 10, 10);
    story.tick(5000);
    REQUIRE(story.effects.empty());
    REQUIRE_FALSE(story.set.lowest_position(kOne));
    REQUIRE_FALSE(story.set.is_under_replicated());
}

TEST_CASE("laws of the set hold over any history of fetches, new lives, appends, commits and time") {
    check_law([] {
        InSyncConfig config = config_of();
        config.min_insync_replicas = *rc::gen::inRange(1, 4);
        Story story(config);
        std::map<int, std::uint64_t> life{{2, 21}, {3, 31}};
        std::int64_t now = 0;
        std::int64_t log_end = 10;
        std::int64_t high_watermark = 4;
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 7));
        for (const int step : steps) {
            const std::size_t size_before = story.set.committed().members.size();
            now += *rc::gen::inRange(0, 600);
            const int broker = *rc::gen::inRange(2, 4);
            const Replica replica{BrokerId(broker), Incarnation(life[broker])};
            if (step <= 2) story.fetch(replica, *rc::gen::inRange<std::int64_t>(0, log_end + 2), now);
            if (step == 3) story.tick(now);
            if (step == 4) ++log_end;
            story.set.on_leader_log_changed(kOne, Offset(log_end), Offset(log_end));
            if (step == 5 && story.set.pending()) story.commit_pending();
            if (step == 6) ++life[broker];
            if (const auto lowest = story.set.lowest_position(kOne); lowest && lowest->value > high_watermark) {
                high_watermark = lowest->value;
                story.set.on_high_watermark_moved(kOne, *lowest);
            }
            for (const ProposeChange& change : story.seen<ProposeChange>()) {
                const auto size = static_cast<std::int32_t>(change.set.members.size());
                if (change.kind == ChangeKind::kShrink) RC_ASSERT(size >= config.min_insync_replicas);
                if (change.kind == ChangeKind::kReplace) RC_ASSERT(change.set.members.size() == size_before);
                if (change.kind == ChangeKind::kShrink) continue;
                const auto position = story.set.position(change.subject, kOne);
                RC_ASSERT(position.has_value());
                RC_ASSERT(position->value >= 8);
            }
            const Members& waited_for = story.set.acknowledgement_set();
            const Members& committed = story.set.committed().members;
            RC_ASSERT(std::includes(waited_for.begin(), waited_for.end(), committed.begin(), committed.end()));
            RC_ASSERT(std::count(committed.begin(), committed.end(), kA) == 1);
            story.set.check_invariants();
            story.effects.clear();
        }
    });
}

}  // namespace tidelock::replication
