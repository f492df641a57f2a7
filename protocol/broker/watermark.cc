// What a leader's positions allow: high watermark, acknowledgements, and who is told (I6-I8, A1-A6).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

void on_high_watermark_moved(Step& step, TopicPartition tp, Partition& partition) {
    Broker& broker = step.broker;
    const Offset high_watermark = partition.high_watermark.value();
    observe(step, HighWatermarkAdvanced{tp, broker.leading->leader_epoch, high_watermark, true});
    broker.logs.set_high_watermark(tp, high_watermark);
    partition.producers.on_high_watermark(high_watermark);
    broker.in_sync.on_high_watermark_moved(tp, high_watermark);
    on_internal_high_watermark(step, tp, high_watermark);
    wake_consumers(step, tp, partition);
    std::vector<replication::FetchRequest> woken;
    const auto view = broker.logs.view(tp);
    broker.leading->parked.on_news(tp, high_watermark, view->log_start_offset, step.now, woken);
    for (const replication::FetchRequest& request : woken) answer_follower(step, request);
    if (const auto deadline = broker.leading->parked.next_deadline()) note_deadline(step, *deadline);
}

/// One immutable snapshot of everything a decision looks at (A6).
struct Evidence {
    std::vector<Replica> set;
    std::vector<replication::ReplicaPosition> positions;
};

Evidence collect_evidence(const Broker& broker, TopicPartition tp) {
    Evidence evidence;
    evidence.set = broker.in_sync.acknowledgement_set();
    // D15: the seed's reading takes the set at another moment than the positions.
    if (broker.config.seed_rules.observe_in_two_reads && !broker.leading->stale_acknowledgement_set.empty())
        evidence.set = broker.leading->stale_acknowledgement_set;
    for (const Replica& member : evidence.set)
        if (const auto position = broker.in_sync.position(member, tp))
            evidence.positions.push_back(replication::ReplicaPosition{member, *position});
    return evidence;
}

void answer_settled(Step& step, const WaitingProduce& produce, clients::ErrorCode error) {
    if (produce.is_offset_commit) return answer(step, produce.client, clients::OffsetCommitAnswer{error});
    clients::ProduceAnswer body;
    body.error = error;
    if (error == clients::ErrorCode::kNone) {
        body.base_offset = produce.base_offset;
        if (const auto view = step.broker.logs.view(produce.partition)) body.log_start_offset = view->log_start_offset;
    }
    answer(step, produce.client, body);
}

struct OutcomeRoute {
    Step& step;
    const WaitingProduce& produce;

    void operator()(const replication::ReplicationAcknowledgement& proof) const {
        CHECK(proof.proven_end_offset() > produce.last_offset);
        if (produce.is_too_old) return answer_settled(step, produce, clients::ErrorCode::kDuplicateSequence);
        const AcknowledgedBy by = produce.is_leader_ack ? AcknowledgedBy::kLeaderAppend : AcknowledgedBy::kPolicy;
        observe(step, RecordsAcknowledged{produce.partition, produce.base_offset, produce.last_offset,
                                          produce.leader_epoch, by, produce.is_duplicate});
        if (step.broker.in_sync.pending()) mark(step, Mark::kAckedUnderPendingChange);
        answer_settled(step, produce, clients::ErrorCode::kNone);
    }
    void operator()(const replication::NotEnoughInSync&) const {
        answer_settled(step, produce, clients::ErrorCode::kNotEnoughReplicasAfterAppend);
    }
    void operator()(const replication::OutcomeUnknown&) const {
        mark(step, Mark::kProduceOutcomeUnknown);
        // This may lead on: then it is the topic that is over.
        const storage::TopicEntry* topic = step.broker.topics.find(produce.partition.topic);
        const bool is_topic_over = topic == nullptr || topic->config.is_deleting;
        answer_settled(step, produce,
                       is_topic_over ? clients::ErrorCode::kRequestTimedOut : clients::ErrorCode::kLeadershipEnded);
    }
    void operator()(const replication::TimedOut&) const {
        mark(step, Mark::kProduceTimedOut);
        answer_settled(step, produce, clients::ErrorCode::kRequestTimedOut);
    }
};

void expire_consumers(Step& step) {
    Broker& broker = step.broker;
    std::vector<WaitingConsumer> late;
    std::erase_if(broker.leading->consumers, [&](const WaitingConsumer& consumer) {
        if (consumer.deadline > step.now) return false;
        late.push_back(consumer);
        return true;
    });
    for (const WaitingConsumer& consumer : late) answer_consumer_empty(step, consumer);
    for (const WaitingConsumer& consumer : broker.leading->consumers) note_deadline(step, consumer.deadline);
}

void expire_topic_changes(Step& step) {
    std::vector<WaitingTopicChange> late;
    std::erase_if(step.broker.leading->topic_changes, [&](const WaitingTopicChange& change) {
        if (change.deadline > step.now) return false;
        late.push_back(change);
        return true;
    });
    for (WaitingTopicChange& change : late) {
        std::visit([](auto& body) { body.error = clients::ErrorCode::kRequestTimedOut; }, change.answer.body);
        step.effects.push_back(AnswerClient{change.client.connection, change.answer});
    }
    for (const WaitingTopicChange& change : step.broker.leading->topic_changes) note_deadline(step, change.deadline);
}

void expire_produces(Step& step) {
    for (auto& [tp, partition] : step.broker.partitions) {
        if (partition.pending.is_empty()) continue;
        std::vector<replication::ResolvedWaiter> resolved;
        partition.pending.expire(step.now, resolved);
        settle(step, resolved);
        if (const auto deadline = partition.pending.next_deadline()) note_deadline(step, *deadline);
    }
}

}  // namespace

void advance_high_watermark(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    const auto found = broker.partitions.find(tp);
    if (found == broker.partitions.end()) return;
    Partition& partition = found->second;
    const bool has_moved = partition.high_watermark.advance(broker.in_sync.lowest_position(tp));
    if (has_moved) on_high_watermark_moved(step, tp, partition);
    resolve_pending(step, tp, partition);
    // What is acknowledged here is still there when its producer hears of it.
    if (has_moved && broker.leading && broker.partitions.contains(tp)) apply_retention(step, tp);
    if (has_moved) settle_log_start_moves(step);
}

void advance_all_high_watermarks(Step& step) {
    std::vector<TopicPartition> all;
    for (const auto& [tp, partition] : step.broker.partitions) all.push_back(tp);
    for (const TopicPartition& tp : all) advance_high_watermark(step, tp);
    advance_opening(step);
}

void resolve_pending(Step& step, TopicPartition tp, Partition& partition) {
    Broker& broker = step.broker;
    if (partition.pending.is_empty() || !broker.leading) return;
    const Evidence evidence = collect_evidence(broker, tp);
    replication::Observation observation;
    observation.current = replication::WriteAuthority{broker.config.id, broker.leading->leader_epoch};
    observation.local_durable_end_offset = broker.in_sync.position(self(broker), tp).value_or(Offset(0));
    observation.set_version = broker.in_sync.committed().version;
    observation.sync_state_set = evidence.set;
    observation.positions = evidence.positions;
    observation.committed_member_count = static_cast<std::int32_t>(broker.in_sync.committed().members.size());
    observation.min_insync_replicas = broker.config.min_insync_replicas;
    std::vector<replication::ResolvedWaiter> resolved;
    partition.pending.resolve(observation, resolved);
    settle(step, resolved);
}

void settle(Step& step, const std::vector<replication::ResolvedWaiter>& resolved) {
    Broker& broker = step.broker;
    for (const replication::ResolvedWaiter& waiter : resolved) {
        const auto found = broker.waiting_produces.find(waiter.id);
        CHECK(found != broker.waiting_produces.end());
        const WaitingProduce produce = found->second;
        broker.waiting_produces.erase(found);
        std::visit(OutcomeRoute{step, produce}, waiter.outcome);
    }
}

void note_deadline(Step& step, Instant deadline) {
    Broker& broker = step.broker;
    if (broker.deadline_timer_at && *broker.deadline_timer_at <= deadline) return;
    broker.deadline_timer_at = deadline;
    const Duration left = std::max(since(step.now, deadline), nanoseconds(0));
    step.effects.push_back(SetTimer{TimerKind::kDeadlines, left, left});
}

void on_deadlines_timer(Step& step) {
    Broker& broker = step.broker;
    broker.deadline_timer_at.reset();
    if (!broker.leading) return;
    expire_produces(step);
    expire_consumers(step);
    expire_topic_changes(step);
    expire_producer_id_waiters(step);
    expire_unconfirmed_answers(step);
    expire_log_start_moves(step);
    expire_watches(step);
    expire_group_members(step);
    std::vector<replication::FetchRequest> woken;
    broker.leading->parked.expire(step.now, woken);
    for (const replication::FetchRequest& request : woken) answer_follower(step, request);
    if (const auto deadline = broker.leading->parked.next_deadline()) note_deadline(step, *deadline);
}

}  // namespace tidelock::broker
