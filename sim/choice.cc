#include "sim/choice.h"

namespace tidelock::sim {

ChoicePoints::ChoicePoints(std::span<const std::string_view> names, const ChoiceConfig& config, std::uint64_t seed)
    : names_(names) {
    points_.reserve(names.size());
    for (const std::string_view name : names) {
        // The name, not the index, is the entity: a point added to the list leaves the others as they were.
        Rng stream(seed, "choice point", purpose_hash(name));
        const bool is_on = stream.chance(config.switched_on_per_million);
        const std::int64_t rate = stream.between(config.fires_low_per_million, config.fires_high_per_million);
        points_.push_back(Point{stream, is_on ? static_cast<std::uint32_t>(rate) : 0, 0});
    }
}

bool ChoicePoints::fires_switched_on(Point& point) {
    const bool fires = point.stream.chance(point.fires_per_million);
    if (fires) ++point.fired_count;
    return fires;
}

void ChoicePoints::switch_all_off() {
    for (Point& point : points_) point.fires_per_million = 0;
}

}  // namespace tidelock::sim
