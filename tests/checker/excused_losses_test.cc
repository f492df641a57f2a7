// What a loss beyond the promise excuses: V10, V14 and V21 go on wherever it took nothing.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

constexpr ClientTopic kTopicY{2};
constexpr ClientPartition kClientY0{kTopicY, PartitionIndex(0)};
constexpr TopicPartition kLost{TopicId(9), PartitionIndex(0)};

/// Clients know of topics "x" and "y"; topic `lost` exists and has a record that brokers 1 and 2 have confirmed.
Story with_record_in(const std::string& lost) {
    Story story;
    story.fact(ClientTopicNamed{ClientTopic(1), "x"}).fact(ClientTopicNamed{kTopicY, "y"}).lead(1, 1);
    for (const int broker : {1, 2, 3}) story.see(broker, broker::TopicCreated{kLost.topic, lost, 1});
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    for (const int broker : {1, 2}) {
        story.see(broker, broker::BatchAppended{kLost, summary_of({0}), broker == 1});
        story.see(broker, broker::DurableEndAdvanced{kLost, Offset(1)});
    }
    story.see(1, broker::HighWatermarkAdvanced{kLost, LeaderEpoch(1), Offset(1), true});
    return std::move(story.see(1, broker::RecordsAcknowledged{kLost, Offset(0), Offset(0), LeaderEpoch(1),
                                                              broker::AcknowledgedBy::kPolicy, false}));
}

Story& tell(Story& story, decltype(ClientCall::operation) operation, Outcome outcome = Outcome::kOk) {
    const std::int64_t invoked_ns = ++story.now;
    story.checker.on_call(ClientCall{ClientId(1), ++story.now, invoked_ns, story.now, outcome, std::move(operation)});
    return story;
}

ProduceCall sent_to_y(std::uint64_t value, std::int32_t sequence, std::optional<Offset> base_offset) {
    return {kClientY0, ProducerId(5), ProducerEpoch(0), sequence, Acks::kAll, {value}, base_offset};
}

TEST_CASE("V10, V14, V21: an excused loss excuses only where it may have taken something") {
    struct Case {
        const char* lost;
        std::vector<std::string> broken;
    };
    const std::vector<Case> cases{{"z", {"producer-order", "client-history", "offsets-monotonic"}},
                                  {"y", {"offsets-monotonic"}},
                                  {"__consumer_offsets", {"producer-order", "client-history"}},
                                  {"__producer_ids", {"client-history", "offsets-monotonic"}}};
    for (const Case& each : cases) {
        INFO(each.lost);
        Story story = with_record_in(each.lost);
        tell(tell(story, sent_to_y(0xa, 0, Offset(0))), OffsetCommitCall{ClientGroup(1), kClientY0, Offset(1)});
        story.kill(1).empty_disk(1).kill(2).empty_disk(2).lead(3, 2);
        REQUIRE(story.checker.fault_budget().losses_excused == 1);
        REQUIRE(story.broken() == kNothing);
        ProduceCall refused = sent_to_y(0xb, 1, std::nullopt);
        refused.error = clients::ErrorCode::kUnknownProducerId;
        tell(story, refused, Outcome::kFailed);
        tell(story, OffsetFetchCall{ClientGroup(1), kClientY0, Offset(0)});
        FinalView view;
        view.judge_progress = false;
        view.reads.push_back(FinalRead{kClientY0, true, Offset(0), {}});
        story.checker.at_end(++story.now, view);
        REQUIRE(story.broken() == each.broken);
    }
}

TEST_CASE("V21: a loss in a deleted topic excuses nothing in the next of its name") {
    for (const bool is_deleted : {true, false}) {
        Story story = with_record_in("y");
        story.kill(1).empty_disk(1).kill(2).empty_disk(2).lead(3, 2);
        if (is_deleted) tell(story.fact(TopicDeletionAsked{"y"}), DeleteTopicCall{kTopicY});
        tell(story, sent_to_y(0xa, 0, Offset(0)));
        FinalView view;
        view.judge_progress = false;
        view.reads.push_back(FinalRead{kClientY0, true, Offset(0), {}});
        story.checker.at_end(++story.now, view);
        REQUIRE(story.breaks("client-history") == is_deleted);
    }
}

TEST_CASE("V21: a topic is gone without a violation only where more disks lost it than the policy survives") {
    for (const bool is_second_lost : {true, false}) {
        Story story;
        story.fact(ClientTopicNamed{kTopicY, "y"}).lead(1, 1);
        for (const int broker : {1, 2}) story.see(broker, broker::TopicCreated{kLost.topic, "y", 1});
        tell(story, CreateTopicCall{kTopicY, 1});
        story.kill(1).empty_disk(1).kill(2);
        if (is_second_lost) story.empty_disk(2);
        story.lead(3, 2);
        FinalView view;
        view.judge_progress = false;
        story.checker.at_end(++story.now, view);
        REQUIRE(story.breaks("client-history") == !is_second_lost);
    }
}

}  // namespace
}  // namespace tidelock::checker
