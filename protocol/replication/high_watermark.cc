#include "protocol/replication/high_watermark.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::replication {

HighWatermark::HighWatermark(Offset known, Offset log_start_offset, Offset log_end_offset, HighWatermarkRule rule)
    : value_(std::clamp(known, log_start_offset, log_end_offset)), rule_(rule) {
    CHECK(log_start_offset <= log_end_offset);
}

bool HighWatermark::advance(std::optional<Offset> lowest_position) {
    if (!lowest_position || *lowest_position == value_) return false;
    if (rule_ == HighWatermarkRule::kMonotone && *lowest_position < value_) return false;
    value_ = *lowest_position;
    return true;
}

bool HighWatermark::follow(Offset leader_high_watermark, Offset own_log_end_offset) {
    return advance(std::min(leader_high_watermark, own_log_end_offset));
}

Offset HighWatermark::read_bound() {
    shown_to_readers_ = std::max(shown_to_readers_, value_);
    return value_;
}

void HighWatermark::add_to(Digest& digest) const {
    digest.add(value_);
    digest.add(shown_to_readers_);
}

}  // namespace tidelock::replication
