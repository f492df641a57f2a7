// A change of topics is told when a failover cannot take it back, and is the same on every broker (F1, F2).
#include <catch2/catch.hpp>
#include <limits>

#include "bench.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;
using storage::FileOwner;

Bench formed_group() {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    return bench;
}

/// Leader 1 is gone, and broker `id`, cut off so far, comes back just when it is the one to be elected.
Bench led_next_by(const Bench& bench, std::int32_t id) {
    for (std::int64_t delay = 0; delay < 1500; delay += 15) {
        Bench attempt = bench;
        attempt.cut_off(1);
        attempt.advance(milliseconds(delay));
        attempt.reconnect(id);
        if (attempt.advance_until([&] { return attempt.at(id).leading.has_value(); }, milliseconds(900)))
            return attempt;
    }
    FAIL("broker " << id << " is never elected");
    return bench;
}

bool knows(const Broker& broker, const std::string& topic) {
    return broker.topics.find(std::string_view(topic)) != nullptr;
}

}  // namespace

TEST_CASE("a topic is told to be created once every member that counts would find it again (F2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    bench.hold(follower, FileOwner::kTopics);
    const CorrelationId asked = bench.ask(leader, clients::CreateTopicRequest{"bills", 1, {}});
    bench.advance(milliseconds(600));
    REQUIRE(knows(bench.at(leader), "bills"));
    REQUIRE(bench.answer_to(asked) == nullptr);
    bench.release(follower);
    bench.advance(milliseconds(600));
    REQUIRE(bench.is_answered(asked, ErrorCode::kNone));
    REQUIRE(knows(bench.at(follower), "bills"));
}

// A refusal tells of the topic too: whoever hears that it exists would rest on what a failover may take back.
TEST_CASE("a topic is told to exist already once every member that counts would find it again (F2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    bench.hold(follower, FileOwner::kTopics);
    bench.ask(leader, clients::CreateTopicRequest{"bills", 1, {}});
    bench.advance(milliseconds(100));
    const CorrelationId again = bench.ask(leader, clients::CreateTopicRequest{"bills", 1, {}});
    const CorrelationId grown = bench.ask(leader, clients::GrowTopicRequest{"bills", 1});
    bench.advance(milliseconds(500));
    REQUIRE(bench.answer_to(again) == nullptr);
    REQUIRE(bench.answer_to(grown) == nullptr);
    bench.release(follower);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(again, ErrorCode::kTopicAlreadyExists); }));
    REQUIRE(bench.is_answered(grown, ErrorCode::kInvalidPartitions));
    const CorrelationId known = bench.ask(leader, clients::CreateTopicRequest{"bills", 1, {}});
    REQUIRE(bench.is_answered(known, ErrorCode::kTopicAlreadyExists));  // at once when it is everywhere
}

TEST_CASE("a deleted topic is not listed, named or not, from when it is hidden (F2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    bench.hold(leader == 1 ? 2 : 1, FileOwner::kTopics);  // so that the deletion stops half way
    bench.ask(leader, clients::DeleteTopicRequest{"orders"});
    bench.advance(milliseconds(100));
    REQUIRE(bench.at(leader).topics.find(std::string_view("orders"))->config.is_deleting);
    const CorrelationId all = bench.ask(leader, clients::MetadataRequest{});
    for (const auto& topic : std::get<clients::MetadataAnswer>(bench.answer_to(all)->body).topics)
        REQUIRE(topic.name != "orders");
    const CorrelationId named = bench.ask(leader, clients::MetadataRequest{{"orders"}});
    const auto& body = std::get<clients::MetadataAnswer>(bench.answer_to(named)->body);
    REQUIRE(body.topics.size() == 1);
    REQUIRE(body.topics[0].error == ErrorCode::kUnknownTopicOrPartition);
}

TEST_CASE("a deletion goes through: answered when hidden everywhere, then its records go everywhere (F2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    bench.ask(leader, produce_to("orders", Acks::kAll, seconds(1)));
    const CorrelationId asked = bench.ask(leader, clients::DeleteTopicRequest{"orders"});
    bench.advance(seconds(2));
    REQUIRE(bench.is_answered(asked, ErrorCode::kNone));
    for (std::int32_t id = 1; id <= 3; ++id) {
        REQUIRE(!knows(bench.at(id), "orders"));
        REQUIRE(bench.at(id).partitions.size() == 2);
        REQUIRE(bench.at(id).logs.logs().size() == 2);
    }
    REQUIRE(bench.create_topic("orders"));
    const CorrelationId produced = bench.ask(leader, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(milliseconds(100));
    REQUIRE(bench.is_answered(produced, ErrorCode::kNone));
}

// 1. Leader 1 deletes a topic; broker 2's write of that does not become durable yet.
// 2. Broker 2 leads: what it shows is about to change under its clients.
TEST_CASE("a leader does not open before what it wrote of topics in an earlier role is durable (F2)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.advance(seconds(1));
    bench.hold(2, FileOwner::kTopics);
    bench.ask(1, clients::DeleteTopicRequest{"orders"});
    REQUIRE(bench.advance_until([&] { return !bench.at(2).catalogue_writes.empty(); }, milliseconds(100)));
    bench.ask(1, clients::TransferLeadershipRequest{BrokerId(2)});
    REQUIRE(bench.advance_until([&] { return bench.at(2).leading.has_value(); }, milliseconds(100)));
    bench.advance(milliseconds(100));
    REQUIRE(bench.serving() != 2);
    SECTION("it opens when it is") {
        bench.release(2);
        REQUIRE(bench.serving() == 2);
        const storage::TopicEntry* topic = bench.at(2).topics.find(std::string_view("orders"));
        REQUIRE((topic == nullptr || topic->config.is_deleting));
    }
    SECTION("it leaves to others when that takes too long (L9)") {
        REQUIRE(bench.advance_until([&] { return bench.serving() != 0; }, seconds(5)));
        REQUIRE(bench.serving() != 2);
    }
}

TEST_CASE("a broker with a slow file of topics does not stand (F2, L9)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.advance(seconds(1));
    bench.hold(2, FileOwner::kTopics);
    bench.ask(1, clients::CreateTopicRequest{"bills", 1, {}});
    bench.advance(seconds(1));
    REQUIRE(bench.at(2).raft.eligibility == raft::Eligibility::kCaretakerOnly);
    bench.release(2);
    REQUIRE(bench.at(2).raft.eligibility == raft::Eligibility::kMayLead);
}

// 1. A follower is told of a new topic; its catalogue write does not become durable.
// 2. Another leader tells it of one topic more; a second write waits behind the first.
// 3. The first becomes durable. The follower has not what the second leader told it, and may not say so.
TEST_CASE("a follower has a manifest when its own write of it is durable, not an earlier one (F1, F2)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.advance(seconds(1));
    const std::int32_t slow = 3;
    bench.hold(slow, FileOwner::kTopics);
    bench.ask(1, clients::CreateTopicRequest{"bills", 1, {}});
    bench.advance(milliseconds(600));
    REQUIRE(bench.at(slow).catalogue_writes.size() == 1);
    REQUIRE(bench.transfer_to(2));
    const CorrelationId asked = bench.ask(2, clients::CreateTopicRequest{"carts", 1, {}});
    REQUIRE(bench.advance_until([&] { return bench.at(slow).catalogue_writes.size() >= 2; }));
    while (!knows(bench.at(slow), "bills")) bench.release_once(slow);
    bench.advance(milliseconds(700));
    REQUIRE(!knows(bench.at(slow), "carts"));
    REQUIRE(!bench.is_answered(asked, ErrorCode::kNone));
    bench.release(slow);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
    bench.advance(seconds(10));
    REQUIRE(bench.is_whole());
}

// A copy that does not know of a deletion would bring the topic back if it led.
TEST_CASE("a broker joins the in-sync set only with the topics as they are now (F2, I5)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    const std::int32_t late = 3;
    bench.cut_off(late);
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(30)));
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    const CorrelationId asked = bench.ask(1, clients::DeleteTopicRequest{"orders"});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
    bench.hold(late, FileOwner::kTopics);
    bench.reconnect(late);
    bench.advance(seconds(8));
    REQUIRE(knows(bench.at(late), "orders"));
    const auto& members = bench.at(1).in_sync.acknowledgement_set();
    for (const Replica& member : members) REQUIRE(member.broker.value != late);
}

// 1. Leader 1 deletes the topic; broker 3 hides it, broker 2 has not heard.
// 2. Broker 2 leads with the topic shown; broker 3 is told so, and its write is not durable.
// 3. Broker 3 leads, the topic hidden; then its write becomes durable and shows it.
TEST_CASE("a leader under which a deletion is undone serves the topic as it was (F2)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(seconds(1));
    bench.cut_off(2);
    bench.ask(1, clients::DeleteTopicRequest{"orders"});
    bench.advance(milliseconds(100));
    REQUIRE(bench.at(3).topics.find(std::string_view("orders"))->config.is_deleting);
    bench.hold(3, FileOwner::kTopics);
    bench = led_next_by(bench, 2);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2 && !bench.at(3).catalogue_writes.empty(); }));
    bench.ask(2, clients::TransferLeadershipRequest{BrokerId(3)});
    REQUIRE(bench.advance_until([&] { return bench.at(3).leading.has_value(); }));
    REQUIRE(bench.serving() != 3);
    REQUIRE(bench.at(3).topics.find(std::string_view("orders"))->config.is_deleting);
    bench.release(3);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 3; }));
    REQUIRE(!bench.at(3).topics.find(std::string_view("orders"))->config.is_deleting);
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const CorrelationId listed = bench.ask(3, clients::ListOffsetsRequest{orders, clients::OffsetAt::kHighWatermark});
    bench.advance(milliseconds(100));
    REQUIRE(std::get<clients::ListOffsetsAnswer>(bench.answer_to(listed)->body).offset == Offset(1));
    bench.reconnect(1);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
}

// 1. Broker 3 is away while records are confirmed; leader 1 hides their topic to delete it, broker 2's write of that is
// not durable.
// 2. Broker 3 comes back and is let in. Broker 2 leads with the topic shown and dies; broker 3 leads.
TEST_CASE("who joins the set while a deletion is under way holds its records too (F2, I5)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.cut_off(3);
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    const CorrelationId produced = bench.ask(1, produce_to("orders", Acks::kAll, seconds(1)));
    REQUIRE(bench.advance_until([&] { return bench.is_answered(produced, ErrorCode::kNone); }));
    bench.hold(2, FileOwner::kTopics);
    bench.ask(1, clients::DeleteTopicRequest{"orders"});
    bench.advance(milliseconds(100));
    bench.reconnect(3);
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 3; }));
    const TopicPartition orders{bench.at(3).topics.find(std::string_view("orders"))->id, PartitionIndex(0)};
    REQUIRE(bench.at(3).topics.find(orders.topic)->config.is_deleting);
    REQUIRE(bench.at(3).logs.view(orders)->durable_end_offset == Offset(1));
}

// 1. Broker 3 is away while a topic is created and leader 1 hides it to delete it; broker 2 has not heard of that.
// 2. Broker 3 learns of the topic, hidden from the start. Broker 2 leads with the topic shown.
TEST_CASE("a topic first heard of while it was being deleted is there when that is undone (F2)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.cut_off(3);
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(30)));
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    REQUIRE(bench.create_topic("bills"));
    bench.cut_off(2);
    bench.ask(1, clients::DeleteTopicRequest{"bills"});
    bench.hold(3, FileOwner::kLogStore);  // it joins no set meanwhile
    bench.reconnect(3);
    REQUIRE(bench.advance_until([&] { return knows(bench.at(3), "bills"); }));
    REQUIRE(bench.at(3).topics.find(std::string_view("bills"))->config.is_deleting);
    bench = led_next_by(bench, 2);
    bench.release(3);
    const auto shows_it = [&] {
        const storage::TopicEntry* topic = bench.at(3).topics.find(std::string_view("bills"));
        return topic != nullptr && !topic->config.is_deleting && bench.at(3).partitions.size() == 4;
    };
    REQUIRE(bench.advance_until(shows_it));
    bench.reconnect(1);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
}

// 1. Leader 1 hides the topic to delete it; broker 2's write of that is not durable.
// 2. Broker 3 boots without its journal: nobody vouches for its copies, the hidden one included.
TEST_CASE("a hidden copy that nobody vouches for is copied anew as any other (F2, L4)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.ask(1, produce_to("orders", Acks::kAll, seconds(1)));
    bench.advance(seconds(1));
    bench.hold(2, FileOwner::kTopics);
    bench.ask(1, clients::DeleteTopicRequest{"orders"});
    bench.advance(milliseconds(100));
    const storage::TopicEntry hidden = *bench.at(3).topics.find(std::string_view("orders"));
    REQUIRE(hidden.config.is_deleting);
    const TopicPartition orders{hidden.id, PartitionIndex(0)};
    bench.lose(3, "checkpoint.");
    bench.start(3);
    REQUIRE(bench.at(3).logs.view(orders)->is_history_unvouched);
    REQUIRE(bench.advance_until([&] { return !bench.at(3).logs.view(orders)->is_history_unvouched; }));
    REQUIRE(bench.advance_until([&] { return bench.at(3).logs.view(orders)->durable_end_offset == Offset(1); }));
}

TEST_CASE("a deleted topic's committed offsets are taken out of the topic of offsets (T1)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    const CorrelationId committed =
        bench.ask(leader, clients::OffsetCommitRequest{"readers", -1, "", orders, Offset(7), LeaderEpoch(0), ""});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(committed, ErrorCode::kNone); }));
    REQUIRE(bench.at(leader).leading->offsets.size() == 1);
    bench.ask(leader, clients::DeleteTopicRequest{"orders"});
    REQUIRE(bench.advance_until([&] { return bench.at(leader).leading->offsets.size() == 0; }));
    REQUIRE(bench.create_topic("orders"));
    const CorrelationId fetched = bench.ask(leader, clients::OffsetFetchRequest{"readers", orders});
    REQUIRE(std::get<clients::OffsetFetchAnswer>(bench.answer_to(fetched)->body).offset == Offset(-1));
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.serving() != 0; }));
    REQUIRE(bench.at(bench.serving()).leading->offsets.size() == 0);
}

// The commit is answered late, but it was the deleted topic's: the next one of that name starts with none.
TEST_CASE("a commit that waits while its topic is deleted is not the next topic's (T1)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    const clients::PartitionName orders{"orders", TopicId{}, PartitionIndex(0)};
    bench.hold(follower, FileOwner::kLogStore);
    const CorrelationId committed =
        bench.ask(leader, clients::OffsetCommitRequest{"readers", -1, "", orders, Offset(7), LeaderEpoch(0), ""});
    const CorrelationId deleted = bench.ask(leader, clients::DeleteTopicRequest{"orders"});
    REQUIRE(bench.advance_until([&] { return bench.is_answered(deleted, ErrorCode::kNone); }, seconds(2)));
    REQUIRE(bench.answer_to(committed) == nullptr);
    bench.release(follower);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(committed, ErrorCode::kNone); }));
    REQUIRE(bench.create_topic("orders"));
    REQUIRE(bench.advance_until([&] { return bench.at(leader).leading->offsets.pending_count() == 0; }));
    REQUIRE(bench.at(leader).leading->offsets.size() == 0);
    const CorrelationId fetched = bench.ask(leader, clients::OffsetFetchRequest{"readers", orders});
    REQUIRE(std::get<clients::OffsetFetchAnswer>(bench.answer_to(fetched)->body).offset == Offset(-1));
}

// A member that led without the topic would take the commit for a deleted topic's, and forget it.
TEST_CASE("a commit is answered once every member that counts knows its topic (T1, F2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    const std::int32_t follower = leader == 1 ? 2 : 1;
    bench.hold(follower, FileOwner::kTopics);
    bench.ask(leader, clients::CreateTopicRequest{"bills", 1, {}});
    bench.advance(milliseconds(100));
    const clients::PartitionName bills{"bills", TopicId{}, PartitionIndex(0)};
    const CorrelationId committed =
        bench.ask(leader, clients::OffsetCommitRequest{"readers", -1, "", bills, Offset(0), LeaderEpoch(0), ""});
    bench.advance(milliseconds(600));
    REQUIRE(!knows(bench.at(follower), "bills"));
    REQUIRE(bench.answer_to(committed) == nullptr);
    bench.release(follower);
    REQUIRE(bench.advance_until([&] { return bench.is_answered(committed, ErrorCode::kNone); }));
    REQUIRE(knows(bench.at(follower), "bills"));
}

TEST_CASE("counts that no group could hold are refused (F2)", "[broker]") {
    Bench bench = formed_group();
    const std::int32_t leader = bench.serving();
    for (const std::int32_t count :
         {0, -1, std::numeric_limits<std::int32_t>::min(), 10'001, std::numeric_limits<std::int32_t>::max()}) {
        const CorrelationId created = bench.ask(leader, clients::CreateTopicRequest{"huge", count, {}});
        REQUIRE(bench.is_answered(created, ErrorCode::kInvalidPartitions));
        const CorrelationId grown = bench.ask(leader, clients::GrowTopicRequest{"orders", count});
        REQUIRE(bench.is_answered(grown, ErrorCode::kInvalidPartitions));
    }
    for (const char* value : {"", "0", "-2", "x", "1x", "99999999999999999999"}) {
        const CorrelationId set =
            bench.ask(leader, clients::SetTopicConfigRequest{"orders", {{"retention.records", value}}});
        REQUIRE(bench.is_answered(set, ErrorCode::kInvalidConfig));
    }
}

TEST_CASE("the gauge of under-replicated partitions follows the topics (I9)", "[broker]") {
    Bench bench = formed_group();
    REQUIRE(bench.transfer_to(1));
    bench.cut_off(3);
    REQUIRE(bench.advance_until([&] { return bench.at(1).in_sync.committed().members.size() == 2; }));
    REQUIRE(status(bench.at(1)).under_replicated_count == 3);  // two internal ones and "orders"
    REQUIRE(bench.create_topic("bills", 2));
    REQUIRE(status(bench.at(1)).under_replicated_count == 5);
    bench.reconnect(3);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
    REQUIRE(status(bench.at(1)).under_replicated_count == 0);
}

// What is written down and cannot be read at the next boot is damage: every log would be copied anew.
TEST_CASE("a manifest that no catalogue can hold is not taken over (F1)", "[broker]") {
    const std::string long_name(storage::kTopicNameBytesMax + 1, 'x');
    const replication::ManifestTopic good{"orders", TopicId(7), 1, false, {}};
    const std::vector<std::vector<replication::ManifestTopic>> table = {
        {{"orders", TopicId(0), 1, false, {}}},
        {{"orders", TopicId(7), 0, false, {}}},
        {{"orders", TopicId(7), std::numeric_limits<std::int32_t>::max(), false, {}}},
        {{long_name, TopicId(7), 1, false, {}}},
        {good, {"orders2", TopicId(7), 1, false, {}}},
        {{"orders", TopicId(7), 1, false, {{"no such key", "1"}}}},
    };
    for (const auto& topics : table) REQUIRE_FALSE(catalogue_of(replication::Manifest{topics, {}}).has_value());
    REQUIRE(catalogue_of(replication::Manifest{{good}, {}}).has_value());
}

}  // namespace tidelock::broker
