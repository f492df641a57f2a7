/// The world as a whole: equal seeds give equal runs, whatever faults are on; and a run stops where it is told.
#include "sim/world.h"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/arena.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

struct Outcome {
    std::uint64_t digest = 0;
    std::uint64_t events = 0;
    std::uint64_t faults = 0;
    std::vector<DigestStep> steps;
    bool operator==(const Outcome&) const = default;
};

/// A stormy second of seven gossips.
Outcome storm(std::uint64_t seed, LinkMode mode = LinkMode::kStream) {
    WorldConfig config;
    config.recording = DigestRecording::kEveryStep;
    config.network.mode = mode;
    World world(config, seed);
    add_gossips(world, 7);
    set_all_rates(world, 20'000);
    Rng nemesis = world.stream("nemesis", 0);
    for (int i = 0; i < 40; ++i) {
        const TimeNs at = at_ms(nemesis.between(0, 900));
        const HostId victim(static_cast<std::int32_t>(nemesis.between(1, 7)));
        const std::uint64_t what = nemesis.below(4);
        world.call_at(at, [&world, victim, what] {
            if (what == 0) world.kill(victim);
            if (what == 1) world.lose_power({&victim, 1});
            if (what == 2) world.pause(victim);
            if (what == 3) world.set_clock_drift(victim, 100'000);
        });
        world.call_at(at + milliseconds(30), [&world, victim] {
            world.restart(victim);
            world.resume(victim);
        });
    }
    world.run_until(at_ms(1'000));
    return Outcome{world.digest(), world.event_count(), world.faults().delivered_total(), world.run_digest().steps()};
}

}  // namespace

TEST_CASE("equal seeds give equal digests through every kind of fault, other seeds others") {
    for (const LinkMode mode : {LinkMode::kStream, LinkMode::kDatagram}) {
        const Outcome first = storm(1, mode);
        REQUIRE(first.events > 3'000);
        REQUIRE(first.faults > 50);
        REQUIRE(first == storm(1, mode));
        REQUIRE(first.digest != storm(2, mode).digest);
    }
}

TEST_CASE("the digest of a storm is pinned: every compiler, optimisation and allocator must come to it") {
    REQUIRE(storm(1).digest == 49227714690249101ULL);
}

TEST_CASE("two runs that part can be asked where") {
    const Outcome one = storm(1);
    REQUIRE_FALSE(first_divergence(one.steps, storm(1).steps));
    Outcome other = one;
    other.steps[100].a ^= 1;
    REQUIRE(first_divergence(one.steps, other.steps) == 100U);
    other.steps.resize(50);
    REQUIRE(first_divergence(one.steps, other.steps) == 50U);
    REQUIRE(text_of(one.steps[0]).find("digest") != std::string::npos);
}

TEST_CASE("the recording of recent steps keeps the last ones, in order") {
    WorldConfig config;
    config.recording = DigestRecording::kLastEvents;
    World world(config, 1);
    add_gossips(world, 3);
    world.run_until(at_ms(200));
    world.add_observation(99);
    const std::vector<DigestStep> steps = world.run_digest().steps();
    REQUIRE(steps.size() == kRecentStepCount);
    REQUIRE(steps.back().is_observation);
    REQUIRE(steps.back().digest == world.digest());
    for (std::size_t i = 1; i < steps.size(); ++i) REQUIRE(steps[i - 1].at <= steps[i].at);
}

TEST_CASE("an observation changes the digest, and so does its value") {
    const auto digest_with = [](std::vector<std::uint64_t> observations) {
        World world(WorldConfig{}, 1);
        for (const std::uint64_t hash : observations) world.add_observation(hash);
        return world.digest();
    };
    REQUIRE(digest_with({1}) != digest_with({}));
    REQUIRE(digest_with({1}) != digest_with({2}));
    REQUIRE(digest_with({1, 2}) != digest_with({2, 1}));
}

TEST_CASE("a run stops at its time, at its event budget, on request, or with nothing left") {
    WorldConfig config;
    config.event_budget = 100;
    World world(config, 1);
    REQUIRE(world.run_until(at_ms(5)) == RunStop::kNothingLeft);
    REQUIRE(world.now() == at_ms(5));
    add_gossips(world, 3);
    REQUIRE(world.run_until(at_ms(6)) == RunStop::kTimeReached);
    world.call_at(at_ms(8), [&world] { world.request_stop(); });
    REQUIRE(world.run_until(at_ms(1'000)) == RunStop::kStopRequested);
    REQUIRE(world.now() == at_ms(8));
    REQUIRE(world.run_until(at_ms(1'000)) == RunStop::kEventBudget);
    REQUIRE(world.event_count() == 100);
}

TEST_CASE("calls run in order of time, late ones at once but later") {
    World world(WorldConfig{}, 1);
    world.run_until(at_ms(10));
    std::vector<std::int64_t> called_at;
    const auto call = [&] { called_at.push_back(world.now().value / 1'000'000); };
    world.call_at(at_ms(30), call);
    world.call_at(at_ms(20), call);
    world.call_at(at_ms(1), call);
    REQUIRE(called_at.empty());
    world.run_until(at_ms(100));
    REQUIRE(called_at == std::vector<std::int64_t>{10, 20, 30});
}

TEST_CASE("worlds in a fresh arena use the same addresses") {
    if (!kArenaEnabled) return;
    const auto run = [] {
        Arena::reset();
        const ArenaScope scope;
        World* const world = new World(WorldConfig{}, 5);
        add_gossips(*world, 5);
        world->run_until(at_ms(300));
        return std::tuple(reinterpret_cast<std::uintptr_t>(&world->host(HostId(5))), Arena::used_bytes(),
                          Arena::live_bytes(), world->digest());
    };
    const auto first = run();
    REQUIRE(first == run());
    REQUIRE(Arena::peak_bytes() >= std::get<1>(first));
}

TEST_CASE("a quiet world does not grow: an hour of gossip uses the memory of a minute") {
    if (!kArenaEnabled) return;
    Arena::reset();
    std::size_t early = 0;
    std::size_t late = 0;
    {
        const ArenaScope scope;
        World* const world = new World(WorldConfig{}, 5);
        add_gossips(*world, 3);
        world->run_until(TimeNs(30'000'000'000));
        early = Arena::used_bytes();
        world->run_until(TimeNs(300'000'000'000));
        late = Arena::used_bytes();
    }
    REQUIRE(late < early + early / 4);
}

TEST_CASE("stopping faults leaves a world in which nothing more happens to anybody") {
    World world(WorldConfig{}, 3);
    add_gossips(world, 4);
    set_all_rates(world, 100'000);
    const std::vector<HostId> left{HostId(1), HostId(2)};
    const std::vector<HostId> right{HostId(3), HostId(4)};
    world.network().cut(two_sided(left, right), FaultKind::kPartitionTwoSided);
    world.network().clog(HostId(1), HostId(2));
    world.pause(HostId(3));
    world.freeze_clock(HostId(4));
    world.host(HostId(1)).disk().stall();
    world.run_until(at_ms(200));
    world.stop_faults();
    world.run_until(at_ms(1'200));  // what was on its way
    const std::uint64_t before = world.faults().delivered_total();
    const std::uint64_t frames_before = world.network().frames_delivered();
    world.run_until(at_ms(2'200));
    REQUIRE(world.faults().delivered_total() == before);
    REQUIRE(world.network().frames_delivered() > frames_before + 500);
    REQUIRE_FALSE(world.host(HostId(3)).is_paused());
    REQUIRE_FALSE(world.host(HostId(4)).clock().is_frozen());
}

TEST_CASE("a trace tells who did what, and its lines are the same run after run") {
    const auto traced = [] {
        World world(WorldConfig{}, 1);
        TextTrace text;
        world.set_trace(&text);
        add_gossips(world, 3);
        world.call_at(at_ms(20), [&world] { world.kill(HostId(2)); });
        world.run_until(at_ms(50));
        return text.text();
    };
    const std::string text = traced();
    REQUIRE(text == traced());
    REQUIRE(text.find("send") != std::string::npos);
    REQUIRE(text.find("deliver") != std::string::npos);
    REQUIRE(text.find("lifecycle: process_crash") != std::string::npos);
    REQUIRE(text.find("disk: write heard") != std::string::npos);
}

TEST_CASE("when stories are ended every one returns, unheard by the others, and nothing else happens") {
    World world(WorldConfig{}, 7);
    std::vector<std::int32_t> returned;
    std::vector<Arrival> heard_by_second;
    Host& first = world.add_host(HostId(1), "first");
    Host& second = world.add_host(HostId(2), "second");
    world.spawn(first, [&] {
        while (first.await_arrival()) continue;
        first.send(HostId(2), Bytes::copy_of("last words"));
        returned.push_back(1);
    });
    world.spawn(second, [&] {
        collect(second, heard_by_second);
        returned.push_back(2);
    });
    world.run_until(at_ms(5));
    const std::uint64_t digest = world.digest();
    world.end_stories();
    REQUIRE(returned == std::vector<std::int32_t>{1, 2});
    REQUIRE(world.scheduler().tasks().empty());
    world.run_until(at_ms(1'000));
    REQUIRE(heard_by_second.empty());
    REQUIRE(world.digest() == digest);
}
