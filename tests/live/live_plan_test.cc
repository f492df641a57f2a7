// What of a plan is asked of real brokers.
#include <catch2/catch.hpp>

#include "tools/live/live_nemesis.h"
#include "tools/live/live_schedule.h"

using namespace tidelock;
using namespace tidelock::live;

namespace {

scenarios::Plan plan_of(std::string_view scenario, std::uint64_t seed) {
    return scenarios::generate(*scenarios::load_scenario(scenario), seed);
}

}  // namespace

TEST_CASE("a live plan is a plan of a group whose clients speak Kafka, with faults that can be done") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        std::int64_t skipped = 0;
        const scenarios::Plan planned = plan_of("everything", seed);
        const scenarios::Plan plan = for_real(planned, true, skipped);
        REQUIRE(plan.settings[scenarios::Setting::kPreset] == scenarios::kPresetGroup);
        REQUIRE(plan.settings[scenarios::Setting::kKafkaPermille] == 1'000);
        REQUIRE(plan.settings[scenarios::Setting::kHeartbeatMs] * 2 <=
                plan.settings[scenarios::Setting::kElectionTimeoutMinMs]);
        REQUIRE_FALSE(plan.pollers.empty());
        REQUIRE(plan.faults.size() + static_cast<std::size_t>(skipped) == planned.faults.size());
        for (const scenarios::PlannedFault& fault : plan.faults) REQUIRE(is_possible(fault.kind, true));
    }
}

TEST_CASE("on loopback no link is cut and no disk is full") {
    std::int64_t skipped = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        for (const scenarios::PlannedFault& fault : for_real(plan_of("everything", seed), false, skipped).faults) {
            REQUIRE(scenarios::info_of(fault.kind).section != scenarios::FaultSection::kNetwork);
            REQUIRE(fault.kind != scenarios::FaultKind::kFullDisk);
        }
    }
    REQUIRE(skipped > 0);
}

TEST_CASE("clocks, power and rot are the simulator's") {
    using scenarios::FaultKind;
    for (const FaultKind kind : {FaultKind::kPowerLoss, FaultKind::kClockDrift, FaultKind::kBitRot,
                                 FaultKind::kEmptiedDisk, FaultKind::kDeleteRecords, FaultKind::kTransferLeadership})
        REQUIRE_FALSE(is_possible(kind, true));
    for (const FaultKind kind :
         {FaultKind::kKill, FaultKind::kPause, FaultKind::kDeleteTopic, FaultKind::kZombieMember})
        REQUIRE(is_possible(kind, false));
}
