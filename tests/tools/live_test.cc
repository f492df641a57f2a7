// `live` as a real process, with schedules that only pretend to have brokers: flags, verdicts, exit statuses.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/tools/process.h"

using namespace tidelock::tests;
using Catch::Contains;

namespace {

Finished live(std::vector<std::string> words) {
    words.insert(words.begin(), {TIDELOCK_FAKE, "live"});
    words.insert(words.end(), {"--tidelockd", TIDELOCK_FAKE});
    return run(words);
}

}  // namespace

TEST_CASE("live schedules are told one by one and added up") {
    const Finished finished = live({"clean", "--seeds", "4..6"});
    REQUIRE(finished.status == 0);
    REQUIRE_THAT(finished.out, Contains("clean 4: 10 acknowledged, 0 read, 1 faults"));
    REQUIRE_THAT(finished.out, Contains("3 schedules against real brokers: 30 records acknowledged"));
    REQUIRE_THAT(finished.out, Contains("process.kill 3"));
}

TEST_CASE("a live schedule that breaks an invariant is told with its message, and where its logs are") {
    const ScratchDirectory scratch;
    const Finished finished = live({"violating", "--out", scratch.file("kept")});
    REQUIRE(finished.status == 1);
    REQUIRE_THAT(finished.out, Contains("VIOLATION of acked-survival") && Contains("a record is gone"));
    REQUIRE_THAT(finished.out, Contains("logs: " + scratch.file("kept")));
    REQUIRE(std::filesystem::is_directory(scratch.file("kept")));
}

TEST_CASE("a live schedule that says nothing is no success") {
    const Finished finished = live({"crashing", "--seeds", "1..2"});
    REQUIRE(finished.status == 3);
    REQUIRE_THAT(finished.out, Contains("there is no broker"));
}

TEST_CASE("live without a broker to start, or without a scenario, is refused") {
    const Finished no_broker = run({TIDELOCK_FAKE, "live", "clean", "--tidelockd", "/nonexistent"});
    REQUIRE(no_broker.status == 2);
    REQUIRE_THAT(no_broker.err, Contains("/nonexistent") && Contains("--tidelockd"));
    REQUIRE(live({}).status == 2);
    REQUIRE(live({"clean", "--out", "/proc/nowhere"}).status == 2);
    REQUIRE(live({"clean", "--seeds", "5..1"}).status == 2);
}
