/// Every number, switch and choice a scenario can set, as one table: path, unit, range, default. The JSON reader, the
/// plan, the README's schema and the swarm all work from it, so a setting is added in one place.
///
/// In a scenario a setting is a closed range (a single number is a range of one) and each seed draws its value; in a
/// plan it is that value. Switches are 0 and 1, choices are indexes into `choices`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tidelock::scenarios {

enum class Setting : std::uint8_t {
    kPreset,
    kBrokers,
    kUnlimitedFaults,
    kChaosSeconds,
    kHealSeconds,
    kFrozenCorePermille,
    kEventsPerSecondMax,
    kTopics,
    kPartitions,
    kRetentionRecords,
    kElectionTimeoutMinMs,
    kElectionTimeoutMaxMs,
    kHeartbeatMs,
    kTransferTimeoutMs,
    kRaftLogEntriesMax,
    kRaftEntriesPerAppendMax,
    kRaftAppendWindowMax,
    kRaftSnapshotChunkBytesMax,
    kInternalSpareRecords,
    kProducersRemembered,
    kTrustIndexesPermille,
    kFirstRebalanceDelayMs,
    kIsrLagMs,
    kDisconnectGraceMs,
    kReplicaLagTimeoutMs,
    kReplicaLagRecordsMax,
    kMinInsyncReplicas,
    kFetchWaitMs,
    kFetchRetryMs,
    kPeerTimeoutMs,
    kFetchBytesMax,
    kSegmentBytesMax,
    kJournalBytesMax,
    kTailCacheBytesMax,
    kGatewayBytesMax,
    kAckLeaderDurably,
    kSeedExpandAtHighWatermarkOnly,
    kSeedSingleShotTruncation,
    kSeedNoCaretaker,
    kSeedIgnoreDataIncarnation,
    kSeedPositionsAsReceived,
    kSeedExpandWithinLagBound,
    kSeedHighWatermarkMayFall,
    kSeedObserveInTwoReads,
    kSeedNoPreVote,
    kSeedShrinkBelowMinimum,
    kNetworkMode,
    kDelayMinUs,
    kDelayMaxUs,
    kLossBreaksConnection,
    kBandwidthKibPerSecond,
    kLossPpm,
    kDuplicatePpm,
    kReorderPpm,
    kDriftPpm,
    kDriftBoundPpm,
    kSyncMinUs,
    kSyncMaxUs,
    kReadMinUs,
    kReadMaxUs,
    kUnsyncedWriteLostPpm,
    kSectorTornPpm,
    kWritesReorderedPpm,
    kRenameLostPpm,
    kDirectoryEntryLostPpm,
    kProducers,
    kIdempotentPermille,
    kAcksAllPermille,
    kAcksLeaderPermille,
    kProduceIntervalMs,
    kRecordsPerCall,
    kInFlightMax,
    kRecordBytes,
    kProduceTimeoutMs,
    kProduceRetries,
    kConsumers,
    kPollWaitMs,
    kPollBytesMax,
    kCommitters,
    kCommitIntervalMs,
    kGroups,
    kGroupMembers,
    kStaticMembersPermille,
    kSessionTimeoutMs,
    kRebalanceTimeoutMs,
    kMemberIntervalMs,
    kStatusPollers,
    kStatusIntervalMs,
    kCoordinatorPollers,
    kCoordinatorIntervalMs,
    kKafkaPermille,
    kRetryPauseMs,
    kShortTimeoutMs,
    kCallTimeoutMs,
    kSwarmFaultPermille,
    kCount
};

inline constexpr std::size_t kSettingCount = static_cast<std::size_t>(Setting::kCount);

enum class SettingType : std::uint8_t { kInteger, kSwitch, kChoice };

struct SettingInfo {
    Setting setting;
    std::string_view path;  // in the JSON, dots between objects
    SettingType type;
    std::int64_t min;  // inclusive
    std::int64_t max;  // inclusive
    std::int64_t default_value;
    std::string_view doc;  // with the unit
    std::span<const std::string_view> choices;
};

/// All settings, in the order of the enum.
std::span<const SettingInfo> all_settings();
const SettingInfo& info_of(Setting setting);
std::optional<Setting> setting_of(std::string_view path);

/// Closed range of integers.
struct Range {
    std::int64_t min = 0;
    std::int64_t max = 0;
    bool operator==(const Range&) const = default;
};

/// One value a setting; starts at the defaults.
template <typename Value>
class SettingValues {
  public:
    SettingValues() {
        for (const SettingInfo& info : all_settings()) values_[static_cast<std::size_t>(info.setting)] = initial(info);
    }
    [[nodiscard]] const Value& operator[](Setting setting) const { return values_[static_cast<std::size_t>(setting)]; }
    Value& operator[](Setting setting) { return values_[static_cast<std::size_t>(setting)]; }
    bool operator==(const SettingValues&) const = default;

  private:
    static Value initial(const SettingInfo& info);
    std::array<Value, kSettingCount> values_{};
};

template <>
inline std::int64_t SettingValues<std::int64_t>::initial(const SettingInfo& info) {
    return info.default_value;
}
template <>
inline Range SettingValues<Range>::initial(const SettingInfo& info) {
    return {info.default_value, info.default_value};
}

using SettingRanges = SettingValues<Range>;
using Settings = SettingValues<std::int64_t>;

inline constexpr std::int64_t kPresetGroup = 0;
inline constexpr std::int64_t kPresetStatic = 1;
inline constexpr std::int64_t kNetworkStream = 0;
inline constexpr std::int64_t kNetworkDatagram = 1;

}  // namespace tidelock::scenarios
