// A producer's batches on the leader: judged, numbered, appended, and answered as its acks ask (A5, I8, T2).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

/// A client's timeout beyond this is cut to it.
constexpr Duration kProduceTimeoutMax = seconds(300);

ErrorCode error_of(storage::AppendRefusal refusal) {
    switch (refusal) {
        case storage::AppendRefusal::kUnknownPartition:
            return ErrorCode::kUnknownTopicOrPartition;
        case storage::AppendRefusal::kBadBatch:
            return ErrorCode::kCorruptMessage;
        case storage::AppendRefusal::kBusy:
            return ErrorCode::kThrottled;
        case storage::AppendRefusal::kNotContiguous:
        case storage::AppendRefusal::kEpochWentBack:
        case storage::AppendRefusal::kClosed:
            break;
    }
    return ErrorCode::kStorageError;
}

/// What a produce must be before anything is done for it. kNone: go on.
ErrorCode judge(const Step& step, TopicPartition tp, const Partition& partition,
                const clients::ProduceRequest& produce) {
    const Broker& broker = step.broker;
    if (is_internal(broker, tp.topic)) return ErrorCode::kInternalTopic;
    if (produce.batches.empty()) return ErrorCode::kInvalidRequest;
    if (partition.must_recopy || broker.is_identity_renewing) return ErrorCode::kStorageError;
    if (partition.pending.is_full()) return ErrorCode::kThrottled;
    const bool needs_set = produce.acks == clients::Acks::kAll;
    if (needs_set && !broker.in_sync.has_enough_in_step()) return ErrorCode::kNotEnoughReplicas;
    return ErrorCode::kNone;
}

/// All batches of the request, each valid to its last record. Clients may not write control batches.
Result<std::vector<storage::BatchView>, ErrorCode> take_batches(const Broker& broker, const Bytes& bytes) {
    const storage::BatchLimits& limits = broker.logs.config().segment.batch;
    auto views = storage::split_batches(bytes, limits);
    if (!views) return Failure<ErrorCode>(ErrorCode::kCorruptMessage);
    for (const storage::BatchView& view : *views) {
        if (view.bytes.size() > static_cast<std::size_t>(broker.config.batch_bytes_max))
            return Failure<ErrorCode>(ErrorCode::kMessageTooLarge);
        if (!storage::validate_batch(view.bytes.span(), limits)) return Failure<ErrorCode>(ErrorCode::kCorruptMessage);
        const bool has_producer = view.header.producer_id != kNoProducer;
        if (view.header.is_control() || (has_producer && views->size() > 1))
            return Failure<ErrorCode>(ErrorCode::kInvalidRequest);
    }
    return std::move(*views);
}

void answer_at_once(Step& step, const ClientRef& client, const WaitingProduce& produce, clients::Acks acks) {
    const AcknowledgedBy by = acks == clients::Acks::kNone ? AcknowledgedBy::kNothing : AcknowledgedBy::kLeaderAppend;
    observe(step, RecordsAcknowledged{produce.partition, produce.base_offset, produce.last_offset, produce.leader_epoch,
                                      by, produce.is_duplicate});
    clients::ProduceAnswer body;
    if (acks != clients::Acks::kNone) body.base_offset = produce.base_offset;
    answer(step, client, body);
}

/// A5: none and leader are answered at once (leader durably if so configured), all when the policy is met.
void acknowledge_by(Step& step, Partition& partition, const clients::ProduceRequest& request, WaitingProduce produce) {
    if (request.acks == clients::Acks::kAll) return wait_for_policy(step, partition, produce, request.timeout);
    produce.is_leader_ack = true;
    if (request.acks == clients::Acks::kLeader && step.broker.config.ack_leader_durably)
        return wait_for_policy(step, partition, produce, request.timeout);
    answer_at_once(step, produce.client, produce, request.acks);
}

}  // namespace

clients::ProducerBatch producer_batch_of(const storage::BatchHeader& header) {
    return clients::ProducerBatch{header.producer_id,  header.producer_epoch, header.base_sequence,
                                  header.record_count, header.base_offset,    header.is_control()};
}

void on_produce(Step& step, const ClientRef& client, const clients::Request& request,
                const clients::ProduceRequest& produce) {
    Broker& broker = step.broker;
    const auto tp = resolve(broker, produce.partition);
    if (!tp) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    Partition& partition = broker.partitions[*tp];
    const ErrorCode verdict = judge(step, *tp, partition, produce);
    if (verdict == ErrorCode::kNotEnoughReplicas) mark(step, Mark::kRefusedNotEnoughReplicas);
    if (verdict != ErrorCode::kNone) return refuse(step, client, request, verdict);
    const auto batches = take_batches(broker, produce.batches);
    if (!batches) return refuse(step, client, request, batches.error());
    WaitingProduce waiting{client, *tp, Offset(0), Offset(0), broker.leading->leader_epoch};

    const clients::ProducerVerdict known = partition.producers.check(producer_batch_of(batches->front().header));
    if (const auto* refused = std::get_if<clients::RefuseBatch>(&known)) {
        mark(step, Mark::kOutOfOrderProduceRefused);
        const storage::BatchHeader& header = batches->front().header;
        observe(step,
                ProducerRefused{*tp, header.producer_id, header.producer_epoch, header.base_sequence, refused->error});
        // A producer takes this one for success (A4): so it is told what is true once all that there is has been
        // confirmed.
        const bool waits = refused->error == ErrorCode::kDuplicateSequence && produce.acks == clients::Acks::kAll;
        if (!waits) return refuse_when_confirmed(step, client, request, refused->error);
        waiting.base_offset = waiting.last_offset = broker.logs.view(*tp)->log_end_offset - 1;
        waiting.is_duplicate = waiting.is_too_old = true;
        return wait_for_policy(step, partition, waiting, produce.timeout);
    }
    if (const auto* duplicate = std::get_if<clients::DuplicateBatch>(&known)) {
        mark(step, Mark::kDuplicateProduceAnswered);
        waiting.base_offset = duplicate->base_offset;
        waiting.last_offset = duplicate->last_offset;
        waiting.is_duplicate = true;
        return acknowledge_by(step, partition, produce, waiting);
    }
    const auto appended = append_as_leader(step, *tp, produce.batches);
    if (!appended) return refuse(step, client, request, appended.error());
    waiting.base_offset = appended->base_offset;
    waiting.last_offset = appended->next_offset - 1;
    acknowledge_by(step, broker.partitions[*tp], produce, waiting);
    wake_followers(step, *tp);
}

Result<LeaderAppend, clients::ErrorCode> append_as_leader(Step& step, TopicPartition tp, const Bytes& batches) {
    Broker& broker = step.broker;
    const auto view = broker.logs.view(tp);
    if (!view || view->condition != storage::LogCondition::kOpen) return Failure<ErrorCode>(ErrorCode::kStorageError);
    const Offset base_offset = view->log_end_offset;
    const Bytes stamped = storage::stamp(batches, storage::BatchStamp{base_offset, broker.leading->leader_epoch});
    const auto appended = broker.logs.append(tp, stamped, step.store);
    if (!appended) return Failure<ErrorCode>(error_of(appended.error()));
    take_file_effects(step, step.store.effects);
    note_batches(step, tp, stamped, true);
    const auto after = broker.logs.view(tp);
    broker.in_sync.on_leader_log_changed(tp, after->log_end_offset, after->durable_end_offset);
    return LeaderAppend{base_offset, after->log_end_offset};
}

void note_batches(Step& step, TopicPartition tp, const Bytes& stamped, bool as_leader) {
    Partition& partition = step.broker.partitions[tp];
    const auto views = storage::split_batches(stamped, step.broker.logs.config().segment.batch);
    CHECK(views.has_value());
    for (const storage::BatchView& batch : *views) {
        const storage::BatchHeader& header = batch.header;
        partition.producers.on_batch(producer_batch_of(header));
        // A follower's batch is a slice of its leader's whole answer, which the cache must not keep.
        partition.tail.append(header.base_offset, header.next_offset(),
                              as_leader ? batch.bytes : Bytes::copy_of(batch.bytes.span()));
        observe(step,
                BatchAppended{tp,
                              BatchSummary{header.base_offset, header.next_offset() - 1, header.leader_epoch,
                                           header.crc, header.producer_id, header.producer_epoch, header.base_sequence},
                              as_leader});
    }
}

void wait_for_policy(Step& step, Partition& partition, const WaitingProduce& produce, Duration timeout) {
    Broker& broker = step.broker;
    const replication::WaiterId id(broker.next_waiter++);
    broker.waiting_produces.emplace(id, produce);
    const replication::AckPolicy policy{
        produce.is_leader_ack ? replication::AckRule::kLocalDurable : replication::AckRule::kAllInSync, 0};
    const Instant deadline = step.now + std::clamp(timeout, nanoseconds(0), kProduceTimeoutMax);
    partition.pending.add(replication::Waiter{id, produce.last_offset + 1, deadline}, policy,
                          replication::WriteAuthority{broker.config.id, produce.leader_epoch});
    note_deadline(step, deadline);
    // A duplicate may be confirmed already.
    if (produce.is_duplicate) resolve_pending(step, produce.partition, partition);
}

void wake_followers(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    std::vector<replication::FetchRequest> woken;
    broker.leading->parked.on_appended(tp, broker.logs.view(tp)->log_end_offset, woken);
    for (const replication::FetchRequest& request : woken) answer_follower(step, request);
}

}  // namespace tidelock::broker
