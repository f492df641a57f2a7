// What consumers read from the leader: records below the high watermark, and nothing else (I7).
#include <algorithm>

#include "protocol/broker/step.h"
#include "protocol/replication/truncation.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

clients::FetchAnswer bounds_answer(const Broker& broker, TopicPartition tp, Offset high_watermark) {
    clients::FetchAnswer body;
    body.high_watermark = high_watermark;
    body.last_stable_offset = high_watermark;
    if (const auto view = broker.logs.view(tp)) body.log_start_offset = view->log_start_offset;
    return body;
}

/// The bounds without a record, told under the watermark of now (I6).
clients::FetchAnswer tell_bounds(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    clients::FetchAnswer body = bounds_answer(broker, tp, broker.partitions.at(tp).high_watermark.read_bound());
    observe(step, BoundsTold{tp, broker.leading->leader_epoch, body.log_start_offset, body.high_watermark});
    return body;
}

void serve(Step& step, const ClientRef& client, TopicPartition tp, Offset from, Offset up_to, const Bytes& batches,
           Offset next_offset) {
    // A batch that reaches past the high watermark is not shown in part (I7).
    if (next_offset > up_to || batches.empty()) return answer(step, client, tell_bounds(step, tp));
    // Records come from below the watermark they were asked under; the one told is today's, as another answer may have
    // told a later one while these were read (I6).
    const Offset high_watermark = step.broker.partitions.at(tp).high_watermark.read_bound();
    clients::FetchAnswer body = bounds_answer(step.broker, tp, high_watermark);
    body.batches = batches;
    body.has_more = next_offset < high_watermark;
    observe(step, RecordsServed{tp, step.broker.leading->leader_epoch, from, next_offset, high_watermark});
    answer(step, client, std::move(body));
}

clients::FetchAnswer failed_answer(ErrorCode error) {
    clients::FetchAnswer body;
    body.error = error;
    return body;
}

void read_records(Step& step, const ClientRef& client, TopicPartition tp, Partition& partition, Offset from,
                  std::int32_t bytes_max) {
    Broker& broker = step.broker;
    const Offset up_to = partition.high_watermark.read_bound();
    const auto bytes = static_cast<std::size_t>(std::clamp(bytes_max, 1, broker.config.fetch_bytes_max));
    if (const auto cached = partition.tail.find(from, up_to, bytes))
        return serve(step, client, tp, from, up_to, cached->batches, cached->next_offset);
    // A slow disk: readers come back rather than pile up here.
    if (broker.reads.size() >= static_cast<std::size_t>(broker.config.parked_fetches_max))
        return answer(step, client, failed_answer(ErrorCode::kThrottled));
    const storage::ReadId id = note_read(step, ConsumerRead{client, from, up_to, broker.leading->leader_epoch});
    broker.logs.read(storage::ReadRequest{id, tp, from, up_to, bytes}, step.store);
}

constexpr Duration kWaitMax = seconds(60);
constexpr std::size_t kWatchesMax = 100'000;

void answer_watchers(Step& step, const std::vector<ClientRef>& watchers) {
    for (const ClientRef& client : watchers) answer(step, client, clients::AwaitRecordsAnswer{});
}

/// KIP-320: whoever knows of another leader looks again before it goes on.
ErrorCode check_known_epoch(const Broker& broker, LeaderEpoch known) {
    if (known.value <= 0 || known == broker.leading->leader_epoch) return ErrorCode::kNone;
    return known < broker.leading->leader_epoch ? ErrorCode::kFencedLeaderEpoch : ErrorCode::kUnknownLeaderEpoch;
}

}  // namespace

void on_consumer_fetch(Step& step, const ClientRef& client, const clients::Request& request,
                       const clients::FetchRequest& fetch) {
    Broker& broker = step.broker;
    const auto tp = resolve(broker, fetch.partition);
    if (!tp) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    Partition& partition = broker.partitions.at(*tp);
    const auto view = broker.logs.view(*tp);
    if (!view || partition.must_recopy) return refuse(step, client, request, ErrorCode::kStorageError);
    const ErrorCode fenced = check_known_epoch(broker, fetch.known_leader_epoch);
    if (fenced != ErrorCode::kNone) return refuse(step, client, request, fenced);
    if (fetch.offset < view->log_start_offset || fetch.offset > view->log_end_offset) {
        clients::FetchAnswer body = tell_bounds(step, *tp);
        body.error = ErrorCode::kOffsetOutOfRange;
        return answer_when_confirmed(step, client, std::move(body));
    }
    if (fetch.bytes_max == 0) return answer(step, client, tell_bounds(step, *tp));
    if (fetch.offset < partition.high_watermark.value())
        return read_records(step, client, *tp, partition, fetch.offset, fetch.bytes_max);
    const bool may_wait = fetch.wait_max.value > 0 &&
                          broker.leading->consumers.size() < static_cast<std::size_t>(broker.config.parked_fetches_max);
    const Instant deadline = step.now + std::min(fetch.wait_max, kWaitMax);
    const WaitingConsumer waiting{client, *tp, fetch.offset, fetch.bytes_max, deadline};
    if (!may_wait) return answer_consumer_empty(step, waiting);
    broker.leading->consumers.push_back(waiting);
    note_deadline(step, deadline);
}

void answer_consumer_empty(Step& step, const WaitingConsumer& consumer) {
    const auto partition = step.broker.partitions.find(consumer.partition);
    if (partition == step.broker.partitions.end())
        return answer(step, consumer.client, failed_answer(ErrorCode::kUnknownTopicOrPartition));
    answer(step, consumer.client, tell_bounds(step, consumer.partition));
}

void wake_consumers(Step& step, TopicPartition tp, const Partition& partition) {
    Broker& broker = step.broker;
    const Offset high_watermark = partition.high_watermark.value();
    std::vector<WaitingConsumer> woken;
    std::erase_if(broker.leading->consumers, [&](const WaitingConsumer& consumer) {
        if (consumer.partition != tp || consumer.offset >= high_watermark) return false;
        woken.push_back(consumer);
        return true;
    });
    for (const WaitingConsumer& consumer : woken)
        read_records(step, consumer.client, tp, broker.partitions.at(tp), consumer.offset, consumer.bytes_max);
    answer_watchers(step, broker.leading->watches.take_passed(tp, high_watermark));
}

void on_await_records(Step& step, const ClientRef& client, const clients::AwaitRecordsRequest& await) {
    Broker& broker = step.broker;
    std::vector<WatchedPosition> positions;
    bool is_there = await.wait_max.value <= 0;
    for (const clients::PartitionPosition& each : await.positions) {
        const auto tp = resolve(broker, each.partition);
        if (!tp || each.offset < broker.partitions.at(*tp).high_watermark.value()) {
            is_there = true;
            break;
        }
        positions.push_back({*tp, each.offset});
    }
    if (is_there) return answer(step, client, clients::AwaitRecordsAnswer{});
    // Told as an error: who took it for news would read, find nothing, and ask again at once.
    if (broker.leading->watches.size() >= kWatchesMax)
        return answer(step, client, clients::AwaitRecordsAnswer{ErrorCode::kThrottled});
    const Instant deadline = step.now + std::min(await.wait_max, kWaitMax);
    broker.leading->watches.add(client, std::move(positions), deadline);
    note_deadline(step, deadline);
}

void wake_watchers(Step& step, TopicPartition tp) {
    answer_watchers(step, step.broker.leading->watches.take_all(tp));
}

void expire_watches(Step& step) {
    answer_watchers(step, step.broker.leading->watches.take_expired(step.now));
    if (const auto deadline = step.broker.leading->watches.next_deadline()) note_deadline(step, *deadline);
}

void on_consumer_read(Step& step, const ConsumerRead& purpose, const storage::RecordsRead& read) {
    Broker& broker = step.broker;
    const bool is_still_leading = broker.leading && broker.leading->leader_epoch == purpose.leader_epoch;
    if (!is_still_leading) return;  // its connection was closed with the leadership
    if (!broker.partitions.contains(read.tp))
        return answer(step, purpose.client, failed_answer(ErrorCode::kUnknownTopicOrPartition));
    serve(step, purpose.client, read.tp, purpose.offset, purpose.up_to, read.batches, read.next_offset);
}

void fail_consumer_read(Step& step, const ConsumerRead& purpose, TopicPartition tp, storage::ReadFailure reason) {
    Broker& broker = step.broker;
    const bool is_still_leading = broker.leading && broker.leading->leader_epoch == purpose.leader_epoch;
    if (!is_still_leading) return;  // its connection was closed with the leadership
    const auto view = broker.logs.view(tp);
    const auto partition = broker.partitions.find(tp);
    if (!view || partition == broker.partitions.end())
        return answer(step, purpose.client, failed_answer(ErrorCode::kUnknownTopicOrPartition));
    const bool is_overtaken = reason == storage::ReadFailure::kOutOfRange && purpose.offset < view->log_start_offset;
    if (!is_overtaken) return answer(step, purpose.client, failed_answer(ErrorCode::kStorageError));
    clients::FetchAnswer body = tell_bounds(step, tp);
    body.error = ErrorCode::kOffsetOutOfRange;
    answer_when_confirmed(step, purpose.client, std::move(body));
}

void on_list_offsets(Step& step, const ClientRef& client, const clients::Request& request,
                     const clients::ListOffsetsRequest& list) {
    Broker& broker = step.broker;
    const auto tp = resolve(broker, list.partition);
    if (!tp) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    clients::ListOffsetsAnswer body;
    const ErrorCode fenced = check_known_epoch(broker, list.known_leader_epoch);
    if (fenced != ErrorCode::kNone) return refuse(step, client, request, fenced);
    Partition& partition = broker.partitions.at(*tp);
    // Its end is where the damage is, not where the records end (L4).
    if (partition.must_recopy) return refuse(step, client, request, ErrorCode::kStorageError);
    if (list.at == clients::OffsetAt::kTimestamp || list.at == clients::OffsetAt::kMaxTimestamp)
        return begin_time_lookup(step, client, *tp, list);
    body.leader_epoch = broker.leading->leader_epoch;
    const bool wants_start = list.at == clients::OffsetAt::kLogStart;
    // More may be confirmed, and have been shown, than this leader knows yet: no end is told that may be below that.
    if (!wants_start && partition.high_watermark.value() < partition.epoch_start_offset)
        return refuse(step, client, request, ErrorCode::kOffsetNotAvailable);
    body.offset = wants_start ? broker.logs.view(*tp)->log_start_offset : partition.high_watermark.read_bound();
    BoundsTold told{*tp, body.leader_epoch, std::nullopt, std::nullopt};
    (wants_start ? told.log_start_offset : told.high_watermark) = body.offset;
    observe(step, told);
    answer_when_confirmed(step, client, body);
}

/// The end of the present epoch is the log end: a consumer may have been served more than this leader knows to be
/// confirmed yet, and that is not cut off.
void on_epoch_end(Step& step, const ClientRef& client, const clients::Request& request,
                  const clients::EpochEndRequest& asked) {
    Broker& broker = step.broker;
    const auto tp = resolve(broker, asked.partition);
    if (!tp) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    const ErrorCode fenced = check_known_epoch(broker, asked.known_leader_epoch);
    if (fenced != ErrorCode::kNone) return refuse(step, client, request, fenced);
    if (broker.partitions.at(*tp).must_recopy) return refuse(step, client, request, ErrorCode::kStorageError);
    clients::EpochEndAnswer body;
    const auto view = broker.logs.view(*tp);
    const auto history = broker.logs.history(*tp)->entries();
    if (const auto end = replication::epoch_end(history, view->log_end_offset, asked.leader_epoch)) {
        body.leader_epoch = end->leader_epoch;
        body.end_offset = end->end_offset;
    } else if (!history.empty()) {
        // Older than all that is kept: it ended where the first epoch kept begins. Nothing after that was cut off.
        body.leader_epoch = asked.leader_epoch;
        body.end_offset = history.front().start_offset;
    }
    answer_when_confirmed(step, client, body);
}

}  // namespace tidelock::broker
