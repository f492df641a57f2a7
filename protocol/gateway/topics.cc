// CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs.
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

/// config_type of every setting told: text.
constexpr std::int8_t kStringType = 2;

std::int16_t replication_factor(const GatewayConfig& config) {
    return static_cast<std::int16_t>(config.endpoints.size());
}

/// Every broker of a group has a copy of everything (G1): a client may say so, or leave it open.
bool fits_group(const GatewayConfig& config, const kafka::CreatableTopic& topic) {
    return topic.replication_factor == -1 || topic.replication_factor == replication_factor(config);
}

void fail(kafka::CreatedTopic& result, kafka::ErrorCode error, std::string why) {
    result.error_code = error;
    result.error_message = std::move(why);
}

/// How many partitions the topic is to have; empty: refused, and the result says why.
std::optional<std::int32_t> partition_count_of(const GatewayConfig& config, const kafka::CreatableTopic& topic,
                                               kafka::CreatedTopic& result) {
    if (!topic.assignments.empty()) {
        fail(result, kafka::ErrorCode::kInvalidReplicaAssignment,
             "every broker of the group holds every partition: leave the assignment out");
        return std::nullopt;
    }
    if (!fits_group(config, topic)) {
        fail(result, kafka::ErrorCode::kInvalidReplicationFactor,
             fmt::format("every broker of the group holds every partition: the replication factor is {} or -1",
                         replication_factor(config)));
        return std::nullopt;
    }
    return topic.num_partitions == -1 ? config.partition_count_default : topic.num_partitions;
}

std::string explain(clients::ErrorCode error) {
    return std::string(clients::traits_of(error).text);
}

}  // namespace

void ask(Call& call, kafka::CreateTopicsRequest& request) {
    auto& response = answer_of<kafka::CreateTopicsResponse>(call);
    std::map<std::string_view, int> mentions;
    for (const kafka::CreatableTopic& each : request.topics) ++mentions[each.name];
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        const kafka::CreatableTopic& topic = request.topics[t];
        const auto partition_count = partition_count_of(call.config, topic, response.topics[t]);
        if (!partition_count) continue;
        if (mentions[topic.name] > 1) {
            fail(response.topics[t], kafka::ErrorCode::kInvalidRequest, "the request names this topic twice");
            continue;
        }
        clients::CreateTopicRequest create;
        create.topic = topic.name;
        create.partition_count = *partition_count;
        for (const kafka::CreatableTopicConfig& each : topic.configs)
            if (each.value) create.settings.push_back({each.name, *each.value});
        create.validate_only = request.validate_only;
        call.ask({t, 0}, std::move(create));
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::CreateTopicsRequest& request) {
    kafka::CreatedTopic& result = answer_of<kafka::CreateTopicsResponse>(call).topics[slot.outer];
    const clients::ErrorCode error = clients::error_of(answer);
    result.error_code = kafka_error(error, AskedOf::kController);
    if (error != clients::ErrorCode::kNone) {
        result.error_message = explain(error);
        return;
    }
    const kafka::CreatableTopic& topic = request.topics[slot.outer];
    if (const auto* created = std::get_if<clients::CreateTopicAnswer>(&answer.body))
        result.topic_id = kafka::uuid_of(created->topic_id);
    result.num_partitions = topic.num_partitions == -1 ? call.config.partition_count_default : topic.num_partitions;
    result.replication_factor = replication_factor(call.config);
    result.configs.emplace();
    for (const kafka::CreatableTopicConfig& each : topic.configs)
        if (each.value) result.configs->push_back({each.name, each.value, false, kafka::kTopicConfig, false});
}

void ask(Call& call, kafka::DeleteTopicsRequest& request) {
    if (call.pending.request.version < 6) {
        for (std::uint32_t t = 0; t < request.topic_names.size(); ++t)
            call.ask({t, 0}, clients::DeleteTopicRequest{request.topic_names[t], TopicId(0)});
        return;
    }
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        const TopicId id = kafka::topic_id_of(request.topics[t].topic_id).value_or(TopicId(0));
        if (!request.topics[t].name && id.value == 0) {
            answer_of<kafka::DeleteTopicsResponse>(call).topics[t].error_code = kafka::ErrorCode::kUnknownTopicId;
            continue;
        }
        call.ask({t, 0}, clients::DeleteTopicRequest{request.topics[t].name.value_or(""), id});
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DeleteTopicsRequest& /*request*/) {
    kafka::DeletedTopic& result = answer_of<kafka::DeleteTopicsResponse>(call).topics[slot.outer];
    const clients::ErrorCode error = clients::error_of(answer);
    result.error_code = kafka_error(error, AskedOf::kController);
    if (!result.name && error == clients::ErrorCode::kUnknownTopicOrPartition)
        result.error_code = kafka::ErrorCode::kUnknownTopicId;
    if (error != clients::ErrorCode::kNone) result.error_message = explain(error);
}

void ask(Call& call, kafka::CreatePartitionsRequest& request) {
    auto& response = answer_of<kafka::CreatePartitionsResponse>(call);
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        if (request.topics[t].assignments) {
            response.results[t].error_code = kafka::ErrorCode::kInvalidReplicaAssignment;
            response.results[t].error_message =
                "every broker of the group holds every partition: leave the assignment out";
            continue;
        }
        clients::GrowTopicRequest grow;
        grow.topic = request.topics[t].name;
        grow.partition_count = request.topics[t].count;
        grow.validate_only = request.validate_only;
        call.ask({t, 0}, std::move(grow));
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::CreatePartitionsRequest& /*request*/) {
    kafka::GrownTopic& result = answer_of<kafka::CreatePartitionsResponse>(call).results[slot.outer];
    const clients::ErrorCode error = clients::error_of(answer);
    result.error_code = kafka_error(error, AskedOf::kController);
    if (error != clients::ErrorCode::kNone) result.error_message = explain(error);
}

namespace {

void list_config(kafka::DescribedResource& resource, const kafka::ConfigResource& asked, std::string name,
                 std::string value, std::int8_t source) {
    const auto& keys = asked.configuration_keys;
    if (keys && std::find(keys->begin(), keys->end(), name) == keys->end()) return;
    kafka::DescribedConfig config;
    config.name = std::move(name);
    config.value = std::move(value);
    config.read_only = source != kafka::kTopicConfig;
    config.config_source = source;
    config.config_type = kStringType;
    resource.configs.push_back(std::move(config));
}

void describe_broker(Call& call, std::uint32_t at, const kafka::ConfigResource& asked) {
    kafka::DescribedResource& resource = answer_of<kafka::DescribeConfigsResponse>(call).results[at];
    std::int32_t id = 0;
    const char* end = asked.resource_name.data() + asked.resource_name.size();
    const auto parsed = std::from_chars(asked.resource_name.data(), end, id);
    const bool is_default = asked.resource_name.empty();
    if (!is_default && (parsed.ec != std::errc{} || parsed.ptr != end || BrokerId(id) != call.config.self)) {
        resource.error_code = kafka::ErrorCode::kInvalidRequest;
        resource.error_message = fmt::format("this is broker {}: ask it about itself only", call.config.self.value);
        return;
    }
    if (is_default) return;
    const auto put = [&](std::string name, std::string value) {
        list_config(resource, asked, std::move(name), std::move(value), kafka::kStaticBrokerConfig);
    };
    put("auto.create.topics.enable", call.config.creates_topics ? "true" : "false");
    put("broker.id", std::to_string(call.config.self.value));
    put("default.replication.factor", std::to_string(call.config.endpoints.size()));
    put("min.insync.replicas", std::to_string(call.config.min_insync_replicas));
    put("num.partitions", std::to_string(call.config.partition_count_default));
}

}  // namespace

void ask(Call& call, kafka::DescribeConfigsRequest& request) {
    auto& response = answer_of<kafka::DescribeConfigsResponse>(call);
    for (std::uint32_t r = 0; r < request.resources.size(); ++r) {
        const kafka::ConfigResource& asked = request.resources[r];
        switch (asked.resource_type) {
            case kafka::kTopicResource:
                call.ask({r, 0}, clients::DescribeTopicRequest{asked.resource_name});
                break;
            case kafka::kBrokerResource:
                describe_broker(call, r, asked);
                break;
            default:
                response.results[r].error_code = kafka::ErrorCode::kInvalidRequest;
                response.results[r].error_message = "only topics (2) and brokers (4) have settings here";
        }
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DescribeConfigsRequest& request) {
    kafka::DescribedResource& resource = answer_of<kafka::DescribeConfigsResponse>(call).results[slot.outer];
    resource.error_code = kafka_error(clients::error_of(answer), AskedOf::kPartition);
    const auto* described = std::get_if<clients::DescribeTopicAnswer>(&answer.body);
    if (described == nullptr || described->error != clients::ErrorCode::kNone) return;
    for (const clients::DescribedSetting& each : described->settings)
        list_config(resource, request.resources[slot.outer], each.key, each.value,
                    each.is_default ? kafka::kDefaultConfig : kafka::kTopicConfig);
}

}  // namespace tidelock::gateway
