// Being in a group, and looking at groups (T4).
#include <algorithm>
#include <set>
#include <string_view>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

/// KIP-394: since then a member without an id is given one first.
constexpr kafka::Version kMemberFirstSince = 4;
/// KIP-814.
constexpr kafka::Version kSkipsAssignmentSince = 9;

std::optional<std::string> optional_of(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

void ask(Call& call, kafka::JoinGroupRequest& request) {
    clients::JoinGroupRequest join;
    join.group = request.group_id;
    join.member = request.member_id;
    join.instance = request.group_instance_id.value_or("");
    join.client_id = call.pending.request.client_id.value_or("");
    join.client_host = call.connection.host;
    join.session_timeout = milliseconds(request.session_timeout_ms);
    join.rebalance_timeout =
        milliseconds(request.rebalance_timeout_ms < 0 ? request.session_timeout_ms : request.rebalance_timeout_ms);
    join.protocol_type = request.protocol_type;
    for (const kafka::JoinGroupProtocol& each : request.protocols) join.protocols.push_back({each.name, each.metadata});
    join.wants_member_first = call.pending.request.version >= kMemberFirstSince;
    join.may_skip_assignment = call.pending.request.version >= kSkipsAssignmentSince;
    call.ask({}, std::move(join));
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::JoinGroupRequest& request) {
    auto& response = answer_of<kafka::JoinGroupResponse>(call);
    response.error_code = kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
    response.member_id = request.member_id;
    response.protocol_name = "";
    const auto* joined = std::get_if<clients::JoinGroupAnswer>(&answer.body);
    if (joined == nullptr) return;
    if (!joined->member.empty()) response.member_id = joined->member;
    if (joined->error != clients::ErrorCode::kNone) return;
    response.generation_id = joined->generation;
    response.protocol_type = joined->protocol_type;
    response.protocol_name = joined->protocol;
    response.leader = joined->leader;
    response.skip_assignment = joined->skip_assignment;
    for (const clients::JoinedMember& each : joined->members)
        response.members.push_back({each.member, optional_of(each.instance), each.metadata});
}

void ask(Call& call, kafka::SyncGroupRequest& request) {
    clients::SyncGroupRequest sync;
    sync.group = request.group_id;
    sync.generation = request.generation_id;
    sync.member = request.member_id;
    sync.instance = request.group_instance_id.value_or("");
    sync.protocol_type = request.protocol_type.value_or("");
    sync.protocol = request.protocol_name.value_or("");
    for (const kafka::SyncGroupAssignment& each : request.assignments)
        sync.assignments.push_back({each.member_id, each.assignment});
    call.ask({}, std::move(sync));
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::SyncGroupRequest& /*request*/) {
    auto& response = answer_of<kafka::SyncGroupResponse>(call);
    response.error_code = kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
    // A coordinator that is not ready knows no members: to join again is all that a member can do, and what it knows.
    if (response.error_code == kafka::ErrorCode::kCoordinatorLoadInProgress)
        response.error_code = kafka::ErrorCode::kRebalanceInProgress;
    const auto* synced = std::get_if<clients::SyncGroupAnswer>(&answer.body);
    if (synced == nullptr || synced->error != clients::ErrorCode::kNone) return;
    response.protocol_type = synced->protocol_type;
    response.protocol_name = synced->protocol;
    response.assignment = synced->assignment;
}

void ask(Call& call, kafka::HeartbeatRequest& request) {
    call.ask({}, clients::HeartbeatRequest{request.group_id, request.generation_id, request.member_id,
                                           request.group_instance_id.value_or("")});
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::HeartbeatRequest& /*request*/) {
    answer_of<kafka::HeartbeatResponse>(call).error_code =
        kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
}

void ask(Call& call, kafka::LeaveGroupRequest& request) {
    clients::LeaveGroupRequest leave;
    leave.group = request.group_id;
    if (call.pending.request.version < 3) {
        leave.members.push_back({request.member_id, {}});
    } else {
        for (const kafka::LeavingMember& each : request.members)
            leave.members.push_back({each.member_id, each.group_instance_id.value_or("")});
    }
    call.ask({}, std::move(leave));
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::LeaveGroupRequest& request) {
    auto& response = answer_of<kafka::LeaveGroupResponse>(call);
    response.error_code = kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
    const auto* left = std::get_if<clients::LeaveGroupAnswer>(&answer.body);
    if (left == nullptr || left->error != clients::ErrorCode::kNone) return;
    if (call.pending.request.version < 3) {
        if (!left->members.empty()) response.error_code = kafka_error(left->members[0], AskedOf::kCoordinator);
        return;
    }
    for (std::size_t m = 0; m < request.members.size() && m < left->members.size(); ++m)
        response.members.push_back({request.members[m].member_id, request.members[m].group_instance_id,
                                    kafka_error(left->members[m], AskedOf::kCoordinator)});
}

void ask(Call& call, kafka::DescribeGroupsRequest& request) {
    std::set<std::string_view> named;
    for (std::uint32_t g = 0; g < request.groups.size(); ++g) {
        if (named.insert(request.groups[g]).second)
            call.ask({g, 0}, clients::DescribeGroupRequest{request.groups[g]});
        else  // one that is named twice is told once
            answer_of<kafka::DescribeGroupsResponse>(call).groups[g].error_code = kafka::ErrorCode::kInvalidRequest;
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DescribeGroupsRequest& /*request*/) {
    kafka::DescribedGroup& group = answer_of<kafka::DescribeGroupsResponse>(call).groups[slot.outer];
    group.error_code = kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
    const auto* described = std::get_if<clients::DescribeGroupAnswer>(&answer.body);
    if (described == nullptr || described->error != clients::ErrorCode::kNone) return;
    for (const clients::DescribedMember& each : described->members)
        call.pending.answer_bytes += static_cast<std::int64_t>(each.metadata.size() + each.assignment.size());
    if (call.pending.answer_bytes > call.config.group_bytes_max) {  // no frame has room for everything members may say
        group.error_code = kafka::ErrorCode::kMessageTooLarge;
        return;
    }
    group.group_state = clients::to_text(described->state);
    group.protocol_type = described->protocol_type;
    group.protocol_data = described->protocol;
    for (const clients::DescribedMember& each : described->members)
        group.members.push_back({each.member, optional_of(each.instance), each.client_id, each.client_host,
                                 each.metadata, each.assignment});
}

void ask(Call& call, kafka::ListGroupsRequest& /*request*/) {
    call.ask({}, clients::ListGroupsRequest{});
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::ListGroupsRequest& request) {
    auto& response = answer_of<kafka::ListGroupsResponse>(call);
    // Operators ask every broker: who is not the leader coordinates no group.
    if (clients::error_of(answer) == clients::ErrorCode::kNotLeader) return;
    response.error_code = kafka_error(clients::error_of(answer), AskedOf::kCoordinator);
    const auto* listed = std::get_if<clients::ListGroupsAnswer>(&answer.body);
    if (listed == nullptr) return;
    const auto& states = request.states_filter;
    for (const clients::ListedGroup& each : listed->groups) {
        const std::string state(clients::to_text(each.state));
        if (!states.empty() && std::find(states.begin(), states.end(), state) == states.end()) continue;
        response.groups.push_back({each.group, each.protocol_type, state});
    }
}

}  // namespace tidelock::gateway
