// From a committed claim to an open leader and back: epoch, in-sync set, rebuild of what clients rely on (G3, G4, F5,
// I1-I5).
#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

constexpr std::uint64_t kRebuildReadBytes = 256 << 10;

void notify_in_sync(Step& step, replication::InSyncEffects& effects) {
    route_in_sync_effects(step, effects);
    effects.clear();
}

/// F5, L3: the epoch has an entry in every history before its first record, even if it never writes one.
std::vector<replication::LeaderCopy> open_epoch(Step& step, LeaderEpoch leader_epoch) {
    Broker& broker = step.broker;
    std::vector<replication::LeaderCopy> copies;
    for (auto& [tp, partition] : broker.partitions) {
        const auto view = broker.logs.view(tp);
        CHECK(view.has_value());
        // A copy that was found damaged waits (L4): its end is where the damage is, not where this epoch begins. Only a
        // static leader has one. Nobody is taken for in sync with it, as nobody can be compared with what is lost.
        if (leader_epoch.value > 0 && !partition.must_recopy) {
            const auto noted = broker.logs.note_epoch(tp, EpochStart{leader_epoch, view->log_end_offset});
            CHECK(noted.has_value());
        }
        partition.epoch_start_offset = view->log_end_offset;
        partition.high_watermark = replication::HighWatermark(partition.high_watermark.value(), view->log_start_offset,
                                                              view->log_end_offset, high_watermark_rule(broker));
        partition.producers.on_high_watermark(partition.high_watermark.value());
        copies.push_back(replication::LeaderCopy{tp, view->log_end_offset, view->durable_end_offset,
                                                 partition.high_watermark.value(), partition.epoch_start_offset});
    }
    return copies;
}

void begin_rebuild(Step& step) {
    Broker& broker = step.broker;
    Leading& leading = *broker.leading;
    for (const std::string_view name : {clients::kConsumerOffsetsTopic, clients::kProducerIdsTopic}) {
        const auto tp = internal_partition(broker, name);
        if (!tp) continue;
        const auto view = broker.logs.view(*tp);
        CHECK(view.has_value());
        leading.rebuilds.push_back(Rebuild{*tp, view->log_start_offset, view->log_end_offset, true, false});
    }
    for (auto& [tp, partition] : broker.partitions) {
        // A copy that was found damaged has nothing to tell before it is copied anew.
        if (!partition.must_reread_producers || partition.must_recopy) continue;
        partition.producers.clear();
        const auto view = broker.logs.view(tp);
        const bool is_listed = std::ranges::find(leading.rebuilds, tp, &Rebuild::partition) != leading.rebuilds.end();
        if (!is_listed)
            leading.rebuilds.push_back(Rebuild{tp, view->log_start_offset, view->log_end_offset, false, false});
    }
    leading.producer_ids.begin_rebuild();
}

void request_rebuild_read(Step& step, const Rebuild& rebuild) {
    Broker& broker = step.broker;
    const storage::ReadId id = note_read(step, RebuildRead{broker.leading->leader_epoch});
    broker.logs.read(
        storage::ReadRequest{id, rebuild.partition, rebuild.next_offset, rebuild.end_offset, kRebuildReadBytes},
        step.store);
}

/// T2: the table of a partition whose log was cut past what it remembered, or was taken from headers that nobody has
/// verified, is read from the log again.
void reread_producers(Step& step, const storage::RecordsRead& read) {
    const auto found = step.broker.partitions.find(read.tp);
    if (found == step.broker.partitions.end() || !found->second.must_reread_producers) return;
    const auto views = storage::split_batches(read.batches, step.broker.logs.config().segment.batch);
    CHECK(views.has_value());
    Partition& partition = found->second;
    for (const storage::BatchView& batch : *views) partition.producers.on_batch(producer_batch_of(batch.header));
    partition.producers.on_high_watermark(partition.high_watermark.value());
}

/// Ends every produce that waits under this authority as unknown (A6).
void end_waiting_produces(Step& step) {
    for (auto& [tp, partition] : step.broker.partitions) {
        std::vector<replication::ResolvedWaiter> resolved;
        partition.pending.end_all(resolved);
        settle(step, resolved);
    }
}

}  // namespace

replication::HighWatermarkRule high_watermark_rule(const Broker& broker) {
    return broker.config.seed_rules.high_watermark_may_fall ? replication::HighWatermarkRule::kFollowsMinimum
                                                            : replication::HighWatermarkRule::kMonotone;
}

replication::InSyncConfig in_sync_config(const Broker& broker) {
    const Config& config = broker.config;
    replication::InSyncConfig in_sync;
    in_sync.self = self(broker);
    in_sync.assigned_replicas = config.members;
    if (config.seed_rules.expand_at_high_watermark_only)
        in_sync.expand_rule = replication::ExpandRule::kHighWatermarkOnly;
    if (config.seed_rules.expand_within_lag_bound) in_sync.expand_rule = replication::ExpandRule::kLagBound;
    if (config.isr_lag.value > 0) in_sync.isr_lag = config.isr_lag;
    in_sync.replica_lag_timeout = config.replica_lag_timeout;
    if (config.disconnect_grace.value > 0) in_sync.disconnect_grace = config.disconnect_grace;
    // A dead member of an idle group stands at the log end for ever by the letter of 000. It has to go all the same:
    // the next record, and any change of topics, would wait for it.
    if (config.preset == Preset::kGroup && !config.replica_lag_timeout)
        in_sync.replica_lag_timeout = std::max(config.isr_lag, config.fetch_wait_max * 3);
    in_sync.replica_lag_records_max = config.replica_lag_records_max;
    in_sync.min_insync_replicas = config.min_insync_replicas;
    in_sync.keeps_minimum = !config.seed_rules.shrink_below_minimum;
    in_sync.counts_incarnations = !config.seed_rules.ignore_data_incarnation;
    return in_sync;
}

void begin_leading(Step& step, LeaderEpoch leader_epoch, const replication::VersionedSet& in_sync_set) {
    Broker& broker = step.broker;
    broker.fetcher.stop();
    broker.leading.emplace();
    Leading& leading = *broker.leading;
    leading.leader_epoch = leader_epoch;
    leading.groups = clients::GroupCoordinator(draw_id(broker), broker.config.groups);
    leading.parked = replication::ParkedFetches(static_cast<std::size_t>(broker.config.parked_fetches_max));
    leading.manifests.push_back(ManifestVersion{0, manifest_digest(broker)});
    // Writes of an earlier role that are still on their way will be versions of this manifest too.
    leading.manifests_written = static_cast<std::int64_t>(broker.catalogue_writes.size());
    broker.known_leader = broker.config.id;
    observe(step, ClaimCommitted{leader_epoch});
    std::vector<replication::LeaderCopy> copies = open_epoch(step, leader_epoch);
    replication::InSyncEffects effects;
    broker.in_sync.become_leader(leader_epoch, in_sync_set, std::move(copies), step.now, effects);
    observe(step, InSyncSetCommitted{leader_epoch, in_sync_set.members});
    notify_in_sync(step, effects);
    count_under_replicated(step);
    look_at_in_sync_bounds_within(step, in_sync_tick(broker));
    begin_rebuild(step);
    advance_all_high_watermarks(step);
    if (broker.leading) start_rebuild_reads(step);
    advance_opening(step);
}

void end_leading(Step& step) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    observe(step, LeadershipEnded{broker.leading->leader_epoch});
    end_waiting_produces(step);
    if (!broker.leading->unconfirmed_answers.empty()) mark(step, Mark::kAnswerUnconfirmed);
    CHECK(broker.waiting_produces.empty());
    broker.leading.reset();
    broker.in_sync.step_down();
    if (broker.known_leader == broker.config.id) broker.known_leader = BrokerId{};
    step.effects.push_back(CancelTimer{TimerKind::kInSyncBounds});
    step.effects.push_back(CloseClients{});
    broker.newest_requests.clear();
    if (broker.under_replicated != 0) {
        broker.under_replicated = 0;
        observe(step, UnderReplicatedPartitions{0});
    }
}

/// Of a great many partitions only so many are read at a time: what is read is kept until it has been taken in.
void start_rebuild_reads(Step& step) {
    constexpr std::ptrdiff_t kReadsMax = 16;
    std::vector<Rebuild> started;
    std::ptrdiff_t under_way = 0;
    for (Rebuild& rebuild : step.broker.leading->rebuilds) {
        if (rebuild.next_offset >= rebuild.end_offset) continue;
        if (++under_way > kReadsMax) break;
        if (!std::exchange(rebuild.is_started, true)) started.push_back(rebuild);
    }
    for (const Rebuild& rebuild : started)
        if (step.broker.leading) request_rebuild_read(step, rebuild);
}

void on_rebuild_read(Step& step, const storage::RecordsRead& read) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    auto& rebuilds = broker.leading->rebuilds;
    const auto rebuild = std::ranges::find(rebuilds, read.tp, &Rebuild::partition);
    if (rebuild == rebuilds.end()) return start_rebuild_reads(step);  // its topic is gone
    reread_producers(step, read);
    if (rebuild->is_internal) apply_internal_batches(step, read.tp, read.batches);
    // Records that were there at the claim and cannot be had: what rests on them cannot be answered (G3).
    const bool is_stuck = read.next_offset <= rebuild->next_offset && rebuild->next_offset < rebuild->end_offset;
    if (is_stuck) return resign(step, Mark::kDamageFoundAtRead);
    rebuild->next_offset = std::max(rebuild->next_offset, read.next_offset);
    if (rebuild->next_offset < rebuild->end_offset) return request_rebuild_read(step, *rebuild);
    start_rebuild_reads(step);
    if (broker.leading) advance_opening(step);
}

void advance_opening(Step& step) {
    Broker& broker = step.broker;
    if (!broker.leading || broker.leading->stage == LeadingStage::kServing) return;
    // What this broker wrote of topics in an earlier role, and is not durable yet, may drop one that it still shows:
    // nobody may put a record there meanwhile (F2).
    if (!broker.catalogue_writes.empty()) return;
    Leading& leading = *broker.leading;
    // G3: nothing is answered from what may be a part of it. Static leaders come here: elected ones are whole (I10).
    const bool is_whole = std::ranges::none_of(leading.rebuilds, [&](const Rebuild& r) {
        const auto partition = broker.partitions.find(r.partition);
        return r.is_internal && partition != broker.partitions.end() && partition->second.must_recopy;
    });
    if (!is_whole) return;
    const bool is_read =
        std::ranges::all_of(leading.rebuilds, [](const Rebuild& r) { return r.next_offset >= r.end_offset; });
    if (!is_read) return;
    // G3: what is answered from the rebuilt state must be below the high watermark, or a failover could take it back.
    const bool is_confirmed = std::ranges::all_of(leading.rebuilds, [&](const Rebuild& r) {
        const auto partition = broker.partitions.find(r.partition);
        return !r.is_internal || partition == broker.partitions.end() ||
               partition->second.high_watermark.value() >= r.end_offset;
    });
    // L7: deleted records stay deleted, also for who asks first.
    const bool is_log_start_due =
        is_confirmed && std::ranges::all_of(leading.log_start_moves, [&](const LogStartMove& move) {
            const auto partition = broker.partitions.find(move.partition);
            const auto view = broker.logs.view(move.partition);
            return partition == broker.partitions.end() || !view || view->log_end_offset < move.log_start_offset ||
                   partition->second.high_watermark.value() >= move.log_start_offset;
        });
    if (!is_log_start_due) {
        if (leading.stage == LeadingStage::kRebuilding) mark(step, Mark::kServingWaitedForHighWatermark);
        leading.stage = LeadingStage::kConfirming;
        return;
    }
    for (const Rebuild& r : leading.rebuilds) {
        const auto partition = broker.partitions.find(r.partition);
        if (partition == broker.partitions.end()) continue;
        partition->second.must_reread_producers = false;
        on_internal_high_watermark(step, r.partition, partition->second.high_watermark.value());
    }
    if (leading.offsets.size() > 0) mark(step, Mark::kOffsetsRebuilt);
    leading.stage = LeadingStage::kServing;
    broker.static_retry = Duration(0);
    observe(step, LeaderServing{leading.leader_epoch});
    create_internal_topics(step);
    settle_log_start_moves(step);
    forget_offsets_of_deleted_topics(step);
    apply_all_retention(step);  // nothing was taken before, and no later record need come
}

void follow_decided_leader(Step& step) {
    Broker& broker = step.broker;
    if (broker.config.preset != Preset::kGroup || broker.is_identity_renewing) return;
    const group::Metadata& decided = broker.decided;
    if (decided.leader.value == 0 || decided.leader == broker.config.id) return;
    // A newer claim in the log may be committed already: what its leader made of topics is not to be undone (F2).
    if (broker.in_log.leader_epoch > decided.leader_epoch) return;
    // A claim older than records this copy already has says nothing about them (L6 would ask the wrong leader).
    for (const auto& [tp, partition] : broker.partitions)
        if (!partition.must_recopy && broker.logs.history(tp)->latest_epoch() > decided.leader_epoch) return;
    if (broker.leading) end_leading(step);
    broker.known_leader = decided.leader;
    observe(step, FollowingLeader{decided.leader, decided.leader_epoch});
    replication::FetchEffects effects;
    broker.fetcher.follow(decided.leader, decided.leader_epoch, step.now, effects);
    run_fetcher(step, effects);
}

Duration in_sync_tick(const Broker& broker) {
    Duration bound = broker.config.isr_lag.value > 0 ? broker.config.isr_lag : seconds(4);
    if (broker.config.replica_lag_timeout) bound = std::min(bound, *broker.config.replica_lag_timeout);
    return std::max(bound / 4, milliseconds(1));
}

void look_at_in_sync_bounds_within(Step& step, Duration pause) {
    const Broker& broker = step.broker;
    const bool has_gone = broker.in_sync.is_anybody_disconnected() && broker.config.disconnect_grace.value > 0;
    if (has_gone) pause = std::min(pause, broker.config.disconnect_grace);
    // Connections that end over and over must not put the look off: whoever lags for another reason waits for it too.
    std::optional<Instant>& look_at = step.broker.leading->in_sync_look_at;
    if (look_at && *look_at <= step.now + pause) return;
    look_at = step.now + pause;
    step.effects.push_back(SetTimer{TimerKind::kInSyncBounds, pause, pause});
}

void on_in_sync_bounds_timer(Step& step) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    broker.leading->in_sync_look_at.reset();
    const replication::SyncStateSetEpoch version = broker.in_sync.committed().version;
    replication::InSyncEffects effects;
    broker.in_sync.on_tick(step.now, effects);
    broker.leading->stale_acknowledgement_set = broker.in_sync.acknowledgement_set();
    notify_in_sync(step, effects);
    settle_topic_changes(step);  // a shrunken set waits for fewer
    // In preset static a removal has committed by now.
    const bool has_removed = broker.in_sync.committed().version != version;
    if (broker.leading) look_at_in_sync_bounds_within(step, has_removed ? kNextRemoval : in_sync_tick(broker));
}

namespace {

struct InSyncRoute {
    Step& step;

    void operator()(const replication::ProposeChange& change) const {
        Broker& broker = step.broker;
        if (broker.config.preset == Preset::kStatic) {
            observe(step, InSyncSetProposed{change.leader_epoch, change.set.members});
            return commit_static_change(step, change);
        }
        const group::InSyncSetChange entry{change.leader_epoch, change.set.version.value - 1, change.set.members};
        const raft::Proposed proposed{raft::EntryKind::kCommand, group::encode(group::Entry(entry))};
        const std::uint64_t content = raft_content_hash(raft::Entry{{}, {}, proposed.kind, proposed.payload});
        observe(step, InSyncSetProposed{change.leader_epoch, change.set.members, content});
        run_raft(step, proposed);
    }
    void operator()(const replication::AcknowledgementSetChanged&) const {
        Broker& broker = step.broker;
        if (!broker.leading) return;
        observe(step, AcknowledgementSetChanged{broker.leading->leader_epoch, broker.in_sync.acknowledgement_set()});
    }
    void operator()(const replication::UnderReplicationChanged&) const { count_under_replicated(step); }
    void operator()(const replication::ShrinkWithheld&) const { mark(step, Mark::kShrinkWithheld); }
    void operator()(const replication::ExpandWaitsForEpochStart&) const { mark(step, Mark::kExpandWaitsForEpochStart); }
};

}  // namespace

void count_under_replicated(Step& step) {
    Broker& broker = step.broker;
    const auto count = static_cast<std::int32_t>(broker.partitions.size());
    const std::int32_t now_count = broker.in_sync.is_under_replicated() ? count : 0;
    if (now_count == broker.under_replicated) return;
    broker.under_replicated = now_count;
    if (now_count > 0) mark(step, Mark::kStatusUnderReplicated);
    observe(step, UnderReplicatedPartitions{now_count});
}

void route_in_sync_effects(Step& step, replication::InSyncEffects& effects) {
    const replication::InSyncEffects taken = std::move(effects);
    effects.clear();
    // The set acknowledgements wait for is another before the proposal leaves (I4).
    for (const replication::InSyncEffect& effect : taken) {
        if (!step.broker.leading) return;
        std::visit(InSyncRoute{step}, effect);
    }
}

void retract_pending_change(Step& step) {
    Broker& broker = step.broker;
    if (!broker.leading || !broker.in_sync.pending()) return;
    const replication::ProposeChange pending = *broker.in_sync.pending();
    replication::InSyncEffects effects;
    broker.in_sync.on_change_failed(pending.leader_epoch, pending.set.version, effects);
    route_in_sync_effects(step, effects);
}

}  // namespace tidelock::broker
