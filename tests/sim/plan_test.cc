/// Plans: faults as lines of text, each carried out at its time, undone at its end, and removable without side effects.
#include "sim/plan.h"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/world.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

PlannedFault planned(std::string_view line) {
    const Result<PlannedFault, DecodeError> fault = planned_fault_from(line);
    INFO(line);
    REQUIRE(fault);
    return *fault;
}

/// Five gossips for a second under one plan.
struct Planned {
    explicit Planned(const std::vector<std::string_view>& lines) : world(WorldConfig{}, 1) {
        add_gossips(world, 5);
        for (const std::string_view line : lines) schedule(world, planned(line));
        world.run_until(at_ms(1'000));
    }
    [[nodiscard]] std::uint64_t delivered(FaultKind kind) const { return world.faults().delivered(kind); }
    World world;
};

/// A line for each kind, each able to bite in a second of gossip.
constexpr std::string_view kEveryKind[] = {
    "frame_lost at=0 amount=50000",
    "frame_duplicated at=0 amount=50000",
    "frame_reordered at=0 amount=50000",
    "response_lost at=100000000 hosts=1,2,3 peers=1,2,3,4,5 amount=2 position=2",
    "connection_reset at=500000000 hosts=1,2,3 peers=2,3,4",
    "half_open at=500000000 hosts=1,2,3 peers=2,3,4",
    "partition_two_sided at=100000000 lasts=100000000 hosts=1,2 peers=3,4,5",
    "partition_one_way at=100000000 lasts=100000000 hosts=1,2 peers=3,4,5",
    "partition_bridge at=100000000 lasts=100000000 hosts=1,2 peers=4,5",
    "partition_ring at=100000000 lasts=100000000 hosts=1,2,3,4,5",
    "partition_flapping at=100000000 lasts=300000000 hosts=1 peers=2,3,4,5 amount=20000000",
    "link_clogged at=100000000 lasts=100000000 hosts=1,2,3 peers=4,5",
    "frame_kind_lost at=100000000 hosts=1,2,3 peers=1,2,3,4,5 amount=2 position=1",
    "frame_kind_delayed at=100000000 lasts=200000000 hosts=1,2,3 peers=1,2,3,4,5 amount=30000000 position=1",
    "write_error at=0 amount=50000",
    "frame_corrupted at=0 amount=50000",
    "delay_spike at=0 amount=50000",
    "slow_link at=100000000 lasts=100000000 hosts=1,2,3 peers=4,5 amount=20",
    "process_crash at=100000000 lasts=50000000 hosts=1,2",
    "kill_at_step at=100000000 lasts=500000000 hosts=1,2 amount=7",
    "power_loss at=100000000 lasts=50000000 hosts=1,2",
    "pause at=100000000 lasts=50000000 hosts=1",
    "slow_host at=100000000 lasts=500000000 hosts=1,2,3 amount=2000000",
    "clock_drift at=100000000 lasts=500000000 hosts=1 amount=-200000",
    "clock_freeze at=100000000 lasts=500000000 hosts=1",
    "wall_jump at=100000000 hosts=1 amount=-3600000000000",
    "sync_failed at=0 amount=500000",
    "sector_unreadable at=900000000 hosts=1 amount=5 file=heard",
    "bit_rot at=900000000 hosts=1,2,3,4,5 file=hea",
    "misdirected_write at=0 amount=1000000",
    "disk_full at=100000000 lasts=500000000 hosts=1,2 amount=10",
    "disk_slow at=100000000 lasts=500000000 hosts=1,2 amount=50",
    "disk_stalled at=100000000 lasts=500000000 hosts=1,2",
    "disk_emptied at=500000000 lasts=50000000 hosts=1",
};

/// Kinds that bite at a power loss, a rename or a read, which gossip alone does not do at will; tests of the disk show
/// them.
constexpr FaultKind kShownElsewhere[] = {
    FaultKind::kUnsyncedWriteLost,  FaultKind::kSectorTorn,      FaultKind::kWritesReordered, FaultKind::kRenameLost,
    FaultKind::kDirectoryEntryLost, FaultKind::kMisdirectedRead, FaultKind::kReadError};

}  // namespace

TEST_CASE("every kind of fault can be planned as a line, bites, and is counted under its own name") {
    std::vector<FaultKind> seen(std::begin(kShownElsewhere), std::end(kShownElsewhere));
    for (const std::string_view line : kEveryKind) {
        const Planned run({line});
        const FaultKind kind = planned(line).fault;
        INFO(line);
        REQUIRE(run.delivered(kind) > 0);
        seen.push_back(kind);
    }
    std::sort(seen.begin(), seen.end());
    REQUIRE(std::unique(seen.begin(), seen.end()) == seen.end());
    REQUIRE(seen.size() == kFaultKindCount);
}

TEST_CASE("what is planned to end ends: the world is whole again") {
    Planned run({"partition_two_sided at=100000000 lasts=100000000 hosts=1,2 peers=3,4,5",
                 "link_clogged at=100000000 lasts=100000000 hosts=1 peers=4",
                 "process_crash at=100000000 lasts=50000000 hosts=1", "pause at=100000000 lasts=50000000 hosts=2",
                 "clock_freeze at=100000000 lasts=50000000 hosts=3",
                 "clock_drift at=100000000 lasts=50000000 hosts=4 amount=1000",
                 "frame_lost at=100000000 lasts=50000000 amount=300000",
                 "partition_flapping at=100000000 lasts=100000000 hosts=1 peers=2,3,4,5 amount=15000000"});
    REQUIRE_FALSE(run.world.network().is_cut(HostId(1), HostId(3)));
    REQUIRE_FALSE(run.world.network().is_cut(HostId(1), HostId(2)));
    REQUIRE(run.world.host(HostId(1)).is_alive());
    REQUIRE(run.world.host(HostId(1)).life() == 2);
    REQUIRE_FALSE(run.world.host(HostId(2)).is_paused());
    REQUIRE_FALSE(run.world.host(HostId(3)).clock().is_frozen());
    REQUIRE(run.world.host(HostId(4)).clock().drift_ppm() == 0);
    REQUIRE(run.world.faults().rate(FaultKind::kFrameLost).per_million == 0);
    REQUIRE(run.delivered(FaultKind::kPartitionFlapping) > 1);
}

TEST_CASE("after stop_faults, planned faults that come up are skipped") {
    World world(WorldConfig{}, 1);
    add_gossips(world, 3);
    schedule(world, planned("pause at=200000000 hosts=1"));
    schedule(world, planned("partition_flapping at=50000000 lasts=900000000 hosts=1 peers=2,3 amount=20000000"));
    schedule(world, planned("frame_lost at=50000000 lasts=900000000 amount=300000"));
    world.run_until(at_ms(100));
    world.stop_faults();
    world.run_until(at_ms(500));
    REQUIRE_FALSE(world.host(HostId(1)).is_paused());
    REQUIRE_FALSE(world.network().is_cut(HostId(1), HostId(2)));
    REQUIRE(world.faults().rate(FaultKind::kFrameLost).per_million == 0);
}

TEST_CASE("victims that do not exist are skipped") {
    const Planned run({"process_crash at=1 hosts=77", "half_open at=1 hosts=77 peers=78",
                       "partition_ring at=1 hosts=70,71,72,73,74", "pause at=100000000 lasts=1000000 hosts=77,1"});
    REQUIRE(run.world.faults().delivered(FaultKind::kProcessCrash) == 0);
}

TEST_CASE("a line says everything a planned fault holds, and reads back to the same fault") {
    PlannedFault fault;
    fault.fault = FaultKind::kBitRot;
    fault.at = at_ms(5);
    fault.lasts = milliseconds(7);
    fault.hosts = {HostId(1), HostId(20)};
    fault.peers = {HostId(3)};
    fault.amount = -4;
    fault.file = "0a-0/00.log";
    fault.position = 99;
    REQUIRE(text_of(fault) ==
            "bit_rot at=5000000 lasts=7000000 hosts=1,20 peers=3 amount=-4 file=0a-0/00.log position=99");
    REQUIRE(planned(text_of(fault)) == fault);
    for (const std::string_view line : kEveryKind) REQUIRE(text_of(planned(line)) == line);
}

TEST_CASE("a line that is wrong is an error that names the word") {
    const auto error_of = [](std::string_view line) {
        const Result<PlannedFault, DecodeError> fault = planned_fault_from(line);
        REQUIRE_FALSE(fault);
        return fault.error().what;
    };
    REQUIRE(error_of("earthquake at=1").find("earthquake") != std::string::npos);
    REQUIRE(error_of("pause at=soon").find("at=soon") != std::string::npos);
    REQUIRE(error_of("pause hosts=").find("hosts=") != std::string::npos);
    REQUIRE(error_of("pause colour=red").find("colour") != std::string::npos);
    REQUIRE(error_of("").find("''") != std::string::npos);
}

TEST_CASE("every fault kind has a name of its own that names it") {
    for (std::size_t i = 0; i < kFaultKindCount; ++i) {
        const FaultKind kind = static_cast<FaultKind>(i);
        REQUIRE_FALSE(text_of(kind).empty());
        REQUIRE(fault_kind_named(text_of(kind)) == kind);
    }
    REQUIRE_FALSE(fault_kind_named("none of them"));
}
