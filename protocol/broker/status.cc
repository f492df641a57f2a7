// What a broker says of itself, and the operator's wish to have another leader (O1, R10, G8).
#include <algorithm>

#include "protocol/broker/step.h"
#include "protocol/raft/quorum.h"

namespace tidelock::broker {
namespace {

clients::StatusRole role_of(const Broker& broker) {
    if (broker.leading)
        return broker.leading->stage == LeadingStage::kServing ? clients::StatusRole::kLeader
                                                               : clients::StatusRole::kClaiming;
    if (raft::is_caretaker(broker.raft)) return clients::StatusRole::kCaretaker;
    if (raft::is_leader(broker.raft)) return clients::StatusRole::kClaiming;
    if (std::holds_alternative<raft::Candidate>(broker.raft.role)) return clients::StatusRole::kCandidate;
    return clients::StatusRole::kFollower;
}

/// G8: what a confirmed record survives under this configuration.
clients::StatusDurability durability_of(const Config& config) {
    if (config.seed_rules.positions_as_received) return clients::StatusDurability::kReceivedOnly;
    const auto majority = static_cast<std::int32_t>(config.members.size() / 2 + 1);
    return config.min_insync_replicas >= majority ? clients::StatusDurability::kMinorityLoss
                                                  : clients::StatusDurability::kSingleDisk;
}

/// The member in step, other than this broker, with the lowest id, of those that answer if any does; 0: none.
BrokerId best_successor(const Broker& broker, Instant now) {
    const auto& lagging = broker.in_sync.lagging_members();
    BrokerId silent;
    for (const Replica& member : broker.in_sync.committed().members) {
        const bool is_in_step = std::ranges::find(lagging, member) == lagging.end();
        if (member.broker == broker.config.id || !is_in_step) continue;
        if (raft::is_in_contact(broker.raft, member.broker, now)) return member.broker;
        if (silent.value == 0) silent = member.broker;
    }
    return silent;
}

}  // namespace

clients::StatusAnswer status(const Broker& broker) {
    clients::StatusAnswer body;
    body.role = role_of(broker);
    body.leader = leader_of_decided_epoch(broker);
    body.leader_epoch = broker.leading ? broker.leading->leader_epoch : broker.decided.leader_epoch;
    body.term = broker.raft.persistent.term;
    body.in_sync_replicas = broker.leading ? broker.in_sync.committed().members : broker.decided.in_sync_replicas;
    if (broker.leading) body.lagging_members = broker.in_sync.lagging_members();
    body.durability = durability_of(broker.config);
    body.under_replicated_count = broker.under_replicated;
    return body;
}

bool is_serving(const Broker& broker) {
    return broker.leading && broker.leading->stage == LeadingStage::kServing;
}

void on_status(Step& step, const ClientRef& client) {
    const clients::StatusAnswer body = status(step.broker);
    observe(step, StatusReported{body.role, body.leader_epoch, body.term, body.leader, body.in_sync_replicas,
                                 body.lagging_members, body.durability, body.under_replicated_count});
    answer(step, client, body);
}

void on_transfer(Step& step, const ClientRef& client, const clients::TransferLeadershipRequest& transfer) {
    Broker& broker = step.broker;
    const BrokerId target = transfer.to.value == 0 ? best_successor(broker, step.now) : transfer.to;
    const auto& set = broker.in_sync.committed().members;
    const bool is_member = std::ranges::any_of(set, [&](const Replica& replica) { return replica.broker == target; });
    const bool can =
        broker.config.preset == Preset::kGroup && is_member && target != broker.config.id && !broker.leading->transfer;
    if (!can) return answer(step, client, clients::TransferLeadershipAnswer{clients::ErrorCode::kTransferFailed});
    broker.leading->transfer = WaitingTransfer{client, target};
    run_raft(step, raft::TransferRequested{target});
}

void on_transfer_finished(Step& step, const raft::TransferFinished& finished) {
    Broker& broker = step.broker;
    if (finished.succeeded) mark(step, broker.leading ? Mark::kLeadershipTransferred : Mark::kCaretakerHandedOver);
    if (!broker.leading || !broker.leading->transfer || broker.leading->transfer->target != finished.target) return;
    clients::TransferLeadershipAnswer body;
    if (!finished.succeeded)
        body.error = finished.was_told ? clients::ErrorCode::kRequestTimedOut : clients::ErrorCode::kTransferFailed;
    if (broker.leading->transfer->client) answer(step, *broker.leading->transfer->client, body);
    broker.leading->transfer.reset();
}

}  // namespace tidelock::broker
