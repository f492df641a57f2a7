// Committed offsets (T1): what is answered is below the high watermark, keyed by the life of a topic.
#include <catch2/catch.hpp>

#include <map>

#include "protocol/clients/offsets.h"
#include "tests/law.h"

namespace tidelock::clients {
namespace {

OffsetKey key_of(std::string group, std::uint64_t topic = 1, std::int32_t partition = 0) {
    return {std::move(group), {TopicId(topic), PartitionIndex(partition)}};
}
CommittedOffset at(std::int64_t offset) {
    return {Offset(offset), LeaderEpoch(3), -1, "m"};
}

}  // namespace

TEST_CASE("G3, V14: a commit shows once its record is below the high watermark, not before") {
    OffsetTable table;
    table.apply(Offset(0), key_of("g"), at(10));
    table.apply(Offset(1), key_of("g"), at(20));
    CHECK(table.find(key_of("g")) == nullptr);
    table.on_high_watermark(Offset(1));
    REQUIRE(table.find(key_of("g")) != nullptr);
    CHECK(table.find(key_of("g"))->offset == Offset(10));
    CHECK(table.pending_count() == 1);
    table.on_high_watermark(Offset(2));
    CHECK(*table.find(key_of("g")) == at(20));
    CHECK(table.pending_count() == 0);
}

TEST_CASE("a client may reset its offset back, and a tombstone takes it away") {
    OffsetTable table;
    table.on_high_watermark(Offset(9));
    table.apply(Offset(0), key_of("g"), at(20));
    table.apply(Offset(1), key_of("g"), at(5));
    CHECK(table.find(key_of("g"))->offset == Offset(5));
    table.apply(Offset(2), key_of("g"), std::nullopt);
    CHECK(table.find(key_of("g")) == nullptr);
}

TEST_CASE("the newest of each key is what has to be kept, confirmed or not, and nothing of what is gone") {
    OffsetTable table;
    table.on_high_watermark(Offset(2));
    table.apply(Offset(0), key_of("a"), at(1));
    table.apply(Offset(1), key_of("b"), at(1));
    table.apply(Offset(2), key_of("a"), at(2));
    table.apply(Offset(3), key_of("b"), std::nullopt);
    table.apply(Offset(4), key_of("c"), at(3));
    const auto newest = table.newest();
    CHECK(newest.size() == 2);
    CHECK(newest.at(key_of("a")) == at(2));
    CHECK(newest.at(key_of("c")) == at(3));
}

TEST_CASE("a recreated topic starts clean, and a late commit to the deleted one does not reach it (franz-go#1426)") {
    OffsetTable table;
    table.on_high_watermark(Offset(9));
    table.apply(Offset(0), key_of("g", 1), at(20));
    CHECK(table.find(key_of("g", 2)) == nullptr);
    table.apply(Offset(9), key_of("g", 1, 1), at(3));  // not yet below the high watermark
    CHECK(table.keys_of_topic(TopicId(1)) == std::vector<OffsetKey>{key_of("g", 1, 0), key_of("g", 1, 1)});
    CHECK(table.keys_of_topic(TopicId(2)).empty());
    CHECK(table.topics() == std::vector<TopicId>{TopicId(1)});
    table.apply(Offset(10), key_of("g", 1), std::nullopt);  // its tombstone is on its way
    CHECK(table.keys_of_topic(TopicId(1)) == std::vector<OffsetKey>{key_of("g", 1, 1)});
    CHECK(table.size() == 1);
}

TEST_CASE("the table of a prefix below the high watermark is all that shows, for any log") {
    check_law([] {
        OffsetTable table;
        std::vector<std::pair<OffsetKey, std::optional<CommittedOffset>>> log;
        std::int64_t high_watermark = 0;
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5));
        for (const int step : steps) {
            if (step <= 3) {
                const auto key = key_of(step % 2 == 0 ? "g" : "h", 1, *rc::gen::inRange(0, 2));
                std::optional<CommittedOffset> value;
                if (step != 3) value = at(*rc::gen::inRange(0, 100));
                table.apply(Offset(static_cast<std::int64_t>(log.size())), key, value);
                log.emplace_back(key, value);
            } else {
                high_watermark =
                    *rc::gen::inRange<std::int64_t>(high_watermark, static_cast<std::int64_t>(log.size()) + 1);
                table.on_high_watermark(Offset(high_watermark));
            }
            std::map<OffsetKey, CommittedOffset> expected;
            for (std::int64_t i = 0; i < high_watermark; ++i) {
                const auto& [key, value] = log[static_cast<std::size_t>(i)];
                if (value) {
                    expected.insert_or_assign(key, *value);
                } else {
                    expected.erase(key);
                }
            }
            RC_ASSERT(table.size() == expected.size());
            for (const auto& [key, value] : expected) RC_ASSERT(*table.find(key) == value);
        }
    });
}

TEST_CASE("keys and values survive the round trip; any bytes give one or an error") {
    CHECK(decode_key(encode_key(key_of("group", 5, 3))) == key_of("group", 5, 3));
    const auto value = decode_value(encode_value(at(77)));
    REQUIRE(value);
    CHECK(*value == at(77));
    const auto tombstone = decode_value(Bytes{});
    REQUIRE(tombstone);
    CHECK_FALSE(*tombstone);
    check_law([](std::vector<std::uint8_t> content) {
        if (!content.empty()) content[0] = 1;
        const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(content)));
        if (const auto key = decode_key(bytes)) RC_ASSERT(encode_key(*key) == bytes);
        const auto decoded = decode_value(bytes);
        if (decoded && *decoded) RC_ASSERT(encode_value(**decoded) == bytes);
    });
}

}  // namespace tidelock::clients
