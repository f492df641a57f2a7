#include "scenarios/kafka_door.h"

#include <algorithm>
#include <utility>

namespace tidelock::scenarios {

namespace {

using C = clients::ErrorCode;
using K = kafka::ErrorCode;

/// Topics are told apart by their id: nothing older tells it.
constexpr kafka::Version kMetadataWithIds = 10;
constexpr kafka::Version kFetchById = 13;
constexpr kafka::Version kDeleteById = 6;
constexpr kafka::Version kOffsetsOfGroups = 8;
constexpr kafka::Version kLeavesInGroups = 3;
constexpr kafka::Version kRaisesEpochs = 3;
/// Static members can join since 5. Until 9 a leader that came again was told that its former life leads, and nobody
/// saw that there were other partitions (KIP-814).
constexpr kafka::Version kStaticJoins = 9;
constexpr kafka::Version kStaticMembers = 3;
constexpr kafka::Version kStaticCommits = 7;
constexpr kafka::Version kCreatesWithDefaults = 4;
constexpr kafka::Version kLooksUpTimes = 1;
constexpr std::int64_t kEarliest = -2;
constexpr std::int64_t kLatest = -1;

std::optional<std::string> named(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

std::int32_t ms(Duration duration) {
    return static_cast<std::int32_t>(duration.value / 1'000'000);
}

/// From which version on a client can say what it has to say; none: the wire cannot.
struct FirstVersion {
    std::optional<kafka::Version> operator()(const clients::ProduceRequest&) const { return 0; }
    std::optional<kafka::Version> operator()(const clients::FetchRequest& r) const {
        return r.partition.topic_id.value == 0 ? std::nullopt : std::optional<kafka::Version>(0);
    }
    std::optional<kafka::Version> operator()(const clients::ListOffsetsRequest& r) const {
        if (r.at == clients::OffsetAt::kTimestamp) return kLooksUpTimes;
        const bool has_word = r.at == clients::OffsetAt::kLogStart || r.at == clients::OffsetAt::kHighWatermark;
        return has_word ? std::optional<kafka::Version>(0) : std::nullopt;
    }
    std::optional<kafka::Version> operator()(const clients::EpochEndRequest&) const { return 0; }
    std::optional<kafka::Version> operator()(const clients::MetadataRequest& r) const {
        return r.topics.empty() ? std::optional(kMetadataWithIds) : std::nullopt;
    }
    std::optional<kafka::Version> operator()(const clients::InitProducerIdRequest& r) const {
        return r.producer_id == kNoProducer ? 0 : kRaisesEpochs;
    }
    std::optional<kafka::Version> operator()(const clients::OffsetCommitRequest& r) const {
        return r.instance.empty() ? 0 : kStaticCommits;
    }
    std::optional<kafka::Version> operator()(const clients::OffsetFetchRequest&) const { return 0; }
    std::optional<kafka::Version> operator()(const clients::CreateTopicRequest& r) const {
        return r.settings.empty() ? std::optional(kCreatesWithDefaults) : std::nullopt;
    }
    std::optional<kafka::Version> operator()(const clients::DeleteTopicRequest& r) const {
        return r.topic_id.value == 0 ? kafka::Version{0} : kDeleteById;
    }
    std::optional<kafka::Version> operator()(const clients::GrowTopicRequest&) const { return 0; }
    std::optional<kafka::Version> operator()(const clients::JoinGroupRequest& r) const {
        return r.instance.empty() ? kafka::Version{0} : kStaticJoins;
    }
    std::optional<kafka::Version> operator()(const clients::SyncGroupRequest& r) const {
        return r.instance.empty() ? kafka::Version{0} : kStaticMembers;
    }
    std::optional<kafka::Version> operator()(const clients::HeartbeatRequest& r) const {
        return r.instance.empty() ? kafka::Version{0} : kStaticMembers;
    }
    std::optional<kafka::Version> operator()(const clients::LeaveGroupRequest& r) const {
        const bool is_one = r.members.size() == 1 && r.members.front().instance.empty();
        return is_one ? kafka::Version{0} : kLeavesInGroups;
    }
    template <typename Other>
    std::optional<kafka::Version> operator()(const Other&) const {
        return std::nullopt;
    }
};

/// Our request as Kafka's, in the version drawn.
struct ToKafka {
    kafka::Version version;

    kafka::RequestBody operator()(const clients::ProduceRequest& r) const {
        kafka::ProduceRequest request;
        request.acks = r.acks == clients::Acks::kAll ? std::int16_t{-1} : static_cast<std::int16_t>(r.acks);
        request.timeout_ms = ms(r.timeout);
        request.topics = {{r.partition.topic, {{r.partition.partition, r.batches}}}};
        return request;
    }
    kafka::RequestBody operator()(const clients::FetchRequest& r) const {
        kafka::FetchRequest request;
        request.max_wait_ms = ms(r.wait_max);
        request.min_bytes = r.wait_max.value > 0 ? 1 : 0;
        request.max_bytes = r.bytes_max;
        kafka::FetchPartition partition;
        partition.partition = r.partition.partition;
        partition.fetch_offset = r.offset;
        partition.partition_max_bytes = r.bytes_max;
        kafka::FetchTopic topic;
        if (version >= kFetchById)
            topic.topic_id = kafka::uuid_of(r.partition.topic_id);
        else
            topic.topic = r.partition.topic;
        topic.partitions = {partition};
        request.topics = {topic};
        return request;
    }
    kafka::RequestBody operator()(const clients::ListOffsetsRequest& r) const {
        kafka::ListOffsetsPartition partition;
        partition.partition_index = r.partition.partition;
        const bool is_start = r.at == clients::OffsetAt::kLogStart;
        partition.timestamp = r.at == clients::OffsetAt::kTimestamp ? r.timestamp_ms : is_start ? kEarliest : kLatest;
        kafka::ListOffsetsRequest request;
        request.topics = {{r.partition.topic, {partition}}};
        return request;
    }
    kafka::RequestBody operator()(const clients::EpochEndRequest& r) const {
        kafka::EpochPartition partition;
        partition.partition = r.partition.partition;
        partition.leader_epoch = r.leader_epoch;
        kafka::OffsetForLeaderEpochRequest request;
        request.topics = {{r.partition.topic, {partition}}};
        return request;
    }
    kafka::RequestBody operator()(const clients::MetadataRequest&) const {
        kafka::MetadataRequest request;
        request.topics = std::nullopt;
        request.allow_auto_topic_creation = false;
        return request;
    }
    kafka::RequestBody operator()(const clients::InitProducerIdRequest& r) const {
        kafka::InitProducerIdRequest request;
        request.producer_id = r.producer_id;
        request.producer_epoch = r.producer_epoch;
        return request;
    }
    kafka::RequestBody operator()(const clients::OffsetCommitRequest& r) const {
        kafka::OffsetCommitPartition partition;
        partition.partition_index = r.partition.partition;
        partition.committed_offset = r.offset;
        partition.committed_metadata = r.metadata;
        kafka::OffsetCommitRequest request;
        request.group_id = r.group;
        request.generation_id = r.generation;
        request.member_id = r.member;
        request.group_instance_id = named(r.instance);
        request.topics = {{r.partition.topic, {partition}}};
        return request;
    }
    kafka::RequestBody operator()(const clients::OffsetFetchRequest& r) const {
        const std::vector<kafka::OffsetFetchTopic> topics{{r.partition.topic, {r.partition.partition}}};
        kafka::OffsetFetchRequest request;
        if (version >= kOffsetsOfGroups) {
            request.groups = {{r.group, topics}};
        } else {
            request.group_id = r.group;
            request.topics = topics;
        }
        return request;
    }
    kafka::RequestBody operator()(const clients::CreateTopicRequest& r) const {
        kafka::CreatableTopic topic;
        topic.name = r.topic;
        topic.num_partitions = r.partition_count;
        kafka::CreateTopicsRequest request;
        request.topics = {topic};
        request.validate_only = r.validate_only;
        return request;
    }
    kafka::RequestBody operator()(const clients::DeleteTopicRequest& r) const {
        kafka::DeleteTopicsRequest request;
        if (version < kDeleteById) {
            request.topic_names = {r.topic};
        } else {
            kafka::DeletableTopic topic;
            if (r.topic_id.value == 0)
                topic.name = r.topic;
            else
                topic.topic_id = kafka::uuid_of(r.topic_id);
            request.topics = {topic};
        }
        return request;
    }
    kafka::RequestBody operator()(const clients::GrowTopicRequest& r) const {
        kafka::GrowingTopic topic;
        topic.name = r.topic;
        topic.count = r.partition_count;
        kafka::CreatePartitionsRequest request;
        request.topics = {topic};
        request.validate_only = r.validate_only;
        return request;
    }
    kafka::RequestBody operator()(const clients::JoinGroupRequest& r) const {
        kafka::JoinGroupRequest request;
        request.group_id = r.group;
        request.session_timeout_ms = ms(r.session_timeout);
        request.rebalance_timeout_ms = version >= 1 ? ms(r.rebalance_timeout) : -1;
        request.member_id = r.member;
        request.group_instance_id = named(r.instance);
        request.protocol_type = r.protocol_type;
        for (const clients::GroupProtocol& each : r.protocols) request.protocols.push_back({each.name, each.metadata});
        return request;
    }
    kafka::RequestBody operator()(const clients::SyncGroupRequest& r) const {
        kafka::SyncGroupRequest request;
        request.group_id = r.group;
        request.generation_id = r.generation;
        request.member_id = r.member;
        request.group_instance_id = named(r.instance);
        for (const clients::GroupAssignment& each : r.assignments)
            request.assignments.push_back({each.member, each.assignment});
        return request;
    }
    kafka::RequestBody operator()(const clients::HeartbeatRequest& r) const {
        kafka::HeartbeatRequest request;
        request.group_id = r.group;
        request.generation_id = r.generation;
        request.member_id = r.member;
        request.group_instance_id = named(r.instance);
        return request;
    }
    kafka::RequestBody operator()(const clients::LeaveGroupRequest& r) const {
        kafka::LeaveGroupRequest request;
        request.group_id = r.group;
        if (version < kLeavesInGroups) {
            request.member_id = r.members.front().member;
        } else {
            for (const clients::LeavingMember& each : r.members)
                request.members.push_back({each.member, named(each.instance), std::nullopt});
        }
        return request;
    }
    template <typename Other>
    kafka::RequestBody operator()(const Other&) const {
        return kafka::ApiVersionsRequest{};  // never sent: there is no first version of it
    }
};

/// What changes something may have done so although the answer names another leader: the one that answers may have
/// lost its role while the request waited (A6).
C elsewhere(const clients::RequestBody& asked) {
    const bool changes_something = std::holds_alternative<clients::ProduceRequest>(asked) ||
                                   std::holds_alternative<clients::OffsetCommitRequest>(asked) ||
                                   std::holds_alternative<clients::CreateTopicRequest>(asked) ||
                                   std::holds_alternative<clients::DeleteTopicRequest>(asked) ||
                                   std::holds_alternative<clients::GrowTopicRequest>(asked);
    return changes_something ? C::kLeadershipEnded : C::kNotLeader;
}

C from_kafka(K error, const clients::RequestBody& asked) {
    constexpr std::pair<K, C> kSame[] = {
        {K::kNone, C::kNone},
        {K::kCorruptMessage, C::kCorruptMessage},
        {K::kInvalidRequest, C::kInvalidRequest},
        {K::kUnknownTopicOrPartition, C::kUnknownTopicOrPartition},
        {K::kUnknownTopicId, C::kUnknownTopicOrPartition},
        {K::kOffsetOutOfRange, C::kOffsetOutOfRange},
        {K::kTopicAlreadyExists, C::kTopicAlreadyExists},
        {K::kInvalidTopicException, C::kInvalidTopicName},
        {K::kInvalidPartitions, C::kInvalidPartitions},
        {K::kInvalidConfig, C::kInvalidConfig},
        {K::kMessageTooLarge, C::kMessageTooLarge},
        {K::kNotEnoughReplicas, C::kNotEnoughReplicas},
        {K::kNotEnoughReplicasAfterAppend, C::kNotEnoughReplicasAfterAppend},
        {K::kRequestTimedOut, C::kRequestTimedOut},
        {K::kCoordinatorNotAvailable, C::kRequestTimedOut},
        {K::kOutOfOrderSequenceNumber, C::kOutOfOrderSequence},
        {K::kInvalidProducerEpoch, C::kInvalidProducerEpoch},
        {K::kUnknownProducerId, C::kUnknownProducerId},
        {K::kDuplicateSequenceNumber, C::kDuplicateSequence},
        {K::kKafkaStorageError, C::kStorageError},
        {K::kLeaderNotAvailable, C::kLeaderNotAvailable},
        {K::kCoordinatorLoadInProgress, C::kLeaderNotAvailable},
        {K::kThrottlingQuotaExceeded, C::kThrottled},
        {K::kIllegalGeneration, C::kIllegalGeneration},
        {K::kUnknownMemberId, C::kUnknownMember},
        {K::kRebalanceInProgress, C::kRebalanceInProgress},
        {K::kInconsistentGroupProtocol, C::kInconsistentGroupProtocol},
        {K::kInvalidSessionTimeout, C::kInvalidSessionTimeout},
        {K::kMemberIdRequired, C::kMemberIdRequired},
        {K::kFencedInstanceId, C::kFencedInstance},
        {K::kGroupMaxSizeReached, C::kGroupFull},
        {K::kInvalidGroupId, C::kInvalidGroup},
        {K::kFencedLeaderEpoch, C::kFencedLeaderEpoch},
        {K::kUnknownLeaderEpoch, C::kUnknownLeaderEpoch},
        {K::kOffsetNotAvailable, C::kOffsetNotAvailable},
    };
    for (const auto& [kafka_error, ours] : kSame)
        if (kafka_error == error) return ours;
    if (error == K::kNotLeaderOrFollower || error == K::kNotCoordinator || error == K::kNotController)
        return elsewhere(asked);
    return C::kUnknownServerError;
}

/// The answer to what was asked; without a place for it in Kafka's, a server error.
struct ToAnswer {
    const clients::RequestBody& asked;
    const kafka::ResponseBody& body;
    BrokerId& leader_hint;

    template <typename Response>
    [[nodiscard]] const Response* response() const {
        return std::get_if<Response>(&body);
    }
    [[nodiscard]] C said(K error) const { return from_kafka(error, asked); }
    /// The one result of one partition of one topic.
    template <typename Topics>
    static auto only(const Topics& topics) -> decltype(&topics.front().partitions.front()) {
        if (topics.empty() || topics.front().partitions.empty()) return nullptr;
        return &topics.front().partitions.front();
    }
    void note(const kafka::CurrentLeader& leader) const {
        if (leader.leader_id.value > 0) leader_hint = leader.leader_id;
    }

    clients::AnswerBody operator()(const clients::ProduceRequest&) const {
        clients::ProduceAnswer answer{C::kUnknownServerError, Offset(-1), Offset(0)};
        const auto* told = response<kafka::ProduceResponse>();
        if (const auto* result = told != nullptr ? only(told->topics) : nullptr) {
            answer = {said(result->error_code), result->base_offset, std::max(result->log_start_offset, Offset(0))};
            note(result->current_leader);
        }
        return answer;
    }
    clients::AnswerBody operator()(const clients::FetchRequest&) const {
        clients::FetchAnswer answer;
        answer.error = C::kUnknownServerError;
        const auto* told = response<kafka::FetchResponse>();
        if (const auto* result = told != nullptr ? only(told->topics) : nullptr) {
            answer = {said(result->error_code), result->high_watermark, result->last_stable_offset,
                      result->log_start_offset, result->records.value_or(Bytes())};
            note(result->current_leader);
        }
        return answer;
    }
    clients::AnswerBody operator()(const clients::ListOffsetsRequest&) const {
        clients::ListOffsetsAnswer answer;
        answer.error = C::kUnknownServerError;
        const auto* told = response<kafka::ListOffsetsResponse>();
        if (const auto* result = told != nullptr ? only(told->topics) : nullptr) {
            answer.error = said(result->error_code);
            answer.offset = result->offset;
        }
        return answer;
    }
    clients::AnswerBody operator()(const clients::EpochEndRequest&) const {
        clients::EpochEndAnswer answer;
        answer.error = C::kUnknownServerError;
        const auto* told = response<kafka::OffsetForLeaderEpochResponse>();
        if (const auto* result = told != nullptr ? only(told->topics) : nullptr) {
            answer.error = said(result->error_code);
            answer.end_offset = result->end_offset;
        }
        return answer;
    }
    clients::AnswerBody operator()(const clients::MetadataRequest&) const {
        clients::MetadataAnswer answer;
        const auto* told = response<kafka::MetadataResponse>();
        if (told == nullptr) return clients::RefusedAnswer{C::kUnknownServerError};
        answer.leader = std::max(told->controller_id, BrokerId(0));
        for (const kafka::MetadataTopic& each : told->topics)
            answer.topics.push_back({said(each.error_code), each.name.value_or(""),
                                     kafka::topic_id_of(each.topic_id).value_or(TopicId(0)),
                                     static_cast<std::int32_t>(each.partitions.size()), each.is_internal});
        return answer;
    }
    clients::AnswerBody operator()(const clients::InitProducerIdRequest&) const {
        const auto* told = response<kafka::InitProducerIdResponse>();
        if (told == nullptr) return clients::RefusedAnswer{C::kUnknownServerError};
        return clients::InitProducerIdAnswer{said(told->error_code), told->producer_id, told->producer_epoch};
    }
    clients::AnswerBody operator()(const clients::OffsetCommitRequest&) const {
        const auto* told = response<kafka::OffsetCommitResponse>();
        const auto* result = told != nullptr ? only(told->topics) : nullptr;
        return clients::OffsetCommitAnswer{result != nullptr ? said(result->error_code) : C::kUnknownServerError};
    }
    clients::AnswerBody operator()(const clients::OffsetFetchRequest&) const {
        clients::OffsetFetchAnswer answer;
        answer.error = C::kUnknownServerError;
        const auto* told = response<kafka::OffsetFetchResponse>();
        if (told == nullptr) return answer;
        const bool by_group = !told->groups.empty();
        const K whole = by_group ? told->groups.front().error_code : told->error_code;
        if (whole != K::kNone) {
            answer.error = said(whole);
        } else if (const auto* result = only(by_group ? told->groups.front().topics : told->topics)) {
            answer.error = said(result->error_code);
            answer.offset = result->committed_offset;
        }
        return answer;
    }
    clients::AnswerBody operator()(const clients::CreateTopicRequest&) const {
        const auto* told = response<kafka::CreateTopicsResponse>();
        if (told == nullptr || told->topics.empty()) return clients::RefusedAnswer{C::kUnknownServerError};
        return clients::CreateTopicAnswer{said(told->topics.front().error_code), TopicId(0)};
    }
    clients::AnswerBody operator()(const clients::DeleteTopicRequest&) const {
        const auto* told = response<kafka::DeleteTopicsResponse>();
        if (told == nullptr || told->topics.empty()) return clients::RefusedAnswer{C::kUnknownServerError};
        return clients::DeleteTopicAnswer{said(told->topics.front().error_code)};
    }
    clients::AnswerBody operator()(const clients::GrowTopicRequest&) const {
        const auto* told = response<kafka::CreatePartitionsResponse>();
        if (told == nullptr || told->results.empty()) return clients::RefusedAnswer{C::kUnknownServerError};
        return clients::GrowTopicAnswer{said(told->results.front().error_code)};
    }
    clients::AnswerBody operator()(const clients::JoinGroupRequest&) const {
        const auto* told = response<kafka::JoinGroupResponse>();
        if (told == nullptr) return clients::RefusedAnswer{C::kUnknownServerError};
        clients::JoinGroupAnswer answer;
        answer.error = said(told->error_code);
        answer.generation = told->generation_id;
        answer.protocol_type = told->protocol_type.value_or("");
        answer.protocol = told->protocol_name.value_or("");
        answer.leader = told->leader;
        answer.member = told->member_id;
        answer.skip_assignment = told->skip_assignment;
        for (const kafka::JoinGroupMember& each : told->members)
            answer.members.push_back({each.member_id, each.group_instance_id.value_or(""), each.metadata});
        return answer;
    }
    clients::AnswerBody operator()(const clients::SyncGroupRequest&) const {
        const auto* told = response<kafka::SyncGroupResponse>();
        if (told == nullptr) return clients::RefusedAnswer{C::kUnknownServerError};
        return clients::SyncGroupAnswer{said(told->error_code), told->protocol_type.value_or(""),
                                        told->protocol_name.value_or(""), told->assignment};
    }
    clients::AnswerBody operator()(const clients::HeartbeatRequest&) const {
        const auto* told = response<kafka::HeartbeatResponse>();
        return clients::HeartbeatAnswer{told != nullptr ? said(told->error_code) : C::kUnknownServerError};
    }
    clients::AnswerBody operator()(const clients::LeaveGroupRequest&) const {
        const auto* told = response<kafka::LeaveGroupResponse>();
        if (told == nullptr) return clients::RefusedAnswer{C::kUnknownServerError};
        clients::LeaveGroupAnswer answer;
        answer.error = said(told->error_code);
        for (const kafka::LeavingMemberResult& each : told->members) answer.members.push_back(said(each.error_code));
        return answer;
    }
    template <typename Other>
    clients::AnswerBody operator()(const Other&) const {
        return clients::RefusedAnswer{C::kUnknownServerError};
    }
};

}  // namespace

KafkaDoor::KafkaDoor(std::uint64_t seed, std::int32_t client)
    : random_(seed, "kafka-door", static_cast<std::uint64_t>(client)), client_id_("client-" + std::to_string(client)) {}

kafka::Version KafkaDoor::draw_version(kafka::ApiKey key, kafka::Version first) {
    const kafka::Api& api = kafka::api_of(key);
    return static_cast<kafka::Version>(random_.between(std::max(api.first, first), api.last));
}

bool KafkaDoor::is_answered(const clients::Request& request) {
    const auto* produce = std::get_if<clients::ProduceRequest>(&request.body);
    return produce == nullptr || produce->acks != clients::Acks::kNone;
}

std::optional<Bytes> KafkaDoor::ask(const clients::Request& request) {
    const auto first = std::visit(FirstVersion{}, request.body);
    if (!first) return std::nullopt;
    const kafka::ApiKey key = kafka::api_key(std::visit(ToKafka{*first}, request.body));
    kafka::Request asked;
    asked.version = draw_version(key, *first);
    asked.correlation_id = static_cast<std::int32_t>(request.correlation_id.value);
    asked.client_id = client_id_;
    asked.body = std::visit(ToKafka{asked.version}, request.body);
    if (is_answered(request)) asked_[asked.correlation_id] = Asked{key, asked.version, request};
    const Bytes frame = kafka::encode_request(asked).flat();
    return frame.slice(kafka::kFrameSizeBytes, frame.size() - kafka::kFrameSizeBytes);
}

Result<std::optional<clients::Answer>, DecodeError> KafkaDoor::take(const Bytes& content) {
    constexpr std::size_t kCorrelationBytes = 4;
    if (content.size() < kCorrelationBytes) return decode_failure("Kafka answer: ends before its correlation id");
    std::uint32_t correlation = 0;
    for (std::size_t i = 0; i < kCorrelationBytes; ++i)
        correlation = (correlation << 8U) | std::to_integer<std::uint32_t>(content.span()[i]);
    const auto at = asked_.find(static_cast<std::int32_t>(correlation));
    if (at == asked_.end()) return std::optional<clients::Answer>();
    const Asked asked = std::move(at->second);
    asked_.erase(at);
    const auto response = kafka::decode_response(asked.key, asked.version, content);
    if (!response) return decode_failure(kafka::to_text(response.error()));
    clients::Answer answer;
    answer.correlation_id = asked.request.correlation_id;
    answer.body = std::visit(ToAnswer{asked.request.body, response->body, answer.leader_hint}, asked.request.body);
    return std::optional(std::move(answer));
}

}  // namespace tidelock::scenarios
