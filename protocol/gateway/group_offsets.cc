// OffsetCommit and OffsetFetch.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

constexpr std::size_t kOffsetBytes = 64;  // of one committed offset, besides what its client wrote to it

kafka::OffsetFetchPartitionResult partition_of(const clients::GroupOffset& committed) {
    kafka::OffsetFetchPartitionResult result;
    result.partition_index = committed.partition.partition;
    result.committed_offset = committed.offset;
    result.committed_leader_epoch = committed.leader_epoch.value > 0 ? committed.leader_epoch : kafka::kNoLeaderEpoch;
    result.metadata = committed.metadata;
    return result;
}
kafka::OffsetFetchPartitionResult nothing_of(PartitionIndex index) {
    kafka::OffsetFetchPartitionResult result;
    result.partition_index = index;
    result.metadata = "";
    return result;
}

/// What is asked about a group; none: all that it has. Since version 8 a request lists groups.
const std::optional<std::vector<kafka::OffsetFetchTopic>>& topics_asked(const kafka::Request& asked,
                                                                        const kafka::OffsetFetchRequest& request,
                                                                        std::uint32_t group) {
    return asked.version >= 8 ? request.groups[group].topics : request.topics;
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

/// False: no frame has room for it, with what the answer holds already.
bool note_bytes(Call& call, const clients::GroupOffset& committed) {
    call.pending.answer_bytes += static_cast<std::int64_t>(kOffsetBytes + committed.metadata.size());
    return call.pending.answer_bytes <= call.config.group_bytes_max;
}

/// False: it is too much.
bool list_all(Call& call, std::vector<kafka::OffsetFetchTopicResult>& topics,
              const clients::GroupOffsetsAnswer& listed) {
    for (const clients::GroupOffset& each : listed.offsets) {
        if (!note_bytes(call, each)) return false;
        if (topics.empty() || topics.back().name != each.partition.topic) topics.push_back({each.partition.topic, {}});
        topics.back().partitions.push_back(partition_of(each));
    }
    return true;
}

/// What the group has committed for the partitions asked about. One that is not there has no offset; that is no error
/// to whoever is about to read it (KIP-88). False: it is too much, as of a partition that is named a million times.
bool list_asked(Call& call, std::vector<kafka::OffsetFetchTopicResult>& topics,
                const std::vector<kafka::OffsetFetchTopic>& asked, const clients::GroupOffsetsAnswer& listed) {
    std::map<std::pair<std::string_view, PartitionIndex>, const clients::GroupOffset*> committed;
    for (const clients::GroupOffset& each : listed.offsets)
        committed.emplace(std::pair(std::string_view(each.partition.topic), each.partition.partition), &each);
    for (const kafka::OffsetFetchTopic& topic : asked) {
        kafka::OffsetFetchTopicResult& result = topics.emplace_back();
        result.name = topic.name;
        for (const PartitionIndex index : topic.partition_indexes) {
            const auto at = committed.find({std::string_view(topic.name), index});
            if (at != committed.end() && !note_bytes(call, *at->second)) return false;
            result.partitions.push_back(at == committed.end() ? nothing_of(index) : partition_of(*at->second));
        }
    }
    return true;
}

/// In version 1 only partitions can say it.
void list_failed(std::vector<kafka::OffsetFetchTopicResult>& topics, const std::vector<kafka::OffsetFetchTopic>& asked,
                 kafka::ErrorCode error) {
    for (const kafka::OffsetFetchTopic& topic : asked) {
        kafka::OffsetFetchTopicResult& result = topics.emplace_back();
        result.name = topic.name;
        for (const PartitionIndex index : topic.partition_indexes)
            result.partitions.push_back({index, kafka::kNoOffset, kafka::kNoLeaderEpoch, std::nullopt, error});
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

/// A group's offsets are asked for at once, however many: they come from one moment, and wait for one confirmation.
void ask(Call& call, kafka::OffsetFetchRequest& request) {
    if (call.pending.request.version < 8) return call.ask({}, clients::GroupOffsetsRequest{request.group_id});
    std::set<std::string_view> named;
    for (std::uint32_t g = 0; g < request.groups.size(); ++g) {
        if (named.insert(request.groups[g].group_id).second)
            call.ask({g, 0}, clients::GroupOffsetsRequest{request.groups[g].group_id});
        else
            note_group_error(call, g, kafka::ErrorCode::kInvalidRequest);  // one that is named twice is told once
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetFetchRequest& request) {
    const clients::ErrorCode error = clients::error_of(answer);
    auto& topics = topics_of(call, slot.outer);
    topics.clear();
    const auto& asked = topics_asked(call.pending.request, request, slot.outer);
    const auto* listed = std::get_if<clients::GroupOffsetsAnswer>(&answer.body);
    if (error != clients::ErrorCode::kNone || listed == nullptr) {
        kafka::ErrorCode said = kafka_error(error, AskedOf::kCoordinator);
        // Some clients know no other word for it here.
        if (said == kafka::ErrorCode::kCoordinatorNotAvailable) said = kafka::ErrorCode::kNotCoordinator;
        note_group_error(call, slot.outer, said);
        if (asked) list_failed(topics, *asked, said);
        return;
    }
    const bool fits = asked ? list_asked(call, topics, *asked, *listed) : list_all(call, topics, *listed);
    if (fits) return;
    topics.clear();
    note_group_error(call, slot.outer, kafka::ErrorCode::kMessageTooLarge);
}

}  // namespace tidelock::gateway
