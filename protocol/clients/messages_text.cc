// One line a message, for traces and failing tests.
#include <fmt/format.h>

#include <iterator>

#include "protocol/clients/messages.h"

namespace tidelock::clients {
namespace {

using Line = fmt::memory_buffer;

template <typename... Args>
void add(Line& line, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
}

std::string text_of(const PartitionName& name) {
    if (name.topic_id == TopicId{}) return fmt::format("{}-{}", name.topic, name.partition.value);
    return fmt::format("{}/{:x}-{}", name.topic, name.topic_id.value, name.partition.value);
}

void add_settings(Line& line, const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) add(line, " {}={}", setting.key, setting.value);
}

void add_replicas(Line& line, const std::vector<Replica>& replicas) {
    for (const Replica& replica : replicas) add(line, " {}/{:x}", replica.broker.value, replica.incarnation.value);
}

constexpr std::string_view kKinds[] = {
    "produce",       "fetch",        "list_offsets",   "metadata",       "init_producer_id",
    "offset_commit", "offset_fetch", "create_topic",   "delete_topic",   "grow_topic",
    "set_config",    "status",       "delete_records", "transfer",       "join_group",
    "sync_group",    "heartbeat",    "leave_group",    "list_groups",    "describe_group",
    "await_records", "epoch_end",    "group_offsets",  "describe_topic", "refused"};
static_assert(std::size(kKinds) == std::variant_size_v<AnswerBody>);
constexpr std::string_view kAcks[] = {"none", "leader", "all"};
constexpr std::string_view kOffsetAt[] = {"log start", "high watermark", "last stable", "time", "newest time"};

void add_body(Line& line, const ProduceRequest& body) {
    add(line, " {} acks={} {} bytes", text_of(body.partition), kAcks[static_cast<std::uint8_t>(body.acks)],
        body.batches.size());
}
void add_body(Line& line, const FetchRequest& body) {
    add(line, " {} from {} wait {} ms{}", text_of(body.partition), body.offset.value, body.wait_max.value / 1'000'000,
        body.isolation == IsolationLevel::kReadCommitted ? " read_committed" : "");
}
void add_body(Line& line, const ListOffsetsRequest& body) {
    add(line, " {} {}", text_of(body.partition), kOffsetAt[static_cast<std::uint8_t>(body.at)]);
}
void add_body(Line& line, const MetadataRequest& body) {
    for (const std::string& topic : body.topics) add(line, " {}", topic);
    for (const TopicId topic : body.topic_ids) add(line, " {:x}", topic.value);
}
void add_body(Line& line, const InitProducerIdRequest& body) {
    add(line, " {}/{}", body.producer_id.value, body.producer_epoch.value);
}
void add_body(Line& line, const OffsetCommitRequest& body) {
    add(line, " group {} {} at {} generation {}", body.group, text_of(body.partition), body.offset.value,
        body.generation);
}
void add_body(Line& line, const OffsetFetchRequest& body) {
    add(line, " group {} {}", body.group, text_of(body.partition));
}
void add_body(Line& line, const CreateTopicRequest& body) {
    add(line, " {} partitions {}", body.topic, body.partition_count);
    add_settings(line, body.settings);
}
void add_body(Line& line, const DeleteTopicRequest& body) {
    add(line, " {}", body.topic);
}
void add_body(Line& line, const GrowTopicRequest& body) {
    add(line, " {} to {}", body.topic, body.partition_count);
}
void add_body(Line& line, const SetTopicConfigRequest& body) {
    add(line, " {}", body.topic);
    add_settings(line, body.settings);
}
void add_body(Line&, const StatusRequest&) {}
void add_body(Line& line, const DeleteRecordsRequest& body) {
    add(line, " {} before {}", text_of(body.partition), body.before_offset.value);
}
void add_body(Line& line, const TransferLeadershipRequest& body) {
    add(line, " to {}", body.to.value);
}
void add_body(Line& line, const JoinGroupRequest& body) {
    add(line, " {} as '{}' {}", body.group, body.member, body.protocol_type);
    for (const GroupProtocol& each : body.protocols) add(line, " {}", each.name);
}
void add_body(Line& line, const SyncGroupRequest& body) {
    add(line, " {} generation {} '{}' assigns {}", body.group, body.generation, body.member, body.assignments.size());
}
void add_body(Line& line, const HeartbeatRequest& body) {
    add(line, " {} generation {} '{}'", body.group, body.generation, body.member);
}
void add_body(Line& line, const LeaveGroupRequest& body) {
    add(line, " {}", body.group);
    for (const LeavingMember& each : body.members) add(line, " '{}'", each.member);
}
void add_body(Line&, const ListGroupsRequest&) {}
void add_body(Line& line, const DescribeGroupRequest& body) {
    add(line, " {}", body.group);
}
void add_body(Line& line, const AwaitRecordsRequest& body) {
    add(line, " wait {} ms", body.wait_max.value / 1'000'000);
    for (const PartitionPosition& each : body.positions)
        add(line, " {} at {}", text_of(each.partition), each.offset.value);
}
void add_body(Line& line, const EpochEndRequest& body) {
    add(line, " {} epoch {}", text_of(body.partition), body.leader_epoch.value);
}
void add_body(Line& line, const GroupOffsetsRequest& body) {
    add(line, " {}", body.group);
}
void add_body(Line& line, const DescribeTopicRequest& body) {
    add(line, " {}", body.topic);
}

void add_body(Line& line, const ProduceAnswer& body) {
    add(line, " at {}", body.base_offset.value);
}
void add_body(Line& line, const FetchAnswer& body) {
    add(line, " {} bytes hw {} stable {} start {}", body.batches.size(), body.high_watermark.value,
        body.last_stable_offset.value, body.log_start_offset.value);
}
void add_body(Line& line, const ListOffsetsAnswer& body) {
    add(line, " {}", body.offset.value);
}
void add_body(Line& line, const MetadataAnswer& body) {
    add(line, " leader {} epoch {}", body.leader.value, body.leader_epoch.value);
    for (const MetadataAnswer::Topic& topic : body.topics)
        add(line, " {}={:x}*{}", topic.name, topic.id.value, topic.partition_count);
}
void add_body(Line& line, const InitProducerIdAnswer& body) {
    add(line, " {}/{}", body.producer_id.value, body.producer_epoch.value);
}
void add_body(Line& line, const OffsetFetchAnswer& body) {
    add(line, " {}", body.offset.value);
}
void add_body(Line& line, const CreateTopicAnswer& body) {
    add(line, " {:x}", body.topic_id.value);
}
void add_body(Line& line, const StatusAnswer& body) {
    add(line, " {} leader {} epoch {} term {} isr", name_of(body.role), body.leader.value, body.leader_epoch.value,
        body.term.value);
    add_replicas(line, body.in_sync_replicas);
    if (!body.lagging_members.empty()) add(line, " lagging");
    add_replicas(line, body.lagging_members);
    add(line, " durability {} under-replicated {}", name_of(body.durability), body.under_replicated_count);
}
void add_body(Line& line, const DeleteRecordsAnswer& body) {
    add(line, " start {}", body.log_start_offset.value);
}
void add_body(Line& line, const JoinGroupAnswer& body) {
    add(line, " generation {} as '{}' leader '{}' {} of {}", body.generation, body.member, body.leader, body.protocol,
        body.members.size());
}
void add_body(Line& line, const SyncGroupAnswer& body) {
    add(line, " {} bytes", body.assignment.size());
}
void add_body(Line& line, const DescribeGroupAnswer& body) {
    add(line, " {} generation {} of {}", to_text(body.state), body.generation, body.members.size());
}
void add_body(Line& line, const EpochEndAnswer& body) {
    add(line, " epoch {} ends {}", body.leader_epoch.value, body.end_offset.value);
}

/// Answers that are nothing but their error, and lists.
template <typename Body>
void add_body(Line&, const Body&) {}

}  // namespace

std::string_view kind_of(const Request& request) {
    return kKinds[request.body.index()];
}

std::string to_text(const Request& request) {
    Line line;
    add(line, "{} #{}", kind_of(request), request.correlation_id.value);
    std::visit([&line](const auto& body) { add_body(line, body); }, request.body);
    return fmt::to_string(line);
}

std::string to_text(const Answer& answer) {
    Line line;
    const ErrorCode error = error_of(answer);
    add(line, "{} answer #{} {}", kKinds[answer.body.index()], answer.correlation_id.value, to_text(error));
    if (answer.leader_hint != BrokerId{}) add(line, " leader={}", answer.leader_hint.value);
    if (error == ErrorCode::kNone) std::visit([&line](const auto& body) { add_body(line, body); }, answer.body);
    return fmt::to_string(line);
}

}  // namespace tidelock::clients
