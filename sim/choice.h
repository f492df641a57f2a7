/// Named points where a host may make a rare choice (`buggify`), and named marks that show an interesting state was
/// reached (`sometimes`). Both are lists written out by the layer that owns the names; a point or mark is its index
/// there, so that asking costs a load and a compare.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/rng.h"

namespace tidelock::sim {

/// How likely points are: per seed, `switched_on_per_million` of them are on; each that is on fires with a chance drawn
/// for this seed from [fires_low, fires_high] parts per million.
struct ChoiceConfig {
    std::uint32_t switched_on_per_million = 250'000;
    std::uint32_t fires_low_per_million = 10'000;
    std::uint32_t fires_high_per_million = 250'000;
};

/// The buggify points of one world. `names` must outlive it (a constant list).
class ChoicePoints {
  public:
    ChoicePoints(std::span<const std::string_view> names, const ChoiceConfig& config, std::uint64_t seed);

    /// True if the host shall take the rare branch now. `point` indexes the list of names.
    bool fires(std::size_t point) {
        Point& asked = points_[point];
        if (asked.fires_per_million == 0) return false;
        return fires_switched_on(asked);
    }
    /// From now on no point fires (heal phase).
    void switch_all_off();

    [[nodiscard]] std::span<const std::string_view> names() const { return names_; }
    [[nodiscard]] std::uint64_t fired_count(std::size_t point) const { return points_[point].fired_count; }
    [[nodiscard]] bool is_switched_on(std::size_t point) const { return points_[point].fires_per_million != 0; }

  private:
    struct Point {
        Rng stream;
        std::uint32_t fires_per_million;
        std::uint64_t fired_count;
    };
    static bool fires_switched_on(Point& point);

    std::span<const std::string_view> names_;
    std::vector<Point> points_;
};

/// Counts how often each named state was reached. `names` must outlive it.
class Marks {
  public:
    explicit Marks(std::span<const std::string_view> names) : names_(names), counts_(names.size(), 0) {}

    void reached(std::size_t mark) { ++counts_[mark]; }
    [[nodiscard]] std::uint64_t count(std::size_t mark) const { return counts_[mark]; }
    [[nodiscard]] std::span<const std::string_view> names() const { return names_; }

  private:
    std::span<const std::string_view> names_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace tidelock::sim
