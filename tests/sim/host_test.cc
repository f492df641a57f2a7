/// Hosts: what wakes a story, on whose clock, and what a kill, a pause or slowness does to it.
#include "sim/host.h"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/world.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

struct OneHost {
    World world{WorldConfig{}, 1};
    Host& host = world.add_host(HostId(1), "one");
    std::vector<Arrival> log;

    void run(std::function<void()> story, std::int64_t until_ms) {
        world.spawn(host, std::move(story));
        world.run_until(at_ms(until_ms));
    }
    [[nodiscard]] std::uint64_t delivered(FaultKind kind) const { return world.faults().delivered(kind); }
};

}  // namespace

TEST_CASE("a story sleeps on its host's clock") {
    OneHost toy;
    std::vector<std::int64_t> woke_at;
    toy.run(
        [&] {
            while (toy.host.await_sleep(milliseconds(10))) woke_at.push_back(toy.world.now().value / 1'000'000);
        },
        35);
    REQUIRE(woke_at == std::vector<std::int64_t>{10, 20, 30});
}

TEST_CASE("a drifting clock makes timers early or late in true time, never on the host's own clock") {
    OneHost toy;
    toy.world.set_clock_drift(HostId(1), -500'000);  // half speed
    Instant local_at_fire;
    std::int64_t true_at_fire = 0;
    toy.run(
        [&] {
            toy.host.set_timer(TimerId(3), milliseconds(10));
            toy.host.await_arrival();
            local_at_fire = toy.host.local_now();
            true_at_fire = toy.world.now().value;
        },
        100);
    REQUIRE(local_at_fire == Instant(10'000'000));
    REQUIRE(true_at_fire == 20'000'000);
    REQUIRE(toy.delivered(FaultKind::kClockDrift) == 1);
}

TEST_CASE("changing a clock's rate moves the timers and sleeps that run") {
    OneHost toy;
    std::vector<std::int64_t> at;
    toy.world.call_at(at_ms(5), [&] { toy.world.freeze_clock(HostId(1)); });
    toy.world.call_at(at_ms(50), [&] { toy.world.unfreeze_clock(HostId(1)); });
    toy.world.spawn(toy.host, [&] {
        toy.host.await_sleep(milliseconds(10));
        at.push_back(toy.world.now().value / 1'000'000);
    });
    toy.run(
        [&] {
            toy.host.set_timer(TimerId(1), milliseconds(20));
            toy.host.await_arrival();
            at.push_back(toy.world.now().value / 1'000'000);
        },
        200);
    REQUIRE(at == std::vector<std::int64_t>{55, 65});
    REQUIRE(toy.delivered(FaultKind::kClockFreeze) == 1);
}

TEST_CASE("a wall clock jumps without moving timers") {
    OneHost toy;
    const WallTime before = toy.host.wall_now();
    REQUIRE(toy.world.jump_wall_clock(HostId(1), seconds(-3'600)));
    REQUIRE(toy.host.wall_now() - before == -3'600'000'000'000);
    REQUIRE(toy.host.local_now() == Instant(0));
    REQUIRE(toy.delivered(FaultKind::kWallJump) == 1);
}

TEST_CASE("a timer set anew or cancelled does not fire, even if it was already on its way to a paused process") {
    OneHost toy;
    toy.world.call_at(at_ms(1), [&] { toy.world.pause(HostId(1)); });
    toy.world.call_at(at_ms(20), [&] { toy.world.resume(HostId(1)); });
    toy.run(
        [&] {
            toy.host.set_timer(TimerId(1), milliseconds(5));
            toy.host.set_timer(TimerId(2), milliseconds(6));
            toy.host.set_timer(TimerId(3), milliseconds(7));
            while (std::optional<Arrival> arrival = toy.host.await_arrival()) {
                toy.log.push_back(*arrival);
                // The first to be delivered takes the second back and starts the third anew.
                if (toy.log.size() > 1) continue;
                toy.host.cancel_timer(TimerId(2));
                toy.host.set_timer(TimerId(3), milliseconds(100));
            }
        },
        200);
    REQUIRE(toy.log.size() == 2);
    REQUIRE(std::get<TimerFired>(toy.log[0]).timer == TimerId(1));
    REQUIRE(std::get<TimerFired>(toy.log[1]).timer == TimerId(3));
    REQUIRE(toy.delivered(FaultKind::kPause) == 1);
}

TEST_CASE("a pause holds arrivals and sleeps back, and they all come late but complete and in order") {
    OneHost toy;
    std::int64_t slept_until = 0;
    toy.world.spawn(toy.host, [&] {
        toy.host.await_sleep(milliseconds(5));
        slept_until = toy.world.now().value;
    });
    toy.world.call_at(at_ms(1), [&] { REQUIRE(toy.world.pause(HostId(1))); });
    for (std::uint64_t word = 0; word < 5; ++word)
        toy.world.call_at(at_ms(2 + static_cast<std::int64_t>(word)), [&, word] { toy.world.post(HostId(1), word); });
    toy.world.call_at(at_ms(50), [&] { REQUIRE(toy.world.resume(HostId(1))); });
    toy.run([&] { collect(toy.host, toy.log); }, 49);
    REQUIRE(toy.log.empty());
    REQUIRE(toy.host.waiting_arrival_count() == 5);
    toy.world.run_until(at_ms(60));
    REQUIRE(toy.log == std::vector<Arrival>{Woken{0}, Woken{1}, Woken{2}, Woken{3}, Woken{4}});
    REQUIRE(slept_until == 50'000'000);
    REQUIRE(toy.delivered(FaultKind::kPause) == 1);
}

TEST_CASE("a pause that nobody noticed is not counted") {
    OneHost toy;
    toy.world.pause(HostId(1));
    toy.world.run_until(at_ms(10));
    toy.world.resume(HostId(1));
    toy.world.run_until(at_ms(20));
    REQUIRE(toy.delivered(FaultKind::kPause) == 0);
}

TEST_CASE("a slow host takes its time with each arrival") {
    OneHost toy;
    std::vector<std::int64_t> taken_at;
    toy.world.slow_down(HostId(1), milliseconds(10));
    for (std::uint64_t word = 0; word < 3; ++word)
        toy.world.call_at(at_ms(1), [&, word] { toy.world.post(HostId(1), word); });
    toy.run(
        [&] {
            while (toy.host.await_arrival()) taken_at.push_back(toy.world.now().value / 1'000'000);
        },
        100);
    REQUIRE(taken_at == std::vector<std::int64_t>{1, 11, 21});
    REQUIRE(toy.delivered(FaultKind::kSlowHost) == 1);
}

TEST_CASE("waiting until a deadline gives the arrival, or the deadline, whichever is first") {
    OneHost toy;
    toy.world.call_at(at_ms(5), [&] { toy.world.post(HostId(1), 7); });
    toy.run(
        [&] {
            for (int i = 0; i < 2; ++i)
                toy.log.push_back(*toy.host.await_arrival_until(toy.host.local_now() + milliseconds(20)));
            toy.log.push_back(*toy.host.await_arrival_until(toy.host.local_now() - milliseconds(1)));
        },
        100);
    REQUIRE(toy.log == std::vector<Arrival>{Woken{7}, DeadlinePassed{}, DeadlinePassed{}});
}

TEST_CASE("several fibers of a host take turns, the longest waiting first") {
    OneHost toy;
    std::vector<std::pair<char, std::uint64_t>> taken;
    const auto story = [&](char name) {
        return [&, name] {
            while (const std::optional<Arrival> arrival = toy.host.await_arrival())
                taken.emplace_back(name, std::get<Woken>(*arrival).word);
        };
    };
    toy.world.spawn(toy.host, story('a'));
    toy.world.run_until(at_ms(1));
    toy.world.spawn(toy.host, story('b'));
    toy.world.run_until(at_ms(2));
    for (std::uint64_t word = 0; word < 4; ++word) {
        toy.world.post(HostId(1), word);
        toy.world.run_until(toy.world.now() + milliseconds(1));
    }
    REQUIRE(taken == std::vector<std::pair<char, std::uint64_t>>{{'a', 0}, {'b', 1}, {'a', 2}, {'b', 3}});
}

TEST_CASE("a kill ends every await at once, and what a dead life still asks for does nothing") {
    OneHost toy;
    Host& peer = toy.world.add_host(HostId(2), "peer");
    std::vector<Arrival> peer_log;
    toy.world.spawn(peer, [&] { collect(peer, peer_log); });
    int ended_count = 0;
    const auto last_words = [&] {
        ++ended_count;
        toy.host.send(HostId(2), Bytes::copy_of("from the grave"));
        toy.host.disk().write("file", 0, Bytes::copy_of("from the grave"));
        toy.host.set_timer(TimerId(1), milliseconds(1));
        toy.host.spawn([&] { ++ended_count; });
    };
    toy.world.spawn(toy.host, [&] {
        while (toy.host.await_arrival()) continue;
        last_words();
    });
    toy.world.spawn(toy.host, [&] {
        REQUIRE_FALSE(toy.host.await_sleep(seconds(1)));
        REQUIRE_FALSE(toy.host.await_sleep(seconds(1)));
        REQUIRE_FALSE(toy.host.await_arrival_until(Instant(5)));
        last_words();
    });
    toy.world.run_until(at_ms(1));
    REQUIRE(toy.world.kill(HostId(1)));
    REQUIRE(ended_count == 2);
    REQUIRE_FALSE(toy.world.kill(HostId(1)));
    // Also in the next life the old one's fibers are nobody.
    toy.world.restart(HostId(1), [&] { collect(toy.host, toy.log); });
    toy.world.run_until(at_ms(100));
    REQUIRE(toy.host.life() == 2);
    REQUIRE(frames_of(peer_log).empty());
    REQUIRE_FALSE(toy.host.disk().has_file("file"));
    REQUIRE(toy.log.empty());
    REQUIRE(toy.delivered(FaultKind::kProcessCrash) == 1);
}

TEST_CASE("a host that kills itself in the middle of its effects does none of the rest") {
    OneHost toy;
    bool saw_the_end = false;
    toy.run(
        [&] {
            toy.host.disk().write("a", 0, Bytes::copy_of("a"));
            toy.world.kill(HostId(1));
            toy.host.disk().write("b", 0, Bytes::copy_of("b"));
            saw_the_end = !toy.host.await_arrival();
        },
        10);
    REQUIRE(saw_the_end);
    REQUIRE(toy.host.disk().list() == std::vector<std::string>{"a"});
}

TEST_CASE("a kill can fall between any two effects, so between a write and its sync") {
    for (std::uint64_t step = 1; step <= 4; ++step) {
        OneHost toy;
        toy.world.kill_at_effect(HostId(1), step);
        bool survived = false;
        toy.run(
            [&] {
                toy.host.disk().write("a", 0, Bytes::copy_of("content"));
                toy.host.disk().sync("a", DiskOp(1));
                toy.host.disk().sync_directory(DiskOp(2));
                survived = toy.host.await_arrival().has_value();
            },
            500);
        REQUIRE(survived == (step == 4));
        REQUIRE(toy.host.disk().has_file("a") == (step > 1));
        // A sync that was asked before the process died is carried out; later ones were never asked.
        const std::vector<HostId> all{HostId(1)};
        toy.world.lose_power(all);
        REQUIRE((toy.host.disk().durable_content("a").text() == "content") == (step == 4));
        REQUIRE(toy.delivered(FaultKind::kKillAtStep) == (step == 4 ? 0 : 1));
    }
}

TEST_CASE("stories never started are simply gone after a kill") {
    OneHost toy;
    bool ran = false;
    toy.world.spawn(toy.host, [&] { ran = true; });
    toy.world.kill(HostId(1));
    toy.world.run_until(at_ms(10));
    REQUIRE_FALSE(ran);
    REQUIRE(toy.world.scheduler().tasks().empty());
}

TEST_CASE("a nemesis story kills and restarts another host from its own fiber") {
    OneHost toy;
    Host& nemesis = toy.world.add_host(HostId(9), "nemesis");
    std::vector<std::uint32_t> lives;
    toy.world.set_boot_story(HostId(1), [&](Host& host) {
        lives.push_back(host.life());
        while (host.await_arrival()) continue;
        lives.push_back(0);
    });
    toy.world.kill(HostId(1));
    toy.world.spawn(nemesis, [&] {
        for (int i = 0; i < 3; ++i) {
            toy.world.restart(HostId(1));
            nemesis.await_sleep(milliseconds(5));
            toy.world.kill(HostId(1));
        }
    });
    toy.world.run_until(at_ms(100));
    REQUIRE(lives == std::vector<std::uint32_t>{2, 0, 3, 0, 4, 0});
}

TEST_CASE("a mailbox nobody empties is bounded, and what it loses is counted") {
    WorldConfig config;
    config.mailbox_count_max = 10;
    World world(config, 1);
    Host& host = world.add_host(HostId(1), "deaf");
    for (std::uint64_t word = 0; word < 15; ++word) world.post(HostId(1), word);
    world.run_until(at_ms(1));
    REQUIRE(host.waiting_arrival_count() == 10);
    REQUIRE(world.mailbox_overflow_count() == 5);
}
