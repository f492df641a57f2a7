/// A group's committed offsets: OffsetCommit and OffsetFetch (T1).
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- OffsetCommit --------------------------------------------------------------------------------------------

/// How far a group has read a partition.
struct OffsetCommitPartition {
    PartitionIndex partition_index;
    Offset committed_offset;  // the next one to read
    LeaderEpoch committed_leader_epoch = kNoLeaderEpoch;
    std::optional<std::string> committed_metadata;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition_index", m.partition_index);
        v.field("committed_offset", m.committed_offset);
        v.field("committed_leader_epoch", m.committed_leader_epoch, since(6));
        v.field("committed_metadata", m.committed_metadata);
    }
    bool operator==(const OffsetCommitPartition&) const = default;
};

/// A topic's commits.
struct OffsetCommitTopic {
    std::string name;
    std::vector<OffsetCommitPartition> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const OffsetCommitTopic&) const = default;
};

/// Remember how far the group has read.
struct OffsetCommitRequest {
    static constexpr ApiKey kApi = ApiKey::kOffsetCommit;
    static constexpr bool kIsRequest = true;

    std::string group_id;
    std::int32_t generation_id = -1;  // -1 and no member: a committer outside of any group
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::int64_t retention_time_ms = -1;
    std::vector<OffsetCommitTopic> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("generation_id", m.generation_id, since(1));
        v.field("member_id", m.member_id, since(1));
        v.field("group_instance_id", m.group_instance_id, since(7));
        v.field("retention_time_ms", m.retention_time_ms, between(2, 4));
        v.field("topics", m.topics);
    }
    bool operator==(const OffsetCommitRequest&) const = default;
};

/// Whether the commit is remembered.
struct OffsetCommitPartitionResult {
    PartitionIndex partition_index;
    ErrorCode error_code = ErrorCode::kNone;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition_index", m.partition_index);
        v.field("error_code", m.error_code);
    }
    bool operator==(const OffsetCommitPartitionResult&) const = default;
};

/// A topic's results.
struct OffsetCommitTopicResult {
    std::string name;
    std::vector<OffsetCommitPartitionResult> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const OffsetCommitTopicResult&) const = default;
};

/// The results in the order of the request.
struct OffsetCommitResponse {
    static constexpr ApiKey kApi = ApiKey::kOffsetCommit;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<OffsetCommitTopicResult> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(3));
        v.field("topics", m.topics);
    }
    bool operator==(const OffsetCommitResponse&) const = default;
};

// --- OffsetFetch ---------------------------------------------------------------------------------------------

/// Partitions of a topic that are asked about.
struct OffsetFetchTopic {
    std::string name;
    std::vector<PartitionIndex> partition_indexes;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partition_indexes", m.partition_indexes);
    }
    bool operator==(const OffsetFetchTopic&) const = default;
};

/// A group that is asked about.
struct OffsetFetchGroup {
    std::string group_id;
    std::optional<std::vector<OffsetFetchTopic>> topics;  // null: all

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("topics", m.topics);
    }
    bool operator==(const OffsetFetchGroup&) const = default;
};

/// One group up to version 7, several from 8 on.
struct OffsetFetchRequest {
    static constexpr ApiKey kApi = ApiKey::kOffsetFetch;
    static constexpr bool kIsRequest = true;

    std::string group_id;
    std::optional<std::vector<OffsetFetchTopic>> topics;  // null: all
    std::vector<OffsetFetchGroup> groups;
    bool require_stable = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id, until(7));
        v.field("topics", m.topics, until(7).nullable_since(2));
        v.field("groups", m.groups, since(8));
        v.field("require_stable", m.require_stable, since(7));
    }
    bool operator==(const OffsetFetchRequest&) const = default;
};

/// What the group has committed for a partition.
struct OffsetFetchPartitionResult {
    PartitionIndex partition_index;
    Offset committed_offset = kNoOffset;  // none: nothing was committed
    LeaderEpoch committed_leader_epoch = kNoLeaderEpoch;
    std::optional<std::string> metadata;
    ErrorCode error_code = ErrorCode::kNone;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition_index", m.partition_index);
        v.field("committed_offset", m.committed_offset);
        v.field("committed_leader_epoch", m.committed_leader_epoch, since(5));
        v.field("metadata", m.metadata);
        v.field("error_code", m.error_code);
    }
    bool operator==(const OffsetFetchPartitionResult&) const = default;
};

/// A topic's results.
struct OffsetFetchTopicResult {
    std::string name;
    std::vector<OffsetFetchPartitionResult> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const OffsetFetchTopicResult&) const = default;
};

/// A group's results.
struct OffsetFetchGroupResult {
    std::string group_id;
    std::vector<OffsetFetchTopicResult> topics;
    ErrorCode error_code = ErrorCode::kNone;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("topics", m.topics);
        v.field("error_code", m.error_code);
    }
    bool operator==(const OffsetFetchGroupResult&) const = default;
};

/// One group up to version 7, several from 8 on.
struct OffsetFetchResponse {
    static constexpr ApiKey kApi = ApiKey::kOffsetFetch;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<OffsetFetchTopicResult> topics;
    /// Not in version 1, where each partition has to say it.
    ErrorCode error_code = ErrorCode::kNone;
    std::vector<OffsetFetchGroupResult> groups;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(3));
        v.field("topics", m.topics, until(7));
        v.field("error_code", m.error_code, between(2, 7));
        v.field("groups", m.groups, since(8));
    }
    bool operator==(const OffsetFetchResponse&) const = default;
};

}  // namespace tidelock::kafka
