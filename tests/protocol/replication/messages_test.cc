// The peer messages: what is written is read back, and any bytes at all give a message or an error.
#include <catch2/catch.hpp>

#include "protocol/replication/messages.h"
#include "tests/law.h"

namespace tidelock::replication {
namespace {

const TopicPartition kPartition{TopicId(0xAB), PartitionIndex(3)};
const FollowerHeader kHeader{RequestId(9), {BrokerId(2), Incarnation(77)}, LeaderEpoch(5)};

std::vector<Message> samples() {
    const ManifestTopic topic{"orders", TopicId(4), 3, false, {{"a", "1"}, {"b", ""}}};
    const ManifestTopic internal{"__x", TopicId(5), 1, true, {}};
    PartitionEpochEnd none;
    none.partition = kPartition;
    none.answer.log_start_offset = Offset(4);
    PartitionEpochEnd some = none;
    some.answer.end = EpochEnd{LeaderEpoch(3), Offset(40)};
    PartitionAnswer records;
    records.partition = kPartition;
    records.high_watermark = Offset(7);
    records.batches = Bytes::copy_of("batch bytes");
    PartitionAnswer refused = records;
    refused.code = ErrorCode::kDiverging;
    refused.batches = {};
    return {
        ManifestRequest{kHeader},
        ManifestAnswer{RequestId(9), LeaderEpoch(5), ErrorCode::kNone, {{internal, topic}, Bytes::copy_of("aborted")}},
        EpochEndRequest{kHeader, {{kPartition, LeaderEpoch(4)}, {kPartition, LeaderEpoch(0)}}},
        EpochEndAnswer{RequestId(9), LeaderEpoch(5), ErrorCode::kNone, {none, some}},
        FetchRequest{kHeader,
                     12,
                     milliseconds(500),
                     1 << 20,
                     {{kPartition, Offset(10), LeaderEpoch(5), Offset(9), Offset(8), Offset(1)}}},
        FetchAnswer{RequestId(9), LeaderEpoch(5), ErrorCode::kNone, 12, true, {records, refused}},
        PositionUpdate{kHeader.follower, LeaderEpoch(5), {{kPartition, LeaderEpoch(5), Offset(10)}}},
        TopicWanted{"orders", 3, LeaderEpoch(4)},
    };
}

Bytes bytes_of(const Message& message) {
    ByteWriter out;
    encode(message, out);
    return out.take();
}

}  // namespace

TEST_CASE("every message survives the round trip and says its kind in its text") {
    for (const Message& message : samples()) {
        const Result<Message, DecodeError> decoded = decode_message(bytes_of(message));
        REQUIRE(decoded);
        CHECK(*decoded == message);
        CHECK(to_text(message).rfind(kind_of(message), 0) == 0);
        CHECK(to_text(message).find('\n') == std::string::npos);
    }
}

TEST_CASE("a message cut short, or with a byte too many, is an error") {
    for (const Message& message : samples()) {
        const Bytes whole = bytes_of(message);
        for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(decode_message(whole.slice(0, size)));
        CHECK_FALSE(decode_message(Bytes::copy_of(std::string(whole.text()) + 'x')));
    }
}

TEST_CASE("any bytes give a message or an error, and a message that was read is written back the same") {
    check_law([](std::vector<std::uint8_t> content) {
        if (!content.empty()) content[0] = static_cast<std::uint8_t>(content[0] % 8);
        const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(content)));
        if (const auto decoded = decode_message(bytes)) RC_ASSERT(bytes_of(*decoded) == bytes);
    });
    for (const Message& message : samples()) {
        const Bytes good = bytes_of(message);
        check_law([&](std::uint8_t flip) {
            std::string text(good.text());
            const auto at = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(text.size())));
            text[at] = static_cast<char>(text[at] ^ flip);
            const Bytes bytes = Bytes::copy_of(text);
            if (const auto decoded = decode_message(bytes)) RC_ASSERT(bytes_of(*decoded) == bytes);
        });
    }
}

TEST_CASE("fields that no sender writes are refused") {
    FetchRequest request = std::get<FetchRequest>(samples()[4]);
    request.partitions[0].fetch_offset = Offset(-1);
    CHECK_FALSE(decode_message(bytes_of(request)));
    request = std::get<FetchRequest>(samples()[4]);
    request.wait_max = Duration(-1);
    CHECK_FALSE(decode_message(bytes_of(request)));
    ManifestAnswer answer = std::get<ManifestAnswer>(samples()[1]);
    std::swap(answer.manifest.topics[0], answer.manifest.topics[1]);
    CHECK_FALSE(decode_message(bytes_of(answer)));
}

}  // namespace tidelock::replication
