/// A world is copied with its running fibers and goes on from there, bit for bit, or into another future.
#include "sim/snapshot.h"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/arena.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

/// Five gossips in bad weather, 100 ms in.
World* weathered_world() {
    WorldConfig config;
    config.recording = DigestRecording::kLastEvents;
    World* const world = new World(config, 11);
    add_gossips(*world, 5);
    set_all_rates(*world, 5'000);
    world->call_at(at_ms(150), [world] { world->kill(HostId(2)); });
    world->call_at(at_ms(180), [world] { world->restart(HostId(2)); });
    world->call_at(at_ms(200), [world] {
        const HostId victim(3);
        world->lose_power({&victim, 1});
    });
    world->call_at(at_ms(230), [world] { world->restart(HostId(3)); });
    world->run_until(at_ms(100));
    return world;
}

}  // namespace

TEST_CASE("a run that goes on from a snapshot is the run that was never interrupted") {
    if (!kArenaEnabled) return;
    Arena::reset();
    std::vector<std::uint64_t> digests;
    digests.reserve(10);
    {
        const ArenaScope scope;
        World* const world = weathered_world();
        const Snapshot snapshot = Snapshot::take(*world);
        for (int round = 0; round < 4; ++round) {
            world->run_until(at_ms(500));
            digests.push_back(world->digest());
            digests.push_back(world->event_count());
            snapshot.restore();
        }
        digests.push_back(static_cast<std::uint64_t>(world->now().value));
    }
    REQUIRE(digests[0] != 0);
    for (int round = 1; round < 4; ++round) {
        REQUIRE(digests[static_cast<std::size_t>(round) * 2] == digests[0]);
        REQUIRE(digests[static_cast<std::size_t>(round) * 2 + 1] == digests[1]);
    }
    REQUIRE(digests.back() == 100'000'000);
}

TEST_CASE("snapshots taken at any event are restorable, in any order") {
    if (!kArenaEnabled) return;
    Arena::reset();
    bool all_equal = true;
    {
        const ArenaScope scope;
        World* const world = weathered_world();
        std::vector<Snapshot> snapshots;
        std::vector<std::uint64_t> digests;
        {
            const ArenaPause pause;
            snapshots.reserve(50);
            digests.reserve(50);
        }
        for (int i = 0; i < 50; ++i) {
            snapshots.push_back(Snapshot::take(*world));
            for (int step = 0; step < 20; ++step) world->run_one();
            digests.push_back(world->digest());
        }
        for (std::size_t i = 50; i-- > 0;) {
            snapshots[i].restore();
            for (int step = 0; step < 20; ++step) world->run_one();
            all_equal = all_equal && world->digest() == digests[i];
        }
    }
    REQUIRE(all_equal);
}

TEST_CASE("a branch has another future, and the same branch always the same one") {
    if (!kArenaEnabled) return;
    Arena::reset();
    std::vector<std::uint64_t> futures;
    futures.reserve(10);
    {
        const ArenaScope scope;
        World* const world = weathered_world();
        const Snapshot snapshot = Snapshot::take(*world);
        for (const std::uint64_t salt : {1, 2, 1, 3}) {
            snapshot.restore();
            world->branch(salt);
            world->run_until(at_ms(400));
            futures.push_back(world->digest());
        }
        snapshot.restore();
        world->run_until(at_ms(400));
        futures.push_back(world->digest());
    }
    REQUIRE(futures[0] == futures[2]);
    REQUIRE(futures[0] != futures[1]);
    REQUIRE(futures[0] != futures[3]);
    REQUIRE(futures[0] != futures[4]);
}

TEST_CASE("dead parts of stacks are not copied: sixty fibers cost kilobytes, not their stacks") {
    if (!kArenaEnabled) return;
    Arena::reset();
    std::size_t copied = 0;
    std::size_t used = 0;
    {
        const ArenaScope scope;
        World* const world = new World(WorldConfig{}, 1);
        add_gossips(*world, 60);
        world->run_until(at_ms(50));
        const Snapshot snapshot = Snapshot::take(*world);
        copied = snapshot.copied_bytes();
        used = Arena::used_bytes();
    }
    REQUIRE(used > 60 * (std::size_t{64} << 10));
    REQUIRE(copied < used / 2);
}
