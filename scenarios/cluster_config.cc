// From a plan's settings to what brokers, world and checker are configured by.
#include <algorithm>
#include <optional>

#include "scenarios/cluster.h"

namespace tidelock::scenarios {

namespace {

/// Most draws lie near a tenth of the way between the ends; a few go all the way.
sim::Distribution mostly_short(std::int64_t min_us, std::int64_t max_us) {
    const std::int64_t typical_us = min_us + (max_us - min_us) / 10;
    return sim::Distribution::long_tail(microseconds(min_us), microseconds(typical_us), microseconds(max_us));
}

broker::SeedRules seed_rules(const Settings& settings) {
    broker::SeedRules rules;
    rules.expand_at_high_watermark_only = settings[Setting::kSeedExpandAtHighWatermarkOnly] != 0;
    rules.single_shot_truncation = settings[Setting::kSeedSingleShotTruncation] != 0;
    rules.no_caretaker = settings[Setting::kSeedNoCaretaker] != 0;
    rules.ignore_data_incarnation = settings[Setting::kSeedIgnoreDataIncarnation] != 0;
    rules.positions_as_received = settings[Setting::kSeedPositionsAsReceived] != 0;
    rules.expand_within_lag_bound = settings[Setting::kSeedExpandWithinLagBound] != 0;
    rules.high_watermark_may_fall = settings[Setting::kSeedHighWatermarkMayFall] != 0;
    rules.observe_in_two_reads = settings[Setting::kSeedObserveInTwoReads] != 0;
    rules.no_pre_vote = settings[Setting::kSeedNoPreVote] != 0;
    rules.shrink_below_minimum = settings[Setting::kSeedShrinkBelowMinimum] != 0;
    return rules;
}

std::vector<BrokerId> members_of(const Settings& settings) {
    std::vector<BrokerId> members;
    for (std::int32_t id = 1; id <= settings[Setting::kBrokers]; ++id) members.emplace_back(id);
    return members;
}

std::int32_t int32_of(const Settings& settings, Setting setting) {
    return static_cast<std::int32_t>(settings[setting]);
}

}  // namespace

broker::Config broker_config(const Settings& settings, BrokerId id) {
    const bool is_static = settings[Setting::kPreset] == kPresetStatic;
    broker::Config config;
    config.id = id;
    config.members = members_of(settings);
    config.preset = is_static ? broker::Preset::kStatic : broker::Preset::kGroup;
    config.role = broker::ConfiguredRole::kBoth;
    if (is_static) config.role = id.value == 1 ? broker::ConfiguredRole::kLeader : broker::ConfiguredRole::kFollower;
    config.static_leader = BrokerId(1);
    config.seed_rules = seed_rules(settings);
    config.election_timeout_min = milliseconds(settings[Setting::kElectionTimeoutMinMs]);
    config.election_timeout_max = milliseconds(settings[Setting::kElectionTimeoutMaxMs]);
    config.heartbeat_interval = milliseconds(settings[Setting::kHeartbeatMs]);
    config.transfer_timeout = milliseconds(settings[Setting::kTransferTimeoutMs]);
    config.raft_log_entries_max = int32_of(settings, Setting::kRaftLogEntriesMax);
    config.raft_entries_per_append_max = int32_of(settings, Setting::kRaftEntriesPerAppendMax);
    config.raft_append_window_max = int32_of(settings, Setting::kRaftAppendWindowMax);
    config.raft_snapshot_chunk_bytes_max = int32_of(settings, Setting::kRaftSnapshotChunkBytesMax);
    config.producers_max = int32_of(settings, Setting::kProducersRemembered);
    config.groups.first_rebalance_delay = milliseconds(settings[Setting::kFirstRebalanceDelayMs]);
    config.groups.session_timeout_min = milliseconds(settings[Setting::kSessionTimeoutMs]);
    config.internal_spare_records = int32_of(settings, Setting::kInternalSpareRecords);
    config.isr_lag = milliseconds(settings[Setting::kIsrLagMs]);
    config.disconnect_grace = milliseconds(settings[Setting::kDisconnectGraceMs]);
    if (settings[Setting::kReplicaLagTimeoutMs] > 0)
        config.replica_lag_timeout = milliseconds(settings[Setting::kReplicaLagTimeoutMs]);
    if (settings[Setting::kReplicaLagRecordsMax] >= 0)
        config.replica_lag_records_max = settings[Setting::kReplicaLagRecordsMax];
    config.min_insync_replicas = int32_of(settings, Setting::kMinInsyncReplicas);
    config.fetch_wait_max = milliseconds(settings[Setting::kFetchWaitMs]);
    config.fetch_retry = milliseconds(settings[Setting::kFetchRetryMs]);
    config.request_timeout = milliseconds(settings[Setting::kPeerTimeoutMs]);
    config.fetch_bytes_max = int32_of(settings, Setting::kFetchBytesMax);
    config.segment_bytes_max = int32_of(settings, Setting::kSegmentBytesMax);
    config.journal_bytes_max = int32_of(settings, Setting::kJournalBytesMax);
    config.tail_cache_bytes_max = int32_of(settings, Setting::kTailCacheBytesMax);
    config.ack_leader_durably = settings[Setting::kAckLeaderDurably] != 0;
    return config;
}

sim::WorldConfig world_config(const Plan& plan, sim::DigestRecording recording) {
    const Settings& settings = plan.settings;
    sim::WorldConfig config;
    config.network.mode =
        settings[Setting::kNetworkMode] == kNetworkDatagram ? sim::LinkMode::kDatagram : sim::LinkMode::kStream;
    config.network.after_loss =
        settings[Setting::kLossBreaksConnection] != 0 ? sim::AfterLoss::kBreakConnection : sim::AfterLoss::kGoOn;
    config.network.link.delay = mostly_short(settings[Setting::kDelayMinUs], settings[Setting::kDelayMaxUs]);
    config.network.link.bandwidth_bytes_per_second =
        static_cast<std::uint64_t>(settings[Setting::kBandwidthKibPerSecond]) * 1'024;
    config.recording = recording;
    const std::int64_t total_seconds = settings[Setting::kChaosSeconds] + settings[Setting::kHealSeconds];
    config.event_budget = static_cast<std::uint64_t>(settings[Setting::kEventsPerSecondMax] * total_seconds);
    return config;
}

sim::HostConfig broker_host_config(const Plan& plan, BrokerId broker) {
    const Settings& settings = plan.settings;
    sim::HostConfig config;
    config.disk.sync_latency = mostly_short(settings[Setting::kSyncMinUs], settings[Setting::kSyncMaxUs]);
    config.disk.read_latency = mostly_short(settings[Setting::kReadMinUs], settings[Setting::kReadMaxUs]);
    sim::Rng drift(plan.seed, "drift", static_cast<std::uint64_t>(broker.value));
    config.clock_drift_ppm =
        static_cast<std::int32_t>(drift.between(-settings[Setting::kDriftPpm], settings[Setting::kDriftPpm]));
    return config;
}

namespace {

/// The smallest number of records that anybody tells a topic to keep; none: everything is kept.
std::optional<std::int64_t> smallest_retention(const Plan& plan) {
    std::optional<std::int64_t> smallest;
    const auto take = [&smallest](std::int64_t records) {
        if (records > 0) smallest = std::min(smallest.value_or(records), records);
    };
    take(plan.settings[Setting::kRetentionRecords]);
    for (const PlannedFault& fault : plan.faults)
        if (fault.kind == FaultKind::kSetRetention) take(fault.size);
    return smallest;
}

}  // namespace

checker::Settings checker_settings(const Plan& plan) {
    checker::Settings settings;
    settings.preset =
        plan.settings[Setting::kPreset] == kPresetStatic ? broker::Preset::kStatic : broker::Preset::kGroup;
    settings.members = members_of(plan.settings);
    settings.min_insync_replicas = int32_of(plan.settings, Setting::kMinInsyncReplicas);
    settings.ack_leader_durably = plan.settings[Setting::kAckLeaderDurably] != 0;
    const std::optional<std::int64_t> retention = smallest_retention(plan);
    settings.retention_enabled = retention.has_value();
    settings.retention_records_min = retention.value_or(0);
    settings.producers_max = static_cast<std::size_t>(plan.settings[Setting::kProducersRemembered]);
    settings.unlimited_faults = plan.settings[Setting::kUnlimitedFaults] != 0;
    return settings;
}

void set_background_rates(sim::Faults& faults, const Settings& settings) {
    struct Rate {
        sim::FaultKind kind;
        Setting setting;
    };
    constexpr Rate kRates[] = {
        {sim::FaultKind::kFrameLost, Setting::kLossPpm},
        {sim::FaultKind::kFrameDuplicated, Setting::kDuplicatePpm},
        {sim::FaultKind::kFrameReordered, Setting::kReorderPpm},
        {sim::FaultKind::kUnsyncedWriteLost, Setting::kUnsyncedWriteLostPpm},
        {sim::FaultKind::kSectorTorn, Setting::kSectorTornPpm},
        {sim::FaultKind::kWritesReordered, Setting::kWritesReorderedPpm},
        {sim::FaultKind::kRenameLost, Setting::kRenameLostPpm},
        {sim::FaultKind::kDirectoryEntryLost, Setting::kDirectoryEntryLostPpm},
    };
    for (const auto& [kind, setting] : kRates)
        faults.set_rate(kind, {static_cast<std::uint32_t>(settings[setting]), UINT32_MAX});
}

}  // namespace tidelock::scenarios
