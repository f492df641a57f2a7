// A whole schedule, with brokers, clients, faults and checkers, is copied in the middle and goes on from there.
#include <catch2/catch.hpp>
#include <vector>

#include "scenarios/cluster.h"
#include "scenarios/nemesis.h"
#include "sim/arena.h"
#include "sim/snapshot.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

/// One schedule, eight seconds in. Lives in the arena, and is never destroyed.
struct Schedule {
    explicit Schedule(const Plan& plan) : cluster(plan, sim::DigestRecording::kNothing), nemesis(cluster) {
        cluster.start_brokers();
        cluster.start_clients();
        nemesis.schedule_faults();
        cluster.world().run_until(sim::TimeNs(0) + seconds(8));
    }
    Cluster cluster;
    Nemesis nemesis;
};

/// How it came out, kept outside the arena.
struct Outcome {
    std::uint64_t digest = 0;
    std::uint64_t events = 0;
    std::int64_t acknowledged = 0;
    std::size_t violations = 0;
    bool operator==(const Outcome&) const = default;
};

Outcome run_on(Schedule& schedule) {
    sim::World& world = schedule.cluster.world();
    world.run_until(sim::TimeNs(0) + seconds(16));
    return {world.digest(), world.event_count(), schedule.cluster.checker().acknowledged_record_count(),
            schedule.cluster.checker().violations().size()};
}

Plan plan_of(std::string_view scenario, std::uint64_t seed) {
    return generate(*load_scenario(scenario), seed);
}

}  // namespace

TEST_CASE("a schedule that goes on from a snapshot is the schedule that was never interrupted") {
    if (!sim::kArenaEnabled) return;
    for (const std::string_view scenario : {"group-failover", "group-disk", "everything"}) {
        const Plan plan = plan_of(scenario, 7);
        std::vector<Outcome> outcomes(4);
        sim::Arena::reset();
        {
            const sim::ArenaScope scope;
            auto* const schedule = new Schedule(plan);
            const sim::Snapshot snapshot = sim::Snapshot::take(schedule->cluster.world());
            for (Outcome& outcome : outcomes) {
                outcome = run_on(*schedule);
                snapshot.restore();
            }
        }
        INFO(scenario);
        REQUIRE(outcomes[0].acknowledged > 0);
        for (const Outcome& outcome : outcomes) REQUIRE(outcome == outcomes[0]);
    }
}

TEST_CASE("a branch of a schedule has another future, judged like any other, and always the same one") {
    if (!sim::kArenaEnabled) return;
    const Plan plan = plan_of("group-failover", 7);
    std::vector<Outcome> outcomes(5);
    sim::Arena::reset();
    {
        const sim::ArenaScope scope;
        auto* const schedule = new Schedule(plan);
        const sim::Snapshot snapshot = sim::Snapshot::take(schedule->cluster.world());
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            snapshot.restore();
            if (i > 0) schedule->cluster.world().branch(i == 4 ? 1 : i);
            outcomes[i] = run_on(*schedule);
        }
    }
    REQUIRE(outcomes[1] == outcomes[4]);
    for (const std::size_t other : {std::size_t{0}, std::size_t{2}, std::size_t{3}})
        REQUIRE(outcomes[1].digest != outcomes[other].digest);
    for (const Outcome& outcome : outcomes) REQUIRE(outcome.violations == 0);
}
