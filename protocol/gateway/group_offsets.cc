// OffsetCommit and OffsetFetch.
#include <algorithm>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

kafka::OffsetFetchPartitionResult partition_of(PartitionIndex index, const clients::OffsetFetchAnswer& fetched) {
    kafka::OffsetFetchPartitionResult result;
    result.partition_index = index;
    result.committed_offset = fetched.offset;
    result.committed_leader_epoch = fetched.leader_epoch.value > 0 ? fetched.leader_epoch : kafka::kNoLeaderEpoch;
    result.metadata = fetched.metadata;
    return result;
}

/// The groups asked about, as version 8 lists them: earlier ones name one.
std::vector<kafka::OffsetFetchGroup> groups_asked(const kafka::Request& asked,
                                                  const kafka::OffsetFetchRequest& request) {
    if (asked.version >= 8) return request.groups;
    return {{request.group_id, request.topics}};
}

/// Where the topics of a group's results are.
std::vector<kafka::OffsetFetchTopicResult>& topics_of(Call& call, std::uint32_t group) {
    auto& response = answer_of<kafka::OffsetFetchResponse>(call);
    return call.pending.request.version >= 8 ? response.groups[group].topics : response.topics;
}

void note_group_error(Call& call, std::uint32_t group, kafka::ErrorCode error) {
    auto& response = answer_of<kafka::OffsetFetchResponse>(call);
    if (call.pending.request.version >= 8)
        response.groups[group].error_code = error;
    else
        response.error_code = error;
}

/// A partition of a group's topics by their number over all of them.
kafka::OffsetFetchPartitionResult& result_at(std::vector<kafka::OffsetFetchTopicResult>& topics, std::uint32_t at) {
    std::size_t topic = 0;
    while (at >= topics[topic].partitions.size()) at -= static_cast<std::uint32_t>(topics[topic++].partitions.size());
    return topics[topic].partitions[at];
}

void list_all(std::vector<kafka::OffsetFetchTopicResult>& topics, const clients::GroupOffsetsAnswer& listed) {
    for (const clients::GroupOffset& each : listed.offsets) {
        if (topics.empty() || topics.back().name != each.partition.topic) topics.push_back({each.partition.topic, {}});
        topics.back().partitions.push_back(partition_of(
            each.partition.partition, {clients::ErrorCode::kNone, each.offset, each.leader_epoch, each.metadata}));
    }
}

}  // namespace

void ask(Call& call, kafka::OffsetCommitRequest& request) {
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        for (std::uint32_t p = 0; p < request.topics[t].partitions.size(); ++p) {
            const kafka::OffsetCommitPartition& partition = request.topics[t].partitions[p];
            clients::OffsetCommitRequest commit;
            commit.group = request.group_id;
            commit.generation = request.generation_id;
            commit.member = request.member_id;
            commit.instance = request.group_instance_id.value_or("");
            commit.partition = {request.topics[t].name, TopicId(0), partition.partition_index};
            commit.offset = partition.committed_offset;
            commit.leader_epoch = std::max(partition.committed_leader_epoch, LeaderEpoch(0));
            commit.metadata = partition.committed_metadata.value_or("");
            call.ask({t, p}, std::move(commit));
        }
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetCommitRequest& /*request*/) {
    answer_of<kafka::OffsetCommitResponse>(call).topics[slot.outer].partitions[slot.inner].error_code =
        kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
}

void ask(Call& call, kafka::OffsetFetchRequest& request) {
    const std::vector<kafka::OffsetFetchGroup> groups = groups_asked(call.pending.request, request);
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        if (!groups[g].topics) {
            call.ask({g, 0}, clients::GroupOffsetsRequest{groups[g].group_id});
            continue;
        }
        std::uint32_t at = 0;
        for (const kafka::OffsetFetchTopic& topic : *groups[g].topics) {
            kafka::OffsetFetchTopicResult& result = topics_of(call, g).emplace_back();
            result.name = topic.name;
            for (const PartitionIndex index : topic.partition_indexes) {
                result.partitions.emplace_back().partition_index = index;
                call.ask({g, at++}, clients::OffsetFetchRequest{groups[g].group_id, {topic.name, TopicId(0), index}});
            }
        }
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetFetchRequest& /*request*/) {
    const clients::ErrorCode error = clients::error_of(answer);
    auto& topics = topics_of(call, slot.outer);
    if (const auto* listed = std::get_if<clients::GroupOffsetsAnswer>(&answer.body)) {
        if (error == clients::ErrorCode::kNone) return list_all(topics, *listed);
        return note_group_error(call, slot.outer, kafka_error(error, AskedOf::kCoordinator));
    }
    kafka::OffsetFetchPartitionResult& result = result_at(topics, slot.inner);
    // A partition that is not there has no offset; that is no error to whoever is about to read it (KIP-88).
    if (error == clients::ErrorCode::kUnknownTopicOrPartition) return;
    if (error != clients::ErrorCode::kNone) {
        result.error_code = kafka_error(error, AskedOf::kCoordinator);
        return note_group_error(call, slot.outer, result.error_code);
    }
    if (const auto* fetched = std::get_if<clients::OffsetFetchAnswer>(&answer.body))
        result = partition_of(result.partition_index, *fetched);
}

}  // namespace tidelock::gateway
