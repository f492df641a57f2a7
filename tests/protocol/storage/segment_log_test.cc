// Segments: which bytes of which file hold which offsets.
#include "protocol/storage/segment_log.h"

#include <rapidcheck.h>

#include "tests/protocol/storage/store_rig.h"

namespace tidelock::storage {
namespace {

BatchRun run_of(std::initializer_list<Bytes> batches) {
    ByteWriter joined;
    BatchRun run;
    for (const Bytes& batch : batches) {
        joined.raw(batch.span());
        run.headers.push_back(*decode_batch_header(batch.span()));
    }
    run.bytes = joined.take();
    return run;
}

/// Five batches of three records; with 20-byte values each is 141 bytes long.
BatchRun five_batches() {
    BatchRun run;
    ByteWriter joined;
    for (int i = 0; i < 5; ++i) {
        const Bytes batch = make_batch(Offset(3 * i), LeaderEpoch(0), 3, 7, 20);
        joined.raw(batch.span());
        run.headers.push_back(*decode_batch_header(batch.span()));
    }
    run.bytes = joined.take();
    return run;
}

std::uint32_t batch_bytes() {
    return static_cast<std::uint32_t>(five_batches().headers[0].size_bytes());
}

SegmentConfig two_batches_a_segment() {
    SegmentConfig config;
    config.segment_bytes_max = 2 * batch_bytes();
    return config;
}

TEST_CASE("file names carry topic, partition and base offset, and only the exact form is recognised") {
    const FileName name = segment_file_name(kPartition, Offset(42));
    REQUIRE(name.text() == "00000000000000ab-3/00000000000000000042.log");
    REQUIRE(index_file_name(kPartition, Offset(42)).text() == "00000000000000ab-3/00000000000000000042.index");
    REQUIRE(parse_partition_file(name.text()) == PartitionFile{kPartition, Offset(42), PartitionFileKind::kSegment});
    for (const char* other :
         {"", "/", "checkpoint.1", "00000000000000ab-3", "00000000000000AB-3/00000000000000000042.log",
          "00000000000000ab-03/00000000000000000042.log", "00000000000000ab-3/42.log",
          "00000000000000ab-3/00000000000000000042.log.log", "00000000000000ab--3/0000000000000000004x.log",
          "00000000000000ab-3/99999999999999999999.log"})
        REQUIRE_FALSE(parse_partition_file(other).has_value());
    REQUIRE(parse_partition_file(segment_file_name({TopicId(~0ULL), PartitionIndex(2147483647)}, Offset(1)).text())
                .has_value());
}

TEST_CASE("a run is written with one write a segment, and a sealed segment gets its index") {
    SegmentLog log(kPartition, Offset(0));
    std::vector<FileEffect> effects;
    log.append(five_batches(), two_batches_a_segment(), Offset(0), effects);
    REQUIRE(effects.size() == 5);  // three segments, two indexes
    REQUIRE(std::get<WriteFile>(effects[0]).content.size() == 2 * batch_bytes());
    REQUIRE(std::get<WriteFile>(effects[1]).name == index_file_name(kPartition, Offset(0)));
    const SegmentIndex index = *decode_segment_index(std::get<WriteFile>(effects[1]).content);
    REQUIRE(index.next_offset == Offset(6));
    REQUIRE(index.size_bytes == 2 * batch_bytes());
    REQUIRE(log.segments().size() == 3);
    REQUIRE(log.end_offset() == Offset(15));
}

TEST_CASE("reads are located at batch boundaries, at least one batch, never past up_to") {
    SegmentLog log(kPartition, Offset(0));
    std::vector<FileEffect> effects;
    SegmentConfig config;
    log.append(five_batches(), config, Offset(0), effects);
    const std::uint64_t size = batch_bytes();
    REQUIRE(log.locate({Offset(4), Offset(15), 1}) == FileRange{Offset(0), size, size, Offset(3)});
    REQUIRE(log.locate({Offset(3), Offset(15), 3 * size - 1}) == FileRange{Offset(0), size, 2 * size, Offset(3)});
    REQUIRE(log.locate({Offset(0), Offset(6), 100 * size}) == FileRange{Offset(0), 0, 2 * size, Offset(0)});
    REQUIRE_FALSE(log.locate({Offset(15), Offset(20), 1}).has_value());
    REQUIRE_FALSE(log.locate({Offset(5), Offset(5), 1}).has_value());
}

TEST_CASE("a cut rounds down to a batch boundary, removes later segments and reopens the one it falls into") {
    SegmentLog log(kPartition, Offset(0));
    std::vector<FileEffect> effects;
    log.append(five_batches(), two_batches_a_segment(), Offset(0), effects);
    REQUIRE(log.boundary_at_or_below(Offset(5)) == Offset(3));
    REQUIRE(log.boundary_at_or_below(Offset(6)) == Offset(6));
    effects.clear();
    log.truncate(Offset(3), effects);
    REQUIRE(log.end_offset() == Offset(3));
    REQUIRE(log.segments().size() == 1);
    REQUIRE(effects.size() == 6);  // four removals, the truncation, the stale index
    REQUIRE(std::get<TruncateFile>(effects[4]) ==
            TruncateFile{segment_file_name(kPartition, Offset(0)), batch_bytes()});
    effects.clear();
    log.append(run_of({make_batch(Offset(3), LeaderEpoch(0), 1, 9, 20)}), two_batches_a_segment(), Offset(0), effects);
    REQUIRE(std::get<WriteFile>(effects[0]).position == batch_bytes());
}

TEST_CASE("a cut to the start leaves no file, and the next record goes to the same offset") {
    SegmentLog log(kPartition, Offset(0));
    std::vector<FileEffect> effects;
    log.append(five_batches(), two_batches_a_segment(), Offset(0), effects);
    log.truncate(Offset(0), effects);
    REQUIRE(log.segments().empty());
    REQUIRE(log.end_offset() == Offset(0));
}

TEST_CASE("only segments wholly below the log start go, and never the last") {
    SegmentLog log(kPartition, Offset(0));
    std::vector<FileEffect> effects;
    log.append(five_batches(), two_batches_a_segment(), Offset(0), effects);
    effects.clear();
    REQUIRE_FALSE(log.remove_below(Offset(5), effects));
    REQUIRE(log.remove_below(Offset(15), effects));
    REQUIRE(log.first_offset() == Offset(12));
    REQUIRE(log.end_offset() == Offset(15));
}

TEST_CASE("an index survives the round trip; flipped bits and foreign bytes are errors") {
    const SegmentIndex index{Offset(100), Offset(130), 900, {{0, 0}, {10, 300}, {20, 600}}};
    const Bytes good = encode_segment_index(index);
    REQUIRE(*decode_segment_index(good) == index);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        const Bytes bad = Bytes::build(good.size(), [&](std::span<std::byte> into) {
            std::memcpy(into.data(), good.data(), good.size());
            into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        });
        REQUIRE_FALSE(decode_segment_index(bad).has_value());
    }
    for (std::size_t size = 0; size < good.size(); ++size)
        REQUIRE_FALSE(decode_segment_index(good.slice(0, size)).has_value());
    REQUIRE_FALSE(
        decode_segment_index(encode_segment_index({Offset(5), Offset(9), 10, {{0, 0}, {2, 3}, {1, 4}}})).has_value());
    REQUIRE_FALSE(
        decode_segment_index(encode_segment_index({Offset(5), Offset(9), 10, {{0, 0}, {2, 10}}})).has_value());
}

TEST_CASE("slices hold whole batches only, first the one asked for") {
    const Bytes bytes = five_batches().bytes;
    const EpochHistory none;
    const Result<BatchSlice, BatchDamage> slice = slice_batches(bytes, Offset(0), {Offset(4), Offset(12), 10000}, none);
    REQUIRE(slice.has_value());
    REQUIRE(slice->first_offset == Offset(3));
    REQUIRE(slice->next_offset == Offset(12));
    REQUIRE(slice->bytes == bytes.slice(batch_bytes(), 3 * batch_bytes()));
    REQUIRE(slice_batches(bytes, Offset(0), {Offset(4), Offset(12), 1}, none)->next_offset == Offset(6));
    REQUIRE(slice_batches(bytes, Offset(0), {Offset(4), Offset(5), 1}, none)->bytes.empty());
}

TEST_CASE("a slice vouches for every bit of what it returns") {
    const Bytes good = five_batches().bytes;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        const Bytes bad = Bytes::build(good.size(), [&](std::span<std::byte> into) {
            std::memcpy(into.data(), good.data(), good.size());
            into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        });
        const Result<BatchSlice, BatchDamage> slice =
            slice_batches(bad, Offset(0), {Offset(0), Offset(15), 10000}, EpochHistory());
        REQUIRE_FALSE(slice.has_value());
        REQUIRE(slice.error().at_offset == Offset(static_cast<std::int64_t>(bit / 8 / batch_bytes()) * 3));
    }
}

TEST_CASE("a batch that stands alone is vouched for too: its offset is outside its CRC") {
    const Bytes all = five_batches().bytes;
    const Bytes good = all.slice(batch_bytes(), batch_bytes());  // [3, 6)
    for (std::int64_t from = 3; from < 6; ++from) {
        REQUIRE(slice_batches(good, Offset(3), {Offset(from), Offset(6), 1}, EpochHistory())->next_offset == Offset(6));
        for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
            const Bytes bad = Bytes::build(good.size(), [&](std::span<std::byte> into) {
                std::memcpy(into.data(), good.data(), good.size());
                into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            });
            const auto slice = slice_batches(bad, Offset(3), {Offset(from), Offset(6), 1}, EpochHistory());
            REQUIRE_FALSE(slice.has_value());
            REQUIRE(slice.error().at_offset == Offset(3));
        }
    }
}

TEST_CASE("thinned entries are far enough apart and the first is kept") {
    const std::vector<IndexEntry> entries{{0, 0}, {1, 50}, {2, 120}, {3, 180}, {4, 240}};
    REQUIRE(thin_index(entries, 100) == std::vector<IndexEntry>{{0, 0}, {2, 120}, {4, 240}});
    REQUIRE(thin_index({}, 100).empty());
}

}  // namespace
}  // namespace tidelock::storage
