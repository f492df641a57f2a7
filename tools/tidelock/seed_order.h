/// The order in which a campaign hands out its schedules: a walk over scenarios and the seeds of one shard.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/tidelock/options.h"

namespace tidelock::tools {

/// One schedule of a campaign.
struct Job {
    std::uint32_t scenario = 0;  // index in the campaign's list
    std::uint64_t seed = 0;
    bool operator==(const Job&) const = default;
};

/// Scenario by scenario, or (interleaved) seed by seed. Every (scenario, seed) of the shard exactly once.
class SeedOrder {
  public:
    SeedOrder(SeedRange seeds, Shard shard, std::uint32_t scenarios, bool interleave);

    /// The next job, or nothing when all were handed out.
    std::optional<Job> next();
    /// How many jobs the whole walk has. Counts the shard's seeds one by one: nothing when the range is too long for
    /// that.
    [[nodiscard]] std::optional<std::int64_t> total() const;

  private:
    /// Moves `seed_` to the next seed of this shard at or after it; false past the end of the range.
    bool find_seed();
    void step_seed();

    SeedRange seeds_;
    Shard shard_;
    std::uint32_t scenarios_;
    bool interleave_;
    std::uint32_t scenario_ = 0;
    std::uint64_t seed_;
    bool past_end_ = false;  // of the seeds; seed_ + 1 may not exist
};

}  // namespace tidelock::tools
