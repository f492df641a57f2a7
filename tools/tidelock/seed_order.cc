#include "tools/tidelock/seed_order.h"

#include "tools/tidelock/arguments.h"

namespace tidelock::tools {

namespace {

constexpr std::uint64_t kCountedMax = 20'000'000;

}  // namespace

SeedOrder::SeedOrder(SeedRange seeds, Shard shard, std::uint32_t scenarios, bool interleave)
    : seeds_(seeds), shard_(shard), scenarios_(scenarios), interleave_(interleave), seed_(seeds.first) {}

void SeedOrder::step_seed() {
    if (seed_ == seeds_.last) {
        past_end_ = true;
    } else {
        ++seed_;
    }
}

bool SeedOrder::find_seed() {
    while (!past_end_ && shard_of(seed_, shard_.count) != shard_.index) step_seed();
    return !past_end_;
}

std::optional<Job> SeedOrder::next() {
    if (scenario_ == scenarios_) return std::nullopt;
    if (!find_seed()) {
        if (interleave_) return std::nullopt;
        ++scenario_;
        seed_ = seeds_.first;
        past_end_ = false;
        if (scenario_ == scenarios_ || !find_seed()) return std::nullopt;
    }
    const Job job{scenario_, seed_};
    if (!interleave_) {
        step_seed();
    } else if (++scenario_ == scenarios_) {
        scenario_ = 0;
        step_seed();
    }
    return job;
}

std::optional<std::int64_t> SeedOrder::total() const {
    const std::uint64_t span = seeds_.last - seeds_.first;
    if (span >= kCountedMax) return std::nullopt;
    std::int64_t seeds = 0;
    for (std::uint64_t i = 0; i <= span; ++i) {
        if (shard_of(seeds_.first + i, shard_.count) == shard_.index) ++seeds;
    }
    return seeds * scenarios_;
}

}  // namespace tidelock::tools
