#include "protocol/broker/step.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::broker {
namespace {

raft::Config raft_config(const Config& config) {
    raft::Config raft;
    raft.self = config.id;
    raft.members = raft::BrokerIds(config.members.begin(), config.members.end());
    raft.election_timeout_min = config.election_timeout_min;
    raft.election_timeout_max = config.election_timeout_max;
    raft.heartbeat_interval = config.heartbeat_interval;
    raft.disconnect_stand_max = config.election_timeout_min / 4;
    raft.caretaker_delay = config.election_timeout_max;
    raft.transfer_timeout = config.transfer_timeout;
    raft.pre_vote = !config.seed_rules.no_pre_vote;
    raft.entries_per_append_max = static_cast<std::uint32_t>(config.raft_entries_per_append_max);
    raft.append_window_max = static_cast<std::uint32_t>(config.raft_append_window_max);
    raft.snapshot_chunk_bytes_max = static_cast<std::uint32_t>(config.raft_snapshot_chunk_bytes_max);
    raft.log_entries_max = static_cast<std::uint32_t>(config.raft_log_entries_max);
    return raft;
}

storage::LogStoreConfig store_config(const Config& config) {
    storage::LogStoreConfig store;
    store.segment.segment_bytes_max = static_cast<std::uint32_t>(config.segment_bytes_max);
    store.journal_bytes_max = static_cast<std::uint64_t>(config.journal_bytes_max);
    if (config.trusts_sealed_indexes) store.scan = storage::RecoveryScan::kFromCheckpoint;
    return store;
}

replication::FetcherConfig fetcher_config(const Config& config) {
    replication::FetcherConfig fetcher;
    fetcher.self.broker = config.id;
    fetcher.fetch_wait_max = config.fetch_wait_max;
    fetcher.request_timeout = config.request_timeout;
    fetcher.retry_min = config.fetch_retry;
    fetcher.retry_max = config.fetch_retry * 2;
    fetcher.fetch_bytes_max = config.fetch_bytes_max;
    if (config.seed_rules.single_shot_truncation) fetcher.truncation_rule = replication::TruncationRule::kSingleShot;
    fetcher.positions_as_received = config.seed_rules.positions_as_received;
    return fetcher;
}

/// A term becomes a leader epoch of 32 bits at the claim. One that elections cannot reach in the life of a group is no
/// term: taken over, it would leave nobody an epoch to lead in.
bool is_term_possible(const raft::Message& message) {
    constexpr std::int64_t kTermMax = std::int64_t{1} << 30;
    const auto highest = [](const auto& m) -> std::int64_t {
        std::int64_t term = 0;
        if constexpr (requires { m.next_term; }) term = std::max(term, static_cast<std::int64_t>(m.next_term.value));
        if constexpr (requires { m.term; }) term = std::max(term, static_cast<std::int64_t>(m.term.value));
        if constexpr (requires { m.entries; })
            for (const raft::Entry& entry : m.entries)
                term = std::max(term, static_cast<std::int64_t>(entry.term.value));
        return term;
    };
    return std::visit(highest, message) <= kTermMax;
}

void on_raft_message(Step& step, BrokerId from, const raft::Message& message) {
    if (step.broker.config.preset != Preset::kGroup) return;
    if (!is_term_possible(message))
        return observe(step, ProtocolViolationRefused{"R4", "a term that no election reaches"});
    run_raft(step, raft::MessageReceived{from, message});
}

void on_peer_message(Step& step, const PeerMessageReceived& received) {
    if (step.broker.lifecycle != Lifecycle::kRunning) return;
    const BrokerId from = received.from;
    step.broker.in_sync.on_heard(from);
    if (const raft::Message* message = std::get_if<raft::Message>(&received.message))
        return on_raft_message(step, from, *message);
    const replication::Message& message = std::get<replication::Message>(received.message);
    replication::FetchEffects effects;
    if (const auto* m = std::get_if<replication::ManifestRequest>(&message)) on_manifest_request(step, from, *m);
    if (const auto* m = std::get_if<replication::EpochEndRequest>(&message)) on_epoch_end_request(step, from, *m);
    if (const auto* m = std::get_if<replication::FetchRequest>(&message)) on_fetch_request(step, from, *m);
    if (const auto* m = std::get_if<replication::PositionUpdate>(&message)) on_position_update(step, from, *m);
    if (const auto* m = std::get_if<replication::TopicWanted>(&message)) on_topic_wanted(step, *m);
    if (from != step.broker.fetcher.leader()) return;
    if (const auto* m = std::get_if<replication::ManifestAnswer>(&message))
        note_static_epoch(step, from, m->leader_epoch);
    if (const auto* m = std::get_if<replication::FetchAnswer>(&message)) note_static_epoch(step, from, m->leader_epoch);
    if (const auto* m = std::get_if<replication::ManifestAnswer>(&message))
        step.broker.fetcher.on_manifest_answer(*m, step.now, effects);
    if (const auto* m = std::get_if<replication::EpochEndAnswer>(&message))
        step.broker.fetcher.on_epoch_end_answer(*m, step.now, effects);
    if (const auto* m = std::get_if<replication::FetchAnswer>(&message))
        step.broker.fetcher.on_fetch_answer(*m, step.now, effects);
    run_fetcher(step, effects);
}

void on_peer_disconnected(Step& step, BrokerId peer) {
    Broker& broker = step.broker;
    if (broker.lifecycle != Lifecycle::kRunning) return;
    replication::FetchEffects effects;
    broker.fetcher.on_connection_lost(peer, step.now, effects);
    run_fetcher(step, effects);
    const bool is_news = broker.in_sync.on_disconnected(peer, step.now);
    if (is_news && broker.leading) look_at_in_sync_bounds_within(step, in_sync_tick(broker));
    if (broker.config.preset != Preset::kGroup) return;
    const auto trusts_leader = [&] {
        const auto* follower = std::get_if<raft::Follower>(&broker.raft.role);
        return follower != nullptr && follower->leader == peer && follower->leader_contact.has_value();
    };
    const bool trusted = trusts_leader();
    run_raft(step, raft::PeerDisconnected{peer});
    if (trusted && !trusts_leader()) mark(step, Mark::kSuspectedByReset);
}

/// Requests that any broker answers, whatever its role; false for all others.
bool answer_in_any_role(Step& step, const ClientRef& client, const clients::Request& request) {
    if (std::holds_alternative<clients::StatusRequest>(request.body)) {
        on_status(step, client);
        return true;
    }
    if (const auto* metadata = std::get_if<clients::MetadataRequest>(&request.body)) {
        on_metadata(step, client, *metadata);
        return true;
    }
    if (const auto* describe = std::get_if<clients::DescribeTopicRequest>(&request.body)) {
        on_describe_topic(step, client, *describe);
        return true;
    }
    return false;
}

/// G1, G3: one broker serves, and only once it has rebuilt; the others name it if they can.
void on_leader_request(Step& step, const ClientRef& client, const clients::Request& request) {
    struct Route {
        Step& step;
        const ClientRef& client;
        const clients::Request& request;

        void operator()(const clients::ProduceRequest& r) const { on_produce(step, client, request, r); }
        void operator()(const clients::FetchRequest& r) const { on_consumer_fetch(step, client, request, r); }
        void operator()(const clients::ListOffsetsRequest& r) const { on_list_offsets(step, client, request, r); }
        void operator()(const clients::MetadataRequest& r) const { on_metadata(step, client, r); }
        void operator()(const clients::InitProducerIdRequest&) const { on_init_producer_id(step, client); }
        void operator()(const clients::OffsetCommitRequest& r) const { on_offset_commit(step, client, request, r); }
        void operator()(const clients::OffsetFetchRequest& r) const { on_offset_fetch(step, client, request, r); }
        void operator()(const clients::CreateTopicRequest& r) const { on_create_topic(step, client, r); }
        void operator()(const clients::DeleteTopicRequest& r) const { on_delete_topic(step, client, r); }
        void operator()(const clients::GrowTopicRequest& r) const { on_grow_topic(step, client, r); }
        void operator()(const clients::SetTopicConfigRequest& r) const { on_set_topic_config(step, client, r); }
        void operator()(const clients::StatusRequest&) const { on_status(step, client); }
        void operator()(const clients::DeleteRecordsRequest& r) const { on_delete_records(step, client, request, r); }
        void operator()(const clients::TransferLeadershipRequest& r) const { on_transfer(step, client, r); }
        void operator()(const clients::JoinGroupRequest& r) const { on_join_group(step, client, r); }
        void operator()(const clients::SyncGroupRequest& r) const { on_sync_group(step, client, r); }
        void operator()(const clients::HeartbeatRequest& r) const { on_heartbeat(step, client, r); }
        void operator()(const clients::LeaveGroupRequest& r) const { on_leave_group(step, client, r); }
        void operator()(const clients::ListGroupsRequest&) const { on_list_groups(step, client); }
        void operator()(const clients::DescribeGroupRequest& r) const { on_describe_group(step, client, r); }
        void operator()(const clients::AwaitRecordsRequest& r) const { on_await_records(step, client, r); }
        void operator()(const clients::EpochEndRequest& r) const { on_epoch_end(step, client, request, r); }
        void operator()(const clients::GroupOffsetsRequest& r) const { on_group_offsets(step, client, r); }
        void operator()(const clients::DescribeTopicRequest& r) const { on_describe_topic(step, client, r); }
    };
    std::visit(Route{step, client, request}, request.body);
}

/// A network may bring a request twice. Refused the first time, it must not be carried out the second: its sender was
/// told that nothing was done, and may have moved on.
bool is_repeated(Step& step, const ClientRef& client) {
    const auto [newest, is_first] = step.broker.newest_requests.try_emplace(client.connection, client.correlation);
    if (is_first) return false;
    if (client.correlation <= newest->second) {
        mark(step, Mark::kRepeatedRequestDropped);
        return true;
    }
    newest->second = client.correlation;
    return false;
}

void on_client_requested(Step& step, const ClientRequested& requested) {
    Broker& broker = step.broker;
    const ClientRef client{requested.connection, requested.request.correlation_id};
    if (is_repeated(step, client)) return;
    if (broker.lifecycle != Lifecycle::kRunning)
        return refuse(step, client, requested.request, clients::ErrorCode::kLeaderNotAvailable);
    if (answer_in_any_role(step, client, requested.request)) return;
    if (!broker.leading && forward_topic(step, client, requested.request)) return;
    if (!broker.leading) return refuse(step, client, requested.request, clients::ErrorCode::kNotLeader);
    if (broker.leading->stage != LeadingStage::kServing)
        return refuse(step, client, requested.request, clients::ErrorCode::kLeaderNotAvailable);
    on_leader_request(step, client, requested.request);
}

/// Nobody is left to tell; what was appended stays in the log.
void on_client_disconnected(Step& step, ConnectionId connection) {
    step.broker.newest_requests.erase(connection);
    if (!step.broker.leading) return;
    Leading& leading = *step.broker.leading;
    std::erase_if(leading.consumers, [&](const WaitingConsumer& c) { return c.client.connection == connection; });
    leading.watches.forget(connection);
    std::erase_if(leading.topic_changes,
                  [&](const WaitingTopicChange& c) { return c.client.connection == connection; });
    std::erase_if(leading.waiting_for_producer_id,
                  [&](const WaitingProducerId& w) { return w.client.connection == connection; });
    if (leading.transfer && leading.transfer->client && leading.transfer->client->connection == connection)
        leading.transfer->client.reset();
    std::erase_if(leading.unconfirmed_answers,
                  [&](const UnconfirmedAnswer& each) { return each.connection == connection; });
    for (LogStartMove& move : leading.log_start_moves)
        if (move.client && move.client->connection == connection) move.client.reset();
    forget_group_client(step, connection);
}

void on_timer_fired(Step& step, TimerKind timer) {
    if (timer == TimerKind::kDiskRetry) return on_disk_retry_timer(step);  // a full disk holds up a boot too
    if (step.broker.lifecycle != Lifecycle::kRunning) return;
    switch (timer) {
        case TimerKind::kRaftElection:
            refresh_eligibility(step);
            return run_raft(step, raft::TimerFired{raft::TimerKind::kElection});
        case TimerKind::kRaftHeartbeat:
            refresh_eligibility(step);
            return run_raft(step, raft::TimerFired{raft::TimerKind::kHeartbeat});
        case TimerKind::kRaftTransfer:
            return run_raft(step, raft::TimerFired{raft::TimerKind::kTransfer});
        case TimerKind::kRaftFormation:
            return run_raft(step, raft::TimerFired{raft::TimerKind::kFormation});
        case TimerKind::kFetcher:
            return on_fetcher_timer(step);
        case TimerKind::kInSyncBounds:
            return on_in_sync_bounds_timer(step);
        case TimerKind::kDeadlines:
            return on_deadlines_timer(step);
        case TimerKind::kDiskRetry:
            return on_disk_retry_timer(step);
        case TimerKind::kCount:
            return;
    }
}

struct EventRoute {
    Step& step;

    void operator()(const Booted& e) const { on_booted(step, e); }
    void operator()(const PeerMessageReceived& e) const { on_peer_message(step, e); }
    void operator()(const PeerDisconnected& e) const { on_peer_disconnected(step, e.peer); }
    void operator()(const ClientRequested& e) const { on_client_requested(step, e); }
    void operator()(const ClientDisconnected& e) const { on_client_disconnected(step, e.connection); }
    void operator()(const TimerFired& e) const { on_timer_fired(step, e.timer); }
    void operator()(const FileCompleted& e) const { on_file_completed(step, e.event); }
    void operator()(const RoleCommanded& e) const { on_role_commanded(step, e); }
};

}  // namespace

Broker::Broker(Config configuration)
    : config(std::move(configuration)),
      identity_file("identity", storage::FileOwner::kIdentity),
      raft_file("raft", storage::FileOwner::kRaft),
      topics_file("topics", storage::FileOwner::kTopics),
      logs(store_config(config)),
      raft(raft::make_node(raft_config(config), raft::fresh_state(Incarnation(1)), Bytes{}, 1)),
      in_sync(in_sync_config(*this)),
      fetcher(fetcher_config(config)) {}

void step(Broker& broker, Instant now, const Event& event, Effects& effects) {
    Step context{broker, now, effects, {}};
    std::visit(EventRoute{context}, event);
    drain_store(context);
    if (broker.lifecycle == Lifecycle::kRunning && !broker.is_identity_renewing) {
        watch_disk(context);
        broker.logs.flush(context.store);
        drain_store(context);
        strike_damage_off_record(context);
    }
}

void observe(Step& step, Observation observation) {
    step.effects.push_back(Observe{std::move(observation)});
}

void mark(Step& step, Mark reached) {
    observe(step, MarkReached{reached});
}

void send(Step& step, BrokerId to, replication::Message message) {
    step.effects.push_back(SendToPeer{to, PeerMessage(std::move(message))});
}

void answer(Step& step, const ClientRef& client, clients::AnswerBody body) {
    step.effects.push_back(
        AnswerClient{client.connection, clients::Answer{client.correlation, BrokerId{}, std::move(body)}});
}

void refuse(Step& step, const ClientRef& client, const clients::Request& request, clients::ErrorCode error) {
    // Between its election and its claim's commit a broker knows itself to be next; no hint sends a client in a circle.
    const BrokerId known = step.broker.known_leader;
    const bool has_hint = error == clients::ErrorCode::kNotLeader && known != step.broker.config.id;
    const BrokerId hint = has_hint ? known : BrokerId{};
    clients::Answer refusal = clients::refusal_of(request, error, hint);
    const bool is_decided = known.value != 0 && known == leader_of_decided_epoch(step.broker);
    if (has_hint && is_decided) refusal.leader_epoch = step.broker.decided.leader_epoch;
    step.effects.push_back(AnswerClient{client.connection, std::move(refusal)});
}

BrokerId leader_of_decided_epoch(const Broker& broker) {
    if (broker.leading) return broker.config.id;
    if (broker.known_leader != broker.decided.leader) return BrokerId{};
    const bool is_followed = broker.fetcher.leader() == broker.decided.leader &&
                             broker.fetcher.leader_epoch() == broker.decided.leader_epoch;
    return is_followed || broker.config.preset == Preset::kStatic ? broker.known_leader : BrokerId{};
}

void take_file_effects(Step& step, std::vector<storage::FileEffect>& file_effects) {
    for (storage::FileEffect& effect : file_effects) step.effects.emplace_back(std::move(effect));
    file_effects.clear();
}

void drain_store(Step& step) {
    take_file_effects(step, step.store.effects);
    while (!step.store.reports.empty()) {
        const std::vector<storage::StoreReport> reports = std::move(step.store.reports);
        step.store.reports.clear();
        for (const storage::StoreReport& report : reports) on_store_report(step, report);
        on_persisted(step);
        take_file_effects(step, step.store.effects);
    }
}

std::uint64_t draw_id(Broker& broker) {
    Digest digest(broker.entropy);
    digest.add(broker.config.id);
    digest.add(++broker.ids_drawn);
    return digest.value() == 0 ? 1 : digest.value();
}

Replica self(const Broker& broker) {
    return Replica{broker.config.id, broker.identity.data_incarnation};
}

}  // namespace tidelock::broker
