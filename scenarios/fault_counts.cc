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
    FaultKind::kPowerLossAtFirstBoot, FaultKind::kKillTogether,       FaultKind::kCommandRole};

std::string own_name(FaultKind kind) {
    return kind == FaultKind::kClockDriftBeyondBound ? "clock_drift_beyond_bound" : std::string(info_of(kind).name);
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> fault_counts(Cluster& cluster) {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    const sim::Faults& faults = cluster.world().faults();
    for (std::size_t i = 0; i < sim::kFaultKindCount; ++i) {
        const auto kind = static_cast<sim::FaultKind>(i);
        counts.emplace_back(sim::text_of(kind), static_cast<std::int64_t>(faults.delivered(kind)));
    }
    for (const FaultKind kind : kOwnKinds) counts.emplace_back(own_name(kind), cluster.delivered(kind));
    for (std::size_t i = 0; i < order_kinds().size(); ++i)
        counts.emplace_back(own_name(order_kinds()[i]), cluster.workload().orders_taken[i]);
    std::sort(counts.begin(), counts.end());
    return counts;
}

std::vector<std::string> counted_fault_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sim::kFaultKindCount; ++i)
        names.emplace_back(sim::text_of(static_cast<sim::FaultKind>(i)));
    for (const FaultKind kind : kOwnKinds) names.push_back(own_name(kind));
    for (const FaultKind kind : order_kinds()) names.push_back(own_name(kind));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace tidelock::scenarios
