// Consumer groups on their coordinator, the leader (T4): the machine decides, here it is asked and its answers are
// sent.
#include <algorithm>

#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

void route(Step& step, clients::GroupEffects& effects) {
    for (clients::GroupAnswer& each : effects.answers)
        std::visit([&](auto& body) { answer(step, each.client, std::move(body)); }, each.body);
    for (clients::GroupNews& each : effects.news) observe(step, GroupChanged{std::move(each)});
    if (const auto deadline = step.broker.leading->groups.next_deadline()) note_deadline(step, *deadline);
}

}  // namespace

void on_join_group(Step& step, const ClientRef& client, const clients::JoinGroupRequest& join) {
    clients::GroupEffects effects;
    step.broker.leading->groups.join(step.now, client, join, effects);
    route(step, effects);
}

void on_sync_group(Step& step, const ClientRef& client, const clients::SyncGroupRequest& sync) {
    clients::GroupEffects effects;
    step.broker.leading->groups.sync(step.now, client, sync, effects);
    route(step, effects);
}

void on_heartbeat(Step& step, const ClientRef& client, const clients::HeartbeatRequest& heartbeat) {
    answer(step, client, clients::HeartbeatAnswer{step.broker.leading->groups.heartbeat(step.now, heartbeat)});
}

void on_leave_group(Step& step, const ClientRef& client, const clients::LeaveGroupRequest& leave) {
    clients::GroupEffects effects;
    step.broker.leading->groups.leave(step.now, client, leave, effects);
    route(step, effects);
}

/// Groups with members, and those of which there is nothing but offsets.
void on_list_groups(Step& step, const ClientRef& client) {
    const Leading& leading = *step.broker.leading;
    clients::ListGroupsAnswer body;
    for (const std::string& name : leading.offsets.groups())
        if (!leading.groups.groups().contains(name)) body.groups.push_back({name, {}, clients::GroupState::kEmpty});
    for (const auto& [name, group] : leading.groups.groups())
        body.groups.push_back({name, group.protocol_type, group.state});
    std::ranges::sort(body.groups, {}, &clients::ListedGroup::group);
    answer(step, client, std::move(body));
}

void on_describe_group(Step& step, const ClientRef& client, const clients::DescribeGroupRequest& describe) {
    const Leading& leading = *step.broker.leading;
    clients::DescribeGroupAnswer body;
    const auto at = leading.groups.groups().find(describe.group);
    if (at == leading.groups.groups().end()) {
        if (leading.offsets.has_group(describe.group)) body.state = clients::GroupState::kEmpty;
        return answer(step, client, std::move(body));
    }
    const clients::Group& group = at->second;
    body.state = group.state;
    body.generation = group.generation;
    body.protocol_type = group.protocol_type;
    // Between generations there is no protocol that members have agreed on.
    const bool has_protocol = group.state == clients::GroupState::kStable;
    if (has_protocol) body.protocol = group.protocol;
    for (const auto& [id, member] : group.members)
        body.members.push_back({id, member.instance, member.client_id, member.client_host,
                                has_protocol ? clients::metadata_of(member, group.protocol) : Bytes(),
                                member.assignment});
    answer(step, client, std::move(body));
}

void on_group_offsets(Step& step, const ClientRef& client, const clients::GroupOffsetsRequest& request) {
    const Broker& broker = step.broker;
    clients::GroupOffsetsAnswer body;
    for (const auto& [partition, committed] : broker.leading->offsets.of_group(request.group)) {
        const storage::TopicEntry* topic = broker.topics.find(partition.topic);
        if (topic == nullptr || topic->config.is_deleting) continue;
        body.offsets.push_back({{topic->name, topic->id, partition.partition},
                                committed.offset,
                                committed.leader_epoch,
                                committed.metadata});
    }
    answer_when_confirmed(step, client, std::move(body));
}

void expire_group_members(Step& step) {
    clients::GroupEffects effects;
    step.broker.leading->groups.expire(step.now, effects);
    route(step, effects);
}

void forget_group_client(Step& step, ConnectionId connection) {
    clients::GroupEffects effects;
    step.broker.leading->groups.disconnect(step.now, connection, effects);
    route(step, effects);
}

}  // namespace tidelock::broker
