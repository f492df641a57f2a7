// F2: what a client was told of topics is true of everybody who may lead next.
#include "story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

constexpr TopicId kNew(8);

TopicChangeTold told(std::int32_t partitions, const char* name = "new") {
    return {BrokerId(1), name, partitions};
}

/// Broker 1 leads, and these brokers made the topic.
Story with_topic_at(std::initializer_list<int> brokers, std::int32_t partitions = 2) {
    Story story;
    story.lead(1, 1);
    for (const int broker : brokers) story.see(broker, broker::TopicCreated{kNew, "new", partitions});
    return story;
}

TEST_CASE("V7: a topic is told to be there when everybody who is waited for has it") {
    SECTION("all have it") {
        REQUIRE(with_topic_at({1, 2, 3}).fact(told(2)).broken() == kNothing);
    }
    SECTION("a member lacks it") {
        REQUIRE_THAT(with_topic_at({1, 2}).fact(told(2)).message("isr-complete"),
                     Contains("broker 3") && Contains("F2"));
    }
    SECTION("a member lacks it since its last boot") {
        Story story = with_topic_at({1, 2, 3});
        REQUIRE(story.kill(3).boot(3).fact(told(2)).breaks("isr-complete"));
    }
    SECTION("a member has it, and is down") {
        REQUIRE(with_topic_at({1, 2, 3}).kill(3).fact(told(2)).broken() == kNothing);
    }
    SECTION("another life of the name vanished with a boot of its leader") {
        Story story = with_topic_at({1});
        story.kill(1).boot(1).lead(1, 2);
        for (const int broker : {1, 2, 3}) story.see(broker, broker::TopicCreated{TopicId(9), "new", 2});
        REQUIRE(story.fact(told(2)).broken() == kNothing);
    }
    SECTION("a member lacks a partition") {
        Story story = with_topic_at({1, 2, 3});
        for (const int broker : {1, 2}) story.see(broker, broker::TopicGrown{kNew, 3});
        REQUIRE(story.fact(told(3)).breaks("isr-complete"));
    }
    SECTION("one that is being added counts as well") {
        Story story = with_topic_at({1, 2});
        story.propose_set(1, 1, replicas({1, 2}))
            .commit_set(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2, 3}))
            .fact(told(2));
        REQUIRE(story.breaks("isr-complete"));
    }
    SECTION("one that left does not") {
        Story story = with_topic_at({1, 2});
        story.propose_set(1, 1, replicas({1, 2}))
            .commit_set(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2}))
            .fact(told(2));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("nor does one whose disk was emptied") {
        Story story = with_topic_at({1, 2});
        REQUIRE(story.kill(3).empty_disk(3).fact(told(2)).broken() == kNothing);
    }
    SECTION("nor does a life of the data that is over") {
        Story story = with_topic_at({1, 2});
        story.kill(3).boot(3, 33).fact(told(2));
        REQUIRE(story.broken() == kNothing);
    }
}

/// The topic is deleted: hidden by these, told to the client.
Story deleted_with_hidden_at(std::initializer_list<int> brokers) {
    Story story = with_topic_at({1, 2, 3});
    story.fact(ClientTopicNamed{ClientTopic(2), "new"}).fact(TopicDeletionAsked{"new"});
    for (const int broker : brokers) story.see(broker, broker::TopicHidden{kNew});
    story.fact(told(0));
    return story;
}

TEST_CASE("V7: a topic is told to be deleted when everybody who is waited for has hidden it") {
    REQUIRE(deleted_with_hidden_at({1, 2, 3}).broken() == kNothing);
    REQUIRE_THAT(deleted_with_hidden_at({1, 2}).message("isr-complete"), Contains("the deletion of topic new"));
}

TEST_CASE("V7: who joins has made the changes that clients were told of") {
    const auto join = [](Story& story) {
        story.wait_for(1, 1, replicas({1, 2, 3})).propose_set(1, 1, replicas({1, 2, 3}));
    };
    Story story;
    story.lead(1, 1).propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2}));
    story.wait_for(1, 1, replicas({1, 2}));
    for (const int broker : {1, 2}) story.see(broker, broker::TopicCreated{kNew, "new", 1});
    story.fact(told(1));
    SECTION("it has") {
        story.see(3, broker::TopicCreated{kNew, "new", 1});
        join(story);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it has not") {
        join(story);
        REQUIRE_THAT(story.message("isr-complete"), Contains("broker 3") && Contains("lets into the set"));
    }
    SECTION("the topic is on its way out") {
        story.fact(ClientTopicNamed{ClientTopic(2), "new"}).fact(TopicDeletionAsked{"new"});
        join(story);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V6: no leader shows a topic again whose deletion was told") {
    for (const bool is_shown : {true, false}) {
        Story story = deleted_with_hidden_at({1, 2, 3});
        if (is_shown) story.see(2, broker::TopicShown{kNew});
        story.kill(1).lead(2, 2);
        REQUIRE(story.breaks("leader-completeness") == is_shown);
    }
}

TEST_CASE("F2: another topic of the same name is another topic") {
    Story story = deleted_with_hidden_at({1, 2, 3});
    for (const int broker : {1, 2, 3}) story.see(broker, broker::TopicDropped{kNew});
    for (const int broker : {1, 2, 3}) story.see(broker, broker::TopicCreated{TopicId(9), "new", 1});
    REQUIRE(story.fact(told(1)).kill(1).lead(2, 2).broken() == kNothing);
}

TEST_CASE("V7: a leader that is over counts a member that dropped the topic since, for what it held") {
    const auto delete_behind_its_back = [](Story& story, bool is_over, std::int64_t held_by_3) {
        story.lead(1, 1).confirm(1, {2, 3}, {0});
        for (const int broker : {1, 2, 3})
            (broker == 1 ? story.append(1, {1}) : story.copy(broker, {1})).durable(broker, broker == 3 ? held_by_3 : 2);
        if (is_over) story.lead(2, 2);
        story.delete_topic(Outcome::kOk);
        for (const int broker : {2, 3}) story.see(broker, broker::TopicDropped{kX0.topic});
        story.high_watermark(1, 1, 2).acknowledge(1, 1, 1, 1);
    };
    SECTION("it held it") {
        Story story;
        delete_behind_its_back(story, true, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it never did") {
        Story story;
        delete_behind_its_back(story, true, 1);
        REQUIRE(story.breaks("isr-complete"));
        REQUIRE(story.breaks("acked-survival"));
    }
    SECTION("the leader is not over: nobody may drop what it shows") {
        Story story;
        delete_behind_its_back(story, false, 2);
        REQUIRE(story.breaks("isr-complete"));
    }
}

TEST_CASE("V20: a topic that is on its way out may be cut below its high watermark, one that is shown may not") {
    struct Case {
        Outcome deletion;
        bool is_hidden;
        bool is_legal;
    };
    for (const Case& each :
         {Case{Outcome::kOk, true, true}, Case{Outcome::kUnknown, true, true}, Case{Outcome::kFailed, true, false},
          Case{Outcome::kOk, false, false}, Case{Outcome::kUnknown, false, false}}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).hear_high_watermark(2, 1, 1).delete_topic(each.deletion);
        if (each.is_hidden) story.see(2, broker::TopicHidden{kX0.topic});
        story.cut(2, 0);
        REQUIRE(story.breaks("cut-safe") != each.is_legal);
    }
}

}  // namespace
}  // namespace tidelock::checker
