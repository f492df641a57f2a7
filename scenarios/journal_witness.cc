#include "scenarios/journal_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>

#include "protocol/base/bytes.h"
#include "protocol/base/crc32c.h"
#include "protocol/base/flat_map.h"

namespace tidelock::scenarios {
namespace {

constexpr std::size_t kSlotBytes = 64;
constexpr std::string_view kJournalPrefix = "checkpoint.";

struct WitnessedSlot {
    std::uint64_t commit;
    std::uint32_t index;
    bool is_last;
};

/// CRC-32C over the generation and all of the slot but the CRC itself; then kind, flags (1: last of its commit), two
/// bytes, index in the commit, number of the commit.
std::optional<WitnessedSlot> slot_of(std::uint64_t generation, std::span<const std::byte> bytes) {
    std::array<std::byte, sizeof generation> seed;
    std::memcpy(seed.data(), &generation, sizeof generation);
    ByteReader in(bytes);
    if (in.u32() != crc32c_extend(crc32c(seed), bytes.subspan(sizeof(std::uint32_t)))) return std::nullopt;
    in.u8();
    const std::uint8_t flags = in.u8();
    in.u8();
    in.u8();
    const std::uint32_t index = in.u32();
    return WitnessedSlot{in.u64(), index, (flags & 1) != 0};
}

/// The slots of one commit that were met in their order, from the first on.
struct Commit {
    std::uint32_t slots_in_order = 0;
    bool is_whole = false;
};

std::optional<std::uint64_t> generation_of(std::string_view name) {
    if (!name.starts_with(kJournalPrefix)) return std::nullopt;
    name.remove_prefix(kJournalPrefix.size());
    std::uint64_t generation = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), generation);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;  // a draft, as a rule
    return generation;
}

}  // namespace

std::optional<std::uint64_t> bad_commit_of(std::uint64_t generation, std::span<const std::byte> journal) {
    FlatMap<std::uint64_t, Commit> commits;
    for (std::size_t at = 0; at + kSlotBytes <= journal.size(); at += kSlotBytes) {
        const auto slot = slot_of(generation, journal.subspan(at, kSlotBytes));
        if (!slot) continue;
        Commit& commit = commits[slot->commit];
        if (slot->index == commit.slots_in_order) ++commit.slots_in_order;
        if (slot->is_last && slot->index + 1 == commit.slots_in_order) commit.is_whole = true;
    }
    if (commits.empty()) return std::nullopt;
    const std::uint64_t newest = std::prev(commits.end())->first;
    for (std::uint64_t number = 1; number < newest; ++number) {
        const auto commit = commits.find(number);
        if (commit == commits.end() || !commit->second.is_whole) return number;
    }
    return std::nullopt;
}

std::optional<std::string> journal_damage(const storage::DirectoryImage& image) {
    const storage::ImageFile* newest = nullptr;
    std::uint64_t newest_generation = 0;
    for (const storage::ImageFile& file : image) {
        const auto generation = generation_of(file.name.text());
        if (!generation || !file.content || (newest != nullptr && *generation < newest_generation)) continue;
        newest = &file;
        newest_generation = *generation;
    }
    if (newest == nullptr) return std::nullopt;
    const auto bad = bad_commit_of(newest_generation, newest->content->span());
    if (!bad) return std::nullopt;
    return fmt::format("commit {} of {} is bad and a later one is there", *bad, newest->name.text());
}

}  // namespace tidelock::scenarios
