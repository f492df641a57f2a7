#include "sim/distribution.h"

#include <algorithm>

namespace tidelock::sim {
namespace {

constexpr std::uint32_t kStretchPerMillion = 20'000;

Duration long_tail_at(const Distribution& shape, std::uint64_t number) {
    std::uint64_t excess = scaled_exponential(number, static_cast<std::uint64_t>((shape.mean - shape.low).value));
    for (std::uint64_t again = scrambled(number); scaled_below(again, kMillion) < kStretchPerMillion;
         again = scrambled(again))
        excess = std::min<std::uint64_t>(excess, UINT64_MAX >> 4) * 4;
    const std::uint64_t room = static_cast<std::uint64_t>((shape.high - shape.low).value);
    return shape.low + Duration(static_cast<std::int64_t>(std::min(excess, room)));
}

}  // namespace

Duration Distribution::varied_at(std::uint64_t number) const {
    if (shape == Shape::kLongTail) return long_tail_at(*this, number);
    const std::uint64_t span = static_cast<std::uint64_t>((high - low).value) + 1;
    return low + Duration(static_cast<std::int64_t>(scaled_below(number, span)));
}

}  // namespace tidelock::sim
