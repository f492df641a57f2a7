#include "scenarios/fault_kind.h"

#include <algorithm>
#include <array>

namespace tidelock::scenarios {

namespace {

using enum FaultKind;
using enum FaultSection;

struct Size {
    std::string_view key;
    Range bounds;
    Range defaults;
};
constexpr Size kNoSize{"", {0, 0}, {0, 0}};
constexpr Size ppm(std::int64_t from, std::int64_t to) {
    return {"rate_ppm", {1, 1'000'000}, {from, to}};
}
constexpr Size of(std::string_view key, Range bounds, Range defaults) {
    return {key, bounds, defaults};
}

constexpr FaultInfo fault(FaultKind kind, FaultSection section, std::string_view name, Size size, Range duration_ms,
                          bool is_aimed, std::string_view doc) {
    return {kind, section, name, size.key, size.bounds, size.defaults, duration_ms, is_aimed, false, doc};
}
constexpr FaultInfo destroying(FaultKind kind, std::string_view name, Size size, Range duration_ms,
                               std::string_view doc) {
    return {kind, kDisk, name, size.key, size.bounds, size.defaults, duration_ms, true, true, doc};
}

constexpr std::array<FaultInfo, kFaultKindCount> kFaults{{
    fault(kDelaySpike, kNetwork, "delay_spike", ppm(10'000, 200'000), {200, 3'000}, false,
          "some frames take up to half a second longer"),
    fault(kLoss, kNetwork, "loss", ppm(20'000, 400'000), {300, 4'000}, false, "some frames are lost"),
    fault(kLossByKind, kNetwork, "loss_by_kind", ppm(500'000, 1'000'000), {500, 5'000}, false,
          "frames of one drawn kind are lost"),
    fault(kDuplicate, kNetwork, "duplicate", ppm(50'000, 400'000), {300, 4'000}, false, "some frames arrive twice"),
    fault(kReorder, kNetwork, "reorder", ppm(50'000, 400'000), {300, 4'000}, false, "some frames overtake one another"),
    fault(kLostResponse, kNetwork, "lost_response", ppm(100'000, 1'000'000), {200, 2'000}, false,
          "requests are carried out and some answers are lost"),
    fault(kReset, kNetwork, "reset", kNoSize, {0, 0}, true, "connections of a broker are reset"),
    fault(kHalfOpen, kNetwork, "half_open", kNoSize, {0, 0}, true,
          "one end of a broker's connections learns that they broke, the other goes on sending"),
    fault(kCorruptFrames, kNetwork, "corrupt_frames", ppm(5'000, 100'000), {200, 3'000}, false,
          "a byte of a frame changes on its way"),
    fault(kClog, kNetwork, "clog", kNoSize, {100, 3'000}, true,
          "frames to and from a broker pile up and arrive together at the end"),
    fault(kSlowLink, kNetwork, "slow_link", of("factor", {2, 100'000}, {5, 500}), {500, 5'000}, true,
          "frames to and from a broker take that many times as long"),
    fault(kPartitionTwoSided, kNetwork, "partition_two_sided", kNoSize, {300, 6'000}, true,
          "a broker, or a group around it, is cut off both ways"),
    fault(kPartitionOneWay, kNetwork, "partition_one_way", kNoSize, {300, 6'000}, true,
          "frames from a broker get through, frames to it do not, or the other way"),
    fault(kPartitionBridge, kNetwork, "partition_bridge", kNoSize, {300, 6'000}, true,
          "two halves that both reach one broker and not each other"),
    fault(kPartitionRing, kNetwork, "partition_ring", kNoSize, {300, 6'000}, false,
          "each broker hears its neighbours of a ring only"),
    fault(kPartitionFlapping, kNetwork, "partition_flapping", of("period_ms", {20, 60'000}, {100, 900}), {800, 6'000},
          true, "a broker is cut off and back again, over and over"),
    fault(kKill, kProcess, "kill", kNoSize, {50, 5'000}, true, "the process dies and starts again"),
    fault(kKillAtStep, kProcess, "kill_at_step", of("occurrence", {1, 1'000}, {1, 4}), {50, 4'000}, true,
          "the process dies right after it was seen doing a drawn kind of thing"),
    fault(kPowerLoss, kProcess, "power_loss", of("brokers", {1, 9}, {1, 3}), {50, 4'000}, true,
          "several machines lose power at once: unsynced data is at the mercy of the disk"),
    fault(kPowerLossAtWrite, kProcess, "power_loss_at_write", of("strikes", {1, 100}, {1, 3}), {50, 1'500}, true,
          "power goes while something the broker just wrote is not synced yet; further strikes meet its recovery"),
    fault(kPause, kProcess, "pause", kNoSize, {50, 5'000}, true, "the process stands still while time goes on"),
    fault(kSlowHost, kProcess, "slow_host", of("arrival_cost_us", {1, 10'000'000}, {200, 20'000}), {500, 6'000}, true,
          "each message, timer or completion keeps the process busy that long"),
    fault(kRollingRestart, kProcess, "rolling_restart", of("gap_ms", {1, 60'000}, {100, 2'500}), {50, 600}, false,
          "one broker after another is restarted"),
    fault(kMixedConfiguration, kProcess, "mixed_configuration", kNoSize, {50, 600}, true,
          "a broker comes back with other timeouts than its peers, and takes smaller batches"),
    fault(kClockDrift, kClock, "drift", of("rate_ppm", {1, 1'000'000}, {10, 1'000}), {500, 8'000}, true,
          "a monotonic clock runs wrong, within the declared bound"),
    fault(kClockDriftBeyondBound, kClock, "drift_beyond_bound", of("rate_ppm", {1, 1'000'000}, {10'000, 400'000}),
          {500, 8'000}, true, "a monotonic clock runs wrong, beyond the bound"),
    fault(kClockFreeze, kClock, "freeze", kNoSize, {50, 3'000}, true, "a monotonic clock stands still"),
    fault(kWallJump, kClock, "wall_jump", of("jump_ms", {1, 100'000'000}, {1, 5'000'000}), {0, 0}, true,
          "a wall clock jumps forwards or backwards"),
    fault(kFailedSync, kDisk, "failed_sync", of("syncs", {1, 100}, {1, 3}), {500, 5'000}, false,
          "a few syncs fail and the pages they covered are dropped"),
    fault(kReadError, kDisk, "read_error", of("reads", {1, 100}, {1, 4}), {500, 5'000}, false,
          "a few reads answer an error"),
    fault(kFullDisk, kDisk, "full", of("free_bytes", {0, 1'000'000'000}, {0, 4'096}), {300, 4'000}, true,
          "writes fail because nothing is left"),
    fault(kSlowDisk, kDisk, "slow", of("factor", {2, 100'000}, {5, 500}), {500, 6'000}, true,
          "reads and syncs take that many times as long"),
    fault(kStalledDisk, kDisk, "stalled", kNoSize, {100, 4'000}, true, "no read or sync ends"),
    destroying(kBitRot, "bit_rot", of("bits", {1, 64}, {1, 3}), {0, 0}, "stored bits flip at rest"),
    destroying(kMisdirectedWrite, "misdirected_write", of("writes", {1, 100}, {1, 1}), {500, 5'000},
               "a synced write turns out to be in another place"),
    fault(kMisdirectedRead, kDisk, "misdirected_read", of("reads", {1, 100}, {1, 3}), {500, 5'000}, false,
          "a read answers another place's bytes"),
    destroying(kEmptiedDisk, "emptied", kNoSize, {50, 3'000}, "a machine comes back with an empty disk"),
    fault(kCreateTopic, kOperator, "create_topic", kNoSize, {0, 0}, false, "a topic is added"),
    fault(kGrowTopic, kOperator, "grow_topic", kNoSize, {0, 0}, false, "a topic gets one partition more"),
    fault(kDeleteTopic, kOperator, "delete_topic", kNoSize, {0, 0}, false, "a topic goes"),
    fault(kRecreateTopic, kOperator, "recreate_topic", kNoSize, {0, 0}, false, "a topic goes and comes back at once"),
    fault(kDeleteRecords, kOperator, "delete_records", of("share_percent", {1, 100}, {10, 100}), {0, 0}, false,
          "retention moves a log start towards the high watermark"),
    fault(kSetRetention, kOperator, "set_retention", of("records", {0, 1'000'000}, {5, 100}), {0, 0}, false,
          "a topic keeps that many records a partition from now on; 0: all"),
    fault(kTransferLeadership, kOperator, "transfer_leadership", kNoSize, {0, 0}, true,
          "the leader is told to hand over, and now and then the one that it may choose stands still"),
    fault(kProducerCrash, kClient, "producer_crash", kNoSize, {0, 0}, false,
          "a producer dies between send and acknowledgement and returns under a new id"),
    fault(kZombieProducer, kClient, "zombie_producer", kNoSize, {500, 4'000}, false,
          "a producer falls silent, is replaced, and goes on where it stopped"),
    fault(kSlowConsumer, kClient, "slow_consumer", kNoSize, {500, 6'000}, false,
          "a consumer stops reading for a while"),
    fault(kConsumerReconnect, kClient, "consumer_reconnect", kNoSize, {0, 0}, false, "a consumer drops its connection"),
    fault(kPowerLossAtStep, kProcess, "power_loss_at_step", of("occurrence", {1, 1'000}, {1, 4}), {20, 1'500}, false,
          "machines lose power when any broker is seen doing a drawn kind of thing"),
    fault(kPartitionAtStep, kNetwork, "partition_at_step", of("occurrence", {1, 1'000}, {1, 4}), {200, 3'000}, false,
          "a broker is cut off when any broker is seen doing a drawn kind of thing"),
    fault(kSlowFile, kDisk, "slow_file", of("factor", {2, 100'000}, {5, 500}), {500, 4'000}, true,
          "syncs of one drawn kind of file take that many times as long, those of others do not"),
    destroying(kUnreadable, "unreadable", of("sectors", {1, 64}, {1, 2}), {0, 0},
               "sectors give errors until they are overwritten"),
    destroying(kBitRotAtRestart, "bit_rot_at_restart", of("bits", {1, 64}, {1, 3}), {20, 400},
               "the process dies, and stored bits flip before it starts again"),
    destroying(
        kEmptiedDiskAtStep, "emptied_at_step", of("occurrence", {1, 1'000}, {1, 4}), {20, 400},
        "a disk is lost when any broker is seen doing a drawn kind of thing, and now and then another broker cut off"),
    fault(kLateKind, kNetwork, "late_kind", of("delay_ms", {1, 60'000}, {100, 700}), {300, 4'000}, true,
          "frames of one drawn kind between brokers are late, all others in time; now and then one that is told late "
          "is cut "
          "off meanwhile"),
    fault(kCutOffAtElection, kNetwork, "cut_off_at_election", of("occurrence", {1, 1'000}, {1, 4}), {100, 2'500}, false,
          "a broker is cut off the moment it stands for election, or wins"),
    fault(kStalledDisks, kDisk, "stalled_together", of("brokers", {2, 9}, {2, 3}), {200, 4'000}, true,
          "no read or sync ends on several disks at once"),
    fault(kPowerLossAtFirstBoot, kProcess, "power_loss_at_first_boot", of("strikes", {1, 100}, {1, 2}), {20, 600},
          false, "power goes while a broker without any file, new or emptied, writes its first ones"),
    fault(kKillTogether, kProcess, "kill_together", of("brokers", {2, 9}, {2, 9}), {20, 1'500}, true,
          "several processes die at once: what is known in memory alone is known no more"),
    fault(kMemberCrash, kClient, "member_crash", kNoSize, {0, 0}, false,
          "a member of a consumer group dies and comes again, under its name if it has one"),
    fault(kZombieMember, kClient, "zombie_member", kNoSize, {500, 5'000}, false,
          "a member of a consumer group falls silent, and goes on where it stopped"),
    fault(kMemberLeave, kClient, "member_leave", kNoSize, {0, 0}, false,
          "a member leaves its consumer group and comes again"),
    fault(kCommandRole, kOperator, "command_role", kNoSize, {0, 0}, false,
          "static roles: the lead is taken from whoever has it, and given to a member that is in sync"),
    fault(kWriteError, kDisk, "write_error", of("writes", {1, 100}, {1, 4}), {500, 5'000}, false,
          "a few writes answer an error, and nothing is written"),
    fault(
        kCutOffWhileForming, kNetwork, "cut_off_while_forming", kNoSize, {500, 6'000}, false,
        "a broker is cut off while the group forms; mostly another one loses its disk then, and finds that one alone"),
}};

constexpr bool in_enum_order() {
    for (std::size_t i = 0; i < kFaultKindCount; ++i)
        if (static_cast<std::size_t>(kFaults[i].kind) != i) return false;
    return true;
}
static_assert(in_enum_order());

constexpr std::array<std::string_view, 6> kSectionNames{"network", "process", "clock", "disk", "operator", "client"};

}  // namespace

std::span<const FaultInfo> all_faults() {
    return kFaults;
}

const FaultInfo& info_of(FaultKind kind) {
    return kFaults[static_cast<std::size_t>(kind)];
}

std::string_view name_of(FaultSection section) {
    return kSectionNames[static_cast<std::size_t>(section)];
}

std::string full_name_of(FaultKind kind) {
    const FaultInfo& info = info_of(kind);
    return std::string(name_of(info.section)) + "." + std::string(info.name);
}

std::optional<FaultKind> fault_kind_of(std::string_view full_name) {
    const std::size_t dot = full_name.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    for (const FaultInfo& info : kFaults)
        if (name_of(info.section) == full_name.substr(0, dot) && info.name == full_name.substr(dot + 1))
            return info.kind;
    return std::nullopt;
}

}  // namespace tidelock::scenarios
