/// Reading records: Fetch. From version 13 on topics go by id instead of name, in both directions.
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

/// Where to read a partition from, and how much of it at most.
struct FetchPartition {
    PartitionIndex partition;
    LeaderEpoch current_leader_epoch = kNoLeaderEpoch;  // what the consumer believes, to be fenced by
    Offset fetch_offset;
    LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
    Offset log_start_offset = kNoOffset;  // of a follower
    std::int32_t partition_max_bytes = 0;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition", m.partition);
        v.field("current_leader_epoch", m.current_leader_epoch, since(9));
        v.field("fetch_offset", m.fetch_offset);
        v.field("last_fetched_epoch", m.last_fetched_epoch, since(12));
        v.field("log_start_offset", m.log_start_offset, since(5));
        v.field("partition_max_bytes", m.partition_max_bytes);
    }
    bool operator==(const FetchPartition&) const = default;
};

/// A topic to read: by name up to version 12, by id from 13 on.
struct FetchTopic {
    std::string topic;
    Uuid topic_id;
    std::vector<FetchPartition> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topic", m.topic, until(12));
        v.field("topic_id", m.topic_id, since(13));
        v.field("partitions", m.partitions);
    }
    bool operator==(const FetchTopic&) const = default;
};

/// Partitions that leave a fetch session (KIP-227).
struct ForgottenTopic {
    std::string topic;
    Uuid topic_id;
    std::vector<PartitionIndex> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topic", m.topic, until(12));
        v.field("topic_id", m.topic_id, since(13));
        v.field("partitions", m.partitions);
    }
    bool operator==(const ForgottenTopic&) const = default;
};

/// A fetching follower; consumers leave it out.
struct FetchReplicaState {
    BrokerId replica_id = kNoBroker;
    std::int64_t replica_epoch = -1;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("replica_id", m.replica_id);
        v.field("replica_epoch", m.replica_epoch);
    }
    bool operator==(const FetchReplicaState&) const = default;
};

/// Give me records; wait for them up to max_wait_ms (long poll).
struct FetchRequest {
    static constexpr ApiKey kApi = ApiKey::kFetch;
    static constexpr bool kIsRequest = true;

    BrokerId replica_id = kNoBroker;  // consumers send none
    std::int32_t max_wait_ms = 0;
    std::int32_t min_bytes = 0;  // answer as soon as there is that much, or after max_wait_ms
    std::int32_t max_bytes = std::numeric_limits<std::int32_t>::max();
    std::int8_t isolation_level = kReadUncommitted;
    std::int32_t session_id = 0;
    std::int32_t session_epoch = -1;  // -1: no session wanted
    std::vector<FetchTopic> topics;
    std::vector<ForgottenTopic> forgotten_topics;
    std::string rack_id;
    std::optional<std::string> cluster_id;
    FetchReplicaState replica_state;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("replica_id", m.replica_id, until(14));
        v.field("max_wait_ms", m.max_wait_ms);
        v.field("min_bytes", m.min_bytes);
        v.field("max_bytes", m.max_bytes, since(3));
        v.field("isolation_level", m.isolation_level, since(4));
        v.field("session_id", m.session_id, since(7));
        v.field("session_epoch", m.session_epoch, since(7));
        v.field("topics", m.topics);
        v.field("forgotten_topics", m.forgotten_topics, since(7));
        v.field("rack_id", m.rack_id, since(11));
        v.tagged(0, "cluster_id", m.cluster_id, since(12));
        v.tagged(1, "replica_state", m.replica_state, since(15));
    }
    bool operator==(const FetchRequest&) const = default;
};

/// Where the asker's history leaves the leader's: the largest epoch they share and its end, exclusive.
struct DivergingEpoch {
    LeaderEpoch epoch = kNoLeaderEpoch;
    Offset end_offset = kNoOffset;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("epoch", m.epoch);
        v.field("end_offset", m.end_offset);
    }
    bool operator==(const DivergingEpoch&) const = default;
};

/// A snapshot to fetch instead; nothing here sends one.
struct FetchSnapshotId {
    Offset end_offset = kNoOffset;
    LeaderEpoch epoch = kNoLeaderEpoch;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("end_offset", m.end_offset);
        v.field("epoch", m.epoch);
    }
    bool operator==(const FetchSnapshotId&) const = default;
};

/// Records of this producer from here on are to be skipped by a reader of committed ones.
struct AbortedTransaction {
    ProducerId producer_id;
    Offset first_offset;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("producer_id", m.producer_id);
        v.field("first_offset", m.first_offset);
    }
    bool operator==(const AbortedTransaction&) const = default;
};

/// What a partition has from the offset asked for, or why nothing: kNotLeaderOrFollower with the current leader,
/// kOffsetOutOfRange, kFencedLeaderEpoch, kUnknownLeaderEpoch, kUnknownTopicOrPartition. All ends are exclusive.
struct FetchPartitionResult {
    PartitionIndex partition;
    ErrorCode error_code = ErrorCode::kNone;
    Offset high_watermark = kNoOffset;
    Offset last_stable_offset = kNoOffset;
    Offset log_start_offset = kNoOffset;
    std::optional<std::vector<AbortedTransaction>> aborted_transactions;
    BrokerId preferred_read_replica = kNoBroker;
    /// Record batches as they are in the log, shared; the last may be cut off. Never null towards clients: librdkafka
    /// takes that for a broken answer.
    std::optional<Bytes> records = Bytes();
    DivergingEpoch diverging_epoch;
    CurrentLeader current_leader;
    FetchSnapshotId snapshot_id;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition", m.partition);
        v.field("error_code", m.error_code);
        v.field("high_watermark", m.high_watermark);
        v.field("last_stable_offset", m.last_stable_offset, since(4));
        v.field("log_start_offset", m.log_start_offset, since(5));
        v.field("aborted_transactions", m.aborted_transactions, since(4));
        v.field("preferred_read_replica", m.preferred_read_replica, since(11));
        v.field("records", m.records);
        v.tagged(0, "diverging_epoch", m.diverging_epoch, since(12));
        v.tagged(1, "current_leader", m.current_leader, since(12));
        v.tagged(2, "snapshot_id", m.snapshot_id, since(12));
    }
    bool operator==(const FetchPartitionResult&) const = default;
};

/// Named as the request named it.
struct FetchTopicResult {
    std::string topic;
    Uuid topic_id;
    std::vector<FetchPartitionResult> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topic", m.topic, until(12));
        v.field("topic_id", m.topic_id, since(13));
        v.field("partitions", m.partitions);
    }
    bool operator==(const FetchTopicResult&) const = default;
};

/// Records. The top-level error_code is about the session alone (KIP-227).
struct FetchResponse {
    static constexpr ApiKey kApi = ApiKey::kFetch;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::int32_t session_id = 0;  // 0: no session
    std::vector<FetchTopicResult> topics;
    std::vector<NodeEndpoint> node_endpoints;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("error_code", m.error_code, since(7));
        v.field("session_id", m.session_id, since(7));
        v.field("topics", m.topics);
        v.tagged(0, "node_endpoints", m.node_endpoints, since(16));
    }
    bool operator==(const FetchResponse&) const = default;
};

}  // namespace tidelock::kafka
