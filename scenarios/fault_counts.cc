#include "scenarios/fault_counts.h"

#include <algorithm>

#include "scenarios/client_orders.h"
#include "scenarios/cluster.h"

namespace tidelock::scenarios {

namespace {

/// Faults the world does not know as such. Clients count what they were ordered in Workload::orders_taken.
constexpr FaultKind kOwnKinds[] = {
    FaultKind::kRollingRestart,       FaultKind::kMixedConfiguration, FaultKind::kClockDriftBeyondBound,
    FaultKind::kCreateTopic,          FaultKind::kGrowTopic,          FaultKind::kDeleteTopic,
    FaultKind::kRecreateTopic,        FaultKind::kDeleteRecords,      FaultKind::kTransferLeadership,
    FaultKind::kPowerLossAtWrite,     FaultKind::kSetRetention,       FaultKind::kPowerLossAtStep,
    FaultKind::kPartitionAtStep,      FaultKind::kSlowFile,           FaultKind::kBitRotAtRestart,
    FaultKind::kEmptiedDiskAtStep,    FaultKind::kCutOffAtElection,   FaultKind::kStalledDisks,
    FaultKind::kPowerLossAtFirstBoot, FaultKind::kKillTogether,       FaultKind::kCommandRole,
    FaultKind::kCutOffWhileForming};

struct Asked {
    sim::FaultKind delivered;
    FaultKind asked;
};
/// What the world delivers, and how a scenario asks for it.
constexpr Asked kAsked[] = {
    {sim::FaultKind::kFrameLost, FaultKind::kLoss},
    {sim::FaultKind::kFrameDuplicated, FaultKind::kDuplicate},
    {sim::FaultKind::kFrameReordered, FaultKind::kReorder},
    {sim::FaultKind::kResponseLost, FaultKind::kLostResponse},
    {sim::FaultKind::kConnectionReset, FaultKind::kReset},
    {sim::FaultKind::kHalfOpen, FaultKind::kHalfOpen},
    {sim::FaultKind::kPartitionTwoSided, FaultKind::kPartitionTwoSided},
    {sim::FaultKind::kPartitionOneWay, FaultKind::kPartitionOneWay},
    {sim::FaultKind::kPartitionBridge, FaultKind::kPartitionBridge},
    {sim::FaultKind::kPartitionRing, FaultKind::kPartitionRing},
    {sim::FaultKind::kPartitionFlapping, FaultKind::kPartitionFlapping},
    {sim::FaultKind::kLinkClogged, FaultKind::kClog},
    {sim::FaultKind::kFrameKindLost, FaultKind::kLossByKind},
    {sim::FaultKind::kFrameCorrupted, FaultKind::kCorruptFrames},
    {sim::FaultKind::kDelaySpike, FaultKind::kDelaySpike},
    {sim::FaultKind::kSlowLink, FaultKind::kSlowLink},
    {sim::FaultKind::kProcessCrash, FaultKind::kKill},
    {sim::FaultKind::kKillAtStep, FaultKind::kKillAtStep},
    {sim::FaultKind::kPowerLoss, FaultKind::kPowerLoss},
    {sim::FaultKind::kPause, FaultKind::kPause},
    {sim::FaultKind::kSlowHost, FaultKind::kSlowHost},
    {sim::FaultKind::kClockDrift, FaultKind::kClockDrift},
    {sim::FaultKind::kClockFreeze, FaultKind::kClockFreeze},
    {sim::FaultKind::kWallJump, FaultKind::kWallJump},
    {sim::FaultKind::kSyncFailed, FaultKind::kFailedSync},
    {sim::FaultKind::kReadError, FaultKind::kReadError},
    {sim::FaultKind::kBitRot, FaultKind::kBitRot},
    {sim::FaultKind::kMisdirectedWrite, FaultKind::kMisdirectedWrite},
    {sim::FaultKind::kMisdirectedRead, FaultKind::kMisdirectedRead},
    {sim::FaultKind::kDiskFull, FaultKind::kFullDisk},
    {sim::FaultKind::kDiskSlow, FaultKind::kSlowDisk},
    {sim::FaultKind::kDiskStalled, FaultKind::kStalledDisk},
    {sim::FaultKind::kDiskEmptied, FaultKind::kEmptiedDisk},
    {sim::FaultKind::kSectorUnreadable, FaultKind::kUnreadable},
    {sim::FaultKind::kFrameKindDelayed, FaultKind::kLateKind},
    {sim::FaultKind::kWriteError, FaultKind::kWriteError},
};

/// The name under which a scenario asks for it. What a power loss does to unsynced data is asked for by settings,
/// disk.crash.*, that say how much of it.
std::string world_name(sim::FaultKind kind) {
    const auto* const row = std::ranges::find(kAsked, kind, &Asked::delivered);
    return row == std::end(kAsked) ? "disk.crash." + std::string(sim::text_of(kind)) : full_name_of(row->asked);
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> fault_counts(Cluster& cluster) {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    const sim::Faults& faults = cluster.world().faults();
    for (std::size_t i = 0; i < sim::kFaultKindCount; ++i) {
        const auto kind = static_cast<sim::FaultKind>(i);
        counts.emplace_back(world_name(kind), static_cast<std::int64_t>(faults.delivered(kind)));
    }
    for (const FaultKind kind : kOwnKinds) counts.emplace_back(full_name_of(kind), cluster.delivered(kind));
    for (std::size_t i = 0; i < order_kinds().size(); ++i)
        counts.emplace_back(full_name_of(order_kinds()[i]), cluster.workload().orders_taken[i]);
    std::sort(counts.begin(), counts.end());
    return counts;
}

std::vector<std::string> counted_fault_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sim::kFaultKindCount; ++i) names.push_back(world_name(static_cast<sim::FaultKind>(i)));
    for (const FaultKind kind : kOwnKinds) names.push_back(full_name_of(kind));
    for (const FaultKind kind : order_kinds()) names.push_back(full_name_of(kind));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace tidelock::scenarios
