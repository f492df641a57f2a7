// The witness knows the journal's format by itself: it is right about what a broker wrote, whatever a broker reads.
#include "scenarios/journal_witness.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "protocol/storage/checkpoint_journal.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

constexpr TopicPartition kOne{TopicId(7), PartitionIndex(0)};

/// Three commits of generation 4, a sector each.
Bytes three_commits() {
    ByteWriter all;
    for (std::uint64_t commit = 1; commit <= 3; ++commit) {
        storage::CommitWriter writer(4, commit);
        if (commit == 1) writer.add_file_header();
        storage::PartitionRecord record;
        record.tp = kOne;
        record.durable_end_offset = Offset(static_cast<std::int64_t>(commit) * 10);
        writer.add_partition(record);
        writer.add_epoch_entry(kOne, {LeaderEpoch(static_cast<std::int32_t>(commit)), Offset(0)});
        const Bytes content = writer.finish();
        all.raw(content.span());
    }
    return all.take();
}

Bytes with_flipped_bit(const Bytes& content, std::size_t at) {
    return Bytes::build(content.size(), [&](std::span<std::byte> into) {
        std::memcpy(into.data(), content.span().data(), content.size());
        into[at] ^= std::byte{4};
    });
}

}  // namespace

TEST_CASE("whole commits, and a last one that is torn, are no damage") {
    const Bytes journal = three_commits();
    REQUIRE_FALSE(bad_commit_of(4, journal.span()).has_value());
    for (std::size_t kept = 0; kept < journal.size(); kept += 32)
        REQUIRE_FALSE(bad_commit_of(4, journal.slice(0, kept).span()).has_value());
    REQUIRE_FALSE(bad_commit_of(4, with_flipped_bit(journal, 1024 + 70).span()).has_value());
}

TEST_CASE("any bit of a commit that a later one follows is damage") {
    const Bytes journal = three_commits();
    for (std::size_t at = 0; at < 192; ++at) REQUIRE(bad_commit_of(4, with_flipped_bit(journal, at).span()) == 1U);
    for (std::size_t at = 512; at < 640; ++at) REQUIRE(bad_commit_of(4, with_flipped_bit(journal, at).span()) == 2U);
    REQUIRE_FALSE(bad_commit_of(4, with_flipped_bit(journal, 300).span()).has_value());
}

TEST_CASE("the newest journal of a directory that can be read is the one that counts") {
    const Bytes good = three_commits();
    const Bytes bad = with_flipped_bit(good, 512);
    REQUIRE_FALSE(journal_damage({}).has_value());
    REQUIRE_FALSE(journal_damage({{"checkpoint.4", good}, {"checkpoint.4.new", bad}}).has_value());
    REQUIRE(journal_damage({{"checkpoint.4", bad}}) == "commit 2 of checkpoint.4 is bad and a later one is there");
    REQUIRE(
        journal_damage({{"checkpoint.4", bad}, {"checkpoint.5", Failure<storage::ReadError>(storage::ReadError::kIo)}})
            .has_value());
    REQUIRE_FALSE(journal_damage({{"checkpoint.3", bad}, {"checkpoint.4", good}}).has_value());
}
