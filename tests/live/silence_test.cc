// How long nothing was acknowledged, as a producer sees it.
#include "tools/live/silence.h"

#include <catch2/catch.hpp>
#include <vector>

using tidelock::live::silence_after;

namespace {

constexpr std::int64_t kMs = 1'000'000;

}  // namespace

TEST_CASE("the silence of a failover is the longest pause that begins around it") {
    const std::vector<std::int64_t> times{10 * kMs, 20 * kMs, 30 * kMs, 280 * kMs, 290 * kMs};
    REQUIRE(silence_after(35 * kMs, times) == 250 * kMs);
    REQUIRE(silence_after(25 * kMs, times) == 250 * kMs);  // one was on its way when it happened
}

TEST_CASE("a pause long after has another cause") {
    const std::vector<std::int64_t> times{10 * kMs, 210 * kMs, 4'000 * kMs, 9'000 * kMs};
    REQUIRE(silence_after(20 * kMs, times) == 3'790 * kMs);
    REQUIRE(silence_after(4'500 * kMs, times) == 5'000 * kMs);
}

TEST_CASE("without an acknowledgement before and one after there is no silence to measure") {
    const std::vector<std::int64_t> times{10 * kMs, 20 * kMs};
    REQUIRE_FALSE(silence_after(5 * kMs, times).has_value());
    REQUIRE_FALSE(silence_after(25 * kMs, times).has_value());
}
