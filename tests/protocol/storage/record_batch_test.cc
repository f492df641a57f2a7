// Record batches: the exact layout, round trips, and that no bytes are taken for a batch that is none.
#include "protocol/storage/record_batch.h"

#include <rapidcheck.h>
#include <catch2/catch.hpp>

#include "protocol/base/crc32c.h"

namespace tidelock::storage {
namespace {

Bytes text(std::string_view content) {
    return Bytes::copy_of(content);
}

Bytes sample_batch() {
    BatchOptions options;
    options.base_offset = Offset(7);
    options.leader_epoch = LeaderEpoch(3);
    options.producer_id = ProducerId(0x0102030405060708);
    options.producer_epoch = ProducerEpoch(9);
    options.base_sequence = 11;
    options.is_transactional = true;
    RecordBatchBuilder builder(options);
    builder.add({1000, text("k"), text("value"), {{"h", text("x")}, {"n", std::nullopt}}});
    builder.add({1005, std::nullopt, text(""), {}});
    return builder.build();
}

std::string hex(std::span<const std::byte> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    for (const std::byte b : bytes) {
        out += kDigits[std::to_integer<unsigned>(b) >> 4U];
        out += kDigits[std::to_integer<unsigned>(b) & 0xFU];
    }
    return out;
}

TEST_CASE("a batch has Kafka's layout, byte for byte") {
    const Bytes batch = sample_batch();
    REQUIRE(hex(batch.span().first(17)) ==
            "0000000000000007"
            "0000004c"
            "00000003"
            "02");
    REQUIRE(hex(batch.span().subspan(21, 40)) ==
            "0010"
            "00000001"
            "00000000000003e8"
            "00000000000003ed"
            "0102030405060708"
            "0009"
            "0000000b"
            "00000002");
    // length, attributes, timestamp and offset deltas, key, value, headers: varints are zigzag.
    REQUIRE(hex(batch.span().subspan(61)) ==
            "26"
            "00"
            "00"
            "00"
            "026b"
            "0a76616c7565"
            "04"
            "02680278"
            "026e01"
            "0c"
            "00"
            "0a"
            "02"
            "01"
            "00"
            "00");
    REQUIRE(crc32c(batch.span().subspan(21)) == decode_batch_header(batch.span())->crc);
}

TEST_CASE("what was put into a batch is read out of it") {
    const Result<std::vector<Record>, BatchError> records = decode_records(sample_batch());
    REQUIRE(records.has_value());
    REQUIRE(records->size() == 2);
    REQUIRE(records->at(0) == Record{1000, text("k"), text("value"), {{"h", text("x")}, {"n", std::nullopt}}});
    REQUIRE(records->at(1) == Record{1005, std::nullopt, text(""), {}});
    const BatchHeader header = *validate_batch(sample_batch().span());
    REQUIRE(header.next_offset() == Offset(9));
    REQUIRE(header.is_transactional());
    REQUIRE_FALSE(header.is_control());
    REQUIRE(header.size_bytes() == sample_batch().size());
}

TEST_CASE("stamping numbers a run and leaves its checksums alone") {
    ByteWriter run;
    run.raw(sample_batch().span());
    run.raw(sample_batch().span());
    const Bytes stamped = stamp(run.take(), {Offset(100), LeaderEpoch(5)});
    const Result<std::vector<BatchView>, BatchError> batches = split_batches(stamped);
    REQUIRE(batches.has_value());
    REQUIRE(batches->at(0).header.base_offset == Offset(100));
    REQUIRE(batches->at(1).header.base_offset == Offset(102));
    REQUIRE(batches->at(1).header.leader_epoch == LeaderEpoch(5));
    REQUIRE(validate_batch(batches->at(1).bytes.span()).has_value());
}

TEST_CASE("a flipped bit in what the checksum covers, or in the framing, is never a valid batch") {
    const Bytes good = sample_batch();
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        const Bytes bad = Bytes::build(good.size(), [&](std::span<std::byte> into) {
            std::memcpy(into.data(), good.data(), good.size());
            into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        });
        const bool is_stampable = bit / 8 < 8 || (bit / 8 >= 12 && bit / 8 < 16);  // base offset, leader epoch
        if (!is_stampable) REQUIRE_FALSE(check_batch(bad.span()).has_value());
    }
}

TEST_CASE("limits are applied before anything is followed") {
    const Bytes batch = sample_batch();
    REQUIRE(check_batch(batch.span(), {80, 1000}).error() == BatchError::kBadLength);
    REQUIRE(check_batch(batch.span(), {1000, 1}).error() == BatchError::kBadCount);
    REQUIRE(check_batch(batch.span().first(60)).error() == BatchError::kTooShort);
    REQUIRE(check_batch(batch.span().first(61)).error() == BatchError::kTooShort);
    REQUIRE(split_batches(batch.slice(0, batch.size() - 1)).error() == BatchError::kTooShort);
    REQUIRE(split_batches(Bytes())->empty());
}

TEST_CASE("a batch whose checksum is right and whose records are not is refused as a producer's") {
    const Bytes good = sample_batch();
    const Bytes bad = Bytes::build(good.size(), [&](std::span<std::byte> into) {
        std::memcpy(into.data(), good.data(), good.size());
        into[kBatchHeaderBytes] = std::byte{0x20};  // the first record claims to be shorter than it is
        const std::uint32_t crc = crc32c(into.subspan(kBatchCrcCoversFrom));
        for (std::size_t i = 0; i < 4; ++i) into[17 + i] = static_cast<std::byte>(crc >> (24 - 8 * i));
    });
    REQUIRE(check_batch(bad.span()).has_value());
    REQUIRE(validate_batch(bad.span()).error() == BatchError::kBadRecord);
    REQUIRE(decode_records(bad).error() == BatchError::kBadRecord);
}

std::optional<Bytes> draw_nullable() {
    const auto content = *rc::gen::arbitrary<std::string>();
    return *rc::gen::arbitrary<bool>() ? std::optional<Bytes>(text(content)) : std::nullopt;
}

TEST_CASE("any records survive the round trip") {
    REQUIRE(rc::check("round trip", [] {
        std::vector<Record> records;
        RecordBatchBuilder builder(BatchOptions{});
        const int count = *rc::gen::inRange(1, 10);
        for (int i = 0; i < count; ++i) {
            Record record{*rc::gen::arbitrary<std::int32_t>(), draw_nullable(), draw_nullable(), {}};
            const int header_count = *rc::gen::inRange(0, 4);
            for (int h = 0; h < header_count; ++h)
                record.headers.push_back({*rc::gen::arbitrary<std::string>(), draw_nullable()});
            builder.add(record);
            records.push_back(record);
        }
        const Bytes batch = builder.build();
        RC_ASSERT(batch.size() == builder.size_bytes());
        RC_ASSERT(validate_batch(batch.span()).has_value());
        RC_ASSERT(*decode_records(batch) == records);
    }));
}

TEST_CASE("any bytes are a value or an error") {
    REQUIRE(rc::check("total", [](const std::vector<std::uint8_t>& noise) {
        std::vector<std::byte> bytes;
        const Bytes good = sample_batch();
        bytes.assign(good.span().begin(), good.span().end());
        for (std::size_t i = 0; i + 1 < noise.size(); i += 2)
            bytes[noise[i] % bytes.size()] = static_cast<std::byte>(noise[i + 1]);
        const Result<BatchHeader, BatchError> header = decode_batch_header(bytes);
        if (!header) return;
        RecordReader reader(std::span<const std::byte>(bytes).first(header->size_bytes()), *header);
        for (std::size_t reads = 0; reads <= bytes.size(); ++reads) {
            const Result<std::optional<RecordView>, BatchError> record = reader.next();
            if (!record || !record->has_value()) return;
            read_headers(**record);
        }
        RC_FAIL("more records than bytes");
    }));
}

}  // namespace
}  // namespace tidelock::storage
