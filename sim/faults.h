/// The faults a world can deliver: their names, rates and budgets, and how many really bit. A fault is counted where it
/// changed something (bytes lost, a frame flipped), never where it was merely possible.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ids.h"
#include "sim/rng.h"

namespace tidelock::sim {

enum class FaultKind : std::uint8_t {
    // network
    kFrameLost,
    kFrameDuplicated,
    kFrameReordered,
    kResponseLost,
    kConnectionReset,
    kHalfOpen,
    kPartitionTwoSided,
    kPartitionOneWay,
    kPartitionBridge,
    kPartitionRing,
    kPartitionFlapping,
    kLinkClogged,
    kFrameKindLost,
    kFrameCorrupted,
    kDelaySpike,
    kSlowLink,
    // process
    kProcessCrash,
    kKillAtStep,
    kPowerLoss,
    kPause,
    kSlowHost,
    // clock
    kClockDrift,
    kClockFreeze,
    kWallJump,
    // disk
    kUnsyncedWriteLost,
    kSectorTorn,
    kWritesReordered,
    kRenameLost,
    kDirectoryEntryLost,
    kSyncFailed,
    kReadError,
    kBitRot,
    kMisdirectedWrite,
    kMisdirectedRead,
    kDiskFull,
    kDiskSlow,
    kDiskStalled,
    kDiskEmptied,
    kSectorUnreadable,
    // later ones: a kind's number seeds its draws, so the others keep theirs
    kFrameKindDelayed,
    kWriteError,
};
inline constexpr std::size_t kFaultKindCount = static_cast<std::size_t>(FaultKind::kWriteError) + 1;

/// `frame_lost`, `bit_rot` ...: the name used in plans, results and on the command line.
std::string_view text_of(FaultKind kind);
std::optional<FaultKind> fault_kind_named(std::string_view name);

/// How often a fault is tried where it could happen, and how many times it may bite at most.
struct FaultRate {
    std::uint32_t per_million = 0;
    std::uint32_t budget = UINT32_MAX;
    bool operator==(const FaultRate&) const = default;
};

/// Bytes of a file that a disk fault changed, hid or lost: what whoever computes fault budgets needs to know.
struct Damage {
    TimeNs at;
    HostId host;
    FaultKind kind = FaultKind::kBitRot;
    std::string file;
    std::uint64_t from = 0;  // bytes, inclusive
    std::uint64_t to = 0;    // bytes, exclusive
    bool operator==(const Damage&) const = default;
};

/// Rates, budgets and counters of one world, and its damage log. All rates start at zero but those of
/// unsynced_write_lost, rename_lost and directory_entry_lost, which start certain: what a power loss does to a disk
/// unless told otherwise.
class Faults {
  public:
    Faults();

    void set_rate(FaultKind kind, FaultRate rate) { entries_[index(kind)].rate = rate; }
    [[nodiscard]] FaultRate rate(FaultKind kind) const { return entries_[index(kind)].rate; }

    /// Whether the fault shall happen now, decided by the `number`-th draw of `key`; false when switched off or spent.
    [[nodiscard]] bool strikes(FaultKind kind, std::uint64_t key, std::uint64_t number) const {
        const Entry& entry = entries_[index(kind)];
        if (entry.rate.per_million == 0 || entry.delivered >= entry.rate.budget) return false;
        return scaled_below(numbered_draw(key + purpose_step(kind), number), kMillion) < entry.rate.per_million;
    }
    /// Counts a fault that bit.
    void count(FaultKind kind) { ++entries_[index(kind)].delivered; }
    [[nodiscard]] std::uint64_t delivered(FaultKind kind) const { return entries_[index(kind)].delivered; }
    [[nodiscard]] std::uint64_t delivered_total() const;
    /// All rates to zero (heal phase). Counters stay.
    void silence();

    /// Asked before bytes that a host relied upon are damaged (rot, lasting read errors, misdirected writes, an emptied
    /// disk); false vetoes it. Without a gate everything is allowed.
    void set_damage_gate(std::function<bool(const Damage&)> gate) { damage_gate_ = std::move(gate); }
    [[nodiscard]] bool allows(const Damage& damage) const { return !damage_gate_ || damage_gate_(damage); }
    /// Told of every damage, after it was done.
    void set_damage_listener(std::function<void(const Damage&)> listener) { damage_listener_ = std::move(listener); }
    /// Counts one fault of this kind and logs what it did.
    void record(Damage damage);
    /// Logs more of what a fault counted already did.
    void log(Damage damage);
    [[nodiscard]] const std::vector<Damage>& damages() const { return damages_; }

  private:
    struct Entry {
        FaultRate rate;
        std::uint64_t delivered = 0;
    };
    static constexpr std::size_t index(FaultKind kind) { return static_cast<std::size_t>(kind); }
    static constexpr std::uint64_t purpose_step(FaultKind kind) { return (index(kind) + 1) * 0xA076'1D64'78BD'642FULL; }

    std::array<Entry, kFaultKindCount> entries_{};
    std::function<bool(const Damage&)> damage_gate_;
    std::function<void(const Damage&)> damage_listener_;
    std::vector<Damage> damages_;
};

}  // namespace tidelock::sim
