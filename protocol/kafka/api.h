/// Which APIs are spoken, and in which versions: the one table that decoding, encoding and the ApiVersions answer go
/// by. To come: SaslHandshake (17), DeleteRecords (21), AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26),
/// TxnOffsetCommit (28), AlterConfigs (33), SaslAuthenticate (36), IncrementalAlterConfigs (44).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/kafka/presence.h"

namespace tidelock::kafka {

/// The numbers of the wire.
enum class ApiKey : std::int16_t {
    kProduce = 0,
    kFetch = 1,
    kListOffsets = 2,
    kMetadata = 3,
    kOffsetCommit = 8,
    kOffsetFetch = 9,
    kFindCoordinator = 10,
    kJoinGroup = 11,
    kHeartbeat = 12,
    kLeaveGroup = 13,
    kSyncGroup = 14,
    kDescribeGroups = 15,
    kListGroups = 16,
    kApiVersions = 18,
    kCreateTopics = 19,
    kDeleteTopics = 20,
    kInitProducerId = 22,
    kOffsetForLeaderEpoch = 23,
    kDescribeConfigs = 32,
    kCreatePartitions = 37,
    kDescribeCluster = 60,
};

/// One API. All versions are inclusive.
struct Api {
    ApiKey key;
    std::string_view name;
    Version first;
    Version last;
    /// From here on lengths are compact and structs end in tagged fields (KIP-482).
    Version flexible_from;
    /// What the ApiVersions answer gives as the first version.
    Version advertised_first;

    [[nodiscard]] constexpr bool speaks(Version version) const { return first <= version && version <= last; }
    [[nodiscard]] constexpr Dialect dialect(Version version) const { return {version, version >= flexible_from}; }
};

/// Ascending by key. Produce is advertised from 0 although 0-2 are not spoken: librdkafka compresses only for brokers
/// that seem to speak version 0 (librdkafka #4956, KAFKA-18659), and every client takes the highest version anyway.
inline constexpr std::array<Api, 21> kApis = {{
    {ApiKey::kProduce, "Produce", 3, 10, 9, 0},
    {ApiKey::kFetch, "Fetch", 4, 16, 12, 4},
    {ApiKey::kListOffsets, "ListOffsets", 1, 7, 6, 1},
    {ApiKey::kMetadata, "Metadata", 0, 12, 9, 0},
    {ApiKey::kOffsetCommit, "OffsetCommit", 2, 8, 8, 2},
    {ApiKey::kOffsetFetch, "OffsetFetch", 1, 8, 6, 1},
    {ApiKey::kFindCoordinator, "FindCoordinator", 0, 4, 3, 0},
    {ApiKey::kJoinGroup, "JoinGroup", 0, 9, 6, 0},
    {ApiKey::kHeartbeat, "Heartbeat", 0, 4, 4, 0},
    {ApiKey::kLeaveGroup, "LeaveGroup", 0, 5, 4, 0},
    {ApiKey::kSyncGroup, "SyncGroup", 0, 5, 4, 0},
    {ApiKey::kDescribeGroups, "DescribeGroups", 0, 5, 5, 0},
    {ApiKey::kListGroups, "ListGroups", 0, 4, 3, 0},
    {ApiKey::kApiVersions, "ApiVersions", 0, 4, 3, 0},
    {ApiKey::kCreateTopics, "CreateTopics", 2, 7, 5, 2},
    {ApiKey::kDeleteTopics, "DeleteTopics", 1, 6, 4, 1},
    {ApiKey::kInitProducerId, "InitProducerId", 0, 4, 2, 0},
    {ApiKey::kOffsetForLeaderEpoch, "OffsetForLeaderEpoch", 2, 4, 4, 2},
    {ApiKey::kDescribeConfigs, "DescribeConfigs", 1, 4, 4, 1},
    {ApiKey::kCreatePartitions, "CreatePartitions", 0, 3, 2, 0},
    {ApiKey::kDescribeCluster, "DescribeCluster", 0, 1, 0, 0},
}};

/// The API with this number, or nullptr.
constexpr const Api* find_api(std::int16_t key) {
    for (const Api& api : kApis)
        if (static_cast<std::int16_t>(api.key) == key) return &api;
    return nullptr;
}
constexpr const Api& api_of(ApiKey key) {
    return *find_api(static_cast<std::int16_t>(key));
}

/// Version of the header before a request: 2 when flexible, else 1.
constexpr Version request_header_version(const Api& api, Version version) {
    return api.dialect(version).is_flexible ? 2 : 1;
}
/// Version of the header before an answer: 1 when flexible, else 0; ApiVersions always 0, since its asker cannot know
/// yet what the broker speaks (KIP-511).
constexpr Version response_header_version(const Api& api, Version version) {
    return api.key != ApiKey::kApiVersions && api.dialect(version).is_flexible ? 1 : 0;
}

}  // namespace tidelock::kafka
