#include "sim/faults.h"

#include <utility>

namespace tidelock::sim {
namespace {

constexpr std::array<std::string_view, kFaultKindCount> kNames = {
    "frame_lost",
    "frame_duplicated",
    "frame_reordered",
    "response_lost",
    "connection_reset",
    "half_open",
    "partition_two_sided",
    "partition_one_way",
    "partition_bridge",
    "partition_ring",
    "partition_flapping",
    "link_clogged",
    "frame_kind_lost",
    "frame_corrupted",
    "delay_spike",
    "slow_link",
    "process_crash",
    "kill_at_step",
    "power_loss",
    "pause",
    "slow_host",
    "clock_drift",
    "clock_freeze",
    "wall_jump",
    "unsynced_write_lost",
    "sector_torn",
    "writes_reordered",
    "rename_lost",
    "directory_entry_lost",
    "sync_failed",
    "read_error",
    "bit_rot",
    "misdirected_write",
    "misdirected_read",
    "disk_full",
    "disk_slow",
    "disk_stalled",
    "disk_emptied",
    "sector_unreadable",
    "frame_kind_delayed",
    "write_error",
};
static_assert(!kNames.back().empty());

}  // namespace

std::string_view text_of(FaultKind kind) {
    return kNames[static_cast<std::size_t>(kind)];
}

std::optional<FaultKind> fault_kind_named(std::string_view name) {
    for (std::size_t i = 0; i < kFaultKindCount; ++i)
        if (kNames[i] == name) return static_cast<FaultKind>(i);
    return std::nullopt;
}

Faults::Faults() {
    for (const FaultKind kind : {FaultKind::kUnsyncedWriteLost, FaultKind::kRenameLost, FaultKind::kDirectoryEntryLost})
        set_rate(kind, FaultRate{kMillion});
}

std::uint64_t Faults::delivered_total() const {
    std::uint64_t total = 0;
    for (const Entry& entry : entries_) total += entry.delivered;
    return total;
}

void Faults::silence() {
    for (Entry& entry : entries_) entry.rate.per_million = 0;
}

void Faults::record(Damage damage) {
    count(damage.kind);
    log(std::move(damage));
}

void Faults::log(Damage damage) {
    if (damage_listener_) damage_listener_(damage);
    damages_.push_back(std::move(damage));
}

}  // namespace tidelock::sim
