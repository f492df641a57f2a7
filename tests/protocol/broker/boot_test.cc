#include <catch2/catch.hpp>
#include "bench.h"
namespace tidelock::broker {
TEST_CASE("a directory of another membership is refused at boot, with the reason (R3, R8)", "[broker]") {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    bench.set_members(1, {BrokerId(1), BrokerId(2)});
    bench.start(1);
    REQUIRE(bench.at(1).lifecycle == Lifecycle::kRefused);
}
}  // namespace tidelock::broker
