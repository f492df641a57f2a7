/// A host's clocks as functions of true time.
#include "sim/clock.h"
#include "tests/law.h"

#include <catch2/catch.hpp>

using namespace tidelock;
using namespace tidelock::sim;

namespace {

constexpr TimeNs at_seconds(std::int64_t n) {
    return TimeNs(n * 1'000'000'000);
}
constexpr Instant local_seconds(std::int64_t n) {
    return Instant(n * 1'000'000'000);
}

}  // namespace

TEST_CASE("a clock without faults tells true time") {
    const HostClock clock(WallTime(1'000));
    REQUIRE(clock.local_at(at_seconds(5)) == local_seconds(5));
    REQUIRE(clock.wall_at(TimeNs(7)) == WallTime(1'007));
    REQUIRE(clock.true_time_of(local_seconds(9), at_seconds(5)) == at_seconds(9));
}

TEST_CASE("drift changes the rate from then on, not what was") {
    HostClock clock;
    clock.set_drift(at_seconds(10), 100'000);  // ten per cent fast
    REQUIRE(clock.local_at(at_seconds(10)) == local_seconds(10));
    REQUIRE(clock.local_at(at_seconds(20)) == local_seconds(21));
    clock.set_drift(at_seconds(20), -500'000);
    REQUIRE(clock.local_at(at_seconds(22)) == local_seconds(22));
}

TEST_CASE("a frozen clock stands still and never reaches a later moment") {
    HostClock clock;
    clock.freeze(at_seconds(3));
    REQUIRE(clock.local_at(at_seconds(100)) == local_seconds(3));
    REQUIRE_FALSE(clock.true_time_of(local_seconds(4), at_seconds(50)));
    REQUIRE(clock.true_time_of(local_seconds(3), at_seconds(50)) == at_seconds(50));
    clock.unfreeze(at_seconds(100));
    REQUIRE(clock.true_time_of(local_seconds(4), at_seconds(100)) == at_seconds(101));
}

TEST_CASE("the wall clock jumps both ways, the monotonic one does not notice") {
    HostClock clock(WallTime(0));
    clock.jump_wall(seconds(-50));
    REQUIRE(clock.wall_at(at_seconds(60)) == WallTime(10'000'000'000));
    REQUIRE(clock.local_at(at_seconds(60)) == local_seconds(60));
}

TEST_CASE("a reboot starts the monotonic clock anew, the wall clock goes on") {
    HostClock clock(WallTime(0));
    clock.reboot(at_seconds(60));
    REQUIRE(clock.local_at(at_seconds(61)) == local_seconds(1));
    REQUIRE(clock.wall_at(at_seconds(61)) == WallTime(61'000'000'000));
}

TEST_CASE("true_time_of is the first moment at which the clock shows at least that") {
    check_law("inverse", [] {
        HostClock clock;
        const TimeNs now(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
        clock.set_drift(now, *rc::gen::inRange<std::int32_t>(-900'000, 900'000));
        const Instant wanted = clock.local_at(now) + *rc::gen::inRange<std::int64_t>(1, 3'600'000'000'000);
        const TimeNs reached = *clock.true_time_of(wanted, now);
        RC_ASSERT(clock.local_at(reached) >= wanted);
        RC_ASSERT(clock.local_at(reached - 1) < wanted);
    });
}
