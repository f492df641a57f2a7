// The checkpoint journal: a commit counts as a whole or not at all, and what is missing before what is there is
// noticed.
#include "protocol/storage/checkpoint_journal.h"

#include <catch2/catch.hpp>

namespace tidelock::storage {
namespace {

constexpr TopicPartition kOne{TopicId(1), PartitionIndex(0)};
constexpr TopicPartition kTwo{TopicId(2), PartitionIndex(5)};

PartitionRecord record(const TopicPartition& tp, int durable_end) {
    return {tp, Offset(0), Offset(durable_end), Offset(0), PendingCut::kNone, Offset(0), {}};
}

Bytes join(std::initializer_list<Bytes> parts) {
    ByteWriter out;
    for (const Bytes& part : parts) out.raw(part.span());
    return out.take();
}

Bytes snapshot(std::uint64_t generation) {
    CommitWriter writer(generation, 1);
    writer.add_file_header();
    writer.add_epoch_entry(kOne, {LeaderEpoch(1), Offset(0)});
    writer.add_partition(record(kOne, 4));
    return writer.finish();
}

Bytes commit(std::uint64_t generation, std::uint64_t sequence, const TopicPartition& tp, int durable_end) {
    CommitWriter writer(generation, sequence);
    writer.add_partition(record(tp, durable_end));
    return writer.finish();
}

JournalState read(const Bytes& content) {
    return read_journal({{"checkpoint.1", content}});
}

Offset durable_end(const JournalState& state, const TopicPartition& tp) {
    for (const PartitionRecord& each : state.partitions)
        if (each.tp == tp) return each.durable_end_offset;
    return Offset(-1);
}

Bytes with_zeros(const Bytes& content, std::size_t from, std::size_t count) {
    return Bytes::build(content.size(), [&](std::span<std::byte> into) {
        std::memcpy(into.data(), content.data(), content.size());
        std::memset(into.data() + from, 0, count);
    });
}

TEST_CASE("a later commit overrides an earlier one, partition by partition") {
    const JournalState state = read(join({snapshot(1), commit(1, 2, kTwo, 7), commit(1, 3, kOne, 9)}));
    REQUIRE(state.condition == JournalCondition::kWhole);
    REQUIRE(durable_end(state, kOne) == Offset(9));
    REQUIRE(durable_end(state, kTwo) == Offset(7));
    REQUIRE(state.partitions[0].history.latest() == EpochStart{LeaderEpoch(1), Offset(0)});
}

TEST_CASE("commits fill whole sectors") {
    REQUIRE(snapshot(1).size() == kJournalSectorBytes);
    CommitWriter writer(1, 2);
    for (int i = 0; i < 9; ++i) writer.add_partition(record(kOne, i));
    REQUIRE(writer.finish().size() == 2 * kJournalSectorBytes);
}

TEST_CASE("a last commit that is not whole is a torn tail and says nothing") {
    CommitWriter big(1, 2);
    for (int i = 0; i < 12; ++i) big.add_partition(record(kTwo, i));
    const Bytes file = join({snapshot(1), big.finish()});
    for (const std::size_t sector : {std::size_t{1}, std::size_t{2}}) {
        const JournalState state = read(with_zeros(file, sector * kJournalSectorBytes, kJournalSectorBytes));
        REQUIRE(state.condition == JournalCondition::kTornTail);
        REQUIRE(durable_end(state, kTwo) == Offset(-1));
        REQUIRE(durable_end(state, kOne) == Offset(4));
    }
    REQUIRE(read(file.slice(0, file.size() - kJournalSectorBytes)).condition == JournalCondition::kTornTail);
}

TEST_CASE("a bad slot before a good commit is damage, and the good one still bounds from below") {
    const Bytes file = join({snapshot(1), commit(1, 2, kOne, 8), commit(1, 3, kTwo, 7)});
    const JournalState state = read(with_zeros(file, kJournalSectorBytes, kJournalSlotBytes));
    REQUIRE(state.condition == JournalCondition::kDamaged);
    REQUIRE(durable_end(state, kOne) == Offset(4));
    REQUIRE(durable_end(state, kTwo) == Offset(7));
}

TEST_CASE("every flipped bit that matters is noticed as damage, unless it is in the last commit") {
    const Bytes file = join({snapshot(1), commit(1, 2, kOne, 8), commit(1, 3, kTwo, 7)});
    const JournalState whole = read(file);
    for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
        const Bytes bad = Bytes::build(file.size(), [&](std::span<std::byte> into) {
            std::memcpy(into.data(), file.data(), file.size());
            into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        });
        const JournalState state = read(bad);
        const bool is_in_last = bit / 8 >= 2 * kJournalSectorBytes;
        const bool is_same =
            state.partitions == whole.partitions && state.condition == JournalCondition::kWhole;  // padding
        REQUIRE(
            (is_same || state.condition == (is_in_last ? JournalCondition::kTornTail : JournalCondition::kDamaged)));
    }
}

TEST_CASE("a seal says that the commit before it was whole, and gives its place to the next") {
    CommitWriter seal(1, 3);
    seal.add_seal();
    const Bytes sealed = join({snapshot(1), commit(1, 2, kOne, 8), seal.finish()});
    REQUIRE(read(sealed).condition == JournalCondition::kWhole);
    REQUIRE(durable_end(read(sealed), kOne) == Offset(8));
    const JournalState rotten = read(with_zeros(sealed, kJournalSectorBytes, kJournalSlotBytes));
    REQUIRE(rotten.condition == JournalCondition::kDamaged);
    REQUIRE(durable_end(rotten, kOne) == Offset(4));
    const JournalState unsealed = read(with_zeros(sealed, 2 * kJournalSectorBytes, kJournalSlotBytes));
    REQUIRE(unsealed.condition == JournalCondition::kTornTail);
    REQUIRE(durable_end(unsealed, kOne) == Offset(8));
    REQUIRE(read(join({snapshot(1), commit(1, 2, kOne, 8), commit(1, 3, kTwo, 7)})).condition ==
            JournalCondition::kWhole);
}

TEST_CASE("the newest file speaks; one that is under its own name was whole, a draft never counted") {
    const Bytes old_file = join({snapshot(1), commit(1, 2, kOne, 8)});
    CommitWriter writer(2, 1);
    writer.add_file_header();
    writer.add_partition(record(kOne, 20));
    const Bytes new_file = writer.finish();
    const JournalState both = read_journal({{"checkpoint.1", old_file}, {"checkpoint.2", new_file}});
    REQUIRE(durable_end(both, kOne) == Offset(20));
    REQUIRE(both.generation_max == 2);
    const Bytes torn = with_zeros(new_file, 0, kJournalSlotBytes);
    const JournalState ruined = read_journal({{"checkpoint.1", old_file}, {"checkpoint.2", torn}});
    REQUIRE(durable_end(ruined, kOne) == Offset(8));
    REQUIRE(ruined.condition == JournalCondition::kDamaged);
    for (const Bytes& draft : {torn, new_file}) {
        const JournalState unfinished = read_journal({{"checkpoint.1", old_file}, {"checkpoint.2.new", draft}});
        REQUIRE(durable_end(unfinished, kOne) == Offset(8));
        REQUIRE(unfinished.condition == JournalCondition::kWhole);
        REQUIRE(unfinished.drafts == std::vector<std::uint64_t>{2});
        REQUIRE(unfinished.generation_max == 2);
    }
    const JournalState relied_on =
        read_journal({{"checkpoint.1", old_file}, {"checkpoint.2", join({torn, commit(2, 2, kOne, 21)})}});
    REQUIRE(relied_on.condition == JournalCondition::kDamaged);
    REQUIRE(durable_end(relied_on, kOne) == Offset(21));
    const JournalState unreadable =
        read_journal({{"checkpoint.1", old_file}, {"checkpoint.2", Failure<ReadError>(ReadError::kIo)}});
    REQUIRE(unreadable.condition == JournalCondition::kDamaged);
}

TEST_CASE("slots of another file's generation are no slots") {
    REQUIRE(read(snapshot(2)).condition == JournalCondition::kDamaged);
    REQUIRE(read(snapshot(2)).partitions.empty());
}

TEST_CASE("dropped partitions and cut histories are applied") {
    CommitWriter writer(1, 2);
    writer.add_history_cut(kOne, Offset(0));
    writer.add_epoch_entry(kOne, {LeaderEpoch(6), Offset(2)});
    writer.add_partition(record(kOne, 4));
    CommitWriter drop(1, 3);
    drop.add_dropped(kTwo);
    const JournalState state = read(join({snapshot(1), writer.finish(), drop.finish()}));
    REQUIRE(state.partitions.size() == 1);
    REQUIRE(state.partitions[0].history.entries() == std::vector<EpochStart>{{LeaderEpoch(6), Offset(2)}});
}

TEST_CASE("only exact names are journals") {
    REQUIRE(parse_journal_file_name("checkpoint.12") == 12U);
    for (const char* name : {"checkpoint.", "checkpoint.01", "checkpoint.x", "checkpoint.1x", "checkpoint"})
        REQUIRE_FALSE(parse_journal_file_name(name).has_value());
    REQUIRE(journal_draft_name(12) == FileName("checkpoint.12.new"));
    REQUIRE(parse_journal_draft_name("checkpoint.12.new") == 12U);
    for (const char* name : {"checkpoint.12", "checkpoint.new", ".new", "checkpoint.x.new", "checkpoint.1.new.new"})
        REQUIRE_FALSE(parse_journal_draft_name(name).has_value());
}

}  // namespace
}  // namespace tidelock::storage
