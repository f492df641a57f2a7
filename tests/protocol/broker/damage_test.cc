// What is known of a disk's damage outlives the process that found it (L4, I10).
#include <catch2/catch.hpp>

#include "bench.h"

namespace tidelock::broker {
namespace {

using clients::Acks;
using clients::ErrorCode;

const clients::PartitionName kOrders{"orders", TopicId{}, PartitionIndex(0)};
/// In the first batch's only record, past its header: the headers of the segment agree with its index as before.
constexpr std::size_t kInFirstRecord = 65;

/// A group whose boots trust sealed segments by their index, with several of those that are promised and confirmed.
struct TrustingGroup {
    TrustingGroup() {
        REQUIRE(bench.form());
        REQUIRE(bench.create_topic("orders"));
        for (int i = 0; i < 12; ++i) {
            const CorrelationId asked = bench.ask(bench.serving(), produce_to("orders", Acks::kAll, seconds(5)));
            REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
        }
        bench.advance(seconds(2));
        REQUIRE(bench.is_whole());
        victim = bench.serving();
        before = at().identity.data_incarnation;
    }
    static void configure(Config& config) {
        config.trusts_sealed_indexes = true;
        config.segment_bytes_max = 300;
        config.tail_cache_bytes_max = 0;
    }
    [[nodiscard]] const Broker& at() const { return bench.at(victim); }
    [[nodiscard]] TopicPartition orders() const { return {at().topics.find("orders")->id, PartitionIndex(0)}; }
    [[nodiscard]] bool is_damaged() const { return at().partitions.at(orders()).must_recopy; }
    /// Whether its boot took sealed segments by their index.
    [[nodiscard]] bool did_trust() const { return at().partitions.at(orders()).must_reread_producers; }
    void rot() {
        bench.rot_at(victim, std::string(storage::segment_file_name(orders(), Offset(0)).text()), kInFirstRecord);
    }
    void read_first_record() {
        bench.ask(victim, clients::FetchRequest{kOrders, Offset(0), 1000, milliseconds(10), {}});
    }
    /// Dies and boots; nothing that comes later has happened yet.
    void restart(std::set<storage::FileOwner> held = {}) { bench.start(victim, std::move(held)); }
    bool becomes_whole() {
        return bench.advance_until([&] { return bench.is_whole(); }) && !is_damaged();
    }

    Bench bench{3, configure};
    std::int32_t victim = 0;
    Incarnation before;
};

/// Broker 1 leads by configuration, in its second life, and the first record of one topic rots.
struct StaticGroup {
    StaticGroup() {
        REQUIRE(bench.form());
        REQUIRE(bench.create_topic("orders"));
        REQUIRE(bench.create_topic("other"));
        write("orders");
        write("other");
        bench.start(1);
        REQUIRE(bench.advance_until([&] { return bench.serving() == 1 && bench.is_whole(); }));
        write("orders");
    }
    void write(const std::string& topic) {
        const CorrelationId asked = bench.ask(1, produce_to(topic, Acks::kAll, seconds(5)));
        REQUIRE(bench.advance_until([&] { return bench.is_answered(asked, ErrorCode::kNone); }));
    }
    [[nodiscard]] TopicPartition partition_of(std::string_view topic) const {
        return {bench.at(1).topics.find(topic)->id, PartitionIndex(0)};
    }
    void rot_and_restart(std::string_view topic) {
        bench.rot_at(1, std::string(storage::segment_file_name(partition_of(topic), Offset(0)).text()), kInFirstRecord);
        bench.start(1);
    }
    Bench bench{3, [](Config& config) {
                    config.preset = Preset::kStatic;
                    config.static_leader = BrokerId(1);
                    config.tail_cache_bytes_max = 0;
                }};
};

}  // namespace

TEST_CASE("static: a leader whose copy is damaged leads on with all others, boot after boot (L4)", "[broker]") {
    StaticGroup group;
    Bench& bench = group.bench;
    group.rot_and_restart("orders");
    REQUIRE(bench.advance_until([&] { return bench.serving() == 1; }));
    bench.start(1);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 1; }));
    // The damaged partition waits: nothing of it is told, as nobody knows here what it held.
    const CorrelationId end = bench.ask(1, clients::ListOffsetsRequest{kOrders, clients::OffsetAt::kHighWatermark});
    CHECK(bench.is_answered(end, ErrorCode::kStorageError));
    const CorrelationId deletion = bench.ask(1, clients::DeleteRecordsRequest{kOrders, Offset(-1)});
    CHECK(bench.is_answered(deletion, ErrorCode::kStorageError));
    const CorrelationId refused = bench.ask(1, produce_to("orders", Acks::kLeader, seconds(1)));
    CHECK(bench.is_answered(refused, ErrorCode::kStorageError));
    // Records of the others go on to be copied.
    bench.ask(1, produce_to("other", Acks::kLeader, seconds(1)));
    const auto is_copied = [&](std::int32_t id) {
        return bench.at(id).logs.view(group.partition_of("other"))->log_end_offset == Offset(2);
    };
    CHECK(bench.advance_until([&] { return is_copied(2) && is_copied(3); }, seconds(5)));
}

TEST_CASE("static: nobody serves from a damaged topic of offsets or producers (G3, L4)", "[broker]") {
    StaticGroup group;
    clients::OffsetCommitRequest commit;
    commit.group = "g";
    commit.partition = kOrders;
    commit.offset = Offset(1);
    const CorrelationId committed = group.bench.ask(1, commit);
    REQUIRE(group.bench.advance_until([&] { return group.bench.is_answered(committed, ErrorCode::kNone); }));
    group.rot_and_restart(clients::kConsumerOffsetsTopic);
    group.bench.advance(seconds(5));
    CHECK(group.bench.serving() == 0);
}

TEST_CASE("damage of a sealed segment that nobody has read is not found by a boot that trusts its index", "[broker]") {
    TrustingGroup group;
    group.rot();
    group.restart();
    REQUIRE(group.did_trust());
    REQUIRE_FALSE(group.is_damaged());
    REQUIRE(group.at().identity.data_incarnation == group.before);
}

TEST_CASE("damage found by a read is found again by a boot that would trust the index (L4, I10)", "[broker]") {
    TrustingGroup group;
    group.rot();
    group.read_first_record();
    const Incarnation renewed = group.at().identity.data_incarnation;
    REQUIRE(renewed != group.before);
    REQUIRE(group.is_damaged());

    group.restart();  // before it is copied again
    REQUIRE(group.is_damaged());
    REQUIRE_FALSE(group.did_trust());
    REQUIRE(group.at().identity.data_incarnation != renewed);
    group.restart();  // and once more
    REQUIRE(group.is_damaged());
    REQUIRE(group.becomes_whole());
}

TEST_CASE("damage is on record no later than the incarnation that it renews (I10)", "[broker]") {
    TrustingGroup group;
    group.rot();
    group.bench.hold(group.victim, storage::FileOwner::kIdentity);
    group.read_first_record();  // the new identity is in its first copy
    REQUIRE(group.at().is_identity_renewing);
    const Incarnation renewed = group.at().identity.data_incarnation;
    SECTION("and that copy is there") {}
    SECTION("and that copy is lost") {
        group.bench.rot(group.victim, "identity.a");
        group.restart();
        REQUIRE(group.at().identity.data_incarnation == group.before);
        REQUIRE_FALSE(group.is_damaged());  // nobody was told; the next read finds it
        return;
    }
    group.restart();
    REQUIRE(group.is_damaged());
    REQUIRE(group.at().identity.data_incarnation != group.before);
    REQUIRE(group.at().identity.data_incarnation != renewed);
}

TEST_CASE("a boot that scans everything and finds it whole ends the record, when its journal is durable", "[broker]") {
    TrustingGroup group;
    group.rot();
    group.read_first_record();
    REQUIRE(group.becomes_whole());
    REQUIRE(group.at().identity.is_damage_on_record);  // this life has not scanned what it copied

    group.restart({storage::FileOwner::kLogStore});
    REQUIRE_FALSE(group.did_trust());
    REQUIRE(group.at().is_scan_clean);
    REQUIRE(group.at().identity.is_damage_on_record);  // a power loss now may bring back what was there before
    group.restart();
    REQUIRE_FALSE(group.did_trust());
    REQUIRE_FALSE(group.at().identity.is_damage_on_record);
    group.restart();
    REQUIRE(group.did_trust());
    REQUIRE(group.becomes_whole());
}

TEST_CASE("damage that a whole scan found at boot is found again by the next one, which would trust the index",
          "[broker]") {
    TrustingGroup group;
    group.rot();
    group.bench.configure(group.victim, [](Config& config) { config.trusts_sealed_indexes = false; });
    group.restart({storage::FileOwner::kLogStore});  // no journal of this life is durable
    REQUIRE(group.is_damaged());
    group.bench.configure(group.victim, [](Config& config) { config.trusts_sealed_indexes = true; });
    group.restart();
    REQUIRE(group.is_damaged());
    REQUIRE(group.becomes_whole());
}

}  // namespace tidelock::broker
