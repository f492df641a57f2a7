// The cluster as it is at one moment: read off the brokers between two events, for aiming faults and judging the end.
#include <algorithm>

#include "scenarios/cluster.h"
#include "scenarios/upkeep_witness.h"

namespace tidelock::scenarios {

const broker::Broker* Cluster::broker(BrokerId broker) const {
    return brokers_[index(broker)]->broker();
}

bool Cluster::is_up(BrokerId broker) const {
    const broker::Broker* running = this->broker(broker);
    return running != nullptr && running->lifecycle == broker::Lifecycle::kRunning;
}

std::optional<BrokerId> Cluster::leader() const {
    std::optional<BrokerId> best;
    LeaderEpoch best_epoch;
    for (std::int32_t id = 1; id <= broker_count(); ++id) {
        const broker::Broker* candidate = broker(BrokerId(id));
        if (candidate == nullptr || !broker::is_serving(*candidate)) continue;
        const LeaderEpoch leader_epoch = candidate->leading->leader_epoch;
        if (best && leader_epoch <= best_epoch) continue;
        best = BrokerId(id);
        best_epoch = leader_epoch;
    }
    return best;
}

std::vector<Replica> Cluster::in_sync_replicas() const {
    const std::optional<BrokerId> leading = leader();
    if (!leading) return {};
    return broker(*leading)->in_sync.committed().members;
}

bool Cluster::is_in_sync(BrokerId broker) const {
    const std::vector<Replica> members = in_sync_replicas();
    const Replica replica{broker, data_incarnations_[index(broker)]};
    return std::find(members.begin(), members.end(), replica) != members.end();
}

std::vector<ReplicaCondition> Cluster::conditions() const {
    std::vector<ReplicaCondition> conditions;
    const std::optional<BrokerId> leading = leader();
    const std::vector<Replica> members = in_sync_replicas();
    for (std::int32_t id = 1; id <= broker_count(); ++id) {
        const BrokerId each(id);
        ReplicaCondition& condition = conditions.emplace_back();
        condition.data_incarnation = data_incarnations_[index(each)];
        condition.is_disk_sound = world_.host(scenarios::host_of(each)).disk().is_sound();
        const broker::Broker* running = broker(each);
        if (!leading || running == nullptr) continue;
        const Replica replica{each, condition.data_incarnation};
        const bool is_member = std::find(members.begin(), members.end(), replica) != members.end();
        const bool is_static = running->config.preset == broker::Preset::kStatic;
        // It counts for the others, and knows durably that it does: only then can it replace the one lost next (R11).
        const bool is_admitted =
            is_static ||
            (raft::incarnation_in_force(broker(*leading)->raft, each) == running->identity.raft_incarnation &&
             running->raft.persistent.voter && running->raft.durable_sequence == running->raft.requested_sequence);
        condition.is_in_sync = is_member && is_admitted;
    }
    return conditions;
}

void Cluster::add_final_partitions(checker::FinalView& view) const {
    const std::optional<BrokerId> leading = leader();
    if (!leading) return;
    for (const storage::TopicEntry& topic : broker(*leading)->topics.topics) {
        if (topic.config.is_internal || topic.config.is_deleting) continue;
        for (std::int32_t number = 0; number < topic.partition_count; ++number) {
            checker::FinalPartition& partition = view.partitions.emplace_back();
            partition.partition = {topic.id, PartitionIndex(number)};
            partition.topic_name = topic.name;
            for (std::int32_t id = 1; id <= broker_count(); ++id) {
                const broker::Broker* copy = broker(BrokerId(id));
                if (copy == nullptr) continue;
                const std::optional<storage::LogView> log = copy->logs.view(partition.partition);
                const auto state = copy->partitions.find(partition.partition);
                if (!log || state == copy->partitions.end()) continue;
                partition.copies.push_back(
                    {BrokerId(id), log->log_start_offset, log->log_end_offset, state->second.high_watermark.value()});
            }
        }
    }
}

checker::FinalView Cluster::final_view() const {
    checker::FinalView view;
    for (std::int32_t id = 1; id <= broker_count(); ++id) {
        const bool is_given_up = std::ranges::find(given_up_, BrokerId(id)) != given_up_.end();
        view.brokers.push_back({BrokerId(id), is_up(BrokerId(id)), refusals_[index(BrokerId(id))],
                                data_incarnations_[index(BrokerId(id))], is_given_up});
    }
    view.leader = leader();
    view.in_sync_replicas = in_sync_replicas();
    add_final_partitions(view);
    for (const checker::FinalBroker& each : view.brokers) {
        if (!each.running || each.is_given_up) continue;
        const sim::Disk& disk = world_.host(scenarios::host_of(each.broker)).disk();
        const std::vector<std::string> overdue = overdue_upkeep(*broker(each.broker), disk.list());
        view.overdue_upkeep.insert(view.overdue_upkeep.end(), overdue.begin(), overdue.end());
    }
    clients_.add_to(view);
    return view;
}

std::vector<std::string> Cluster::unmet() const {
    return checker::unmet_expectations(checker_settings(plan_), final_view());
}

}  // namespace tidelock::scenarios
