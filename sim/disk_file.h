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
    bool may_lose = true;      // only a prefix of the unsynced operations survives
    bool may_reorder = false;  // any subset of them, by sector
    bool may_tear = false;  // with may_lose: the first lost write survives up to some byte, the rest perhaps as zeros
};

/// What a power loss did. Ranges are those of the writes concerned.
struct PowerLossOutcome {
    std::vector<ByteRange> lost;
    std::vector<ByteRange> torn;
    std::vector<ByteRange> reordered;  // lost although a later operation survived
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
    [[nodiscard]] bool has_unsynced(std::uint64_t up_to_order = UINT64_MAX) const {
        return !unsynced_.empty() && unsynced_.front().order <= up_to_order;
    }

    /// A sync that covers all operations up to and including `order`.
    void make_durable(std::uint64_t order);
    /// The first write among those operations, as a range; empty if there is none.
    [[nodiscard]] ByteRange first_unsynced_write(std::uint64_t order) const;
    /// make_durable, but the first write lands at `instead` (cut off at the end of the file; nowhere if beyond it),
    /// while its own place keeps what it had. Reads see nothing of it until the cache is evicted.
    void make_durable_misdirected(std::uint64_t order, std::uint64_t instead);
    /// A failed sync: operations up to `order` never reach the medium, though reads still see them. Their ranges.
    std::vector<ByteRange> drop_dirty(std::uint64_t order);
    /// Where cache and medium silently differ (dropped or misdirected writes), reads see the medium from now on.
    void evict_cache();
    /// The machine lost power: unsynced operations are resolved, the cache is gone.
    PowerLossOutcome lose_power(const PowerLossModel& model, Rng& rng);

    /// Flips a bit on the medium, and in the cache where no unsynced write covers it. `position` < durable().size().
    void flip_bit(std::uint64_t position, std::uint32_t bit);
    /// Reads of the range fail until it is overwritten.
    void make_unreadable(ByteRange range) { unreadable_.push_back(range); }
    [[nodiscard]] bool is_readable(ByteRange range) const;
    /// Nothing on the medium is other than what was made durable there last: rot, misdirected writes and unreadable
    /// ranges have been written over or cut off since.
    [[nodiscard]] bool is_sound() const { return hurt_.empty() && unreadable_.empty(); }

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
    void land(std::uint64_t position, std::span<const std::byte> content);
    void land(const Unsynced& operation);
    [[nodiscard]] std::size_t count_up_to(std::uint64_t order) const;
    void forget_first(std::size_t count);
    static void subtract(std::vector<ByteRange>& from, ByteRange overwritten);
    struct SectorsSurvived {
        bool any = false;
        bool all = true;
    };
    SectorsSurvived apply_some_sectors(const Unsynced& operation, Rng& rng);
    void tear(const Unsynced& operation, Rng& rng);
    void lose_subset(Rng& rng, PowerLossOutcome& outcome);
    void lose_suffix(bool may_tear, Rng& rng, PowerLossOutcome& outcome);

    std::vector<std::byte> cached_;
    std::vector<std::byte> durable_;
    std::vector<Unsynced> unsynced_;  // by order
    std::vector<ByteRange> unreadable_;
    std::vector<ByteRange> hurt_;  // of the medium, since it was written last
    bool cache_differs_ = false;   // from medium + unsynced operations
};

}  // namespace tidelock::sim
