/// Which leader epoch each record of a partition was written under: the list (epoch, first offset), strictly rising in
/// both (L3). Where an epoch ends (L5), the question of the truncation handshake (L6), is read off its entries by
/// protocol/replication.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/epoch_start.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::storage {

enum class HistoryRefusal : std::uint8_t {
    kEpochNotPositive,
    kEpochWentBack,   // below the latest, or the latest with another start
    kOffsetWentBack,  // starts below the latest entry's start, or below the log end
    kUnknownPartition,
};

class EpochHistory {
  public:
    /// Notes that `entry.leader_epoch` starts at `entry.start_offset` (F5: also for an epoch that never writes). An
    /// earlier epoch that started at the same offset wrote nothing and is replaced. Noting the latest entry again is no
    /// change.
    Result<void, HistoryRefusal> assign(const EpochStart& entry);
    /// The epoch of a record at `offset`; 0 (none) before the first entry.
    [[nodiscard]] LeaderEpoch epoch_at(Offset offset) const;
    /// Latest entry, if any.
    [[nodiscard]] std::optional<EpochStart> latest() const;
    /// The latest entry's epoch; 0 (none) if there is no entry.
    [[nodiscard]] LeaderEpoch latest_epoch() const;

    /// After a cut to `log_end_offset`: drops entries that start at it or past it.
    void truncate_from_end(Offset log_end_offset);
    /// After recovery found the log to end at `log_end_offset`: drops entries that start past it (L3).
    void drop_past(Offset log_end_offset);
    /// After the log start moved: keeps the last entry at or below it, as it is, and everything above.
    void truncate_from_start(Offset log_start_offset);
    void clear() { entries_.clear(); }

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] const std::vector<EpochStart>& entries() const { return entries_; }
    void fold(Digest& digest) const;
    bool operator==(const EpochHistory&) const = default;

  private:
    std::vector<EpochStart> entries_;
};

void encode(const EpochHistory& history, ByteWriter& out);
/// Total; an order that is not strictly rising is an error.
Result<EpochHistory, DecodeError> decode_epoch_history(ByteReader& in);

}  // namespace tidelock::storage
