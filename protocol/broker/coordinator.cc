// State that clients rely on and that lives in replicated internal topics: committed offsets and producer ids (T1, T2,
// G3).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

constexpr std::size_t kOffsetMetadataBytesMax = 4096;
constexpr std::size_t kWaitingForProducerIdMax = 1000;
constexpr std::size_t kGroupNameBytesMax = 1024;
constexpr std::size_t kTombstonesABatch = 500;
constexpr std::size_t kTombstoneBytesBesides = 32;  // at most, around the key

Bytes single_record(std::optional<Bytes> key, std::optional<Bytes> value) {
    storage::RecordBatchBuilder builder(storage::BatchOptions{});
    const auto span_of = [](const std::optional<Bytes>& bytes) {
        return bytes ? std::optional<storage::BytesView>(bytes->span()) : std::nullopt;
    };
    builder.add(0, span_of(key), span_of(value));
    return builder.build();
}

void apply_offset_record(Leading& leading, const storage::RecordView& record) {
    if (!record.key) return;
    const auto key = clients::decode_key(Bytes::copy_of(*record.key));
    const auto value = clients::decode_value(record.value ? Bytes::copy_of(*record.value) : Bytes{});
    if (key && value) leading.offsets.apply(record.offset, *key, *value);
}

void apply_producer_record(Step& step, const storage::RecordView& record) {
    if (!record.value) return;
    const Bytes value = Bytes::copy_of(*record.value);
    if (record.key) {
        if (const auto key = clients::decode_state_key(Bytes::copy_of(*record.key)))
            apply_producer_state(step, *key, value);
    } else if (const auto block = clients::decode_block(value)) {
        step.broker.leading->producer_ids.on_block_record(*block);
    }
}

/// Appends tombstones of the first of `keys`, as many as a batch takes, to the topic of offsets. How many; 0: they have
/// to be written another time.
std::size_t append_tombstones(Step& step, TopicPartition home, std::span<const clients::OffsetKey> keys) {
    const auto bytes_max = static_cast<std::size_t>(step.broker.config.batch_bytes_max);
    storage::RecordBatchBuilder builder(storage::BatchOptions{});
    std::size_t count = 0;
    for (const clients::OffsetKey& key : keys.first(std::min(keys.size(), kTombstonesABatch))) {
        const Bytes encoded = clients::encode_key(key);
        if (count > 0 && builder.size_bytes() + encoded.size() + kTombstoneBytesBesides > bytes_max) break;
        builder.add(0, encoded.span(), std::nullopt);
        ++count;
    }
    const auto appended = append_as_leader(step, home, builder.build());
    if (!appended || !step.broker.leading) return 0;
    Offset offset = appended->base_offset;
    for (const clients::OffsetKey& key : keys.first(count)) {
        step.broker.leading->offsets.apply(offset, key, std::nullopt);
        offset += 1;
    }
    return count;
}

/// Asks for the next block of ids if one is needed and none is under way.
void reserve_block(Step& step) {
    Broker& broker = step.broker;
    const auto block = broker.leading->producer_ids.block_wanted();
    const auto tp = internal_partition(broker, clients::kProducerIdsTopic);
    if (!block || !tp) return;
    const auto appended = append_as_leader(step, *tp, single_record(std::nullopt, clients::encode_block(*block)));
    if (!appended) return;
    broker.leading->producer_ids.on_block_appended(*block, appended->base_offset);
    wake_followers(step, *tp);
    rewrite_producer_records(step);
}

}  // namespace

/// Whoever asks gets an id of its own, one that names another as well: nothing here remembers who holds an id, so two
/// that name the same could not be told apart. A producer that goes on with its id raises the epoch itself (KIP-360).
void on_init_producer_id(Step& step, const ClientRef& client) {
    clients::InitProducerIdAnswer body;
    Leading& leading = *step.broker.leading;
    if (!internal_partition(step.broker, clients::kProducerIdsTopic)) body.error = ErrorCode::kCoordinatorNotReady;
    if (leading.waiting_for_producer_id.size() >= kWaitingForProducerIdMax) body.error = ErrorCode::kThrottled;
    if (body.error != ErrorCode::kNone) return answer(step, client, body);
    const Instant deadline = step.now + step.broker.config.request_timeout * 5;
    leading.waiting_for_producer_id.push_back(WaitingProducerId{client, deadline});
    note_deadline(step, deadline);
    serve_producer_ids(step);
}

void expire_producer_id_waiters(Step& step) {
    auto& waiting = step.broker.leading->waiting_for_producer_id;
    std::vector<ClientRef> late;
    std::erase_if(waiting, [&](const WaitingProducerId& each) {
        if (each.deadline > step.now) return false;
        late.push_back(each.client);
        return true;
    });
    clients::InitProducerIdAnswer body;
    body.error = ErrorCode::kRequestTimedOut;
    for (const ClientRef& client : late) answer(step, client, body);
    if (!waiting.empty()) note_deadline(step, waiting.front().deadline);
}

void serve_producer_ids(Step& step) {
    Leading& leading = *step.broker.leading;
    while (!leading.waiting_for_producer_id.empty()) {
        const auto id = leading.producer_ids.take();
        if (!id) break;
        clients::InitProducerIdAnswer body;
        body.producer_id = *id;
        answer(step, leading.waiting_for_producer_id.front().client, body);
        leading.waiting_for_producer_id.erase(leading.waiting_for_producer_id.begin());
    }
    if (!leading.waiting_for_producer_id.empty()) reserve_block(step);
}

void on_offset_commit(Step& step, const ClientRef& client, const clients::Request& request,
                      const clients::OffsetCommitRequest& commit) {
    Broker& broker = step.broker;
    const auto target = resolve(broker, commit.partition);
    if (!target) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    if (commit.group.empty() || commit.group.size() > kGroupNameBytesMax || commit.offset.value < 0)
        return refuse(step, client, request, ErrorCode::kInvalidRequest);
    // T4: a member of an older generation does not undo what a newer one has committed.
    const ErrorCode admitted = broker.leading->groups.admit_commit(
        step.now, {commit.group, commit.generation, commit.member, commit.instance});
    if (admitted != ErrorCode::kNone) return refuse(step, client, request, admitted);
    if (commit.metadata.size() > kOffsetMetadataBytesMax)
        return refuse(step, client, request, ErrorCode::kOffsetMetadataTooLarge);
    const auto tp = internal_partition(broker, clients::kConsumerOffsetsTopic);
    if (!tp) return refuse(step, client, request, ErrorCode::kCoordinatorNotReady);
    Partition& partition = broker.partitions[*tp];
    if (partition.pending.is_full()) return refuse(step, client, request, ErrorCode::kThrottled);
    if (!broker.in_sync.has_enough_in_step()) {
        mark(step, Mark::kRefusedNotEnoughReplicas);
        return refuse(step, client, request, ErrorCode::kNotEnoughReplicas);
    }
    const clients::OffsetKey key{commit.group, *target};
    const bool is_full =
        broker.leading->offsets.size() >= static_cast<std::size_t>(broker.config.committed_offsets_max);
    if (is_full && broker.leading->offsets.find(key) == nullptr)
        return refuse(step, client, request, ErrorCode::kThrottled);
    const clients::CommittedOffset value{commit.offset, commit.leader_epoch, commit.generation, commit.metadata};
    const auto appended =
        append_as_leader(step, *tp, single_record(clients::encode_key(key), clients::encode_value(value)));
    if (!appended) return refuse(step, client, request, appended.error());
    broker.leading->offsets.apply(appended->base_offset, key, value);
    WaitingProduce waiting{client, *tp, appended->base_offset, appended->next_offset - 1, broker.leading->leader_epoch};
    waiting.is_offset_commit = true;
    wait_for_policy(step, broker.partitions[*tp], waiting, broker.config.request_timeout * 5);
    wake_followers(step, *tp);
    rewrite_offset_records(step);
}

void on_offset_fetch(Step& step, const ClientRef& client, const clients::Request& request,
                     const clients::OffsetFetchRequest& fetch) {
    const auto target = resolve(step.broker, fetch.partition);
    if (!target) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    clients::OffsetFetchAnswer body;
    if (const auto* committed = step.broker.leading->offsets.find(clients::OffsetKey{fetch.group, *target})) {
        body.offset = committed->offset;
        body.leader_epoch = committed->leader_epoch;
        body.metadata = committed->metadata;
    }
    answer_when_confirmed(step, client, std::move(body));
}

void forget_offsets_of_deleted_topics(Step& step) {
    Broker& broker = step.broker;
    const auto home = internal_partition(broker, clients::kConsumerOffsetsTopic);
    if (!home || !is_serving(broker)) return;
    for (const TopicId topic : broker.leading->offsets.topics()) {
        if (newest_catalogue(broker).find(topic) != nullptr || broker.topics.find(topic) != nullptr) continue;
        const std::vector<clients::OffsetKey> keys = broker.leading->offsets.keys_of_topic(topic);
        std::span<const clients::OffsetKey> left(keys);
        while (!left.empty()) {
            const std::size_t count = append_tombstones(step, *home, left);
            if (!broker.leading) return;
            if (count == 0) break;
            left = left.subspan(count);
        }
    }
    wake_followers(step, *home);
}

void apply_internal_batches(Step& step, TopicPartition tp, const Bytes& batches) {
    Broker& broker = step.broker;
    const bool is_offsets = internal_partition(broker, clients::kConsumerOffsetsTopic) == tp;
    const auto views = storage::split_batches(batches, broker.logs.config().segment.batch);
    CHECK(views.has_value());
    for (const storage::BatchView& batch : *views) {
        if (batch.header.compression() != 0) continue;
        storage::RecordReader reader(batch.bytes.span(), batch.header);
        for (auto record = reader.next(); record && *record; record = reader.next()) {
            if (is_offsets)
                apply_offset_record(*broker.leading, **record);
            else
                apply_producer_record(step, **record);
        }
    }
}

void on_internal_high_watermark(Step& step, TopicPartition tp, Offset high_watermark) {
    Broker& broker = step.broker;
    if (!broker.leading || !is_internal(broker, tp.topic)) return;
    if (internal_partition(broker, clients::kConsumerOffsetsTopic) == tp)
        return broker.leading->offsets.on_high_watermark(high_watermark);
    broker.leading->producer_ids.on_high_watermark(high_watermark);
    serve_producer_ids(step);
}

}  // namespace tidelock::broker
