// Preset `static`: a commanded role outlives the process it was given to, and commands that cannot be numbered are not
// taken.
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "bench.h"

namespace tidelock::broker {
namespace {

Bench formed_static() {
    Bench bench(3, [](Config& config) {
        config.preset = Preset::kStatic;
        config.static_leader = BrokerId(1);
    });
    REQUIRE(bench.form());
    return bench;
}

void command_all(Bench& bench, BrokerId leader, std::int32_t command) {
    for (std::int32_t id = 1; id <= 3; ++id) bench.step(id, RoleCommanded{leader, command});
}

}  // namespace

TEST_CASE("static: a restarted broker has the role it was last commanded to, not the configured one", "[broker]") {
    Bench bench = formed_static();
    command_all(bench, BrokerId(2), 1);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
    const LeaderEpoch leader_epoch = bench.at(2).leading->leader_epoch;
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
    REQUIRE(!bench.at(1).leading);
    REQUIRE(bench.at(2).leading->leader_epoch > leader_epoch);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
}

TEST_CASE("static: nobody leads by a command that a restart could forget", "[broker]") {
    Bench bench = formed_static();
    bench.hold(2, storage::FileOwner::kIdentity);
    command_all(bench, BrokerId(2), 1);
    bench.advance(seconds(2));
    REQUIRE(bench.serving() == 0);
    bench.release(2);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
}

TEST_CASE("static: each life of a leader is an epoch of its own, whatever its logs have lost (L6)", "[broker]") {
    Bench bench = formed_static();
    const LeaderEpoch leader_epoch = bench.at(1).leading->leader_epoch;
    bench.lose(1, "checkpoint.");  // with the epoch's entries, as no record was written in it
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.serving() == 1; }));
    REQUIRE(bench.at(1).leading->leader_epoch > leader_epoch);
}

TEST_CASE("static: nobody leads in an epoch that a restart could give out again (L6)", "[broker]") {
    Bench bench = formed_static();
    const LeaderEpoch leader_epoch = bench.at(1).leading->leader_epoch;
    bench.start(1, {storage::FileOwner::kIdentity});
    bench.advance(seconds(1));
    REQUIRE(bench.serving() == 0);
    bench.start(1);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 1; }));
    REQUIRE(bench.at(1).leading->leader_epoch > leader_epoch);
}

TEST_CASE("static: a leader by configuration leads in no epoch of a former one, known to it or not (L6, V2)",
          "[broker]") {
    Bench bench = formed_static();
    std::set<LeaderEpoch> led{bench.at(1).leading->leader_epoch};
    for (std::int32_t id = 2; id <= 3; ++id) bench.cut_off(id);
    for (int life = 0; life < 4; ++life) {
        bench.start(1);
        REQUIRE(bench.advance_until([&] { return bench.at(1).leading.has_value(); }));
        REQUIRE(led.insert(bench.at(1).leading->leader_epoch).second);
    }
    for (std::int32_t id = 1; id <= 3; ++id)
        bench.configure(id, [](Config& config) { config.static_leader = BrokerId(2); });
    for (std::int32_t id = 2; id <= 3; ++id) bench.reconnect(id);
    bench.start_all();
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2 && bench.is_whole(); }));
    REQUIRE(led.insert(bench.at(2).leading->leader_epoch).second);
}

TEST_CASE("static: a command that comes while the broker starts is not forgotten", "[broker]") {
    Bench bench = formed_static();
    bench.start(2, {storage::FileOwner::kRaft, storage::FileOwner::kTopics, storage::FileOwner::kIdentity});
    REQUIRE(bench.at(2).lifecycle != Lifecycle::kRunning);
    command_all(bench, BrokerId(2), 1);
    bench.release(2);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2 && bench.is_whole(); }));
}

TEST_CASE("static: who has been told of another leader names none before it follows that one (O1)", "[broker]") {
    Bench bench = formed_static();
    REQUIRE(status(bench.at(3)).leader == BrokerId(1));
    bench.hold(3, storage::FileOwner::kIdentity);
    bench.step(3, RoleCommanded{BrokerId(2), 1});
    REQUIRE(status(bench.at(3)).leader == BrokerId(0));
    bench.release(3);
    REQUIRE(status(bench.at(3)).leader == BrokerId(2));
}

TEST_CASE("static: a command with an old or impossible number, or for a stranger, changes nothing", "[broker]") {
    Bench bench = formed_static();
    command_all(bench, BrokerId(2), 3);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 2; }));
    command_all(bench, BrokerId(1), 2);
    command_all(bench, BrokerId(1), -4);
    command_all(bench, BrokerId(1), std::numeric_limits<std::int32_t>::max());
    command_all(bench, BrokerId(1), 600'000);
    command_all(bench, BrokerId(9), 4);
    bench.advance(seconds(1));
    REQUIRE(bench.serving() == 2);
    command_all(bench, BrokerId(3), 100'000);
    REQUIRE(bench.advance_until([&] { return bench.serving() == 3; }));
}

}  // namespace tidelock::broker
