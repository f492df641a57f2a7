/// The content of one simulated file, three ways: what programs read (the page cache), what is on the medium, and the
/// list of writes in between. Everything the disk can do to bytes is a function of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/base/bytes.h"
#include "sim/rng.h"

namespace tidelock::sim {

inline constexpr std::uint64_t kSectorBytes = 512;

/// Bytes of a file: [from, to).
struct ByteRange {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    [[nodiscard]] bool overlaps(const ByteRange& other) const { return from < other.to && other.from < to; }
    bool operator==(const ByteRange&) const = default;
};

/// What a power loss may do to unsynced writes. All off: they survive.
struct PowerLossModel {
    bool may_lose = true;      // only a prefix of the unsynced writes survives
    bool may_reorder = false;  // any subset of them, by sector
    bool may_tear = false;     // the first lost write survives up to some byte, or as zeros
};

/// What a power loss did.
struct PowerLossOutcome {
    std::vector<ByteRange> lost;
    std::vector<ByteRange> torn;
    std::vector<ByteRange> reordered;  // lost although a later write survived
    bool lost_truncation = false;
};

class DiskFile {
  public:
    /// `order` numbers the disk's operations, growing.
    void write(std::uint64_t position, Bytes content, std::uint64_t order);
    void truncate(std::uint64_t size, std::uint64_t order);

    /// What a read sees.
    [[nodiscard]] std::span<const std::byte> cached() const { return cached_; }
    /// What is on the medium.
    [[nodiscard]] std::span<const std::byte> durable() const { return durable_; }
    [[nodiscard]] bool has_unsynced() const { return !unsynced_.empty(); }

    /// A sync that covers all operations up to and including `order`.
    void make_durable(std::uint64_t order);
    /// The same, but the first write of the sync lands `distance` bytes beside its place. Returns where it should have
    /// gone; empty range if there was no write to misdirect (then everything landed well).
    ByteRange make_durable_misdirected(std::uint64_t order, std::int64_t distance, ByteRange& hit);
    /// A failed sync: those operations will never reach the medium, though reads still see them. Returns their bytes.
    std::uint64_t drop_dirty(std::uint64_t order);
    /// The clean part of the page cache is forgotten: reads see the medium and the unsynced writes on top of it.
    void evict_cache();
    /// The machine lost power: unsynced writes are resolved, the cache is gone.
    PowerLossOutcome lose_power(const PowerLossModel& model, Rng& rng);

    /// Flips a bit on the medium (and in the cache where no unsynced write covers it). False beyond the end.
    bool flip_bit(std::uint64_t position, std::uint32_t bit);
    /// Reads of the range fail until it is overwritten.
    void make_unreadable(ByteRange range);
    [[nodiscard]] bool is_readable(ByteRange range) const;

  private:
    struct Unsynced {
        std::uint64_t order;
        bool is_truncation;
        std::uint64_t position;  // of a truncation: the new size
        Bytes content;
        [[nodiscard]] ByteRange range() const { return {position, position + content.size()}; }
    };

    static void apply(std::vector<std::byte>& to, std::uint64_t position, std::span<const std::byte> content);
    static void apply(std::vector<std::byte>& to, const Unsynced& operation);
    void apply_some_sectors(const Unsynced& operation, Rng& rng, std::vector<ByteRange>& lost);
    void tear(const Unsynced& operation, Rng& rng, PowerLossOutcome& outcome);
    void lose_subset(Rng& rng, PowerLossOutcome& outcome);
    void lose_suffix(bool may_tear, Rng& rng, PowerLossOutcome& outcome);
    std::size_t count_up_to(std::uint64_t order) const;

    std::vector<std::byte> cached_;
    std::vector<std::byte> durable_;
    std::vector<Unsynced> unsynced_;  // by order
    std::vector<ByteRange> unreadable_;
};

}  // namespace tidelock::sim
