/// Reads everything back and holds it against what was acknowledged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/load/producer.h"

namespace tidelock::load {

struct Survey {
    std::uint64_t found = 0;       // records of this run, each counted once
    std::uint64_t lost = 0;        // acknowledged and not there
    std::uint64_t misplaced = 0;   // acknowledged for an offset where it is not
    std::uint64_t duplicates = 0;  // there once more
};

/// One record after the other.
class Surveyor {
  public:
    /// By record number, as Produced::places.
    Surveyor(std::uint64_t run, const std::vector<Place>& acknowledged);
    void on_record(const Stamp& stamp, Place place);
    [[nodiscard]] Survey finish() const;

  private:
    std::uint64_t run_;
    const std::vector<Place>& acknowledged_;
    std::vector<std::uint32_t> times_;
    std::vector<bool> is_in_place_;
};

}  // namespace tidelock::load
