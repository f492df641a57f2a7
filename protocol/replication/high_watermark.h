/// How far a partition's log is safe to show (I6, I7). The leader's rises with the lowest position of the
/// acknowledgement set; a follower's is what its leader said, as far as its own log reaches.
#pragma once

#include <optional>

#include "protocol/base/digest.h"
#include "protocol/base/ids.h"

namespace tidelock::replication {

/// kFollowsMinimum is the seeds' literal rule (D11): the watermark is the lowest position, wherever that goes.
enum class HighWatermarkRule : std::uint8_t { kMonotone, kFollowsMinimum };

/// One partition's high watermark within one leadership or followership. Under kMonotone it never goes back.
class HighWatermark {
  public:
    HighWatermark() = default;
    /// Starts from what this copy knew, kept inside [log_start_offset, log_end_offset]: a checkpoint may be older than
    /// the log start (KAFKA-16452).
    HighWatermark(Offset known, Offset log_start_offset, Offset log_end_offset, HighWatermarkRule rule);

    /// As leader: `lowest_position` over the acknowledgement set, empty while any member's is unknown. True: it moved.
    bool advance(std::optional<Offset> lowest_position);
    /// As follower: the leader's watermark, taken as far as the own log reaches. True: it moved.
    bool follow(Offset leader_high_watermark, Offset own_log_end_offset);

    /// Exclusive.
    [[nodiscard]] Offset value() const { return value_; }
    /// What a consumer may read below, exclusive; remembered, so that I6's promise to readers can be checked.
    Offset read_bound();
    /// The highest bound any reader was given in this role.
    [[nodiscard]] Offset shown_to_readers() const { return shown_to_readers_; }

    void add_to(Digest& digest) const;
    bool operator==(const HighWatermark&) const = default;

  private:
    Offset value_;
    Offset shown_to_readers_;
    HighWatermarkRule rule_ = HighWatermarkRule::kMonotone;
};

}  // namespace tidelock::replication
