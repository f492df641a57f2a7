/// What the simulator costs: queue, fiber switches, frames, disk syncs, world reset, snapshots and branches.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <variant>

#include "sim/arena.h"
#include "sim/snapshot.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

constexpr TimerId kTick{1};

/// The hold model: with so many events pending, pop one and push one.
void queue_pop_and_push(benchmark::State& state) {
    EventQueue queue(Rng(1, "tie-break", 0));
    Rng rng(2);
    for (std::int64_t i = 0; i < state.range(0); ++i) queue.push(TimeNs(rng.between(0, 1'000'000)), Event{});
    for (auto _ : state) {
        const TimeNs now = *queue.next_time();
        Event event = queue.pop();
        queue.push(now + rng.between(1, 1'000'000), std::move(event));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_pop_and_push)->Arg(16)->Arg(100)->Arg(1'000)->Arg(10'000);

void queue_push_and_cancel(benchmark::State& state) {
    EventQueue queue(Rng(1, "tie-break", 0));
    for (std::int64_t i = 0; i < 100; ++i) queue.push(TimeNs(i), Event{});
    for (auto _ : state) queue.cancel(queue.push(TimeNs(1'000'000), Event{}));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_push_and_cancel);

/// There and back: two switches an iteration.
void fiber_resume_and_suspend(benchmark::State& state) {
    Fiber* self = nullptr;
    bool goes_on = true;
    Fiber fiber(
        [&self, &goes_on] {
            while (goes_on) self->suspend();
        },
        64 << 10);
    self = &fiber;
    for (auto _ : state) fiber.resume();
    goes_on = false;
    fiber.resume();
    state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(fiber_resume_and_suspend);

void arena_new_and_delete(benchmark::State& state) {
    Arena::reset();
    const ArenaScope scope;
    const std::size_t size = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        void* const block = ::operator new(size);
        benchmark::DoNotOptimize(block);
        ::operator delete(block);
    }
}
BENCHMARK(arena_new_and_delete)->Arg(64)->Arg(4'096);

void tick(Host& host) {
    host.set_timer(kTick, microseconds(1'000 + host.id().value));
    while (host.await_arrival()) host.set_timer(kTick, microseconds(1'000 + host.id().value));
}

World* ticking_world(std::int32_t host_count) {
    World* const world = new World(WorldConfig{}, 1);
    for (std::int32_t id = 1; id <= host_count; ++id) {
        Host& host = world->add_host(HostId(id), "host");
        world->spawn(host, [&host] { tick(host); });
    }
    return world;
}

/// Sixty fibers that wait for their timers.
void world_timer_events(benchmark::State& state) {
    Arena::reset();
    const ArenaScope scope;
    World* const world = ticking_world(60);
    for (auto _ : state) world->run_one();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(world_timer_events);

/// Two hosts bounce a frame of 200 bytes.
void world_frames(benchmark::State& state) {
    Arena::reset();
    const ArenaScope scope;
    World* const world = new World(WorldConfig{}, 1);
    for (const std::int32_t id : {1, 2}) {
        Host& host = world->add_host(HostId(id), "host");
        world->spawn(host, [&host] {
            if (host.id() == HostId(1)) host.send(HostId(2), Bytes::copy_of(std::string(200, 'x')));
            while (std::optional<Arrival> arrival = host.await_arrival())
                if (FrameArrived* const frame = std::get_if<FrameArrived>(&*arrival))
                    host.send(frame->from, std::move(frame->frame));
        });
    }
    for (auto _ : state) world->run_one();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(world_frames);

/// A host appends 200 bytes and syncs, again and again.
void world_disk_syncs(benchmark::State& state) {
    Arena::reset();
    const ArenaScope scope;
    World* const world = new World(WorldConfig{}, 1);
    Host& host = world->add_host(HostId(1), "host");
    world->spawn(host, [&host] {
        const Bytes record = Bytes::copy_of(std::string(200, 'x'));
        std::uint64_t end = 0;
        do {
            if (end > 1'000'000) {
                host.disk().truncate("log", 0);
                end = 0;
            }
            host.disk().write("log", end, record);
            host.disk().sync("log", DiskOp(1));
            end += 200;
        } while (host.await_arrival());
    });
    for (auto _ : state) world->run_one();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(world_disk_syncs);

/// A whole small world: reset, build with so many hosts, run one millisecond.
void world_reset_and_build(benchmark::State& state) {
    for (auto _ : state) {
        Arena::reset();
        const ArenaScope scope;
        World* const world = ticking_world(static_cast<std::int32_t>(state.range(0)));
        world->run_until(TimeNs(1'000'000));
    }
}
BENCHMARK(world_reset_and_build)->Arg(4)->Arg(60);

void snapshot_take(benchmark::State& state) {
    Arena::reset();
    const ArenaScope scope;
    World* const world = ticking_world(60);
    world->run_until(TimeNs(100'000'000));
    std::size_t copied_bytes = 0;
    for (auto _ : state) copied_bytes = Snapshot::take(*world).copied_bytes();
    state.counters["copied_bytes"] = static_cast<double>(copied_bytes);
}
BENCHMARK(snapshot_take);

/// Restore, take another future, run twenty events of it.
void snapshot_branch(benchmark::State& state) {
    Arena::reset();
    const ArenaScope scope;
    World* const world = ticking_world(60);
    world->run_until(TimeNs(100'000'000));
    const Snapshot snapshot = Snapshot::take(*world);
    std::uint64_t salt = 0;
    for (auto _ : state) {
        snapshot.restore();
        world->branch(++salt);
        for (int i = 0; i < 20; ++i) world->run_one();
    }
}
BENCHMARK(snapshot_branch);

}  // namespace
}  // namespace tidelock::sim
