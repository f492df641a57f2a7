// The witness knows of damage by what the broker said and by the bytes that a later life reads, by nothing else.
#include "scenarios/damage_witness.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "protocol/storage/identity.h"
#include "protocol/storage/segment_log.h"
#include "protocol/storage/state_file.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

constexpr TopicPartition kOne{TopicId(7), PartitionIndex(0)};
constexpr Offset kStart{0};
constexpr Offset kEnd{2};

Bytes batch_at(Offset offset) {
    storage::BatchOptions options;
    options.base_offset = offset;
    options.leader_epoch = LeaderEpoch(1);
    storage::RecordBatchBuilder builder(options);
    const Bytes value = Bytes::copy_of(std::vector<std::byte>(8, std::byte{7}));
    builder.add(0, std::nullopt, value.span());
    return builder.build();
}

/// A segment of two batches, one bit of the second one's record flipped if `is_bad`.
storage::DirectoryImage image_of(bool is_bad) {
    ByteWriter segment;
    segment.raw(batch_at(Offset(0)).span());
    segment.raw(batch_at(Offset(1)).span());
    const Bytes good = segment.take();
    const Bytes content = Bytes::build(good.size(), [&](std::span<std::byte> into) {
        std::memcpy(into.data(), good.span().data(), good.size());
        if (is_bad) into[good.size() - 2] ^= std::byte{1};
    });
    return {{storage::segment_file_name(kOne, Offset(0)), content}};
}

storage::DirectoryImage with_identity(storage::DirectoryImage image, bool is_damage_on_record) {
    storage::Identity identity;
    identity.broker = BrokerId(1);
    identity.data_incarnation = Incarnation(5);
    identity.raft_incarnation = Incarnation(6);
    identity.is_damage_on_record = is_damage_on_record;
    ByteWriter content;
    encode(identity, content);
    image.push_back(
        {"identity.a", storage::encode_state_copy("identity", {storage::StateSequence(1), content.take()})});
    return image;
}

struct Lives {
    Lives& see(const broker::Observation& observation) {
        witness.on_observation(observation);
        return *this;
    }
    Lives& find_damage() { return see(broker::DamageFound{kOne, kStart}); }
    Lives& renew() { return see(broker::DataIncarnationRenewed{Incarnation(5)}); }
    /// A life that takes the copy as it says; what of it is forgotten.
    std::vector<std::string> boot(const storage::DirectoryImage& image, bool is_damaged, Offset log_end = kEnd) {
        witness.begin_life(image);
        see(broker::LogRecovered{kOne, kStart, log_end, log_end, log_end, {}, is_damaged});
        if (is_damaged) find_damage();
        return witness.forgotten_at_boot(image, {});
    }
    DamageWitness witness;
};

}  // namespace

TEST_CASE("damage that the incarnation was renewed for is forgotten by a life that takes the copy for whole") {
    Lives lives;
    lives.find_damage().renew();
    SECTION("at the next boot") {}
    SECTION("after one that found it again and did not come far") {
        REQUIRE(lives.boot(image_of(true), true).empty());
    }
    SECTION("when the copy was emptied, and that is not durable") {
        lives.see(broker::LogReset{kOne, kStart, broker::ResetReason::kDamaged});
    }
    const std::vector<std::string> forgotten = lives.boot(image_of(true), false);
    REQUIRE(forgotten.size() == 1);
    REQUIRE(forgotten[0].find("is whole with records [0, 2), though that at 1 in") != std::string::npos);
    REQUIRE(lives.boot(image_of(true), false).empty());  // told once
}

TEST_CASE("what lies below the log start, in a file that is not gone yet, is nobody's") {
    Lives lives;
    lives.find_damage().renew();
    const storage::DirectoryImage image = image_of(true);
    lives.witness.begin_life(image);
    lives.see(broker::LogRecovered{kOne, kEnd, kEnd, kEnd, kEnd, {}, false});
    REQUIRE(lives.witness.forgotten_at_boot(image, {}).empty());
}

TEST_CASE("nothing is forgotten by who finds it again, copied it again, or does not know of it") {
    Lives lives;
    lives.find_damage();
    SECTION("the incarnation was not renewed yet") {
        REQUIRE(lives.boot(image_of(true), false).empty());
    }
    lives.renew();
    SECTION("found again") {
        REQUIRE(lives.boot(image_of(true), true).empty());
    }
    SECTION("the bytes are good: a fault of reading has passed") {
        REQUIRE(lives.boot(image_of(false), false).empty());
    }
    SECTION("what is bad is no part of the log") {
        REQUIRE(lives.boot(image_of(true), false, Offset(1)).empty());
    }
    SECTION("the disk was emptied meanwhile") {
        REQUIRE(lives.boot({}, false, Offset(0)).empty());
        REQUIRE(lives.boot(image_of(true), false).empty());
    }
    SECTION("the copy was emptied, durably; what is bad now is news") {
        lives.see(broker::LogReset{kOne, kStart, broker::ResetReason::kDamaged})
            .see(broker::DurableEndAdvanced{kOne, kStart});
        REQUIRE(lives.boot(image_of(true), false).empty());
    }
}

TEST_CASE("with damage on record nobody's records are taken by their headers, damaged copy or not (L4)") {
    const auto taken = [](bool is_on_record, Offset unverified_end_offset) {
        Lives lives;
        const storage::DirectoryImage image = with_identity(image_of(false), is_on_record);
        lives.witness.begin_life(image);
        lives.see(broker::LogRecovered{kOne, kStart, kEnd, kEnd, kEnd, {}, false, unverified_end_offset});
        return lives.witness.forgotten_at_boot(image, {});
    };
    REQUIRE(taken(true, kStart).empty());
    REQUIRE(taken(false, kEnd).empty());
    const std::vector<std::string> forgotten = taken(true, kEnd);
    REQUIRE(forgotten.size() == 1);
    REQUIRE(forgotten[0].find("up to 2 are taken by their headers") != std::string::npos);
}
