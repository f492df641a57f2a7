/// Who is there and what do they speak: ApiVersions, Metadata, DescribeCluster.
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- ApiVersions ---------------------------------------------------------------------------------------------

/// What does this broker speak? The first thing a client asks (KIP-35, KIP-511).
struct ApiVersionsRequest {
    static constexpr ApiKey kApi = ApiKey::kApiVersions;
    static constexpr bool kIsRequest = true;

    std::string client_software_name;
    std::string client_software_version;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("client_software_name", m.client_software_name, since(3));
        v.field("client_software_version", m.client_software_version, since(3));
    }
    bool operator==(const ApiVersionsRequest&) const = default;
};

/// A range of versions, inclusive.
struct ApiVersionRange {
    std::int16_t api_key = 0;
    Version min_version = 0;
    Version max_version = 0;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("api_key", m.api_key);
        v.field("min_version", m.min_version);
        v.field("max_version", m.max_version);
    }
    bool operator==(const ApiVersionRange&) const = default;
};

/// A feature of the cluster and its levels, inclusive. Ours has none.
struct SupportedFeature {
    std::string name;
    std::int16_t min_version = 0;
    std::int16_t max_version = 0;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("min_version", m.min_version);
        v.field("max_version", m.max_version);
    }
    bool operator==(const SupportedFeature&) const = default;
};

/// A feature that the whole cluster has agreed on, and its levels, inclusive.
struct FinalizedFeature {
    std::string name;
    std::int16_t max_version_level = 0;
    std::int16_t min_version_level = 0;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("max_version_level", m.max_version_level);
        v.field("min_version_level", m.min_version_level);
    }
    bool operator==(const FinalizedFeature&) const = default;
};

/// The APIs and their versions; the features of the cluster in tagged fields.
struct ApiVersionsResponse {
    static constexpr ApiKey kApi = ApiKey::kApiVersions;
    static constexpr bool kIsRequest = false;

    ErrorCode error_code = ErrorCode::kNone;
    std::vector<ApiVersionRange> api_keys;
    std::int32_t throttle_time_ms = 0;
    std::vector<SupportedFeature> supported_features;
    std::int64_t finalized_features_epoch = -1;
    std::vector<FinalizedFeature> finalized_features;
    bool zk_migration_ready = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("error_code", m.error_code);
        v.field("api_keys", m.api_keys);
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.tagged(0, "supported_features", m.supported_features, since(3));
        v.tagged(1, "finalized_features_epoch", m.finalized_features_epoch, since(3), -1);
        v.tagged(2, "finalized_features", m.finalized_features, since(3));
        v.tagged(3, "zk_migration_ready", m.zk_migration_ready, since(3));
    }
    bool operator==(const ApiVersionsResponse&) const = default;
};

/// The answer to ApiVersions, made of kApis.
ApiVersionsResponse supported_versions();

// --- Metadata ------------------------------------------------------------------------------------------------

/// A topic asked about, by name or since version 10 by id.
struct MetadataTopicName {
    Uuid topic_id;
    std::optional<std::string> name;  // null when asked by id

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topic_id", m.topic_id, since(10));
        v.field("name", m.name, kAlways.nullable_since(10));
    }
    bool operator==(const MetadataTopicName&) const = default;
};

/// Where are these topics? `allow_auto_topic_creation` lets a broker create those that are missing.
struct MetadataRequest {
    static constexpr ApiKey kApi = ApiKey::kMetadata;
    static constexpr bool kIsRequest = true;

    /// Null asks for all topics, empty for none; in version 0 empty asks for all.
    std::optional<std::vector<MetadataTopicName>> topics;
    bool allow_auto_topic_creation = true;
    bool include_cluster_authorized_operations = false;
    bool include_topic_authorized_operations = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topics", m.topics, kAlways.nullable_since(1));
        v.field("allow_auto_topic_creation", m.allow_auto_topic_creation, since(4));
        v.field("include_cluster_authorized_operations", m.include_cluster_authorized_operations, between(8, 10));
        v.field("include_topic_authorized_operations", m.include_topic_authorized_operations, since(8));
    }
    bool operator==(const MetadataRequest&) const = default;
};

/// A live broker and where clients reach it.
struct MetadataBroker {
    BrokerId node_id;
    std::string host;
    std::int32_t port = 0;
    std::optional<std::string> rack;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("node_id", m.node_id);
        v.field("host", m.host);
        v.field("port", m.port);
        v.field("rack", m.rack, since(1));
    }
    bool operator==(const MetadataBroker&) const = default;
};

/// A partition, who leads it and who has it. error_code kLeaderNotAvailable: nobody leads it now.
struct MetadataPartition {
    ErrorCode error_code = ErrorCode::kNone;
    PartitionIndex partition_index;
    BrokerId leader_id = kNoBroker;
    LeaderEpoch leader_epoch = kNoLeaderEpoch;
    std::vector<BrokerId> replica_nodes;
    std::vector<BrokerId> isr_nodes;
    std::vector<BrokerId> offline_replicas;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("error_code", m.error_code);
        v.field("partition_index", m.partition_index);
        v.field("leader_id", m.leader_id);
        v.field("leader_epoch", m.leader_epoch, since(7));
        v.field("replica_nodes", m.replica_nodes);
        v.field("isr_nodes", m.isr_nodes);
        v.field("offline_replicas", m.offline_replicas, since(5));
    }
    bool operator==(const MetadataPartition&) const = default;
};

/// A topic, or why there is none: kUnknownTopicOrPartition, kUnknownTopicId, kInvalidTopicException.
struct MetadataTopic {
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> name;
    /// All zero keeps clients from fetching by id.
    Uuid topic_id;
    bool is_internal = false;
    std::vector<MetadataPartition> partitions;
    std::int32_t topic_authorized_operations = kOperationsOmitted;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("error_code", m.error_code);
        v.field("name", m.name, kAlways.nullable_since(12));
        v.field("topic_id", m.topic_id, since(10));
        v.field("is_internal", m.is_internal, since(1));
        v.field("partitions", m.partitions);
        v.field("topic_authorized_operations", m.topic_authorized_operations, since(8));
    }
    bool operator==(const MetadataTopic&) const = default;
};

/// The cluster as this broker knows it.
struct MetadataResponse {
    static constexpr ApiKey kApi = ApiKey::kMetadata;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<MetadataBroker> brokers;
    std::optional<std::string> cluster_id;
    BrokerId controller_id = kNoBroker;
    std::vector<MetadataTopic> topics;
    std::int32_t cluster_authorized_operations = kOperationsOmitted;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(3));
        v.field("brokers", m.brokers);
        v.field("cluster_id", m.cluster_id, since(2));
        v.field("controller_id", m.controller_id, since(1));
        v.field("topics", m.topics);
        v.field("cluster_authorized_operations", m.cluster_authorized_operations, between(8, 10));
    }
    bool operator==(const MetadataResponse&) const = default;
};

// --- DescribeCluster -----------------------------------------------------------------------------------------

/// endpoint_type.
inline constexpr std::int8_t kBrokerEndpoints = 1;
inline constexpr std::int8_t kControllerEndpoints = 2;

/// Who is in the cluster (KIP-700)?
struct DescribeClusterRequest {
    static constexpr ApiKey kApi = ApiKey::kDescribeCluster;
    static constexpr bool kIsRequest = true;

    bool include_cluster_authorized_operations = false;
    std::int8_t endpoint_type = kBrokerEndpoints;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("include_cluster_authorized_operations", m.include_cluster_authorized_operations);
        v.field("endpoint_type", m.endpoint_type, since(1));
    }
    bool operator==(const DescribeClusterRequest&) const = default;
};

/// The brokers, and the one that takes changes of topics.
struct DescribeClusterResponse {
    static constexpr ApiKey kApi = ApiKey::kDescribeCluster;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;
    std::int8_t endpoint_type = kBrokerEndpoints;
    std::string cluster_id;
    BrokerId controller_id = kNoBroker;
    std::vector<NodeEndpoint> brokers;
    std::int32_t cluster_authorized_operations = kOperationsOmitted;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms);
        v.field("error_code", m.error_code);
        v.field("error_message", m.error_message);
        v.field("endpoint_type", m.endpoint_type, since(1));
        v.field("cluster_id", m.cluster_id);
        v.field("controller_id", m.controller_id);
        v.field("brokers", m.brokers);
        v.field("cluster_authorized_operations", m.cluster_authorized_operations);
    }
    bool operator==(const DescribeClusterResponse&) const = default;
};

}  // namespace tidelock::kafka
