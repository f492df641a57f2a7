/// A host's clocks as functions of true time: a monotonic one with a rate (drift, freeze) and a wall clock that is an
/// offset to it. Rates are integers: local nanoseconds per million true ones.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/ids.h"

namespace tidelock::sim {

/// Piecewise linear: since the last change of rate, local = base + (true - base) * rate / 10^6. Never goes back.
class HostClock {
  public:
    HostClock() = default;
    explicit HostClock(WallTime wall_at_zero) : wall_offset_ns_(wall_at_zero.value) {}

    [[nodiscard]] Instant local_at(TimeNs now) const { return Instant(local_base_ + advance(now.value - true_base_)); }
    [[nodiscard]] WallTime wall_at(TimeNs now) const {
        return WallTime(wall_origin_ + advance(now.value - true_base_) + wall_offset_ns_);
    }
    /// The first true time at which `local_at` reaches `local`; empty while the clock is frozen and `local` lies ahead.
    [[nodiscard]] std::optional<TimeNs> true_time_of(Instant local, TimeNs now) const;

    /// From `now` on the clock runs `drift_ppm` too fast (negative: too slow); above -1,000,000.
    void set_drift(TimeNs now, std::int32_t drift_ppm);
    void freeze(TimeNs now);
    void unfreeze(TimeNs now);
    void jump_wall(Duration by) { wall_offset_ns_ += by.value; }
    /// The machine rebooted: the monotonic clock starts at zero again, the wall clock goes on.
    void reboot(TimeNs now);

    [[nodiscard]] bool is_frozen() const { return is_frozen_; }
    [[nodiscard]] std::int32_t drift_ppm() const { return drift_ppm_; }

  private:
    [[nodiscard]] std::int64_t rate() const { return is_frozen_ ? 0 : 1'000'000 + drift_ppm_; }
    [[nodiscard]] std::int64_t advance(std::int64_t true_ns) const;
    void rebase(TimeNs now);

    std::int64_t true_base_ = 0;
    std::int64_t local_base_ = 0;
    std::int64_t wall_origin_ = 0;  // local_base_ as it would be without reboots
    std::int64_t wall_offset_ns_ = 0;
    std::int32_t drift_ppm_ = 0;
    bool is_frozen_ = false;
};

}  // namespace tidelock::sim
