// Answers that say no: one function a request, each in the order of kApis.
#include "protocol/kafka/messages.h"

namespace tidelock::kafka {
namespace {

/// The result of each element of a list.
template <typename Result, typename Element, typename Make>
std::vector<Result> each(const std::vector<Element>& list, const Make& make) {
    std::vector<Result> results;
    results.reserve(list.size());
    for (const Element& element : list) results.push_back(make(element));
    return results;
}

/// An answer whose only say is a top-level code.
template <typename Answer>
Answer bare(ErrorCode error) {
    Answer answer;
    answer.error_code = error;
    return answer;
}

ProduceResponse refuse(const ProduceRequest& request, Version /*version*/, ErrorCode error) {
    const auto partition = [=](const ProducePartition& asked) {
        ProducePartitionResult result;
        result.index = asked.index;
        result.error_code = error;
        return result;
    };
    ProduceResponse answer;
    answer.topics = each<ProduceTopicResult>(request.topics, [&](const ProduceTopic& topic) {
        return ProduceTopicResult{topic.name, each<ProducePartitionResult>(topic.partitions, partition)};
    });
    return answer;
}

FetchResponse refuse(const FetchRequest& request, Version /*version*/, ErrorCode error) {
    const auto partition = [=](const FetchPartition& asked) {
        FetchPartitionResult result;
        result.partition = asked.partition;
        result.error_code = error;
        return result;
    };
    FetchResponse answer;
    answer.topics = each<FetchTopicResult>(request.topics, [&](const FetchTopic& topic) {
        return FetchTopicResult{topic.topic, topic.topic_id, each<FetchPartitionResult>(topic.partitions, partition)};
    });
    // In a session the partitions may all be remembered ones, and the request names none.
    if (request.topics.empty()) answer.error_code = error;
    return answer;
}

ListOffsetsResponse refuse(const ListOffsetsRequest& request, Version /*version*/, ErrorCode error) {
    const auto partition = [=](const ListOffsetsPartition& asked) {
        ListOffsetsPartitionResult result;
        result.partition_index = asked.partition_index;
        result.error_code = error;
        return result;
    };
    ListOffsetsResponse answer;
    answer.topics = each<ListOffsetsTopicResult>(request.topics, [&](const ListOffsetsTopic& topic) {
        return ListOffsetsTopicResult{topic.name, each<ListOffsetsPartitionResult>(topic.partitions, partition)};
    });
    return answer;
}

MetadataResponse refuse(const MetadataRequest& request, Version /*version*/, ErrorCode error) {
    MetadataResponse answer;
    if (!request.topics) return answer;
    answer.topics = each<MetadataTopic>(*request.topics, [=](const MetadataTopicName& asked) {
        MetadataTopic topic;
        topic.error_code = error;
        topic.name = asked.name;
        topic.topic_id = asked.topic_id;
        return topic;
    });
    return answer;
}

OffsetCommitResponse refuse(const OffsetCommitRequest& request, Version /*version*/, ErrorCode error) {
    const auto partition = [=](const OffsetCommitPartition& asked) {
        return OffsetCommitPartitionResult{asked.partition_index, error};
    };
    OffsetCommitResponse answer;
    answer.topics = each<OffsetCommitTopicResult>(request.topics, [&](const OffsetCommitTopic& topic) {
        return OffsetCommitTopicResult{topic.name, each<OffsetCommitPartitionResult>(topic.partitions, partition)};
    });
    return answer;
}

/// Every partition says it in version 1, the answer in 2 to 7, each group after that.
OffsetFetchResponse refuse(const OffsetFetchRequest& request, Version version, ErrorCode error) {
    const auto partition = [=](PartitionIndex asked) {
        OffsetFetchPartitionResult result;
        result.partition_index = asked;
        result.error_code = error;
        return result;
    };
    OffsetFetchResponse answer;
    answer.error_code = error;
    answer.groups = each<OffsetFetchGroupResult>(request.groups, [=](const OffsetFetchGroup& group) {
        return OffsetFetchGroupResult{group.group_id, {}, error};
    });
    if (version >= 2 || !request.topics) return answer;
    answer.topics = each<OffsetFetchTopicResult>(*request.topics, [&](const OffsetFetchTopic& topic) {
        return OffsetFetchTopicResult{topic.name, each<OffsetFetchPartitionResult>(topic.partition_indexes, partition)};
    });
    return answer;
}

FindCoordinatorResponse refuse(const FindCoordinatorRequest& request, Version /*version*/, ErrorCode error) {
    FindCoordinatorResponse answer = bare<FindCoordinatorResponse>(error);
    answer.coordinators = each<Coordinator>(request.coordinator_keys, [=](const std::string& key) {
        Coordinator coordinator;
        coordinator.key = key;
        coordinator.error_code = error;
        return coordinator;
    });
    return answer;
}

JoinGroupResponse refuse(const JoinGroupRequest& request, Version /*version*/, ErrorCode error) {
    JoinGroupResponse answer = bare<JoinGroupResponse>(error);
    answer.member_id = request.member_id;
    return answer;
}

HeartbeatResponse refuse(const HeartbeatRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<HeartbeatResponse>(error);
}

LeaveGroupResponse refuse(const LeaveGroupRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<LeaveGroupResponse>(error);
}

SyncGroupResponse refuse(const SyncGroupRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<SyncGroupResponse>(error);
}

DescribeGroupsResponse refuse(const DescribeGroupsRequest& request, Version /*version*/, ErrorCode error) {
    DescribeGroupsResponse answer;
    answer.groups = each<DescribedGroup>(request.groups, [=](const std::string& group_id) {
        DescribedGroup group = bare<DescribedGroup>(error);
        group.group_id = group_id;
        return group;
    });
    return answer;
}

ListGroupsResponse refuse(const ListGroupsRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<ListGroupsResponse>(error);
}

ApiVersionsResponse refuse(const ApiVersionsRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<ApiVersionsResponse>(error);
}

CreateTopicsResponse refuse(const CreateTopicsRequest& request, Version /*version*/, ErrorCode error) {
    CreateTopicsResponse answer;
    answer.topics = each<CreatedTopic>(request.topics, [=](const CreatableTopic& asked) {
        CreatedTopic topic = bare<CreatedTopic>(error);
        topic.name = asked.name;
        return topic;
    });
    return answer;
}

DeleteTopicsResponse refuse(const DeleteTopicsRequest& request, Version version, ErrorCode error) {
    DeleteTopicsResponse answer;
    if (version < 6) {
        answer.topics = each<DeletedTopic>(request.topic_names, [=](const std::string& name) {
            return DeletedTopic{name, {}, error, std::nullopt};
        });
    } else {
        answer.topics = each<DeletedTopic>(request.topics, [=](const DeletableTopic& asked) {
            return DeletedTopic{asked.name, asked.topic_id, error, std::nullopt};
        });
    }
    return answer;
}

InitProducerIdResponse refuse(const InitProducerIdRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<InitProducerIdResponse>(error);
}

OffsetForLeaderEpochResponse refuse(const OffsetForLeaderEpochRequest& request, Version /*version*/, ErrorCode error) {
    const auto partition = [=](const EpochPartition& asked) {
        EpochPartitionResult result = bare<EpochPartitionResult>(error);
        result.partition = asked.partition;
        return result;
    };
    OffsetForLeaderEpochResponse answer;
    answer.topics = each<EpochTopicResult>(request.topics, [&](const EpochTopic& topic) {
        return EpochTopicResult{topic.topic, each<EpochPartitionResult>(topic.partitions, partition)};
    });
    return answer;
}

DescribeConfigsResponse refuse(const DescribeConfigsRequest& request, Version /*version*/, ErrorCode error) {
    DescribeConfigsResponse answer;
    answer.results = each<DescribedResource>(request.resources, [=](const ConfigResource& asked) {
        return DescribedResource{error, std::nullopt, asked.resource_type, asked.resource_name, {}};
    });
    return answer;
}

CreatePartitionsResponse refuse(const CreatePartitionsRequest& request, Version /*version*/, ErrorCode error) {
    CreatePartitionsResponse answer;
    answer.results = each<GrownTopic>(request.topics, [=](const GrowingTopic& asked) {
        return GrownTopic{asked.name, error, std::nullopt};
    });
    return answer;
}

DescribeClusterResponse refuse(const DescribeClusterRequest& /*request*/, Version /*version*/, ErrorCode error) {
    return bare<DescribeClusterResponse>(error);
}

ApiVersionRange advertised(const Api& api) {
    return {static_cast<std::int16_t>(api.key), api.advertised_first, api.last};
}

}  // namespace

Response refusal_of(const Request& request, ErrorCode error) {
    const auto refuse_it = [&](const auto& asked) { return ResponseBody(refuse(asked, request.version, error)); };
    return {request.version, request.correlation_id, std::visit(refuse_it, request.body)};
}

std::optional<Response> answer_to(const RequestRefusal& refusal) {
    const bool asks_for_versions = refusal.error.api_key == static_cast<std::int16_t>(ApiKey::kApiVersions);
    if (!asks_for_versions || refusal.error.fault != WireFault::kVersionUnsupported) return std::nullopt;
    ApiVersionsResponse answer = bare<ApiVersionsResponse>(ErrorCode::kUnsupportedVersion);
    answer.api_keys = {advertised(api_of(ApiKey::kApiVersions))};
    return Response{0, refusal.correlation_id, std::move(answer)};
}

ApiVersionsResponse supported_versions() {
    ApiVersionsResponse answer;
    for (const Api& api : kApis) answer.api_keys.push_back(advertised(api));
    return answer;
}

}  // namespace tidelock::kafka
