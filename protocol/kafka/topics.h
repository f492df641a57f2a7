/// Changing topics and looking at their settings: CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs.
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- CreateTopics --------------------------------------------------------------------------------------------

/// Which brokers shall have a partition, the preferred leader first.
struct CreatableReplicaAssignment {
    PartitionIndex partition_index;
    std::vector<BrokerId> broker_ids;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("partition_index", m.partition_index);
        v.field("broker_ids", m.broker_ids);
    }
    bool operator==(const CreatableReplicaAssignment&) const = default;
};

/// A setting of a new topic; null: the default.
struct CreatableTopicConfig {
    std::string name;
    std::optional<std::string> value;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("value", m.value);
    }
    bool operator==(const CreatableTopicConfig&) const = default;
};

/// A topic to create.
struct CreatableTopic {
    std::string name;
    std::int32_t num_partitions = -1;      // -1: the broker's default, or as assigned
    std::int16_t replication_factor = -1;  // likewise
    std::vector<CreatableReplicaAssignment> assignments;
    std::vector<CreatableTopicConfig> configs;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("num_partitions", m.num_partitions);
        v.field("replication_factor", m.replication_factor);
        v.field("assignments", m.assignments);
        v.field("configs", m.configs);
    }
    bool operator==(const CreatableTopic&) const = default;
};

/// Create these topics.
struct CreateTopicsRequest {
    static constexpr ApiKey kApi = ApiKey::kCreateTopics;
    static constexpr bool kIsRequest = true;

    std::vector<CreatableTopic> topics;
    std::int32_t timeout_ms = 60'000;
    bool validate_only = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topics", m.topics);
        v.field("timeout_ms", m.timeout_ms);
        v.field("validate_only", m.validate_only, since(1));
    }
    bool operator==(const CreateTopicsRequest&) const = default;
};

/// Where a setting comes from (config_source).
inline constexpr std::int8_t kUnknownConfig = -1;
inline constexpr std::int8_t kTopicConfig = 1;
inline constexpr std::int8_t kStaticBrokerConfig = 4;
inline constexpr std::int8_t kDefaultConfig = 5;

/// A setting as the new topic has it.
struct CreatedTopicConfig {
    std::string name;
    std::optional<std::string> value;
    bool read_only = false;
    std::int8_t config_source = kUnknownConfig;
    bool is_sensitive = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("value", m.value);
        v.field("read_only", m.read_only);
        v.field("config_source", m.config_source);
        v.field("is_sensitive", m.is_sensitive);
    }
    bool operator==(const CreatedTopicConfig&) const = default;
};

/// A topic as created, or why it was not.
struct CreatedTopic {
    std::string name;
    Uuid topic_id;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;
    std::int32_t num_partitions = -1;
    std::int16_t replication_factor = -1;
    std::optional<std::vector<CreatedTopicConfig>> configs;
    ErrorCode topic_config_error_code = ErrorCode::kNone;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("topic_id", m.topic_id, since(7));
        v.field("error_code", m.error_code);
        v.field("error_message", m.error_message, since(1));
        v.field("num_partitions", m.num_partitions, since(5));
        v.field("replication_factor", m.replication_factor, since(5));
        v.field("configs", m.configs, since(5));
        v.tagged(0, "topic_config_error_code", m.topic_config_error_code, since(5));
    }
    bool operator==(const CreatedTopic&) const = default;
};

/// The topics in the order of the request.
struct CreateTopicsResponse {
    static constexpr ApiKey kApi = ApiKey::kCreateTopics;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<CreatedTopic> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(2));
        v.field("topics", m.topics);
    }
    bool operator==(const CreateTopicsResponse&) const = default;
};

// --- DeleteTopics --------------------------------------------------------------------------------------------

/// By name or by id.
struct DeletableTopic {
    std::optional<std::string> name;
    Uuid topic_id;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("topic_id", m.topic_id);
    }
    bool operator==(const DeletableTopic&) const = default;
};

/// Delete these topics.
struct DeleteTopicsRequest {
    static constexpr ApiKey kApi = ApiKey::kDeleteTopics;
    static constexpr bool kIsRequest = true;

    std::vector<DeletableTopic> topics;    // from version 6 on
    std::vector<std::string> topic_names;  // before
    std::int32_t timeout_ms = 0;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topics", m.topics, since(6));
        v.field("topic_names", m.topic_names, until(5));
        v.field("timeout_ms", m.timeout_ms);
    }
    bool operator==(const DeleteTopicsRequest&) const = default;
};

/// A topic that is gone, or why it is not.
struct DeletedTopic {
    std::optional<std::string> name;
    Uuid topic_id;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name, kAlways.nullable_since(6));
        v.field("topic_id", m.topic_id, since(6));
        v.field("error_code", m.error_code);
        v.field("error_message", m.error_message, since(5));
    }
    bool operator==(const DeletedTopic&) const = default;
};

/// The topics in the order of the request.
struct DeleteTopicsResponse {
    static constexpr ApiKey kApi = ApiKey::kDeleteTopics;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<DeletedTopic> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("topics", m.topics);
    }
    bool operator==(const DeleteTopicsResponse&) const = default;
};

// --- CreatePartitions ----------------------------------------------------------------------------------------

/// Which brokers shall have one of the new partitions.
struct NewPartitionAssignment {
    std::vector<BrokerId> broker_ids;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("broker_ids", m.broker_ids);
    }
    bool operator==(const NewPartitionAssignment&) const = default;
};

/// A topic that shall have more partitions.
struct GrowingTopic {
    std::string name;
    std::int32_t count = 0;                                          // of all partitions, afterwards
    std::optional<std::vector<NewPartitionAssignment>> assignments;  // null: the broker places them

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("count", m.count);
        v.field("assignments", m.assignments);
    }
    bool operator==(const GrowingTopic&) const = default;
};

/// Let these topics grow.
struct CreatePartitionsRequest {
    static constexpr ApiKey kApi = ApiKey::kCreatePartitions;
    static constexpr bool kIsRequest = true;

    std::vector<GrowingTopic> topics;
    std::int32_t timeout_ms = 0;
    bool validate_only = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topics", m.topics);
        v.field("timeout_ms", m.timeout_ms);
        v.field("validate_only", m.validate_only);
    }
    bool operator==(const CreatePartitionsRequest&) const = default;
};

/// Whether the topic has grown.
struct GrownTopic {
    std::string name;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("error_code", m.error_code);
        v.field("error_message", m.error_message);
    }
    bool operator==(const GrownTopic&) const = default;
};

/// The topics in the order of the request.
struct CreatePartitionsResponse {
    static constexpr ApiKey kApi = ApiKey::kCreatePartitions;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<GrownTopic> results;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms);
        v.field("results", m.results);
    }
    bool operator==(const CreatePartitionsResponse&) const = default;
};

// --- DescribeConfigs -----------------------------------------------------------------------------------------

/// resource_type.
inline constexpr std::int8_t kTopicResource = 2;
inline constexpr std::int8_t kBrokerResource = 4;

/// A topic or broker whose settings are asked for.
struct ConfigResource {
    std::int8_t resource_type = 0;
    std::string resource_name;
    std::optional<std::vector<std::string>> configuration_keys;  // null: all

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("resource_type", m.resource_type);
        v.field("resource_name", m.resource_name);
        v.field("configuration_keys", m.configuration_keys);
    }
    bool operator==(const ConfigResource&) const = default;
};

/// What are the settings of these?
struct DescribeConfigsRequest {
    static constexpr ApiKey kApi = ApiKey::kDescribeConfigs;
    static constexpr bool kIsRequest = true;

    std::vector<ConfigResource> resources;
    bool include_synonyms = false;
    bool include_documentation = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("resources", m.resources);
        v.field("include_synonyms", m.include_synonyms, since(1));
        v.field("include_documentation", m.include_documentation, since(3));
    }
    bool operator==(const DescribeConfigsRequest&) const = default;
};

/// Where else a setting is given, in order of precedence.
struct ConfigSynonym {
    std::string name;
    std::optional<std::string> value;
    std::int8_t source = kUnknownConfig;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("value", m.value);
        v.field("source", m.source);
    }
    bool operator==(const ConfigSynonym&) const = default;
};

/// A setting, and where it comes from.
struct DescribedConfig {
    std::string name;
    std::optional<std::string> value;
    bool read_only = false;
    std::int8_t config_source = kUnknownConfig;
    bool is_sensitive = false;
    std::vector<ConfigSynonym> synonyms;
    std::int8_t config_type = 0;  // 0 unknown, 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list
    std::optional<std::string> documentation;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("value", m.value);
        v.field("read_only", m.read_only);
        v.field("config_source", m.config_source, since(1));
        v.field("is_sensitive", m.is_sensitive);
        v.field("synonyms", m.synonyms, since(1));
        v.field("config_type", m.config_type, since(3));
        v.field("documentation", m.documentation, since(3));
    }
    bool operator==(const DescribedConfig&) const = default;
};

/// The settings of a topic or broker.
struct DescribedResource {
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;
    std::int8_t resource_type = 0;
    std::string resource_name;
    std::vector<DescribedConfig> configs;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("error_code", m.error_code);
        v.field("error_message", m.error_message);
        v.field("resource_type", m.resource_type);
        v.field("resource_name", m.resource_name);
        v.field("configs", m.configs);
    }
    bool operator==(const DescribedResource&) const = default;
};

/// The resources in the order of the request.
struct DescribeConfigsResponse {
    static constexpr ApiKey kApi = ApiKey::kDescribeConfigs;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<DescribedResource> results;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms);
        v.field("results", m.results);
    }
    bool operator==(const DescribeConfigsResponse&) const = default;
};

}  // namespace tidelock::kafka
