#include "scenarios/settings.h"

#include <algorithm>

namespace tidelock::scenarios {

namespace {

constexpr std::array<std::string_view, 2> kPresetChoices{"group", "static"};
constexpr std::array<std::string_view, 2> kNetworkModeChoices{"stream", "datagram"};

constexpr SettingInfo integer(Setting setting, std::string_view path, Range bounds, std::int64_t default_value,
                              std::string_view doc) {
    return {setting, path, SettingType::kInteger, bounds.min, bounds.max, default_value, doc, {}};
}
constexpr SettingInfo on_off(Setting setting, std::string_view path, std::string_view doc) {
    return {setting, path, SettingType::kSwitch, 0, 1, 0, doc, {}};
}
constexpr SettingInfo choice(Setting setting, std::string_view path, std::span<const std::string_view> choices,
                             std::string_view doc) {
    return {setting, path, SettingType::kChoice, 0, static_cast<std::int64_t>(choices.size()) - 1, 0, doc, choices};
}

using enum Setting;

constexpr std::array<SettingInfo, kSettingCount> kSettings{{
    choice(kPreset, "preset", kPresetChoices, "the rules the brokers follow (PROTOCOL section 0)"),
    integer(kBrokers, "brokers", {1, 9}, 3, "brokers in the cluster, each a full copy"),
    on_off(kUnlimitedFaults, "unlimited_faults", "lift the fault budget: losses beyond the promise become possible"),
    integer(kChaosSeconds, "timings.chaos_seconds", {1, 100'000}, 20, "virtual seconds in which faults fire"),
    integer(kHealSeconds, "timings.heal_seconds", {1, 10'000}, 10,
            "virtual seconds after the faults within which everything must work again (V16)"),
    integer(kFrozenCorePermille, "timings.frozen_core_permille", {0, 1'000}, 0,
            "chance that the heal point heals a random majority only and leaves the rest cut off"),
    integer(kEventsPerSecondMax, "timings.events_per_second_max", {100, 1'000'000}, 10'000,
            "event budget for each virtual second: going past it is a livelock (V16)"),
    integer(kTopics, "topics.count", {0, 64}, 1, "topics created at the start, named t0, t1, ..."),
    integer(kPartitions, "topics.partitions", {1, 64}, 2, "partitions of each topic"),
    integer(kRetentionRecords, "topics.retention_records", {0, 1'000'000}, 0,
            "records a partition keeps, of every topic created (L7); 0: all"),
    integer(kElectionTimeoutMinMs, "broker.election_timeout_min_ms", {10, 60'000}, 300, "ms, lower end of the draw"),
    integer(kElectionTimeoutMaxMs, "broker.election_timeout_max_ms", {10, 120'000}, 600, "ms, upper end of the draw"),
    integer(kHeartbeatMs, "broker.heartbeat_ms", {1, 60'000}, 100, "ms between a Raft leader's heartbeats"),
    integer(kTransferTimeoutMs, "broker.transfer_timeout_ms", {10, 60'000}, 1'000, "ms before a transfer is given up"),
    integer(kRaftLogEntriesMax, "broker.raft_log_entries_max", {1, 100'000}, 64, "entries before a snapshot (R8)"),
    integer(kRaftEntriesPerAppendMax, "broker.raft_entries_per_append_max", {1, 100'000}, 64,
            "entries in one append (R9)"),
    integer(kRaftAppendWindowMax, "broker.raft_append_window_max", {1, 100'000}, 256,
            "entries sent to a follower and not acknowledged (R9)"),
    integer(kRaftSnapshotChunkBytesMax, "broker.raft_snapshot_chunk_bytes_max", {1, 1 << 30}, 64 << 10,
            "bytes of a Raft snapshot in one message (R8)"),
    integer(kInternalSpareRecords, "broker.internal_spare_records", {1, 1'000'000}, 1'024,
            "records an internal topic may hold beyond four times what it has to (T1, T2)"),
    integer(kProducersRemembered, "broker.producers_max", {2, 1'000'000}, 4'096,
            "idempotent producers that a partition remembers; of one more, the oldest quarter is forgotten (T2)"),
    integer(kTrustIndexesPermille, "broker.trust_indexes_permille", {0, 1'000}, 0,
            "chance that a boot trusts promised sealed segments by their index, and does not verify them (L4)"),
    integer(kFirstRebalanceDelayMs, "broker.first_rebalance_delay_ms", {0, 60'000}, 200,
            "ms that an empty consumer group waits for more members (T4)"),
    integer(kIsrLagMs, "broker.isr_lag_ms", {50, 600'000}, 3'000, "ms behind before a member is removed (I2)"),
    integer(kDisconnectGraceMs, "broker.disconnect_grace_ms", {0, 60'000}, 200,
            "ms that a member may be unheard of after its connection has ended, before it is removed (I2); 0: no such "
            "bound"),
    integer(kReplicaLagTimeoutMs, "broker.replica_lag_timeout_ms", {0, 600'000}, 0,
            "ms without a fetch before removal (I2, 002); 0: no such bound"),
    integer(kReplicaLagRecordsMax, "broker.replica_lag_records_max", {-1, 1'000'000}, -1,
            "records behind before removal (I2, 002); -1: no such bound"),
    integer(kMinInsyncReplicas, "broker.min_insync_replicas", {0, 9}, 0,
            "members acks=all needs (I8, I11); 0: a majority of the brokers"),
    integer(kFetchWaitMs, "broker.fetch_wait_ms", {1, 60'000}, 500, "ms a leader holds an empty fetch"),
    integer(kFetchRetryMs, "broker.fetch_retry_ms", {1, 60'000}, 50, "ms before a failed fetch is tried again"),
    integer(kPeerTimeoutMs, "broker.peer_timeout_ms", {10, 60'000}, 1'000, "ms before a peer request is given up"),
    integer(kFetchBytesMax, "broker.fetch_bytes_max", {128, 64 << 20}, 1 << 20, "bytes in one fetch answer"),
    integer(kSegmentBytesMax, "broker.segment_bytes_max", {256, 1 << 30}, 1 << 20, "bytes before a new segment"),
    integer(kJournalBytesMax, "broker.journal_bytes_max", {512, 1 << 30}, 1 << 20,
            "bytes before the checkpoint journal is rewritten into a new file"),
    integer(kTailCacheBytesMax, "broker.tail_cache_bytes_max", {0, 1 << 30}, 64 << 10,
            "bytes of a partition's newest records kept in memory: the less, the more is read from disk"),
    integer(kGatewayBytesMax, "broker.gateway_bytes_max", {1'024, 64 << 20}, 64 << 20,
            "bytes of a Kafka connection's requests and answers under way before it is not read from"),
    on_off(kAckLeaderDurably, "broker.ack_leader_durably", "acks=leader waits for the local sync (A5)"),
    on_off(kSeedExpandAtHighWatermarkOnly, "broker.seed_rules.expand_at_high_watermark_only", "D1, KAFKA-7128"),
    on_off(kSeedSingleShotTruncation, "broker.seed_rules.single_shot_truncation", "D2, KIP-279"),
    on_off(kSeedNoCaretaker, "broker.seed_rules.no_caretaker", "D3"),
    on_off(kSeedIgnoreDataIncarnation, "broker.seed_rules.ignore_data_incarnation", "D4, KIP-903"),
    on_off(kSeedPositionsAsReceived, "broker.seed_rules.positions_as_received", "D5"),
    on_off(kSeedExpandWithinLagBound, "broker.seed_rules.expand_within_lag_bound", "D11"),
    on_off(kSeedHighWatermarkMayFall, "broker.seed_rules.high_watermark_may_fall", "D11"),
    on_off(kSeedObserveInTwoReads, "broker.seed_rules.observe_in_two_reads", "D15"),
    on_off(kSeedNoPreVote, "broker.seed_rules.no_pre_vote", "D16"),
    on_off(kSeedShrinkBelowMinimum, "broker.seed_rules.shrink_below_minimum", "the set may shrink to one (I11)"),
    choice(kNetworkMode, "network.mode", kNetworkModeChoices,
           "what a link between brokers is like: TCP or UDP; clients use streams either way"),
    integer(kDelayMinUs, "network.delay_min_us", {0, 10'000'000}, 100, "us, shortest one-way delay"),
    integer(kDelayMaxUs, "network.delay_max_us", {1, 10'000'000}, 20'000,
            "us, longest one-way delay; most are near a tenth of it"),
    on_off(kLossBreaksConnection, "network.loss_breaks_connection",
           "a lost frame ends its stream's connection, as TCP would in the end; else later frames go on arriving"),
    integer(kBandwidthKibPerSecond, "network.bandwidth_kib_per_second", {0, 100'000'000}, 0,
            "KiB a second on each link; 0: without limit"),
    integer(kLossPpm, "network.loss_ppm", {0, 1'000'000}, 0, "frames lost all the time, per million"),
    integer(kDuplicatePpm, "network.duplicate_ppm", {0, 1'000'000}, 0, "frames doubled all the time, per million"),
    integer(kReorderPpm, "network.reorder_ppm", {0, 1'000'000}, 0, "frames overtaken all the time, per million"),
    integer(kDriftPpm, "clocks.drift_ppm", {0, 100'000}, 100, "largest rate error of a host's monotonic clock"),
    integer(kDriftBoundPpm, "clocks.bound_ppm", {0, 100'000}, 1'000, "rate error the brokers are told to expect"),
    integer(kSyncMinUs, "disk.sync_min_us", {0, 60'000'000}, 100, "us, fastest sync"),
    integer(kSyncMaxUs, "disk.sync_max_us", {1, 60'000'000}, 20'000, "us, slowest sync; most are near a tenth of it"),
    integer(kReadMinUs, "disk.read_min_us", {0, 60'000'000}, 20, "us, fastest read"),
    integer(kReadMaxUs, "disk.read_max_us", {1, 60'000'000}, 2'000, "us, slowest read; most are near a tenth of it"),
    integer(kUnsyncedWriteLostPpm, "disk.crash.unsynced_write_lost_ppm", {0, 1'000'000}, 500'000,
            "unsynced writes a power loss takes, per million"),
    integer(kSectorTornPpm, "disk.crash.sector_torn_ppm", {0, 1'000'000}, 200'000,
            "unsynced writes a power loss tears in the middle, per million"),
    integer(kWritesReorderedPpm, "disk.crash.writes_reordered_ppm", {0, 1'000'000}, 200'000,
            "unsynced writes that outlive an earlier one a power loss takes, per million"),
    integer(kRenameLostPpm, "disk.crash.rename_lost_ppm", {0, 1'000'000}, 500'000,
            "renames without a directory sync a power loss takes back, per million"),
    integer(kDirectoryEntryLostPpm, "disk.crash.directory_entry_lost_ppm", {0, 1'000'000}, 500'000,
            "new or removed files without a directory sync a power loss takes back, per million"),
    integer(kProducers, "clients.producers", {0, 64}, 2, "producers"),
    integer(kIdempotentPermille, "clients.idempotent_permille", {0, 1'000}, 500, "share of producers with an id (T2)"),
    integer(kAcksAllPermille, "clients.acks_all_permille", {0, 1'000}, 900, "share of producers with acks=all"),
    integer(kAcksLeaderPermille, "clients.acks_leader_permille", {0, 1'000}, 70,
            "share of producers with acks=leader; the rest use acks=none"),
    integer(kProduceIntervalMs, "clients.produce_interval_ms", {1, 600'000}, 400, "ms between calls of one producer"),
    integer(kRecordsPerCall, "clients.records_per_call", {1, 1'000}, 3, "records in one produce call"),
    integer(kInFlightMax, "clients.in_flight_max", {1, 5}, 1,
            "most batches that an idempotent producer has under way in one partition; each draws its own number"),
    integer(kRecordBytes, "clients.record_bytes", {8, 1 << 20}, 24, "bytes of a record's value"),
    integer(kProduceTimeoutMs, "clients.produce_timeout_ms", {10, 600'000}, 1'500, "ms the broker may wait (A5)"),
    integer(kProduceRetries, "clients.produce_retries", {0, 1'000}, 8, "retries before a batch is given up"),
    integer(kConsumers, "clients.consumers", {0, 64}, 1, "consumers, each reading every partition"),
    integer(kPollWaitMs, "clients.poll_wait_ms", {1, 60'000}, 800, "ms of a long poll"),
    integer(kPollBytesMax, "clients.poll_bytes_max", {128, 64 << 20}, 1 << 16, "bytes of one poll's answer"),
    integer(kCommitters, "clients.offset_committers", {0, 64}, 1, "consumer groups that commit and read back offsets"),
    integer(kCommitIntervalMs, "clients.commit_interval_ms", {1, 600'000}, 1'500, "ms between two commits"),
    integer(kGroups, "clients.groups", {0, 8}, 0, "consumer groups whose members share the partitions (T4)"),
    integer(kGroupMembers, "clients.group_members", {1, 12}, 3, "members of each such group"),
    integer(kStaticMembersPermille, "clients.static_members_permille", {0, 1'000}, 300,
            "share of members with a name of their own that outlives them (KIP-345)"),
    integer(kSessionTimeoutMs, "clients.session_timeout_ms", {100, 600'000}, 1'500,
            "ms after which a silent member is out of its group"),
    integer(kRebalanceTimeoutMs, "clients.rebalance_timeout_ms", {100, 600'000}, 1'500,
            "ms that a group waits for its members to join again"),
    integer(kMemberIntervalMs, "clients.member_interval_ms", {1, 600'000}, 100,
            "ms, longest pause of a member that found nothing to read"),
    integer(kStatusPollers, "clients.status_pollers", {0, 64}, 1, "pollers of every broker's status (V22)"),
    integer(kStatusIntervalMs, "clients.status_interval_ms", {1, 600'000}, 3'000, "ms between two status questions"),
    integer(kCoordinatorPollers, "clients.coordinator_pollers", {0, 64}, 0,
            "clients that keep asking for committed offsets and new producer ids (V14, T2)"),
    integer(kCoordinatorIntervalMs, "clients.coordinator_interval_ms", {1, 600'000}, 150,
            "ms between two such questions"),
    integer(kKafkaPermille, "clients.kafka_permille", {0, 1'000}, 0,
            "share of clients that speak to brokers over the Kafka wire, in whatever versions they draw"),
    integer(kRetryPauseMs, "clients.retry_pause_ms", {1, 600'000}, 200, "ms, longest pause before another try"),
    integer(kShortTimeoutMs, "clients.short_timeout_ms", {1, 600'000}, 800, "ms for an answer that waits for nothing"),
    integer(kCallTimeoutMs, "clients.call_timeout_ms", {10, 600'000}, 2'500, "ms before an answer is given up"),
    integer(kSwarmFaultPermille, "swarm.fault_permille", {0, 1'000}, 1'000,
            "chance that a fault without a `swarm_permille` of its own is on for a seed"),
}};

constexpr bool in_enum_order() {
    for (std::size_t i = 0; i < kSettingCount; ++i)
        if (static_cast<std::size_t>(kSettings[i].setting) != i) return false;
    return true;
}
static_assert(in_enum_order());

}  // namespace

std::span<const SettingInfo> all_settings() {
    return kSettings;
}

const SettingInfo& info_of(Setting setting) {
    return kSettings[static_cast<std::size_t>(setting)];
}

std::optional<Setting> setting_of(std::string_view path) {
    const auto* found =
        std::find_if(kSettings.begin(), kSettings.end(), [path](const SettingInfo& info) { return info.path == path; });
    if (found == kSettings.end()) return std::nullopt;
    return found->setting;
}

}  // namespace tidelock::scenarios
