// When a disk that a fault has hurt counts as sound again.
#include <catch2/catch.hpp>
#include <utility>

#include "scenarios/cluster.h"
#include "scenarios/disk_watch.h"
#include "scenarios/plan.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

/// A group two virtual seconds old, without clients and without faults.
struct QuietGroup {
    QuietGroup() {
        cluster.start_brokers();
        run(seconds(2));
        REQUIRE(cluster.is_up(victim));
    }
    static Plan quiet_plan() {
        Plan plan = generate(*load_scenario("group-failover"), 1);
        plan.faults.clear();
        plan.settings[Setting::kUnlimitedFaults] = 1;
        return plan;
    }
    void run(Duration duration) { cluster.world().run_until(cluster.world().now() + duration); }
    sim::Host& host() { return cluster.world().host(host_of(victim)); }
    void rot(const std::string& file) {
        REQUIRE(host().disk().rot_bit(file, 20, 3));
        watch.on_hurt();
    }
    /// Looks now and for a second.
    bool becomes_sound() {
        for (int looks = 0; looks < 4; ++looks) {
            if (watch.is_sound_again(host(), cluster.broker_host(victim))) return true;
            run(milliseconds(300));
        }
        return false;
    }

    Plan plan = quiet_plan();
    Cluster cluster{plan, sim::DigestRecording::kNothing};
    BrokerId victim{2};
    DiskWatch watch;
};

}  // namespace

TEST_CASE("a disk that nothing has hurt is no news") {
    QuietGroup group;
    REQUIRE_FALSE(group.becomes_sound());
}

TEST_CASE("rot is there until it is overwritten") {
    QuietGroup group;
    group.rot("identity.a");
    REQUIRE_FALSE(group.becomes_sound());
    // Recovery repairs the copy from the other one.
    group.cluster.kill(group.victim);
    REQUIRE_FALSE(group.becomes_sound());
    group.cluster.restart(group.victim);
    REQUIRE(group.becomes_sound());
    REQUIRE_FALSE(group.becomes_sound());
}

TEST_CASE("what left the medium as it was counts until the broker has handled what it had asked for") {
    QuietGroup group;
    group.watch.on_hurt();
    REQUIRE_FALSE(group.watch.is_sound_again(group.host(), group.cluster.broker_host(group.victim)));
    SECTION("nothing was under way") {
        REQUIRE(group.becomes_sound());
    }
    SECTION("hurt once more, it takes another two looks") {
        group.watch.on_hurt();
        group.run(milliseconds(300));
        REQUIRE_FALSE(group.watch.is_sound_again(group.host(), group.cluster.broker_host(group.victim)));
        REQUIRE(group.becomes_sound());
    }
    SECTION("an emptied disk is no news either") {
        group.watch.on_emptied();
        REQUIRE_FALSE(group.becomes_sound());
    }
}
