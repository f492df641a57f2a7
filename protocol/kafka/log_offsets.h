/// Questions about positions in a partition's log: ListOffsets and OffsetForLeaderEpoch.
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- ListOffsets ---------------------------------------------------------------------------------------------

/// What `timestamp` asks for when it is no time.
inline constexpr std::int64_t kLatestOffset = -1;
inline constexpr std::int64_t kEarliestOffset = -2;
inline constexpr std::int64_t kMaxTimestampOffset = -3;  // since version 7

/// A time in a partition whose offset is asked for.
struct ListOffsetsPartition {
    PartitionIndex partition_index;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    std::int64_t timestamp = 0;  // ms, or one of the above

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition_index", m.partition_index);
        v.field("current_leader_epoch", m.current_leader_epoch, since(4));
        v.field("timestamp", m.timestamp);
    }
    bool operator==(const ListOffsetsPartition&) const = default;
};

/// Partitions of a topic that are asked about.
struct ListOffsetsTopic {
    std::string name;
    std::vector<ListOffsetsPartition> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const ListOffsetsTopic&) const = default;
};

/// Which offset is the first, the end, or the first at or after a time?
struct ListOffsetsRequest {
    static constexpr ApiKey kApi = ApiKey::kListOffsets;
    static constexpr bool kIsRequest = true;

    BrokerId replica_id = kNoBroker;
    std::int8_t isolation_level = kReadUncommitted;
    std::vector<ListOffsetsTopic> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("replica_id", m.replica_id);
        v.field("isolation_level", m.isolation_level, since(2));
        v.field("topics", m.topics);
    }
    bool operator==(const ListOffsetsRequest&) const = default;
};

/// The offset asked for; kNoOffset when no record is that late.
struct ListOffsetsPartitionResult {
    PartitionIndex partition_index;
    ErrorCode error_code = ErrorCode::kNone;
    std::int64_t timestamp = -1;  // ms, of the record at `offset`
    Offset offset = kNoOffset;
    LeaderEpoch leader_epoch = kNoLeaderEpoch;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition_index", m.partition_index);
        v.field("error_code", m.error_code);
        v.field("timestamp", m.timestamp);
        v.field("offset", m.offset);
        v.field("leader_epoch", m.leader_epoch, since(4));
    }
    bool operator==(const ListOffsetsPartitionResult&) const = default;
};

/// A topic's results.
struct ListOffsetsTopicResult {
    std::string name;
    std::vector<ListOffsetsPartitionResult> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const ListOffsetsTopicResult&) const = default;
};

/// The offsets in the order of the request.
struct ListOffsetsResponse {
    static constexpr ApiKey kApi = ApiKey::kListOffsets;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<ListOffsetsTopicResult> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(2));
        v.field("topics", m.topics);
    }
    bool operator==(const ListOffsetsResponse&) const = default;
};

// --- OffsetForLeaderEpoch ------------------------------------------------------------------------------------

/// A leader epoch of a partition.
struct EpochPartition {
    PartitionIndex partition;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
    LeaderEpoch leader_epoch;  // the one whose end is asked for

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition", m.partition);
        v.field("current_leader_epoch", m.current_leader_epoch, since(2));
        v.field("leader_epoch", m.leader_epoch);
    }
    bool operator==(const EpochPartition&) const = default;
};

/// Partitions of a topic that are asked about.
struct EpochTopic {
    std::string topic;
    std::vector<EpochPartition> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topic", m.topic);
        v.field("partitions", m.partitions);
    }
    bool operator==(const EpochTopic&) const = default;
};

/// Where did these leader epochs end? Consumers find with it what was truncated (KIP-320).
struct OffsetForLeaderEpochRequest {
    static constexpr ApiKey kApi = ApiKey::kOffsetForLeaderEpoch;
    static constexpr bool kIsRequest = true;

    BrokerId replica_id{-2};  // -2: a consumer of before version 3, or one that may see past the high watermark
    std::vector<EpochTopic> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("replica_id", m.replica_id, since(3));
        v.field("topics", m.topics);
    }
    bool operator==(const OffsetForLeaderEpochRequest&) const = default;
};

/// Where the epoch ended.
struct EpochPartitionResult {
    ErrorCode error_code = ErrorCode::kNone;
    PartitionIndex partition;
    LeaderEpoch leader_epoch = kNoLeaderEpoch;  // the largest one known up to the one asked for
    Offset end_offset = kNoOffset;              // of that epoch, exclusive

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("error_code", m.error_code);
        v.field("partition", m.partition);
        v.field("leader_epoch", m.leader_epoch, since(1));
        v.field("end_offset", m.end_offset);
    }
    bool operator==(const EpochPartitionResult&) const = default;
};

/// A topic's results.
struct EpochTopicResult {
    std::string topic;
    std::vector<EpochPartitionResult> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topic", m.topic);
        v.field("partitions", m.partitions);
    }
    bool operator==(const EpochTopicResult&) const = default;
};

/// The ends in the order of the request.
struct OffsetForLeaderEpochResponse {
    static constexpr ApiKey kApi = ApiKey::kOffsetForLeaderEpoch;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<EpochTopicResult> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(2));
        v.field("topics", m.topics);
    }
    bool operator==(const OffsetForLeaderEpochResponse&) const = default;
};

}  // namespace tidelock::kafka
