// ApiVersions, Metadata, DescribeCluster, FindCoordinator: what any broker answers.
#include <algorithm>
#include <set>
#include <string_view>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

/// A broker that creates a topic for a Metadata request answers once it is there; `inner` is its place in the list.
constexpr std::uint32_t kCreating = 1;

bool asks_for_all(const kafka::Request& asked, const kafka::MetadataRequest& request) {
    return !request.topics || (asked.version == 0 && request.topics->empty());
}

/// By name first, then by id: so they are listed.
void ask_for_metadata(Call& call, const kafka::MetadataRequest& request) {
    clients::MetadataRequest metadata;
    if (!asks_for_all(call.pending.request, request)) {
        metadata.lists_topics = !request.topics->empty();
        for (const kafka::MetadataTopicName& each : *request.topics) {
            if (each.name)
                metadata.topics.push_back(*each.name);
            else
                metadata.topic_ids.push_back(kafka::topic_id_of(each.topic_id).value_or(TopicId(0)));
        }
    }
    call.ask({}, std::move(metadata));
}

/// Each topic once, those asked about by name first: in that order they are listed. A topic named ten thousand times
/// would be told with all its partitions as often.
void put_in_order(kafka::MetadataRequest& request) {
    if (!request.topics) return;
    std::set<std::string_view> names;
    std::set<kafka::Uuid> ids;
    std::vector<kafka::MetadataTopicName> by_name;
    std::vector<kafka::MetadataTopicName> by_id;
    for (const kafka::MetadataTopicName& each : *request.topics) {
        if (each.name ? names.insert(*each.name).second : ids.insert(each.topic_id).second)
            (each.name ? by_name : by_id).push_back(each);
    }
    by_name.insert(by_name.end(), by_id.begin(), by_id.end());
    request.topics = std::move(by_name);
}

/// The name asked about at this place among the names.
std::string name_at(const kafka::MetadataRequest& request, std::uint32_t place) {
    const bool is_named = request.topics && place < request.topics->size() && (*request.topics)[place].name;
    return is_named ? *(*request.topics)[place].name : std::string();
}

/// The ids asked for, in the order of the answer's end.
std::vector<kafka::Uuid> ids_asked(const kafka::MetadataRequest& request) {
    std::vector<kafka::Uuid> ids;
    if (request.topics)
        for (const kafka::MetadataTopicName& each : *request.topics)
            if (!each.name) ids.push_back(each.topic_id);
    return ids;
}

kafka::MetadataPartition partition_of(const clients::MetadataAnswer& metadata, std::int32_t index) {
    kafka::MetadataPartition partition;
    partition.partition_index = PartitionIndex(index);
    const bool has_leader = metadata.leader.value != 0;
    partition.error_code = has_leader ? kafka::ErrorCode::kNone : kafka::ErrorCode::kLeaderNotAvailable;
    partition.leader_id = has_leader ? metadata.leader : kafka::kNoBroker;
    partition.leader_epoch = metadata.leader_epoch.value > 0 ? metadata.leader_epoch : kafka::kNoLeaderEpoch;
    partition.replica_nodes = metadata.brokers;
    partition.isr_nodes = metadata.in_sync_replicas;
    return partition;
}

kafka::MetadataTopic topic_of(const clients::MetadataAnswer& metadata, const clients::MetadataAnswer::Topic& listed,
                              bool by_id, const Pending& pending) {
    kafka::MetadataTopic topic;
    topic.error_code = kafka_error(listed.error, AskedOf::kPartition);
    if (by_id && listed.error != clients::ErrorCode::kNone) topic.error_code = kafka::ErrorCode::kUnknownTopicId;
    topic.name = listed.name;
    // On its way, here or at the leader: ask again soon. Not so what nobody can make.
    const bool is_unknown = listed.error == clients::ErrorCode::kUnknownTopicOrPartition && !by_id;
    const bool is_refused = pending.refused_topics.contains(listed.name);
    if (is_unknown && is_refused) topic.error_code = kafka::ErrorCode::kInvalidTopicException;
    if (is_unknown && !is_refused && pending.has_created) topic.error_code = kafka::ErrorCode::kLeaderNotAvailable;
    topic.topic_id = kafka::uuid_of(listed.id);
    topic.is_internal = listed.is_internal;
    for (std::int32_t p = 0; p < listed.partition_count; ++p) topic.partitions.push_back(partition_of(metadata, p));
    return topic;
}

/// Creates the topics asked for that are not there; false: none is to be created.
bool create_missing(Call& call, const clients::MetadataAnswer& metadata, const kafka::MetadataRequest& request) {
    const bool may_create =
        call.config.creates_topics && request.allow_auto_topic_creation && request.topics && metadata.leader.value != 0;
    if (!may_create) return false;
    bool creates = false;
    for (std::uint32_t t = 0; t < metadata.topics.size(); ++t) {
        const clients::MetadataAnswer::Topic& topic = metadata.topics[t];
        if (topic.error != clients::ErrorCode::kUnknownTopicOrPartition || topic.name.empty()) continue;
        clients::CreateTopicRequest create;
        create.topic = topic.name;
        create.partition_count = call.config.partition_count_default;
        create.may_forward = true;
        call.ask({kCreating, t}, std::move(create));
        creates = true;
    }
    return creates;
}

void tell_metadata(Call& call, const clients::MetadataAnswer& metadata) {
    auto& response = answer_of<kafka::MetadataResponse>(call);
    for (const BrokerId broker : metadata.brokers) {
        const auto endpoint = call.config.endpoints.find(broker);
        if (endpoint == call.config.endpoints.end()) continue;
        response.brokers.push_back({broker, endpoint->second.host, endpoint->second.port, std::nullopt});
    }
    response.cluster_id = call.config.cluster_id;
    response.controller_id = metadata.leader.value != 0 ? metadata.leader : kafka::kNoBroker;
    response.topics.clear();
    const std::vector<kafka::Uuid> ids = ids_asked(std::get<kafka::MetadataRequest>(call.pending.request.body));
    const std::size_t by_name = metadata.topics.size() - std::min(ids.size(), metadata.topics.size());
    for (std::size_t t = 0; t < metadata.topics.size(); ++t) {
        const bool is_by_id = t >= by_name;
        kafka::MetadataTopic& topic =
            response.topics.emplace_back(topic_of(metadata, metadata.topics[t], is_by_id, call.pending));
        if (is_by_id) topic.topic_id = ids[t - by_name];
    }
}

std::vector<kafka::NodeEndpoint> endpoints_of(const GatewayConfig& config) {
    std::vector<kafka::NodeEndpoint> endpoints;
    for (const auto& [broker, endpoint] : config.endpoints)
        endpoints.push_back({broker, endpoint.host, endpoint.port, std::nullopt});
    return endpoints;
}

}  // namespace

void ask(Call& call, kafka::ApiVersionsRequest& /*request*/) {
    call.pending.answer = kafka::supported_versions();
}

void take(Call& /*call*/, Slot /*slot*/, const clients::Answer& /*answer*/,
          const kafka::ApiVersionsRequest& /*request*/) {}

void ask(Call& call, kafka::MetadataRequest& request) {
    put_in_order(request);
    ask_for_metadata(call, request);
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::MetadataRequest& request) {
    if (slot.outer == kCreating) {  // created, refused, or there meanwhile: what there is now is told
        const clients::ErrorCode error = clients::error_of(answer);
        const bool is_refused =
            error == clients::ErrorCode::kInvalidTopicName || error == clients::ErrorCode::kInvalidPartitions;
        // Names were asked about in the order in which they are listed.
        if (is_refused) call.pending.refused_topics.insert(name_at(request, slot.inner));
        if (call.pending.outstanding == 0) ask_for_metadata(call, request);
        call.pending.has_created = true;
        return;
    }
    const auto* metadata = std::get_if<clients::MetadataAnswer>(&answer.body);
    if (metadata == nullptr) return;
    if (!call.pending.has_created && create_missing(call, *metadata, request)) return;
    tell_metadata(call, *metadata);
}

void ask(Call& call, kafka::DescribeClusterRequest& request) {
    auto& response = answer_of<kafka::DescribeClusterResponse>(call);
    if (request.endpoint_type != kafka::kBrokerEndpoints) {
        response.error_code = kafka::ErrorCode::kMismatchedEndpointType;
        response.endpoint_type = request.endpoint_type;
        response.error_message = "this broker has no endpoints of that type: ask for brokers (1)";
        return;
    }
    response.cluster_id = call.config.cluster_id;
    response.brokers = endpoints_of(call.config);
    call.ask({}, clients::StatusRequest{});
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::DescribeClusterRequest& /*request*/) {
    const auto* status = std::get_if<clients::StatusAnswer>(&answer.body);
    if (status == nullptr || status->leader.value == 0) return;
    answer_of<kafka::DescribeClusterResponse>(call).controller_id = status->leader;
}

void ask(Call& call, kafka::FindCoordinatorRequest& request) {
    auto& response = answer_of<kafka::FindCoordinatorResponse>(call);
    if (request.key_type != kafka::kGroupKey) {  // transactions have none yet
        response.error_code = kafka::ErrorCode::kInvalidRequest;
        for (kafka::Coordinator& each : response.coordinators) each.error_code = kafka::ErrorCode::kInvalidRequest;
        return;
    }
    call.ask({}, clients::StatusRequest{});
}

/// The leader coordinates every group (T4).
void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::FindCoordinatorRequest& /*request*/) {
    auto& response = answer_of<kafka::FindCoordinatorResponse>(call);
    const auto* status = std::get_if<clients::StatusAnswer>(&answer.body);
    const auto endpoint = status == nullptr ? call.config.endpoints.end() : call.config.endpoints.find(status->leader);
    const bool is_known = endpoint != call.config.endpoints.end();
    const auto fill = [&](auto& coordinator) {
        if (!is_known) {
            coordinator.error_code = kafka::ErrorCode::kCoordinatorNotAvailable;
            return;
        }
        coordinator.node_id = endpoint->first;
        coordinator.host = endpoint->second.host;
        coordinator.port = endpoint->second.port;
    };
    fill(response);
    for (kafka::Coordinator& each : response.coordinators) fill(each);
}

}  // namespace tidelock::gateway
