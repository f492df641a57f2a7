// What the next leader would not find in the topic of producers (T2, L7).
#include "scenarios/producer_topic_witness.h"

#include <catch2/catch.hpp>

#include "protocol/clients/producers.h"
#include "tests/scenarios/settled_group.h"

using namespace tidelock;
using namespace tidelock::scenarios;
using Catch::Matchers::Contains;

namespace {

struct Settled : SettledGroup {
    Settled() {
        const auto has_records = [&](const auto& each) {
            return leading.topics.find(each.first.topic)->name.starts_with("t") &&
                   leading.logs.view(each.first)->durable_end_offset > Offset(2) &&
                   each.second.high_watermark.value() > Offset(2);
        };
        const auto found = std::ranges::find_if(leading.partitions, has_records);
        REQUIRE(found != leading.partitions.end());
        tp = found->first;
        found->second.producers.clear();
        leading.logs.set_high_watermark(tp, found->second.high_watermark.value());
    }
    void move_log_start(Offset to) { leading.logs.advance_log_start(tp, to); }
    void remember(ProducerId producer, Offset at) {
        clients::PartitionProducers& producers = leading.partitions.at(tp).producers;
        producers.on_batch({producer, ProducerEpoch(0), 0, 1, at});
        producers.on_high_watermark(at + 1);
    }
    std::vector<std::string> untold(const ToldLogStarts& told = {}) {
        return untold_to_successor(disk(), leading, writers, told);
    }

    broker::Broker leading = broker();
    ConfirmedWriters writers;
    TopicPartition tp;
};

}  // namespace

TEST_CASE("a leader in good order knows nothing alone") {
    SettledGroup group;
    REQUIRE(untold_to_successor(group.disk(), group.broker(), {}, {}).empty());
}

TEST_CASE("a producer below the log start that the topic of producers does not name is known to the leader alone") {
    Settled group;
    group.remember(ProducerId(77), Offset(1));
    REQUIRE(group.untold().empty());  // its batch is in the log
    group.move_log_start(Offset(1));
    REQUIRE(group.untold().empty());
    group.move_log_start(Offset(2));
    const auto untold = group.untold();
    REQUIRE(untold.size() == 1);
    REQUIRE_THAT(untold.front(), Contains("producer 77 wrote up to 1"));
}

TEST_CASE("a producer that the bound of another table may have forgotten need not be told") {
    Settled group;
    group.leading.config.producers_max = 2;  // of three, one is forgotten
    group.remember(ProducerId(77), Offset(0));
    group.remember(ProducerId(78), Offset(1));
    group.remember(ProducerId(79), Offset(2));
    group.move_log_start(Offset(1));
    REQUIRE(group.untold().empty());
    group.move_log_start(Offset(2));
    REQUIRE(group.untold().size() == 1);
}

TEST_CASE(
    "a producer that was seen to be confirmed below the log start has to be told, whatever the leader's table says") {
    Settled group;
    const auto appended = [&](ProducerId producer, std::int64_t at) {
        broker::BatchSummary batch{};
        batch.base_offset = batch.last_offset = Offset(at);
        batch.producer_id = producer;
        group.writers.on_observation(broker::BatchAppended{group.tp, batch, true});
    };
    const auto confirmed = [&](std::int64_t up_to) {
        group.writers.on_observation(broker::HighWatermarkAdvanced{group.tp, LeaderEpoch(1), Offset(up_to), true});
    };
    appended(ProducerId(77), 0);
    appended(ProducerId(78), 1);
    group.move_log_start(Offset(2));
    REQUIRE(group.untold().empty());
    confirmed(1);
    REQUIRE(group.untold().size() == 1);
    REQUIRE_THAT(group.untold().front(), Contains("producer 77 wrote up to 0"));
    confirmed(2);
    REQUIRE(group.untold().size() == 2);
    appended(ProducerId(77), 2);
    confirmed(3);
    REQUIRE(group.untold().size() == 1);  // the log tells of it
    group.writers.on_observation(broker::LogTruncated{group.tp, Offset(1), broker::CutReason::kHandshake});
    REQUIRE(group.untold().empty());
}

TEST_CASE("whom only a header names that no checksum was asked about is nobody that has to be told", "[L4]") {
    Settled group;
    const auto recovered = [&](std::int64_t unverified_end) {
        broker::BatchSummary batch{};
        batch.producer_id = ProducerId(77);
        broker::LogRecovered log{};
        log.partition = group.tp;
        log.high_watermark = Offset(1);
        log.batches = {batch};
        log.unverified_end_offset = Offset(unverified_end);
        group.writers = {};
        group.writers.on_observation(log);
    };
    group.move_log_start(Offset(1));
    recovered(0);
    REQUIRE(group.untold().size() == 1);
    recovered(1);
    REQUIRE(group.untold().empty());
}

TEST_CASE("a log start that a client was told has to be in the topic of producers") {
    Settled group;
    const auto untold = group.untold({{group.tp, Offset(2)}});
    REQUIRE(untold.size() == 1);
    REQUIRE_THAT(untold.front(), Contains("the log start 2 of t"));
}

TEST_CASE("whoever opens has made the deletions that the topic of producers tells of, not those asked for since (L7)") {
    Plan plan = SettledGroup::plan_without_faults();
    PlannedFault deletion{};
    deletion.kind = FaultKind::kDeleteRecords;
    deletion.at_ms = 2'100;
    deletion.size = 10;
    plan.faults = {deletion};
    SettledGroup group(plan);
    broker::Broker before = group.broker();
    group.cluster.world().run_until(sim::TimeNs(6'000'000'000));
    broker::Broker after = group.broker();
    REQUIRE(deletions_not_made(group.disk(), before).empty());
    // As if both had opened with all of the topic.
    const storage::TopicEntry* producers = after.topics.find(clients::kProducerIdsTopic);
    for (broker::Broker* broker : {&before, &after}) {
        const TopicPartition home{producers->id, PartitionIndex(0)};
        broker->partitions.at(home).epoch_start_offset = after.logs.view(home)->log_end_offset;
    }
    REQUIRE(deletions_not_made(group.disk(), after).empty());
    const auto missing = deletions_not_made(group.disk(), before);
    REQUIRE(missing.size() == 1);
    REQUIRE_THAT(missing.front(), Contains("the deletion up to"));
    before.leading.reset();
    REQUIRE(deletions_not_made(group.disk(), before).empty());
}

TEST_CASE("who does not serve has nothing to tell") {
    Settled group;
    group.leading.leading.reset();
    REQUIRE(group.untold({{group.tp, Offset(2)}}).empty());
}

TEST_CASE("what a leader knows of producers is not less than its own log says") {
    Settled group;
    const auto is_of_topic = [&](const std::string& what) { return what.find("as its own log says") != what.npos; };
    REQUIRE(misremembered_producers(group.disk(), group.broker(), {}).empty());
    broker::Broker forgetful = group.broker();
    std::size_t known = 0;
    for (auto& [tp, partition] : forgetful.partitions) {
        known += partition.producers.newest().states_between(Offset(0), Offset(1'000)).size();
        partition.producers.clear();
    }
    REQUIRE(known > 0);
    const auto wrong = misremembered_producers(group.disk(), forgetful, {});
    REQUIRE_FALSE(wrong.empty());
    REQUIRE(std::ranges::all_of(wrong, is_of_topic));
    forgetful.leading.reset();
    REQUIRE(misremembered_producers(group.disk(), forgetful, {}).empty());
}

TEST_CASE("a producer that is known has to be known as it was seen to be confirmed, in the log or not") {
    Settled group;
    group.remember(ProducerId(77), Offset(0));
    const auto is_misremembered = [&] {
        const auto wrong = misremembered_producers(group.disk(), group.leading, group.writers);
        return std::ranges::any_of(wrong, [](const std::string& what) {
            return what.find("that producer 77 wrote up to 1") != what.npos && what.find("older state") != what.npos;
        });
    };
    broker::BatchSummary batch{};
    batch.base_offset = batch.last_offset = Offset(1);
    batch.producer_id = ProducerId(77);
    group.writers.on_observation(broker::BatchAppended{group.tp, batch, true});
    REQUIRE_FALSE(is_misremembered());
    group.writers.on_observation(broker::HighWatermarkAdvanced{group.tp, LeaderEpoch(1), Offset(2), true});
    REQUIRE(is_misremembered());
    group.leading.partitions.at(group.tp).producers.clear();  // forgotten is not wrong
    REQUIRE_FALSE(is_misremembered());
}

TEST_CASE("what was seen to be confirmed is forgotten with the copy that held it") {
    ConfirmedWriters writers;
    const TopicPartition first{TopicId(5), PartitionIndex(0)};
    const TopicPartition second{TopicId(5), PartitionIndex(1)};
    const TopicPartition other{TopicId(6), PartitionIndex(0)};
    broker::BatchSummary batch{};
    batch.producer_id = ProducerId(77);
    for (const TopicPartition& tp : {first, second, other}) {
        writers.on_observation(broker::BatchAppended{tp, batch, true});
        writers.on_observation(broker::HighWatermarkAdvanced{tp, LeaderEpoch(1), Offset(1), true});
    }
    writers.on_observation(broker::TopicShrunk{TopicId(5), 1});
    CHECK(writers.of(first).size() == 1);
    CHECK(writers.of(second).empty());
    writers.on_observation(broker::TopicDropped{TopicId(5)});
    CHECK(writers.of(first).empty());
    CHECK(writers.of(other).size() == 1);
}
