// V2, V18 and V22: who may act as leader, under which authority clients are answered, and what status says about it.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("V2: an epoch has one leader") {
    Story story;
    story.lead(1, 1);
    SECTION("claimed twice") {
        story.see(2, broker::ClaimCommitted{LeaderEpoch(1)});
        REQUIRE_THAT(story.message("single-leader-per-epoch"),
                     Contains("broker 2 claimed leadership under epoch 1, which broker 1 already led"));
    }
    SECTION("appended under another's epoch") {
        story.append(2, {0});
        REQUIRE(story.breaks("single-leader-per-epoch"));
    }
    SECTION("the next epoch") {
        story.lead(2, 2).append(2, {0, 2});
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V2: nobody appends as leader without a committed claim") {
    Story story;
    SECTION("none") {
        story.append(1, {0});
        REQUIRE_THAT(story.message("single-leader-per-epoch"), Contains("holds no committed claim of that epoch"));
    }
    SECTION("given up") {
        story.lead(1, 1).step_down(1, 1).append(1, {0});
        REQUIRE(story.breaks("single-leader-per-epoch"));
    }
    SECTION("lost with the life") {
        story.lead(1, 1).kill(1).boot(1).append(1, {0});
        REQUIRE(story.breaks("single-leader-per-epoch"));
    }
    SECTION("held") {
        story.lead(1, 1).append(1, {0});
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V2: who leads has seen its claim commit in this life") {
    Story story;
    story.see(1, broker::RaftRecovered{Incarnation(1), Term(1), BrokerId(1), LogIndex(0), {}});
    SECTION("it has") {
        story.see(1, broker::RaftEntryAppended{LogIndex(1), Term(1), 5});
        story.see(1, broker::RaftEntryCommitted{LogIndex(1), Term(1), 5, Term(1)}).claim(1, 1);
        REQUIRE_FALSE(story.breaks("single-leader-per-epoch"));
    }
    SECTION("it has not") {
        story.claim(1, 1);
        REQUIRE_THAT(story.message("single-leader-per-epoch"), Contains("a leader serves on a committed claim"));
    }
}

TEST_CASE("V18: nothing is answered under an authority that was given up") {
    Story story;
    story.lead(1, 1).append(1, {0}).durable(1, 1);
    for (const int follower : {2, 3}) story.copy(follower, {0}).durable(follower, 1);
    story.high_watermark(1, 1, 1);
    SECTION("still held") {
        story.acknowledge(1, 1, 0, 0).serve(1, 1, 0, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("given up, then acknowledged") {
        story.step_down(1, 1).acknowledge(1, 1, 0, 0);
        REQUIRE_THAT(story.message("no-stale-ack"),
                     Contains("acknowledged offsets 0..0 under epoch 1, but it leads nothing"));
    }
    SECTION("given up, then served") {
        story.step_down(1, 1).serve(1, 1, 0, 1, 1);
        REQUIRE(story.broken() == std::vector<std::string>{"no-stale-ack"});
    }
    SECTION("won again: A -> B -> A is another authority (A6)") {
        story.step_down(1, 1).lead(1, 3).acknowledge(1, 1, 0, 0);
        REQUIRE_THAT(story.message("no-stale-ack"), Contains("but it leads epoch 3"));
    }
}

TEST_CASE("V18: an acknowledgement after a newer claim must be safe with the newer leader") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    story.append(1, {1}).durable(1, 2).copy(2, {1}).durable(2, 2);
    SECTION("the newer leader has the record") {
        story.copy(3, {1}).durable(3, 2).claim(3, 2).high_watermark(1, 1, 2).acknowledge(1, 1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("the newer leader lacks it") {
        story.claim(3, 2).acknowledge(1, 1, 1, 1);
        REQUIRE_THAT(story.message("no-stale-ack"),
                     Contains("acknowledged offsets 1..1 under epoch 1 after broker 3's claim of epoch 2 committed") &&
                         Contains("that leader's log [0, 1) does not have them"));
    }
    SECTION("no newer claim") {
        story.copy(3, {1}).durable(3, 2).acknowledge(1, 1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

broker::StatusReported leader_status(int epoch, int leader, std::vector<Replica> set) {
    return {true, LeaderEpoch(epoch), Term(epoch), BrokerId(leader), std::move(set)};
}
broker::StatusReported follower_status(int epoch, int leader) {
    return {false, LeaderEpoch(epoch), Term(epoch), BrokerId(leader), {}};
}

TEST_CASE("V22: status says what the broker itself last saw") {
    Story story;
    story.lead(1, 1).follow(2, 1, 1);
    struct Case {
        int broker;
        broker::StatusReported said;
        std::string expected;  // empty: honest
    };
    const std::vector<Case> cases{
        {1, leader_status(1, 1, replicas({1, 2, 3})), ""},
        {1, leader_status(2, 1, replicas({1, 2, 3})), "that it leads epoch 2, but its claim is of epoch 1"},
        {1, leader_status(1, 2, replicas({1, 2, 3})), "broker 2 as leader, but it leads itself"},
        {1, leader_status(1, 1, replicas({1, 2})), "the in-sync set {1, 2}"},
        {1, follower_status(1, 2), "that it does not lead, but it serves under epoch 1"},
        {2, leader_status(1, 2, replicas({1, 2, 3})), "that it leads epoch 1, but it holds no claim"},
        {2, follower_status(1, 1), ""},
        {2, follower_status(1, 0), ""},
        {2, follower_status(1, 3), "broker 3 as leader of epoch 1, but it last followed broker 1"},
        {2, follower_status(0, 1), "broker 1 as leader of epoch 0"},
        {2, {false, LeaderEpoch(1), Term(0), BrokerId(1), {}}, "term 0 with leader epoch 1"},
    };
    for (const Case& each : cases) {
        Story copy;
        copy.lead(1, 1).follow(2, 1, 1).see(each.broker, each.said);
        REQUIRE_THAT(copy.message("status-honest"), Contains(each.expected));
        REQUIRE(copy.breaks("status-honest") == !each.expected.empty());
    }
}

TEST_CASE("V22: a set with another incarnation is another set") {
    Story story;
    std::vector<Replica> set = replicas({1, 2, 3});
    set[2].incarnation = Incarnation(33);
    story.lead(1, 1).see(1, leader_status(1, 1, set));
    REQUIRE(story.breaks("status-honest"));
}

}  // namespace
}  // namespace tidelock::checker
