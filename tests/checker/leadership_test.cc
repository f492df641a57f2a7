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

using clients::StatusDurability;
using clients::StatusRole;

broker::StatusReported leader_status(int epoch, int leader, std::vector<Replica> set) {
    return {StatusRole::kLeader,
            LeaderEpoch(epoch),
            Term(epoch),
            BrokerId(leader),
            std::move(set),
            {},
            StatusDurability::kMinorityLoss,
            0};
}
broker::StatusReported follower_status(int epoch, int leader) {
    return {StatusRole::kFollower,
            LeaderEpoch(epoch),
            Term(epoch),
            BrokerId(leader),
            {},
            {},
            StatusDurability::kMinorityLoss,
            0};
}
broker::StatusReported as(StatusRole role, broker::StatusReported said) {
    said.role = role;
    return said;
}
broker::StatusReported of_term(int term, broker::StatusReported said) {
    said.term = Term(term);
    return said;
}
broker::StatusReported with_lagging(std::vector<Replica> lagging, broker::StatusReported said) {
    said.lagging_members = std::move(lagging);
    return said;
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
        {1, follower_status(1, 2), "itself as follower, but it serves under epoch 1"},
        {1, as(StatusRole::kCandidate, follower_status(1, 0)), "itself as candidate, but it serves under epoch 1"},
        {1, as(StatusRole::kClaiming, leader_status(1, 1, replicas({1, 2, 3}))), "itself as claiming, but it serves"},
        {2, leader_status(1, 2, replicas({1, 2, 3})), "itself as leader, but it holds no claim"},
        {2, follower_status(1, 1), ""},
        {2, follower_status(1, 0), ""},
        {2, follower_status(1, 3), "broker 3 as leader of epoch 1, but it last followed broker 1"},
        {2, follower_status(0, 1), "broker 1 as leader of epoch 0"},
        {3, follower_status(1, 1), "broker 1 as leader, but it follows nobody"},
        {2, of_term(0, follower_status(1, 1)), "term 0 with leader epoch 1"},
    };
    for (const Case& each : cases) {
        Story copy;
        copy.lead(1, 1).follow(2, 1, 1).see(each.broker, each.said);
        REQUIRE_THAT(copy.message("status-honest"), Contains(each.expected));
        REQUIRE(copy.breaks("status-honest") == !each.expected.empty());
    }
}

TEST_CASE("V22: who claims has won an election and not opened yet, a caretaker may not lead the data (G3, G9)") {
    enum class Won { kNothing, kElection, kCaretaking, kClaim };
    struct Case {
        Won won;
        StatusRole role;
        std::string expected;  // empty: honest
    };
    const std::vector<Case> cases{
        {Won::kNothing, StatusRole::kFollower, ""},
        {Won::kNothing, StatusRole::kCandidate, ""},
        {Won::kNothing, StatusRole::kClaiming, "itself as claiming, but it leads no term"},
        {Won::kNothing, StatusRole::kCaretaker, "itself as caretaker, but it leads no term"},
        {Won::kElection, StatusRole::kFollower, "itself as follower, but it leads term 2"},
        {Won::kElection, StatusRole::kClaiming, ""},
        {Won::kElection, StatusRole::kCaretaker, "itself as caretaker, but it may lead the data"},
        {Won::kElection, StatusRole::kLeader, "itself as leader, but it holds no claim"},
        {Won::kCaretaking, StatusRole::kCandidate, "itself as candidate, but it leads term 2"},
        {Won::kCaretaking, StatusRole::kClaiming, "itself as claiming, but it leads as caretaker"},
        {Won::kCaretaking, StatusRole::kCaretaker, ""},
        {Won::kClaim, StatusRole::kFollower, "itself as follower, but it claimed epoch 2"},
        {Won::kClaim, StatusRole::kClaiming, ""},
        {Won::kClaim, StatusRole::kLeader, "itself as leader, but it has not opened yet"},
    };
    for (const Case& each : cases) {
        Story story;
        if (each.won != Won::kNothing) story.see(1, broker::RaftLeaderElected{Term(2), each.won == Won::kCaretaking});
        if (each.won == Won::kClaim) story.claim(1, 2);
        const bool has_claim = each.won == Won::kClaim;
        broker::StatusReported said = has_claim ? leader_status(2, 1, replicas({1, 2, 3})) : follower_status(0, 0);
        said.term = Term(2);
        story.see(1, as(each.role, said));
        REQUIRE_THAT(story.message("status-honest"), Contains(each.expected));
        REQUIRE(story.breaks("status-honest") == !each.expected.empty());
    }
}

TEST_CASE("V22: an election is over with the term, the leadership and the life") {
    Story story;
    story.see(1, broker::RaftLeaderElected{Term(2), true});
    const broker::StatusReported caretaker = as(StatusRole::kCaretaker, of_term(2, follower_status(0, 0)));
    SECTION("another term than it leads") {
        story.see(1, of_term(3, caretaker));
        REQUIRE_THAT(story.message("status-honest"), Contains("term 3, but it leads term 2"));
    }
    SECTION("it stepped down") {
        story.see(1, caretaker);
        REQUIRE_FALSE(story.breaks("status-honest"));
        story.see(1, broker::RaftLeaderSteppedDown{Term(2)}).see(1, caretaker);
        REQUIRE(story.breaks("status-honest"));
    }
    SECTION("it died") {
        story.kill(1).boot(1).see(1, caretaker);
        REQUIRE(story.breaks("status-honest"));
    }
    SECTION("a caretaker that may lead the data becomes a leader") {
        story.see(1, broker::RaftLeaderElected{Term(2), false}).see(1, caretaker);
        REQUIRE(story.breaks("status-honest"));
    }
}

TEST_CASE("V22: only who leads has lagging members, and they are of its set (I11)") {
    struct Case {
        int broker;
        std::vector<Replica> lagging;
        std::string expected;  // empty: honest
    };
    const std::vector<Case> cases{
        {1, replicas({3}), ""},
        {1, replicas({2, 3}), ""},
        {1, replicas({4}), "the lagging members {4}, but the set it last saw committed is {1, 2, 3}"},
        {1, {Replica{BrokerId(3), Incarnation(33)}}, "the lagging members {3}, but the set it last saw committed"},
        {1, replicas({1}), "the lagging members {1}, but it leads them"},
        {2, replicas({3}), "the lagging members {3}, but it leads no set"},
    };
    for (const Case& each : cases) {
        Story story;
        story.lead(1, 1).follow(2, 1, 1);
        auto said = each.broker == 1 ? leader_status(1, 1, replicas({1, 2, 3})) : follower_status(1, 1);
        said.under_replicated_count = each.broker == 1 ? 1 : 0;
        story.see(each.broker, with_lagging(each.lagging, said));
        REQUIRE_THAT(story.message("status-honest"), Contains(each.expected));
        REQUIRE(story.breaks("status-honest") == !each.expected.empty());
    }
}

TEST_CASE("V22: a leader with fewer in step than it has brokers counts all its partitions, and nobody else any (I9)") {
    struct Case {
        std::vector<Replica> set;
        std::vector<Replica> lagging;
        std::int32_t truth;
    };
    const std::vector<Case> cases{
        {replicas({1, 2, 3}), {}, 0}, {replicas({1, 2}), {}, 1}, {replicas({1, 2, 3}), replicas({3}), 1}};
    for (const Case& each : cases) {
        for (const std::int32_t told : {0, 1, 2}) {
            Story story;
            story.lead(1, 1).commit_set(1, 1, each.set);
            broker::StatusReported said = with_lagging(each.lagging, leader_status(1, 1, each.set));
            said.under_replicated_count = told;
            REQUIRE(story.see(1, said).breaks("status-honest") == (told != each.truth));
        }
    }
    Story story;
    broker::StatusReported said = follower_status(1, 1);
    said.under_replicated_count = 1;
    REQUIRE(story.lead(1, 1).follow(2, 1, 1).see(2, said).breaks("status-honest"));
}

TEST_CASE("V22: what a confirmed record survives is what the configuration gives (G8)") {
    struct Case {
        std::int32_t minimum;
        bool durable_positions;
        StatusDurability truth;
    };
    const std::vector<Case> cases{{1, true, StatusDurability::kSingleDisk},
                                  {2, true, StatusDurability::kMinorityLoss},
                                  {3, true, StatusDurability::kMinorityLoss},
                                  {2, false, StatusDurability::kReceivedOnly}};
    for (const Case& each : cases) {
        for (const StatusDurability told :
             {StatusDurability::kMinorityLoss, StatusDurability::kSingleDisk, StatusDurability::kReceivedOnly}) {
            Settings settings = Story::group_of_three();
            settings.min_insync_replicas = each.minimum;
            settings.durable_positions = each.durable_positions;
            Story story(settings);
            broker::StatusReported said = follower_status(0, 0);
            said.durability = told;
            story.see(2, said);
            REQUIRE(story.breaks("status-honest") == (told != each.truth));
        }
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
