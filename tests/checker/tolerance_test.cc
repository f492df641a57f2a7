// Where a check makes an allowance, the allowance is exactly what the protocol allows: each legal history here stands
// beside the nearest illegal one.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using broker::ResetReason;
using Catch::Matchers::Contains;

// --- a leader that opens after a newer claim (V6, V5)
// -----------------------------------------------------------------

TEST_CASE("V6: a leader that opens late is asked for what was confirmed before the newer claim") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    SECTION("it lacks what the newer leader confirmed") {
        story.claim(2, 2).lead(1, 3).confirm(1, {2, 3}, {1, 3});
        story.cut(2, 1).see(2, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(story.broken() == std::vector<std::string>{"cut-safe"});  // the cut is this history's own
        Story legal;
        legal.lead(1, 1).confirm(1, {2, 3}, {0}).claim(2, 2).lead(1, 3);
        legal.propose_set(1, 3, replicas({1, 3})).commit_set(1, 3, replicas({1, 3})).wait_for(1, 3, replicas({1, 3}));
        legal.confirm(1, {3}, {1, 3}).serve(1, 3, 0, 2, 2).see(2, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(legal.broken() == kNothing);
    }
    SECTION("it lacks what was confirmed before") {
        story.confirm(1, {2}, {1}).claim(3, 2).lead(2, 3).see(3, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(story.broken() == std::vector<std::string>{"leader-completeness"});
        REQUIRE_THAT(story.message("leader-completeness"),
                     Contains("begins to serve under epoch 2 without the confirmed records up to 2"));
    }
    SECTION("it lacks what was shown before, though nobody was told that it is acknowledged") {
        story.append(1, {1}).durable(1, 2).copy(2, {1}).durable(2, 2).high_watermark(1, 1, 2).serve(1, 1, 0, 2, 2);
        story.claim(3, 2).lead(2, 3).see(3, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(story.broken() == std::vector<std::string>{"committed-stable"});
    }
}

TEST_CASE("a leader that opens late settles no loss: the newer leader is still judged") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).claim(2, 2).claim(3, 3);
    story.kill(1).empty_disk(1).empty_disk(2).see(2, broker::LeaderServing{LeaderEpoch(2)});
    REQUIRE(story.checker.fault_budget().losses_excused == 0);
    story.see(3, broker::LeaderServing{LeaderEpoch(3)});
    REQUIRE(story.broken() == kNothing);
}

TEST_CASE("V18: a leader that opened late acknowledges only what the newer leader has") {
    for (const bool newer_has_it : {true, false}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).step_down(1, 1).claim(2, 2).append(2, {1, 2}).durable(2, 2);
        for (const int follower : {1, 3}) story.copy(follower, {1, 2}).durable(follower, 2);
        story.lead(3, 3);
        if (!newer_has_it) story.cut(3, 1);
        story.see(2, broker::LeaderServing{LeaderEpoch(2)}).acknowledge(2, 2, 1, 1);
        REQUIRE(story.breaks("no-stale-ack") == !newer_has_it);
    }
}

// --- copies whose log starts past the high watermark (V7, V20)
// --------------------------------------------------------

/// Broker 1 confirms offsets 0 to 2; broker 2 leads epoch 2 from the high watermark 1.
Story led_from_an_old_high_watermark() {
    Story story;
    story.lead(1, 1);
    for (const std::int64_t base : {0, 1, 2}) story.confirm(1, {2, 3}, {base});
    return story;
}

TEST_CASE("V7: a member may start past the high watermark where a leader's log starts") {
    SECTION("a former leader deleted up to there") {
        Story story = led_from_an_old_high_watermark();
        story.see(1, broker::LogStartAdvanced{kX0, Offset(3)}).see(3, broker::LogStartAdvanced{kX0, Offset(3)});
        story.kill(1).lead(2, 2).high_watermark(2, 2, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("no leader did") {
        Story story = led_from_an_old_high_watermark();
        story.see(3, broker::LogStartAdvanced{kX0, Offset(3)}).kill(1).lead(2, 2).high_watermark(2, 2, 1);
        REQUIRE(story.breaks("isr-complete"));
    }
    SECTION("an administrator's wish alone deletes nothing") {
        Story story = led_from_an_old_high_watermark();
        story.fact(RecordDeletionAsked{"x", PartitionIndex(0), Offset(3)});
        story.see(3, broker::LogStartAdvanced{kX0, Offset(3)}).kill(1).lead(2, 2).high_watermark(2, 2, 1);
        REQUIRE(story.breaks("isr-complete"));
    }
}

TEST_CASE("V7: what a member once held counts for the life that held it") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).kill(3).empty_disk(3).boot(3, 33).kill(2).boot(2);
    const std::vector<Replica> former = replicas({1, 2, 3});
    std::vector<Replica> renewed = former;
    renewed[2].incarnation = Incarnation(33);
    SECTION("its former life is still in the set") {
        story.recover(2, {{0}}).lead(2, 2).high_watermark(2, 2, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("the new life is, without the record") {
        story.recover(2, {{0}}).see(2, broker::ClaimCommitted{LeaderEpoch(2)}).commit_set(2, 2, renewed);
        story.wait_for(2, 2, renewed).high_watermark(2, 2, 1);
        REQUIRE(story.broken() == std::vector<std::string>{"isr-complete"});
    }
    SECTION("the new life is, with the record") {
        story.recover(2, {{0}}).see(2, broker::ClaimCommitted{LeaderEpoch(2)}).commit_set(2, 2, renewed);
        story.copy(3, {0}).durable(3, 1).wait_for(2, 2, renewed).high_watermark(2, 2, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V7: what a member held until a fault took its catalogue counts for the life that held it") {
    for (const bool is_hurt : {true, false}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0});
        if (is_hurt) story.fact(DiskDamaged{BrokerId(3), DiskDamage::kUnreadable, std::nullopt, "topics.a"});
        for (const int broker : {1, 2, 3})
            (broker == 1 ? story.append(1, {1}) : story.copy(broker, {1})).durable(broker, 2);
        story.kill(3).boot(3, 33).see(3, broker::TopicDropped{kX0.topic}).high_watermark(1, 1, 2);
        REQUIRE(story.breaks("isr-complete") == !is_hurt);
        if (is_hurt) REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V20: a leader's log start stops at its own high watermark, a follower's where a leader's is") {
    Story story = led_from_an_old_high_watermark();
    SECTION("the leader") {
        story.see(1, broker::LogStartAdvanced{kX0, Offset(3)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a leader that knows an older high watermark than there was") {
        story.hear_high_watermark(2, 1, 1).kill(1).lead(2, 2).see(2, broker::LogStartAdvanced{kX0, Offset(2)});
        REQUIRE_THAT(story.message("cut-safe"), Contains("from 0 to 2, past its high watermark 1"));
    }
    SECTION("a follower after the leader") {
        story.see(1, broker::LogStartAdvanced{kX0, Offset(2)}).see(3, broker::LogStartAdvanced{kX0, Offset(2)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a follower further than the leader") {
        story.see(1, broker::LogStartAdvanced{kX0, Offset(2)}).see(3, broker::LogStartAdvanced{kX0, Offset(3)});
        REQUIRE_THAT(story.message("cut-safe"), Contains("no leader's log started past 2"));
    }
}

TEST_CASE("V20: without retention the log start moves only as far as somebody asked") {
    for (const std::int64_t start : {2, 3}) {
        Settings settings = Story::group_of_three();
        settings.retention_enabled = false;
        Story story(settings);
        story.lead(1, 1);
        for (const std::int64_t base : {0, 1, 2}) story.confirm(1, {2, 3}, {base});
        story.fact(RecordDeletionAsked{"x", PartitionIndex(0), Offset(2)});
        story.see(1, broker::LogStartAdvanced{kX0, Offset(start)});
        REQUIRE(story.breaks("cut-safe") == (start == 3));
    }
}

TEST_CASE("V20: retention leaves as many records below the high watermark as it was told") {
    for (const std::int64_t start : {2, 3}) {
        Settings settings = Story::group_of_three();
        settings.retention_records_min = 2;
        Story story(settings);
        story.lead(1, 1);
        for (const std::int64_t base : {0, 1, 2, 3}) story.confirm(1, {2, 3}, {base});
        story.see(1, broker::LogStartAdvanced{kX0, Offset(start)});
        REQUIRE(story.breaks("cut-safe") == (start == 3));
    }
}

TEST_CASE("V20: internal topics are written anew, and their log starts need nobody's wish") {
    for (const char* topic : {"__producer_ids", "__consumer_offsets", "orders"}) {
        constexpr TopicPartition kInternal{TopicId(9), PartitionIndex(0)};
        Settings settings = Story::group_of_three();
        settings.retention_enabled = false;
        Story story(settings);
        story.see(1, broker::TopicCreated{kInternal.topic, topic, 1}).lead(1, 1);
        story.see(1, broker::BatchAppended{kInternal, summary_of({0}), true});
        story.see(1, broker::DurableEndAdvanced{kInternal, Offset(1)});
        for (const int follower : {2, 3}) {
            story.see(follower, broker::BatchAppended{kInternal, summary_of({0}), false});
            story.see(follower, broker::DurableEndAdvanced{kInternal, Offset(1)});
        }
        story.see(1, broker::HighWatermarkAdvanced{kInternal, LeaderEpoch(1), Offset(1), true});
        story.see(1, broker::LogStartAdvanced{kInternal, Offset(1)});
        REQUIRE(story.breaks("cut-safe") == (topic == std::string("orders")));
    }
}

TEST_CASE("V5: no copy's high watermark passes its own log end") {
    Story story = led_from_an_old_high_watermark();
    story.propose_set(1, 1, replicas({1, 3})).commit_set(1, 1, replicas({1, 3})).wait_for(1, 1, replicas({1, 3}));
    story.confirm(1, {3}, {3});
    SECTION("a follower that lags takes what it has") {
        story.hear_high_watermark(2, 1, 3);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a follower that lags takes all") {
        story.hear_high_watermark(2, 1, 4);
        REQUIRE_THAT(story.message("committed-stable"),
                     Contains("broker 2 moved its high watermark to 4, past its own log end 3"));
    }
}

TEST_CASE("V5: a copy knows no high watermark that no leader had, and follows it forward") {
    Story story = led_from_an_old_high_watermark();
    story.append(1, {3}).copy(2, {3}).hear_high_watermark(2, 1, 2);
    SECTION("forward") {
        story.hear_high_watermark(2, 1, 3);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("back") {
        story.hear_high_watermark(2, 1, 1);
        REQUIRE_THAT(story.message("committed-stable"), Contains("high watermark back from 2 to 1"));
    }
    SECTION("past every leader's") {
        story.hear_high_watermark(2, 1, 4);
        REQUIRE_THAT(story.message("committed-stable"), Contains("no leader's was ever past 3"));
    }
    SECTION("recovered") {
        for (const std::int64_t high_watermark : {3, 4}) {
            Story recovered = led_from_an_old_high_watermark();
            broker::LogRecovered found{kX0, Offset(0), Offset(4), Offset(4), Offset(high_watermark), {}, false};
            for (const std::int64_t base : {0, 1, 2, 3}) found.batches.push_back(summary_of({base}));
            recovered.append(1, {3}).copy(2, {3}).kill(2).boot(2).see(2, found);
            REQUIRE(recovered.breaks("committed-stable") == (high_watermark == 4));
        }
    }
}

TEST_CASE("V4: a log is durable up to its end at most") {
    for (const std::int64_t end : {1, 2}) {
        Story story;
        story.lead(1, 1).append(1, {0}).durable(1, end);
        REQUIRE(story.breaks("log-matching") == (end == 2));
    }
}

// --- changes of the set (V7), and what counts as a set (V1, V6)
// -------------------------------------------------------

/// Broker 1 leads epoch 1, brokers 1 and 2 are the set and hold offsets 0 and 1; the high watermark is 2.
Story set_of_two() {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    story.confirm(1, {2}, {1});
    return story;
}

TEST_CASE("V7: who joins has reached the high watermark and the start of the epoch (I5)") {
    SECTION("it has") {
        Story story = set_of_two();
        story.copy(3, {1}).durable(3, 2).wait_for(1, 1, replicas({1, 2, 3})).propose_set(1, 1, replicas({1, 2, 3}));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it has, but not durably") {
        Story story = set_of_two();
        story.copy(3, {1}).wait_for(1, 1, replicas({1, 2, 3})).propose_set(1, 1, replicas({1, 2, 3}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("though it durably holds [0, 1) and 2 is needed"));
    }
    SECTION("it told so and lost its disk") {
        Story story = set_of_two();
        story.copy(3, {1}).durable(3, 2).kill(3).empty_disk(3);
        story.wait_for(1, 1, replicas({1, 2, 3})).propose_set(1, 1, replicas({1, 2, 3}));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a fresh leader's high watermark lags: the start of its epoch counts") {
        Story story = set_of_two();
        story.kill(1).see(2, broker::ClaimCommitted{LeaderEpoch(2)}).commit_set(2, 2, replicas({1, 2}));
        story.wait_for(2, 2, replicas({1, 2, 3})).propose_set(2, 2, replicas({1, 2, 3}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("start of the epoch 2"));
    }
    SECTION("a leader of the past counts what a follower had when it followed") {
        Story story = set_of_two();
        story.copy(3, {1}).durable(3, 2).append(1, {2}).copy(3, {2}).durable(3, 3).claim(2, 2).cut(3, 2);
        story.wait_for(1, 1, replicas({1, 2, 3})).propose_set(1, 1, replicas({1, 2, 3}));
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V7: who joins has reached it in every preset, with the positions that preset offers (I5, I11)") {
    Settings settings = Story::group_of_three();
    settings.preset = broker::Preset::kStatic;
    const auto story_of = [&] {
        Story story(settings);
        story.claim(1, 0).see(1, broker::LeaderServing{LeaderEpoch(0)});
        story.propose_set(1, 0, replicas({1, 2})).commit_set(1, 0, replicas({1, 2})).wait_for(1, 0, replicas({1, 2}));
        story.append(1, {0, 0}).durable(1, 1).copy(2, {0, 0}).durable(2, 1).high_watermark(1, 0, 1);
        return story;
    };
    SECTION("it has") {
        Story story = story_of();
        story.copy(3, {0, 0}).durable(3, 1).wait_for(1, 0, replicas({1, 2, 3}));
        REQUIRE(story.propose_set(1, 0, replicas({1, 2, 3})).broken() == kNothing);
    }
    SECTION("it has not") {
        Story story = story_of();
        story.wait_for(1, 0, replicas({1, 2, 3})).propose_set(1, 0, replicas({1, 2, 3}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("and 1 is needed"));
    }
    SECTION("it has received it: enough where that is what positions mean") {
        for (const bool durable : {false, true}) {
            settings.durable_positions = durable;
            Story story = story_of();
            story.copy(3, {0, 0}).wait_for(1, 0, replicas({1, 2, 3})).propose_set(1, 0, replicas({1, 2, 3}));
            REQUIRE(story.breaks("isr-complete") == durable);
        }
    }
    SECTION("the set shrinks below the minimum") {
        Story story = story_of();
        story.propose_set(1, 0, replicas({1}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("below the minimum of 2 (I11)"));
    }
}

TEST_CASE("V7: the set does not shrink below the minimum, and becomes what was proposed (I11, I3)") {
    Story story = set_of_two();
    SECTION("below the minimum") {
        story.propose_set(1, 1, replicas({1}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("below the minimum of 2 (I11)"));
    }
    SECTION("a change that was not proposed") {
        story.commit_set(1, 1, replicas({1, 3}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("which it did not propose after {1, 2}"));
    }
    SECTION("the same set again") {
        story.commit_set(1, 1, replicas({1, 2}));
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V7: a leader opens only in the life of its data that the set names (G2, I10)") {
    for (const bool renewed : {false, true}) {
        Story story = set_of_two();
        story.kill(2).boot(2, renewed ? 22 : 2).recover(2, {{0}, {1}});
        story.see(2, broker::ClaimCommitted{LeaderEpoch(2)}).commit_set(2, 2, replicas({1, 2}));
        story.see(2, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(story.breaks("isr-complete") == renewed);
    }
}

TEST_CASE("V1: a record is not confirmed by a set that is too small (I8)") {
    for (const bool small : {false, true}) {
        Story story;
        story.see(1, broker::ClaimCommitted{LeaderEpoch(1)});
        const std::vector<Replica> set = small ? replicas({1}) : replicas({1, 2});
        story.commit_set(1, 1, set).wait_for(1, 1, set).see(1, broker::LeaderServing{LeaderEpoch(1)});
        story.confirm(1, {2, 3}, {0});
        REQUIRE(story.breaks("acked-survival") == small);
    }
}

TEST_CASE("V6: a leader opens when its high watermark has passed what it read from internal topics (G3)") {
    constexpr TopicPartition kOffsets{TopicId(9), PartitionIndex(0)};
    for (const std::int64_t high_watermark : {0, 1}) {
        Story story;
        story.see(1, broker::TopicCreated{kOffsets.topic, "__consumer_offsets", 1}).claim(1, 1);
        story.see(1, broker::BatchAppended{kOffsets, summary_of({0}), true}).step_down(1, 1).claim(1, 2);
        if (high_watermark > 0) {
            story.see(1, broker::DurableEndAdvanced{kOffsets, Offset(1)});
            for (const int follower : {2, 3}) {
                story.see(follower, broker::BatchAppended{kOffsets, summary_of({0}), false});
                story.see(follower, broker::DurableEndAdvanced{kOffsets, Offset(1)});
            }
            story.see(1, broker::HighWatermarkAdvanced{kOffsets, LeaderEpoch(2), Offset(high_watermark), true});
        }
        story.see(1, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(story.breaks("leader-completeness") == (high_watermark == 0));
    }
}

// --- copies found damaged (V1, V4)
// ------------------------------------------------------------------------------------

TEST_CASE("V1: a copy found damaged counts as destroyed whole while a reported fault is in it") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    SECTION("records appended after the fault go with it") {
        story.damage_disk(2).confirm(1, {2}, {1}).kill(2).boot(2, 22).recover(2, {}, true);
        story.kill(1).empty_disk(1).lead(3, 2);
        REQUIRE(story.broken() == kNothing);
        REQUIRE(story.checker.fault_budget().losses_excused == 1);
    }
    SECTION("not once the copy was copied anew") {
        story.damage_disk(2).kill(2).boot(2, 22).recover(2, {}, true).reset(2, 0, ResetReason::kDamaged);
        story.copy(2, {0}).durable(2, 1).confirm(1, {2}, {1}).kill(2).boot(2, 22).recover(2, {}, true);
        REQUIRE_THAT(story.message("log-matching"), Contains("calls its copy, durable up to 2, damaged"));
        story.kill(1).empty_disk(1).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
        REQUIRE(story.checker.fault_budget().losses_excused == 0);
    }
}

/// Brokers 1 to 3 have confirmed offsets 0 and 1.
Story three_hold_two() {
    Story story;
    return std::move(story.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2, 3}, {1}));
}

TEST_CASE("V1: a copy that got its records back does not count as destroyed any more") {
    const auto copy_anew = [](Story& story, int broker, std::int64_t end) {
        story.kill(broker).empty_disk(broker).boot(broker, static_cast<unsigned>(broker * 11));
        for (std::int64_t base = 0; base < end; ++base) story.copy(broker, {base});
        if (end > 0) story.durable(broker, end);
    };
    struct Case {
        const char* what;
        std::int64_t copied_by_2;
        std::int64_t copied_by_3;
        bool excuses;
    };
    for (const Case& each : {Case{"both copied all", 2, 2, false}, Case{"one copied all", 2, 0, false},
                             Case{"both lack the last record", 1, 1, true}, Case{"both lack all", 0, 0, true}}) {
        INFO(each.what);
        Story story = three_hold_two();
        copy_anew(story, 2, each.copied_by_2);
        copy_anew(story, 3, each.copied_by_3);
        // What broker 2 has got back of offset 1 goes without a fault.
        story.kill(1).kill(2).boot(2, 22).recover(2, {{0}}).kill(3).boot(3, 33).recover(3, {{0}}).lead(2, 2);
        REQUIRE(story.breaks("acked-survival") == !each.excuses);
        REQUIRE(story.checker.fault_budget().losses_excused == (each.excuses ? 1 : 0));
    }
}

TEST_CASE("V1: a hit copy that was found whole on a sound disk does not count as destroyed") {
    for (const bool is_sound : {false, true}) {
        Story story = three_hold_two();
        for (const int broker : {2, 3}) {
            story.damage_disk(broker).kill(broker).boot(broker).recover(broker, {{0}, {1}});
            if (is_sound) story.disk_is_sound(broker);
        }
        for (const int broker : {2, 3})
            story.kill(broker).boot(broker, static_cast<unsigned>(broker * 11)).recover(broker, {{0}});
        story.kill(1).lead(2, 2);
        REQUIRE(story.breaks("acked-survival") == is_sound);
    }
}

TEST_CASE("V7: once a hit copy was found whole on a sound disk, its member is counted for what it holds") {
    for (const bool is_sound : {false, true}) {
        Story story;
        story.lead(1, 1).append(1, {0}).durable(1, 1);
        for (const int follower : {2, 3}) story.copy(follower, {0}).durable(follower, 1);
        story.damage_disk(2).kill(2).boot(2).recover(2, {{0}});
        if (is_sound) story.disk_is_sound(2);
        story.cut(2, 0).high_watermark(1, 1, 1);
        REQUIRE(story.breaks("isr-complete") == is_sound);
    }
}

TEST_CASE("V1: a copy gets back what was confirmed, not whatever stands there now") {
    for (const bool is_other_lost : {true, false}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0});
        story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
        story.confirm(1, {2}, {1}).kill(1).kill(2).empty_disk(2).boot(2, 22);
        if (is_other_lost) story.empty_disk(1);
        story.claim(3, 2).append(3, {1, 2}).durable(3, 2).copy(2, {0}).copy(2, {1, 2}).durable(2, 2);
        story.see(3, broker::LeaderServing{LeaderEpoch(2)});
        REQUIRE(story.breaks("acked-survival") == !is_other_lost);
    }
}

TEST_CASE("V4: a fault excuses what is lost until the disk is sound again") {
    for (const bool is_sound : {false, true}) {
        const auto hurt = [is_sound] {
            Story story;
            story.lead(1, 1).confirm(1, {2, 3}, {0}).kill(2).boot(2).recover(2, {{0}}).damage_disk(2);
            story.fact(DiskDamaged{BrokerId(2), DiskDamage::kBitRot, std::nullopt, "checkpoint.3"});
            return std::move(is_sound ? story.disk_is_sound(2) : story);
        };
        Story forgotten = hurt();
        forgotten.kill(2).boot(2).recover(2, {});
        REQUIRE(forgotten.breaks("log-matching") == is_sound);
        Story damaged = hurt();
        damaged.see(2, broker::DamageFound{kX0, Offset(0)});
        REQUIRE(damaged.breaks("log-matching") == is_sound);
        Story dropped = hurt();
        dropped.reset(2, 0, ResetReason::kDamaged);
        REQUIRE(dropped.breaks("cut-safe") == is_sound);
        Story missing = hurt();
        missing.kill(2).boot(2).follow(2, 1, 1);
        REQUIRE(missing.breaks("log-matching") == is_sound);
    }
}

TEST_CASE("V4: bytes that recovery did not verify may be hurt by a fault, and by nothing else") {
    struct Case {
        bool is_hit;
        std::int64_t unverified_end;
        BatchSpec found;
        bool is_legal;
    };
    const std::vector<Case> cases{{true, 2, {0, 1, 1, 99}, true},  {false, 2, {0, 1, 1, 99}, false},
                                  {true, 0, {0, 1, 1, 99}, false}, {true, 2, {0, 2, 1, 99}, false},
                                  {false, 2, {0, 1, 1}, true},     {true, 1, {0, 1, 1, 99}, true}};
    for (const Case& each : cases) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2, 3}, {1}).kill(2);
        if (each.is_hit) story.damage_disk(2);
        story.fact(BrokerBooted{BrokerId(2), ++story.life[2]});
        broker::LogRecovered found{kX0, Offset(0), Offset(2), Offset(2), Offset(0), {}, false};
        found.unverified_end_offset = Offset(each.unverified_end);
        found.batches = {summary_of(each.found), summary_of({1})};
        story.see(2, found).see(2, broker::Started{Incarnation(2), Incarnation(2)}).follow(2, 1, 1);
        INFO(each.is_hit << " " << each.unverified_end << " " << story.message("log-matching"));
        REQUIRE(story.breaks("log-matching") != each.is_legal);
    }
}

TEST_CASE("V4: on a sound disk, what was found damaged or not at all is excused until it is copied anew") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).damage_disk(2);
    SECTION("found damaged") {
        story.kill(2).boot(2, 22).recover(2, {}, true).disk_is_sound(2);
        story.reset(2, 0, ResetReason::kDamaged).kill(2).boot(2, 22).recover(2, {}, true);
        story.see(2, broker::DamageFound{kX0, Offset(0)});
        REQUIRE(story.broken() == kNothing);
        story.reset(2, 0, ResetReason::kDamaged).copy(2, {0}).durable(2, 1).kill(2).boot(2, 22).recover(2, {}, true);
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("found whole after all") {
        story.kill(2).boot(2, 22).recover(2, {}, true).disk_is_sound(2).kill(2).boot(2, 22).recover(2, {{0}});
        REQUIRE(story.broken() == kNothing);
        story.kill(2).boot(2, 22).recover(2, {});
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("not found") {
        story.fact(DiskDamaged{BrokerId(2), DiskDamage::kUnreadable, std::nullopt, "topics.a"});
        story.kill(2).boot(2, 22).disk_is_sound(2).follow(2, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V4: a fault in another file excuses no record") {
    struct Case {
        std::optional<TopicPartition> partition;
        std::string file;
        bool excuses;
    };
    const std::vector<Case> cases{{kX0, "a segment", true},
                                  {TopicPartition{TopicId(7), PartitionIndex(1)}, "another segment", false},
                                  {std::nullopt, "checkpoint.3", true},
                                  {std::nullopt, "raft.a", false}};
    for (const Case& each : cases) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).kill(2);
        story.fact(DiskDamaged{BrokerId(2), DiskDamage::kBitRot, each.partition, each.file});
        story.boot(2).recover(2, {});
        REQUIRE(story.breaks("log-matching") == !each.excuses);
    }
}

TEST_CASE("a reset copy is whole again when it holds durable records, not when an older commit ends") {
    for (const bool holds_records : {false, true}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).damage_disk(2).kill(2).boot(2, 22).recover(2, {{0}}, true);
        story.reset(2, 0, ResetReason::kDamaged).durable(2, 0);
        if (holds_records) story.copy(2, {0}).durable(2, 1);
        // The power goes, and the old files are back.
        story.kill(2).boot(2, 22).recover(2, {{0}}, true);
        REQUIRE(story.breaks("log-matching") == holds_records);
        // Nothing was promised in that life but what it held.
        story.reset(2, 0, ResetReason::kDamaged);
        REQUIRE(story.breaks("isr-complete") == holds_records);
    }
}

TEST_CASE("a partition has its topic's name as soon as anybody tells it, though its log was recovered before") {
    constexpr TopicPartition kY0{TopicId(8), PartitionIndex(0)};
    Story story;
    story.kill(2).boot(2, 22).see(2, broker::LogRecovered{kY0, Offset(0), Offset(0), Offset(0), Offset(0), {}, false});
    story.see(3, broker::TopicCreated{kY0.topic, "y", 1}).see(2, broker::LogStartAdvanced{kY0, Offset(5)});
    REQUIRE_THAT(story.message("cut-safe"), Contains("y-0: broker 2 moved its log start from 0 to 5"));
}

TEST_CASE("V7: a position told before damage was found may be counted after, if a fault did it") {
    for (const bool is_fault : {true, false}) {
        Story story;
        story.lead(1, 1).append(1, {0}).durable(1, 1);
        for (const int follower : {2, 3}) story.copy(follower, {0}).durable(follower, 1);
        if (is_fault) story.damage_disk(2);
        story.see(2, broker::DamageFound{kX0, Offset(0)}).high_watermark(1, 1, 1);
        REQUIRE(story.breaks("isr-complete") == !is_fault);
    }
}

TEST_CASE("a fault that hits a copy while it is copied anew is not over when the copy is durable") {
    for (const bool is_hit_again : {false, true}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).damage_disk(2).kill(2).boot(2, 22).recover(2, {{0}}, true);
        story.reset(2, 0, ResetReason::kDamaged).copy(2, {0});
        if (is_hit_again) story.damage_disk(2);
        story.durable(2, 1).kill(2).boot(2, 33).recover(2, {{0}}, true);
        REQUIRE(story.breaks("log-matching") == !is_hit_again);
    }
}

}  // namespace
}  // namespace tidelock::checker
