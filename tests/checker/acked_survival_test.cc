// V1 and V6: confirmed records survive what their policy promises, serving leaders hold them, and only faults excuse a
// loss.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

/// Broker 1 leads epoch 1 and has confirmed offsets 0 and 1 on brokers 1 and 2; broker 3 has only offset 0.
Story two_of_three_hold_it() {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    story.confirm(1, {2}, {1});
    return story;
}

TEST_CASE("a leader that holds every confirmed record is fine") {
    Story story = two_of_three_hold_it();
    story.kill(1).lead(2, 2).copy(3, {1}).durable(3, 2).confirm(2, {3}, {2, 2}).serve(2, 2, 0, 3, 3);
    // Broker 1 is still in the set that broker 2 took over.
    REQUIRE(story.broken() == std::vector<std::string>{"isr-complete", "acked-survival"});
    Story clean = two_of_three_hold_it();
    clean.kill(1).lead(2, 2);
    REQUIRE(clean.broken() == kNothing);
}

TEST_CASE("a leader without a confirmed record breaks V6 and loses it, which breaks V1") {
    Story story = two_of_three_hold_it();
    story.kill(1).lead(3, 2);
    REQUIRE(story.broken() == std::vector<std::string>{"leader-completeness", "acked-survival"});
    REQUIRE_THAT(story.message("acked-survival"),
                 Contains("x-0: a confirmed record is lost when broker 3 begins to serve under epoch 2") &&
                     Contains("offset 1 is expected to hold offsets 1..1") && Contains("broker 3's log is [0, 1)") &&
                     Contains("0 destroyed by disk faults, 1 tolerated"));
}

TEST_CASE("a record lost is told once, not at each later leader") {
    Story story = two_of_three_hold_it();
    story.kill(1).lead(3, 2).step_down(3, 2).lead(3, 4);
    REQUIRE(story.broken().size() == 2);
}

TEST_CASE("a loss is excused when more copies were destroyed than the policy survives, and counted") {
    Story story = two_of_three_hold_it();
    SECTION("two disks of the two that held it") {
        story.kill(1).empty_disk(1).kill(2).empty_disk(2).lead(3, 2);
        REQUIRE(story.broken() == kNothing);
        REQUIRE(story.checker.fault_budget().losses_excused == 1);
        REQUIRE_THAT(story.checker.fault_budget().excused.front().reason,
                     Contains("2 destroyed by disk faults, 1 tolerated"));
    }
    SECTION("one disk is within the promise") {
        story.kill(1).empty_disk(1).kill(2).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
        REQUIRE(story.checker.fault_budget().losses_excused == 0);
    }
    SECTION("power losses and crashes excuse nothing") {
        story.kill(1).kill(2).kill(3).boot(3).recover(3, {{0}}).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
    }
    SECTION("a disk that got the record back is no longer destroyed") {
        story.kill(2).empty_disk(2).boot(2, 22).copy(2, {0}).copy(2, {1}).durable(2, 2);
        story.kill(1).empty_disk(1).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
    }
    SECTION("a broker that says its copy is damaged, on a healthy disk, excuses nothing") {
        story.kill(2).boot(2, 22).recover(2, {{0}}, true).kill(1).empty_disk(1).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
    }
}

TEST_CASE("with min.insync 1 the leader's disk alone excuses what only it held") {
    Settings settings = Story::group_of_three();
    settings.min_insync_replicas = 1;
    Story story(settings);
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    story.propose_set(1, 1, replicas({1}))
        .commit_set(1, 1, replicas({1}))
        .wait_for(1, 1, replicas({1}))
        .confirm(1, {}, {1});
    story.kill(1);
    SECTION("destroyed") {
        story.empty_disk(1).lead(3, 2);
        REQUIRE(story.broken() == kNothing);
        REQUIRE(story.checker.fault_budget().losses_excused > 0);
    }
    SECTION("kept") {
        story.lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
    }
}

TEST_CASE("A5: where acks=leader waits for the leader's sync, it is told when that is done") {
    Settings settings = Story::group_of_three();
    settings.ack_leader_durably = true;
    Story story(settings);
    story.lead(1, 1).append(1, {0, 1, 2}).copy(2, {0, 1, 2}).durable(2, 2);
    SECTION("it is") {
        story.durable(1, 2).acknowledge(1, 1, 0, 1, broker::AcknowledgedBy::kLeaderAppend);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("only up to its first record, whatever a follower has") {
        story.durable(1, 1).acknowledge(1, 1, 0, 1, broker::AcknowledgedBy::kLeaderAppend);
        REQUIRE_THAT(story.message("acked-survival"),
                     Contains("to a producer that waits for its sync, but its log is durable up to 1 (A5)"));
    }
    SECTION("acks=none waits for nothing") {
        story.acknowledge(1, 1, 0, 1, broker::AcknowledgedBy::kNothing);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a producer that repeats itself waits as long") {
        story.see(1, broker::RecordsAcknowledged{kX0, Offset(0), Offset(1), LeaderEpoch(1),
                                                 broker::AcknowledgedBy::kLeaderAppend, true});
        REQUIRE(story.breaks("acked-survival"));
    }
}

TEST_CASE("an acknowledgement on too few durable copies is caught at once") {
    Story story;
    story.lead(1, 1);
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    story.append(1, {0}).durable(1, 1).copy(2, {0});
    SECTION("broker 2 has not synced") {
        story.acknowledge(1, 1, 0, 0);
        REQUIRE(story.breaks("acked-survival"));
        REQUIRE_THAT(story.message("acked-survival"), Contains("with 1 durable copies, 2 are promised"));
    }
    SECTION("the leader has not synced") {
        story.durable(2, 1).append(1, {1}).copy(2, {1}).durable(2, 2).acknowledge(1, 1, 1, 1);
        REQUIRE(story.breaks("acked-survival"));
    }
    SECTION("both have") {
        story.durable(2, 1).high_watermark(1, 1, 1).acknowledge(1, 1, 0, 0);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("broker 2 had, and lost its disk before the leader answered") {
        story.durable(2, 1).kill(2).empty_disk(2).high_watermark(1, 1, 1).acknowledge(1, 1, 0, 0);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("acks=leader promises no copies") {
        story.acknowledge(1, 1, 0, 0, broker::AcknowledgedBy::kLeaderAppend);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("enough copies are not enough while a member of the acknowledgement set has none") {
    Story story;
    story.lead(1, 1).append(1, {0}).durable(1, 1).copy(2, {0}).durable(2, 1);
    SECTION("broker 3 has nothing") {
        story.acknowledge(1, 1, 0, 0);
        REQUIRE_THAT(story.message("acked-survival"), Contains("broker 3 of its acknowledgement set {1, 2, 3}"));
    }
    SECTION("broker 3 has it") {
        story.copy(3, {0}).durable(3, 1).acknowledge(1, 1, 0, 0);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("an acknowledged record that the leader's log does not hold") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).acknowledge(1, 1, 1, 1, broker::AcknowledgedBy::kLeaderAppend);
    REQUIRE_THAT(story.message("acked-survival"), Contains("which its log [0, 1) does not hold"));
}

TEST_CASE("records below a legally moved log start are not missed") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2}, {1});
    SECTION("moved") {
        // Broker 3 was not in the set that confirmed offset 1.
        Story moved;
        moved.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2, 3}, {1});
        moved.see(1, broker::LogStartAdvanced{kX0, Offset(1)}).kill(1).lead(2, 2);
        REQUIRE(moved.broken() == kNothing);
        moved.step_down(2, 2).reset(3, 1, broker::ResetReason::kBehindLogStart);
        REQUIRE(moved.breaks("cut-safe"));  // it held offset 1
    }
    SECTION("not moved") {
        story.kill(1).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
    }
}

TEST_CASE("a deposed leader may confirm what its successor has confirmed and retained away, and nothing else") {
    const auto moved = [](Story& story, std::initializer_list<int> brokers) {
        for (const int broker : brokers) story.see(broker, broker::LogStartAdvanced{kX0, Offset(2)});
    };
    // Broker 1 leads epoch 1 and falls silent; 2 and 3 have copied offsets 0 and 1.
    const auto copied = [](const BatchSpec& second) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).append(1, {1}).durable(1, 2);
        for (const int broker : {2, 3}) story.copy(broker, second).durable(broker, 2);
        return story;
    };
    Story legal = copied({1});
    legal.lead(2, 2).high_watermark(2, 2, 2).acknowledge(2, 2, 1, 1);
    moved(legal, {2, 3});
    legal.acknowledge(1, 1, 1, 1);
    REQUIRE_FALSE(legal.breaks("acked-survival"));
    SECTION("not while its epoch is the newest") {
        Story story = copied({1});
        moved(story, {2, 3});
        story.acknowledge(1, 1, 1, 1);
        REQUIRE(story.breaks("acked-survival"));
    }
    SECTION("not what is there in its place") {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).append(1, {1}).durable(1, 2);
        story.lead(2, 2).confirm(2, {3}, {1, 2});
        moved(story, {2, 3});
        story.acknowledge(1, 1, 1, 1);
        REQUIRE(story.breaks("acked-survival"));
    }
}

TEST_CASE("a topic whose deletion was asked for may vanish, any other may not") {
    for (const bool asked : {true, false}) {
        Story story = two_of_three_hold_it();
        if (asked) story.fact(TopicDeletionAsked{"x"});
        story.see(2, broker::TopicDropped{kX0.topic}).kill(1).lead(2, 2);
        REQUIRE(story.breaks("acked-survival") == !asked);
    }
}

TEST_CASE("a topic may vanish while its deletion is under way, and after one that did not fail for sure") {
    struct Case {
        const char* what;
        void (*ask)(Story&);
        bool excuses;
    };
    const std::vector<Case> cases{
        {"under way", [](Story& story) { story.ask_topic_deletion(); }, true},
        {"deleted", [](Story& story) { story.delete_topic(Outcome::kOk); }, true},
        {"nobody knows", [](Story& story) { story.delete_topic(Outcome::kUnknown); }, true},
        {"refused", [](Story& story) { story.delete_topic(Outcome::kFailed); }, false},
        {"refused after one that nobody knows of",
         [](Story& story) { story.delete_topic(Outcome::kUnknown).delete_topic(Outcome::kFailed); }, true},
        {"refused twice", [](Story& story) { story.delete_topic(Outcome::kFailed).delete_topic(Outcome::kFailed); },
         false},
        {"refused, then asked for again",
         [](Story& story) { story.delete_topic(Outcome::kFailed).ask_topic_deletion(); }, true},
    };
    for (const Case& each : cases) {
        INFO(each.what);
        Story story = two_of_three_hold_it();
        each.ask(story);
        story.see(3, broker::TopicHidden{kX0.topic}).kill(1).lead(3, 2);
        REQUIRE(story.breaks("acked-survival") == !each.excuses);
    }
}

TEST_CASE("a topic vanishes whole: a leader that shows it holds what was confirmed in it (F2)") {
    Story story = two_of_three_hold_it();
    story.ask_topic_deletion().see(3, broker::TopicHidden{kX0.topic});
    SECTION("hidden still") {
        REQUIRE_FALSE(story.kill(1).lead(3, 2).breaks("acked-survival"));
    }
    SECTION("shown again, with nothing missing") {
        story.copy(3, {1}).durable(3, 2).see(3, broker::TopicShown{kX0.topic});
        REQUIRE_FALSE(story.kill(1).lead(3, 2).breaks("acked-survival"));
    }
    SECTION("shown again, without the record") {
        story.see(3, broker::TopicShown{kX0.topic}).kill(1).lead(3, 2);
        REQUIRE(story.breaks("acked-survival"));
    }
}

/// Topic "x" is gone, and comes again under another id; broker 1 confirms offset 0 of it on brokers 1 and 2 only, and
/// broker 3 takes over without it.
Story& come_again_and_lose(Story& story) {
    constexpr TopicPartition kAgain{TopicId(8), PartitionIndex(0)};
    for (const int broker : {1, 2, 3}) story.see(broker, broker::TopicDropped{kX0.topic});
    for (const int broker : {1, 2, 3}) story.see(broker, broker::TopicCreated{kAgain.topic, "x", 1});
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    for (const int broker : {1, 2}) {
        story.see(broker, broker::BatchAppended{kAgain, summary_of({0}), broker == 1});
        story.see(broker, broker::DurableEndAdvanced{kAgain, Offset(1)});
    }
    story.see(1, broker::HighWatermarkAdvanced{kAgain, LeaderEpoch(1), Offset(1), true});
    story.see(1, broker::RecordsAcknowledged{kAgain, Offset(0), Offset(0), LeaderEpoch(1),
                                             broker::AcknowledgedBy::kPolicy, false});
    return story.see(3, broker::TopicHidden{kAgain.topic}).kill(1).lead(3, 2);
}

TEST_CASE("a deletion takes the next topic of its name only if it found none and nobody knows how it ended") {
    struct Case {
        const char* what;
        void (*ask)(Story&);
        bool excuses;
    };
    const std::vector<Case> cases{
        {"the first topic was deleted", [](Story& story) { story.delete_topic(Outcome::kOk); }, false},
        {"perhaps, and then for sure",
         [](Story& story) { story.delete_topic(Outcome::kUnknown).delete_topic(Outcome::kOk); }, false},
        {"perhaps, and there was none any more",
         [](Story& story) { story.delete_topic(Outcome::kUnknown).delete_topic(Outcome::kFailed); }, false},
        {"perhaps twice", [](Story& story) { story.delete_topic(Outcome::kUnknown).delete_topic(Outcome::kUnknown); },
         true},
        {"asked for again, and under way", [](Story& story) { story.delete_topic(Outcome::kOk).ask_topic_deletion(); },
         true},
    };
    for (const Case& each : cases) {
        INFO(each.what);
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0});
        each.ask(story);
        come_again_and_lose(story);
        REQUIRE(story.breaks("acked-survival") == !each.excuses);
    }
}

TEST_CASE("the leader at the end must hold what was confirmed") {
    for (const int leader : {2, 3}) {
        Story story = two_of_three_hold_it();
        FinalView view;
        view.leader = BrokerId(leader);
        view.judge_progress = false;
        story.checker.at_end(99, view);
        REQUIRE(story.breaks("acked-survival") == (leader == 3));
    }
}

TEST_CASE("V6: nothing is answered between claim and opening") {
    Story story;
    story.claim(1, 1).append(1, {0});
    for (const int follower : {2, 3}) story.copy(follower, {0}).durable(follower, 1);
    story.durable(1, 1).high_watermark(1, 1, 1);
    SECTION("acknowledged early") {
        story.acknowledge(1, 1, 0, 0);
        REQUIRE_THAT(story.message("leader-completeness"),
                     Contains("acknowledged offsets 0..0 under epoch 1 before it opened"));
    }
    SECTION("served early") {
        story.serve(1, 1, 0, 1, 1);
        REQUIRE(story.broken() == std::vector<std::string>{"leader-completeness"});
    }
    SECTION("after opening") {
        story.see(1, broker::LeaderServing{LeaderEpoch(1)}).acknowledge(1, 1, 0, 0).serve(1, 1, 0, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V6: a leader does not open before its claim commits") {
    Story story;
    story.see(1, broker::LeaderServing{LeaderEpoch(1)});
    REQUIRE(story.broken() == std::vector<std::string>{"leader-completeness"});
}

}  // namespace
}  // namespace tidelock::checker
