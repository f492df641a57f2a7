#include "scenarios/client_hosts.h"

#include <algorithm>
#include <utility>

#include "scenarios/broker_host.h"

namespace tidelock::scenarios {

ClientHosts::ClientHosts(const Plan& plan, sim::World& world, CallLog& calls) : plan_(plan), world_(world) {
    workload_.plan = &plan_;
    workload_.calls = &calls;
    workload_.broker_count = static_cast<std::int32_t>(plan.settings[Setting::kBrokers]);
    workload_.producer_orders.resize(plan.producers.size());
    workload_.consumer_orders.resize(plan.consumers.size());
    workload_.member_orders.resize(plan.members.size());
    consumer_progress_.resize(plan.consumers.size());
}

sim::Host& ClientHosts::add_host(std::int32_t id, std::string name) {
    sim::Host& host = world_.add_host(sim::HostId(id), std::move(name));
    // Clients ask over connections: a request that outlived the broker it was sent to would be answered by the next
    // life, which cannot tell what became of it in the one before.
    for (std::int32_t broker = 1; broker <= workload_.broker_count; ++broker)
        world_.network().set_mode(host.id(), host_of(BrokerId(broker)), sim::LinkMode::kStream);
    return host;
}

Client& ClientHosts::add(std::int32_t host_id, const std::string& name) {
    sim::Host& host = add_host(host_id, name);
    return clients_.emplace_back(workload_, host, checker::ClientId(host_id));
}

void ClientHosts::start(AdminHooks hooks) {
    admin_hooks_ = std::move(hooks);
    for (std::size_t i = 0; i < plan_.producers.size(); ++i) {
        const ProducerPlan& producer = plan_.producers[i];
        Client& client = add(kProducerHosts + producer.id, "producer-" + std::to_string(producer.id));
        world_.spawn(client.host(), [this, &client, &producer, i] { run_producer(client, producer, i, plan_.seed); });
    }
    for (std::size_t i = 0; i < plan_.consumers.size(); ++i) {
        const ConsumerPlan& consumer = plan_.consumers[i];
        Client& client = add(kConsumerHosts + consumer.id, "consumer-" + std::to_string(consumer.id));
        world_.spawn(client.host(),
                     [this, &client, &consumer, i] { run_consumer(client, consumer, i, consumer_progress_[i]); });
    }
    start_members();
    start_pollers();
    Client& admin = add(kAdminHost, "admin");
    world_.spawn(admin.host(), [this, &admin] { run_admin(admin, admin_hooks_); });
}

void ClientHosts::start_members() {
    for (const CommitterPlan& committer : plan_.committers) {
        Client& client = add(kCommitterHosts + committer.id, "committer-" + std::to_string(committer.id));
        world_.spawn(client.host(), [this, &client, &committer] { run_committer(client, committer, plan_.seed); });
    }
    for (std::size_t i = 0; i < plan_.members.size(); ++i) {
        const MemberPlan& member = plan_.members[i];
        Client& client = add(kMemberHosts + member.id, "member-" + std::to_string(member.id));
        GroupProgress& progress = group_progress_[member.group];
        world_.spawn(client.host(),
                     [&client, &member, &progress, i] { run_group_member(client, member, i, progress); });
    }
}

void ClientHosts::start_pollers() {
    for (const PollerPlan& poller : plan_.pollers) {
        Client& client = add(kPollerHosts + poller.id, "poller-" + std::to_string(poller.id));
        world_.spawn(client.host(), [&client, &poller] { run_status_poller(client, poller); });
    }
    for (const PollerPlan& poller : plan_.coordinator_pollers) {
        Client& client = add(kCoordinatorPollerHosts + poller.id, "coordinator-poller-" + std::to_string(poller.id));
        world_.spawn(client.host(), [this, &client, &poller] { run_coordinator_poller(client, poller, plan_.seed); });
    }
}

void ClientHosts::start_verifier() {
    Client& verifier = add(kVerifierHost, "verifier");
    world_.spawn(verifier.host(), [this, &verifier] { run_verifier(verifier, verification_); });
}

void ClientHosts::add_to(checker::FinalView& view) const {
    view.is_everything_read = verification_.is_finished;
    view.topics_listed_ns = verification_.topics_listed_ns;
    for (const VerifiedPartition& verified : verification_.partitions) {
        for (checker::FinalPartition& partition : view.partitions)
            if (partition.partition == TopicPartition{verified.topic_id, verified.partition})
                partition.writable = verified.is_writable;
        view.reads.push_back(verified.read);
        const std::string name = verified.topic + "-" + std::to_string(verified.partition.value);
        for (std::size_t i = 0; i < consumer_progress_.size(); ++i) {
            const auto& positions = consumer_progress_[i].positions;
            const auto found = std::find_if(positions.begin(), positions.end(), [&verified](const auto& position) {
                return position.topic_id == verified.topic_id && position.partition == verified.partition;
            });
            view.consumers.push_back({"consumer-" + std::to_string(plan_.consumers[i].id) + " on " + name,
                                      found == positions.end() ? Offset(0) : found->next, verified.high_watermark});
        }
        for (const auto& [group, progress] : group_progress_) {
            const auto committed = progress.committed.find({verified.topic_id, verified.partition});
            view.consumers.push_back({"group-" + std::to_string(group) + "'s committed offset on " + name,
                                      committed == progress.committed.end() ? Offset(0) : committed->second,
                                      verified.high_watermark});
        }
    }
}

}  // namespace tidelock::scenarios
