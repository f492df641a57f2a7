// Records that go take nothing with them that clients rely on: producers are remembered (T2), and a log start that was
// told holds (L7).
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

const clients::PartitionName kOrders{"orders", TopicId{}, PartitionIndex(0)};
const ProducerId kProducer(500);

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    return bench;
}

clients::ProduceRequest numbered(std::int32_t sequence) {
    clients::ProduceRequest produce = produce_to("orders", Acks::kAll, seconds(5));
    produce.batches = one_record(kProducer, sequence);
    return produce;
}

/// The offset the record is answered with.
Offset produce(Bench& bench, const clients::ProduceRequest& request) {
    const CorrelationId asked = bench.ask(bench.serving(), request);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
    return std::get<clients::ProduceAnswer>(bench.answer_to(asked)->body).base_offset;
}

Offset delete_records(Bench& bench, Offset before) {
    const CorrelationId asked = bench.ask(bench.serving(), clients::DeleteRecordsRequest{kOrders, before});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
    return std::get<clients::DeleteRecordsAnswer>(bench.answer_to(asked)->body).log_start_offset;
}

TopicPartition partition_of(const Broker& broker, std::string_view topic) {
    return TopicPartition{broker.topics.find(topic)->id, PartitionIndex(0)};
}

Offset log_start_of(const Broker& broker) {
    return broker.logs.view(partition_of(broker, "orders"))->log_start_offset;
}

}  // namespace

TEST_CASE("a batch whose records were deleted is not taken again after all have restarted (T2, G3)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(produce(bench, numbered(0)) == Offset(0));
    REQUIRE(produce(bench, numbered(1)) == Offset(1));
    produce(bench, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(delete_records(bench, Offset(-1)) == Offset(3));
    bench.advance(seconds(1));
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(log_start_of(bench.at(bench.serving())) == Offset(3));
    REQUIRE(produce(bench, numbered(0)) == Offset(0));
    REQUIRE(produce(bench, numbered(1)) == Offset(1));
    REQUIRE(produce(bench, numbered(2)) == Offset(3));
}

TEST_CASE("a topic that is to keep fewer records lets them go, whether another one comes or not (L7)", "[broker]") {
    Bench bench = formed_group();
    for (std::int32_t sequence = 0; sequence < 12; ++sequence) produce(bench, numbered(sequence));
    REQUIRE(log_start_of(bench.at(bench.serving())) == Offset(0));
    bench.ask(bench.serving(), clients::SetTopicConfigRequest{"orders", {{"retention.records", "4"}}});
    REQUIRE(bench.advance_until([&] { return log_start_of(bench.at(bench.serving())) == Offset(8); }));
}

TEST_CASE("retention by count keeps what it must know of producers (T2)", "[broker]") {
    Bench bench = formed_group();
    const CorrelationId set =
        bench.ask(bench.serving(), clients::SetTopicConfigRequest{"orders", {{"retention.records", "4"}}});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(set, ErrorCode::kNone); }));
    REQUIRE(produce(bench, numbered(0)) == Offset(0));
    for (int i = 0; i < 12; ++i) produce(bench, produce_to("orders", Acks::kAll, seconds(5)));
    REQUIRE(bench.advance_until([&] { return log_start_of(bench.at(bench.serving())) > Offset(4); }));
    REQUIRE(log_start_of(bench.at(bench.serving())) <= Offset(9));
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(produce(bench, numbered(0)) == Offset(0));
    REQUIRE(produce(bench, numbered(1)) == Offset(13));
}

TEST_CASE("the topic of producers is not written anew between the end of a wish and the move of a log start (T2)",
          "[broker]") {
    Bench bench(3, [](Config& config) {
        config.internal_spare_records = 1;
        config.segment_bytes_max = 1;  // each batch goes with its file
    });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders", 2));
    REQUIRE(bench.transfer_to(1));
    const auto in_second = [](clients::ProduceRequest request) {
        request.partition.partition = PartitionIndex(1);
        return request;
    };
    for (std::int32_t i = 0; i < 12; ++i) produce(bench, numbered(i));
    REQUIRE(produce(bench, in_second(numbered(0))) == Offset(0));
    REQUIRE(produce(bench, in_second(produce_to("orders", Acks::kAll, seconds(5)))) == Offset(1));
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    for (std::int32_t id = 2; id <= 3; ++id) bench.hold(id, storage::FileOwner::kLogStore);
    const clients::PartitionName second{"orders", TopicId{}, PartitionIndex(1)};
    // One commit is held up by the disks, so that the next confirms all that follows at once.
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(5)));
    bench.advance(milliseconds(300));
    // Enough wishes to make the topic of producers longer than it has to be.
    for (std::int64_t before : {1, 1, 1, 2, 2, 2, 3, 3, 3})
        bench.ask(1, clients::DeleteRecordsRequest{kOrders, Offset(before)});
    const CorrelationId deleted = bench.ask(1, clients::DeleteRecordsRequest{second, Offset(1)});
    // What is kept of the first goes beyond that as soon as its log start moves.
    bench.ask(1, clients::SetTopicConfigRequest{"orders", {{"retention.records", "4"}}});
    bench.advance(milliseconds(300));
    REQUIRE(log_start_of(bench.at(1)) == Offset(0));
    for (std::int32_t id = 2; id <= 3; ++id) bench.release(id);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(deleted, ErrorCode::kNone); }));
    bench.advance(seconds(1));
    REQUIRE(log_start_of(bench.at(1)) == Offset(9));
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(produce(bench, in_second(numbered(0))) == Offset(0));
    REQUIRE(produce(bench, in_second(numbered(1))) == Offset(2));
}

TEST_CASE("who deletes records is told of no log start that a failover could take back (L7)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    for (int i = 0; i < 12; ++i) produce(bench, produce_to("orders", Acks::kAll, seconds(5)));
    for (std::int32_t id = 2; id <= 3; ++id) bench.hold(id, storage::FileOwner::kLogStore);
    bench.ask(1, clients::DeleteRecordsRequest{kOrders, Offset(1)});
    const CorrelationId deleted = bench.ask(1, clients::DeleteRecordsRequest{kOrders, Offset(2)});
    // Nobody writes down what retention takes, as it takes no producer's last batch.
    bench.ask(1, clients::SetTopicConfigRequest{"orders", {{"retention.records", "4"}}});
    bench.advance(milliseconds(300));
    for (std::int32_t id = 2; id <= 3; ++id) bench.release(id);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(deleted, ErrorCode::kNone); }));
    REQUIRE(log_start_of(bench.at(1)) == Offset(8));
    REQUIRE(std::get<clients::DeleteRecordsAnswer>(bench.answer_to(deleted)->body).log_start_offset == Offset(2));
}

TEST_CASE("a copy that begins at its leader's log start knows the producers below it when it leads (T2, L7)",
          "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.advance(seconds(1));
    bench.cut_off(3);
    REQUIRE(produce(bench, numbered(0)) == Offset(0));
    delete_records(bench, Offset(-1));
    bench.reconnect(3);
    REQUIRE(bench.advance_until([&] { return bench.is_whole() && log_start_of(bench.at(3)) == Offset(1); }));
    REQUIRE(bench.transfer_to(3));
    REQUIRE(produce(bench, numbered(0)) == Offset(0));
    REQUIRE(produce(bench, numbered(1)) == Offset(1));
}

TEST_CASE("a producer that was forgotten stays so, though the topic of producers knew it before it wrote last (T2)",
          "[broker]") {
    Bench bench(3, [](Config& config) {
        config.producers_max = 8;
        config.segment_bytes_max = 1;  // each batch goes with its file
    });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    produce(bench, numbered(0));
    REQUIRE(delete_records(bench, Offset(-1)) == Offset(1));
    produce(bench, numbered(1));
    for (std::int64_t other = 1; other <= 8; ++other) {
        clients::ProduceRequest first = produce_to("orders", Acks::kAll, seconds(5));
        first.batches = one_record(ProducerId(600 + other), 0);
        produce(bench, first);
    }
    SECTION("the records that go are deleted") {
        REQUIRE(delete_records(bench, Offset(3)) == Offset(3));
    }
    SECTION("the records that go are of none that is still known, and nobody asks for it") {
        bench.ask(bench.serving(), clients::SetTopicConfigRequest{"orders", {{"retention.records", "7"}}});
        REQUIRE(bench.advance_until([&] { return log_start_of(bench.at(bench.serving())) == Offset(3); }));
    }
    bench.advance(seconds(1));
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(log_start_of(bench.at(bench.serving())) == Offset(3));
    const CorrelationId repeated = bench.ask(bench.serving(), numbered(1));
    REQUIRE(bench.advance_until([&] { return bench.is_answered(repeated, ErrorCode::kUnknownProducerId); }));
}

TEST_CASE("a new leader opens when what clients deleted is gone, not as soon as it knows that it has to go (L7, G3)",
          "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    const TopicPartition orders = partition_of(bench.at(1), "orders");
    produce(bench, produce_to("orders", Acks::kAll, seconds(5)));
    bench.advance(seconds(1));
    // The wish is in every log, and nobody has moved its log start.
    for (const std::int32_t id : {2, 3}) bench.hold(id, storage::FileOwner::kLogStore);
    bench.ask(1, clients::DeleteRecordsRequest{kOrders, Offset(1)});
    bench.advance(milliseconds(300));
    bench.cut_off(1);
    for (const std::int32_t id : {2, 3}) bench.release(id);
    bench.reconnect(1);
    // Of their high watermarks the logs know less than is in them; one member is slow to tell its position in one.
    bench.withhold_positions(3, orders);
    bench.start_all();
    const auto is_waiting = [&](std::int32_t id) {
        const auto& leading = bench.at(id).leading;
        return leading && leading->stage == LeadingStage::kConfirming;
    };
    REQUIRE(bench.advance_until([&] { return is_waiting(1) || is_waiting(2); }, seconds(3)));
    const std::int32_t leader = is_waiting(1) ? 1 : 2;
    bench.advance(milliseconds(500));
    const Broker& broker = bench.at(leader);
    const TopicPartition home = partition_of(broker, clients::kProducerIdsTopic);
    REQUIRE(broker.partitions.at(home).high_watermark.value() == broker.logs.view(home)->log_end_offset);
    REQUIRE(broker.partitions.at(orders).high_watermark.value() == Offset(0));
    REQUIRE(is_waiting(leader));
    bench.tell_positions();
    REQUIRE(bench.advance_until([&] { return bench.serving() == leader; }));
    REQUIRE(log_start_of(bench.at(leader)) == Offset(1));
}

TEST_CASE("who deletes records of a topic that ends meanwhile is not told that nothing was done (A5, L7)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    produce(bench, produce_to("orders", Acks::kAll, seconds(5)));
    bench.cut_off(leader);
    const CorrelationId asked = bench.ask(leader, clients::DeleteRecordsRequest{kOrders, Offset(1)});
    REQUIRE(bench.answer_to(asked) == nullptr);
    bench.ask(leader, clients::DeleteTopicRequest{"orders", TopicId{}});
    // Another leader may not hear of the topic's end, and find the wish in the topic of producers.
    REQUIRE(bench.is_answered(asked, ErrorCode::kRequestTimedOut));
}

TEST_CASE("deleted records are told as deleted once a failover cannot bring them back (L7)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    produce(bench, produce_to("orders", Acks::kAll, seconds(5)));
    for (std::int32_t id = 1; id <= 3; ++id)
        if (id != leader) bench.cut_off(id);
    const CorrelationId asked = bench.ask(leader, clients::DeleteRecordsRequest{kOrders, Offset(1)});
    bench.advance(milliseconds(200));
    REQUIRE(bench.answer_to(asked) == nullptr);
    REQUIRE(log_start_of(bench.at(leader)) == Offset(0));
}

TEST_CASE("the topic of offsets stays as short as what it has to say, and says it after all have restarted (T1)",
          "[broker]") {
    Bench bench(3, [](Config& config) { config.internal_spare_records = 50; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const auto commit = [&](const std::string& group, std::int64_t offset) {
        const clients::OffsetCommitRequest request{group,
                                                   -1,
                                                   "",
                                                   kOrders,
                                                   Offset(offset),
                                                   LeaderEpoch(0),
                                                   std::string(static_cast<std::size_t>(offset % 4096), 'm')};
        const CorrelationId asked = bench.ask(bench.serving(), request);
        REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, clients::ErrorCode::kNone); }));
    };
    commit("once", 4'000);
    for (std::int64_t offset = 1; offset <= 300; ++offset) commit("often", offset);
    bench.advance(seconds(1));
    for (std::int32_t id = 1; id <= 3; ++id) {
        const auto view = bench.at(id).logs.view(partition_of(bench.at(id), clients::kConsumerOffsetsTopic));
        REQUIRE(view->log_end_offset > Offset(301));
        REQUIRE(view->log_end_offset - view->log_start_offset < 80);
    }
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    for (const auto& [group, offset] : {std::pair<std::string, std::int64_t>{"once", 4'000}, {"often", 300}}) {
        const CorrelationId asked = bench.ask(bench.serving(), clients::OffsetFetchRequest{group, kOrders});
        const auto& body = std::get<clients::OffsetFetchAnswer>(bench.answer_to(asked)->body);
        REQUIRE(body.offset == Offset(offset));
        REQUIRE(body.metadata.size() == static_cast<std::size_t>(offset % 4096));
    }
}

TEST_CASE("positions of a deleted topic go, however long their groups' names are together (T1)", "[broker]") {
    Bench bench(3, [](Config& config) { config.batch_bytes_max = 4096; });
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    for (int i = 0; i < 20; ++i) {
        const clients::OffsetCommitRequest request{
            std::string(1000, 'g') + std::to_string(i), -1, "", kOrders, Offset(1), LeaderEpoch(0), ""};
        const CorrelationId asked = bench.ask(bench.serving(), request);
        REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
    }
    REQUIRE(bench.at(bench.serving()).leading->offsets.size() == 20);
    bench.ask(bench.serving(), clients::DeleteTopicRequest{"orders"});
    REQUIRE(bench.advance_until([&] { return bench.at(bench.serving()).leading->offsets.size() == 0; }));
}

TEST_CASE("a group's name has a bound (T1)", "[broker]") {
    Bench bench = formed_group();
    const clients::OffsetCommitRequest request{std::string(1025, 'g'), -1, "", kOrders, Offset(1), LeaderEpoch(0), ""};
    const CorrelationId asked = bench.ask(bench.serving(), request);
    REQUIRE(bench.is_answered(asked, ErrorCode::kInvalidRequest));
}

TEST_CASE("the topic of producers stays as short as what it has to say (T2)", "[broker]") {
    Bench bench = formed_group();
    for (std::int32_t i = 0; i < 900; ++i) {
        REQUIRE(produce(bench, numbered(i)) == Offset(i));
        delete_records(bench, Offset(-1));
    }
    bench.advance(seconds(1));
    for (std::int32_t id = 1; id <= 3; ++id) {
        const auto view = bench.at(id).logs.view(partition_of(bench.at(id), clients::kProducerIdsTopic));
        REQUIRE(view->log_end_offset > Offset(1500));
        REQUIRE(view->log_end_offset - view->log_start_offset < 1100);
    }
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(produce(bench, numbered(899)) == Offset(899));
    REQUIRE(produce(bench, numbered(900)) == Offset(900));
}

}  // namespace tidelock::broker
