#include "sim/clock.h"

namespace tidelock::sim {
namespace {

constexpr std::int64_t kUnit = 1'000'000;

}  // namespace

std::optional<TimeNs> HostClock::true_time_of(Instant local, TimeNs now) const {
    if (local <= local_at(now)) return now;
    if (rate() == 0) return std::nullopt;
    if (rate() == kUnit) return TimeNs(true_base_ + (local.value - local_base_));
    // The least t with floor(t * rate / unit) >= distance is ceil(distance * unit / rate), in two steps against
    // overflow.
    const std::int64_t distance = local.value - local_base_;
    const std::int64_t whole = distance / rate();
    const std::int64_t rest = distance % rate();
    return TimeNs(true_base_ + whole * kUnit + (rest * kUnit + rate() - 1) / rate());
}

void HostClock::set_drift(TimeNs now, std::int32_t drift_ppm) {
    rebase(now);
    drift_ppm_ = drift_ppm;
}

void HostClock::freeze(TimeNs now) {
    rebase(now);
    is_frozen_ = true;
}

void HostClock::unfreeze(TimeNs now) {
    rebase(now);
    is_frozen_ = false;
}

void HostClock::reboot(TimeNs now) {
    rebase(now);
    local_base_ = 0;
}

std::int64_t HostClock::advance(std::int64_t true_ns) const {
    if (rate() == kUnit) return true_ns;
    return true_ns / kUnit * rate() + true_ns % kUnit * rate() / kUnit;
}

void HostClock::rebase(TimeNs now) {
    const std::int64_t gone = advance(now.value - true_base_);
    true_base_ = now.value;
    local_base_ += gone;
    wall_origin_ += gone;
}

}  // namespace tidelock::sim
