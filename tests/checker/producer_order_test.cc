// V10: a confirmed log has each producer's sequences once and in order, whatever retention took since.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

BatchSpec sent_by(std::int64_t producer, std::int64_t base, std::int32_t sequence, int count = 1,
                  std::int16_t epoch = 0) {
    BatchSpec batch{base};
    batch.count = count;
    batch.producer = producer;
    batch.sequence = sequence;
    batch.producer_epoch = epoch;
    return batch;
}

TEST_CASE("V10: the confirmed log has each producer's sequences once and in order") {
    struct Case {
        std::vector<BatchSpec> batches;
        std::string expected;  // empty: in order
    };
    const std::vector<Case> cases{
        {{sent_by(9, 0, 0), sent_by(9, 1, 1), sent_by(9, 2, 2, 3), sent_by(9, 5, 5)}, ""},
        {{sent_by(9, 0, 0), sent_by(8, 1, 0), sent_by(9, 2, 1)}, ""},
        {{sent_by(9, 0, 0), sent_by(9, 1, 0)}, "a duplicate or reordered sequence: producer 9 has sequence 0"},
        {{sent_by(9, 0, 0, 2), sent_by(9, 2, 1)}, "after epoch 0 up to sequence 1 at offset 1; expected sequence 2"},
        {{sent_by(9, 0, 0), sent_by(9, 1, 2)}, "a gap"},
        {{sent_by(9, 0, 1)}, "a gap at the start"},
        {{sent_by(9, 0, 0), sent_by(9, 1, 0, 1, 1)}, ""},
        {{sent_by(9, 0, 0), sent_by(9, 1, 1, 1, 1)}, "a gap at the start"},
        {{sent_by(9, 0, 0, 1, 1), sent_by(9, 1, 1, 1, 0)}, "an older producer epoch after a newer one"},
        {{sent_by(9, 0, 0), {1}, {2}, sent_by(9, 3, 1)}, ""},
    };
    for (const Case& each : cases) {
        Story story;
        story.lead(1, 1);
        for (const BatchSpec& batch : each.batches) story.confirm(1, {2, 3}, batch);
        REQUIRE_THAT(story.message("producer-order"), Contains(each.expected));
        REQUIRE(story.breaks("producer-order") == !each.expected.empty());
    }
}

TEST_CASE("V10: what was never confirmed is not judged, what confirms it judges it too") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, sent_by(9, 0, 0));
    for (const int broker : {1, 2, 3}) {
        broker == 1 ? story.append(1, sent_by(9, 1, 0)).durable(1, 2)
                    : story.copy(broker, sent_by(9, 1, 0)).durable(broker, 2);
    }
    REQUIRE(story.broken() == kNothing);
    story.confirm(1, {2, 3}, {2});
    REQUIRE(story.breaks("producer-order"));
}

/// `batch` is appended by broker 1, confirmed, and told to nobody as acknowledged by policy.
void confirm_silently(Story& story, const BatchSpec& batch) {
    const std::int64_t end = batch.base + batch.count;
    story.append(1, batch).durable(1, end);
    for (const int follower : {2, 3}) story.copy(follower, batch).durable(follower, end);
    story.high_watermark(1, 1, end);
}

TEST_CASE("V10: what a leader's log start passes is judged before it goes") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, sent_by(9, 0, 0));
    SECTION("in order, under acks of none, into a new life of the producer") {
        confirm_silently(story, sent_by(9, 1, 0, 2, 1));
        story.see(1, broker::LogStartAdvanced{kX0, Offset(3)}).confirm(1, {2, 3}, sent_by(9, 3, 2, 1, 1));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a gap that no acknowledgement came after") {
        confirm_silently(story, sent_by(9, 1, 1, 2, 1));
        REQUIRE(story.broken() == kNothing);
        story.see(1, broker::LogStartAdvanced{kX0, Offset(3)});
        REQUIRE_THAT(story.message("producer-order"), Contains("a gap at the start"));
    }
    SECTION("a gap behind the log start") {
        confirm_silently(story, sent_by(9, 1, 0, 2, 1));
        story.see(1, broker::LogStartAdvanced{kX0, Offset(3)}).confirm(1, {2, 3}, sent_by(9, 3, 3, 1, 1));
        REQUIRE_THAT(story.message("producer-order"), Contains("expected sequence 2"));
    }
}

TEST_CASE("V10: retention forgets no producer") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, sent_by(9, 0, 0)).confirm(1, {2, 3}, sent_by(9, 1, 1));
    story.see(1, broker::LogStartAdvanced{kX0, Offset(2)});
    SECTION("it goes on") {
        REQUIRE(story.confirm(1, {2, 3}, sent_by(9, 2, 2)).broken() == kNothing);
    }
    SECTION("its last batch is accepted once more") {
        REQUIRE_THAT(story.confirm(1, {2, 3}, sent_by(9, 2, 1)).message("producer-order"), Contains("a duplicate"));
    }
    SECTION("a batch is left out") {
        REQUIRE_THAT(story.confirm(1, {2, 3}, sent_by(9, 2, 3)).message("producer-order"), Contains("a gap"));
    }
    SECTION("one nobody has heard of begins in the middle") {
        REQUIRE_THAT(story.confirm(1, {2, 3}, sent_by(8, 2, 1)).message("producer-order"), Contains("after nothing"));
    }
}

broker::ProducerRefused refusal(std::int64_t producer, std::int32_t sequence, clients::ErrorCode error) {
    return {kX0, ProducerId(producer), ProducerEpoch(0), sequence, error};
}

TEST_CASE("V10: a leader knows the producers whose batches are in its own log, acknowledged or not") {
    using enum clients::ErrorCode;
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, sent_by(9, 0, 0)).append(1, sent_by(9, 1, 1)).append(1, sent_by(8, 2, 0));
    SECTION("it refuses what comes next as nobody's") {
        story.see(1, refusal(9, 2, kUnknownProducerId));
        REQUIRE_THAT(story.message("producer-order"),
                     Contains("refused sequence 2 of producer 9") && Contains("up to sequence 1 at offset 1"));
    }
    SECTION("it refuses what comes next as out of order") {
        REQUIRE(story.see(1, refusal(8, 1, kOutOfOrderSequence)).breaks("producer-order"));
    }
    SECTION("it refuses a gap, and one it has never heard of") {
        story.see(1, refusal(9, 3, kOutOfOrderSequence)).see(1, refusal(7, 1, kUnknownProducerId));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it was cut back before") {
        REQUIRE(story.cut(1, 2).see(1, refusal(8, 1, kUnknownProducerId)).broken() == kNothing);
    }
}

TEST_CASE("V10, V21: a producer may be forgotten for others that wrote since, and for as many as a table holds") {
    using enum clients::ErrorCode;
    const auto producers_max = GENERATE(std::size_t{2}, std::size_t{3});
    Settings settings = Story::group_of_three();
    settings.producers_max = producers_max;
    Story story(settings);
    story.fact(ClientTopicNamed{kClientX0.topic, "x"});
    story.lead(1, 1).confirm(1, {2, 3}, sent_by(9, 0, 0));
    const auto tell = [&story](Outcome outcome, std::int64_t offset, clients::ErrorCode error) {
        ProduceCall call{kClientX0, ProducerId(9), ProducerEpoch(0), 0, Acks::kAll, {0xa}, std::nullopt};
        if (outcome == Outcome::kOk) call.base_offset = Offset(offset);
        call.error = error;
        const std::int64_t invoked_ns = ++story.now;
        story.checker.on_call(ClientCall{ClientId(1), ++story.now, invoked_ns, story.now, outcome, call});
    };
    tell(Outcome::kOk, 0, kNone);
    story.confirm(1, {2, 3}, sent_by(8, 1, 0)).confirm(1, {2, 3}, sent_by(7, 2, 0));
    const bool may_be_forgotten = producers_max == 2;
    SECTION("it is refused as nobody's") {
        story.see(1, refusal(9, 1, kUnknownProducerId));
        REQUIRE(story.breaks("producer-order") != may_be_forgotten);
        tell(Outcome::kFailed, 0, kUnknownProducerId);
        REQUIRE(story.breaks("producer-order") != may_be_forgotten);
    }
    SECTION("it is refused as nobody's, its batch taken by retention") {
        story.see(1, broker::LogStartAdvanced{kX0, Offset(1)}).see(1, refusal(9, 1, kUnknownProducerId));
        tell(Outcome::kFailed, 0, kUnknownProducerId);
        REQUIRE(story.breaks("producer-order") != may_be_forgotten);
    }
    SECTION("it begins anew") {
        story.confirm(1, {2, 3}, sent_by(9, 3, 0));
        REQUIRE(story.breaks("producer-order") != may_be_forgotten);
        tell(Outcome::kOk, 3, kNone);
        REQUIRE(story.breaks("client-history") != may_be_forgotten);
    }
    SECTION("it goes on elsewhere than at 0") {
        story.confirm(1, {2, 3}, sent_by(9, 3, 4));
        REQUIRE_THAT(story.message("producer-order"), Contains("a gap"));
    }
}

TEST_CASE("V10: a refusal of who was not forgotten is reported though others were") {
    Settings settings = Story::group_of_three();
    settings.producers_max = 2;
    Story story(settings);
    story.lead(1, 1);
    for (const std::int64_t producer : {7, 8, 9}) story.confirm(1, {2, 3}, sent_by(producer, producer - 7, 0));
    story.see(1, refusal(7, 1, clients::ErrorCode::kUnknownProducerId));
    REQUIRE(story.broken() == kNothing);
    story.see(1, refusal(8, 1, clients::ErrorCode::kUnknownProducerId));
    REQUIRE(story.breaks("producer-order"));
}

/// Its leader's own copy is all that confirms a record.
Story confirmed_by_one() {
    Settings settings = Story::group_of_three();
    settings.min_insync_replicas = 1;
    Story story(settings);
    story.lead(1, 1).confirm(1, {2, 3}, sent_by(9, 0, 0));
    story.propose_set(1, 1, replicas({1})).commit_set(1, 1, replicas({1})).wait_for(1, 1, replicas({1}));
    return story;
}

/// Broker 1 loses its disk, broker 3 leads epoch 2 with broker 2; both have moved on to `log_start`. The producer's
/// next batch is confirmed there.
void take_over_and_confirm(Story& story, std::int64_t log_start, std::int32_t sequence) {
    story.kill(1).empty_disk(1);
    for (const int broker : {2, 3}) story.reset(broker, log_start, broker::ResetReason::kBehindLogStart);
    story.raft_index = 0;  // of broker 3's log
    story.lead(3, 2).propose_set(3, 2, replicas({2, 3})).commit_set(3, 2, replicas({2, 3}));
    BatchSpec next = sent_by(9, log_start, sequence);
    next.epoch = 2;
    story.wait_for(3, 2, replicas({2, 3})).confirm(3, {2}, next);
}

TEST_CASE("V10: a producer whose records are gone is forgotten only where what was kept of it is lost") {
    constexpr TopicPartition kProducers{TopicId(9), PartitionIndex(0)};
    for (const bool is_kept_lost : {true, false}) {
        Story story = confirmed_by_one();
        for (const int broker : {1, 2, 3})
            story.see(broker, broker::TopicCreated{kProducers.topic, "__producer_ids", 1});
        story.see(1, broker::BatchAppended{kProducers, summary_of({0}), true});
        story.see(1, broker::DurableEndAdvanced{kProducers, Offset(1)});
        story.see(1, broker::HighWatermarkAdvanced{kProducers, LeaderEpoch(1), Offset(1), true});
        if (is_kept_lost) {
            story.see(1, broker::RecordsAcknowledged{kProducers, Offset(0), Offset(0), LeaderEpoch(1),
                                                     broker::AcknowledgedBy::kPolicy, false});
        }
        story.see(1, broker::LogStartAdvanced{kX0, Offset(1)});
        take_over_and_confirm(story, 1, 0);
        REQUIRE(story.checker.fault_budget().losses_excused == (is_kept_lost ? 1 : 0));
        if (is_kept_lost) {
            REQUIRE(story.broken() == kNothing);
        } else {
            REQUIRE(story.broken() == std::vector<std::string>{"producer-order"});
            REQUIRE_THAT(story.message("producer-order"), Contains("a duplicate"));
        }
    }
}

TEST_CASE("V10: a producer whose records are gone may leave out those that were lost, and no others") {
    for (const bool is_last_lost : {true, false}) {
        Story story = confirmed_by_one();
        story.confirm(1, {}, sent_by(9, 1, 1)).confirm(1, {}, sent_by(9, 2, 2));
        if (is_last_lost) story.confirm(1, {}, sent_by(9, 3, 3));
        story.see(1, broker::LogStartAdvanced{kX0, Offset(3)});
        take_over_and_confirm(story, 3, 4);
        REQUIRE(story.checker.fault_budget().losses_excused == (is_last_lost ? 1 : 0));
        if (is_last_lost) {
            REQUIRE(story.broken() == kNothing);
        } else {
            REQUIRE(story.broken() == std::vector<std::string>{"producer-order"});
            REQUIRE_THAT(story.message("producer-order"), Contains("a gap"));
        }
    }
}

}  // namespace
}  // namespace tidelock::checker
