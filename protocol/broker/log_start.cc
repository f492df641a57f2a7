// Where a log starts (L7): retention and deleted records, and what has to be kept of the producers whose records go
// (T2).
//
// Retention would make a restarted or new leader forget a producer whose last batch it has taken, and accept that batch
// once more. So before a leader moves a log start, it writes what it knows of the producers below it, whom it has
// forgotten, and the new log start, into the topic of producers, and waits until that is confirmed. Every new leader
// reads the topic before it opens (G3): it knows those producers again, none as it was before it was forgotten, and a
// log start that a client was told of holds across a failover.
//
// The internal topics themselves are kept short: now and then a leader writes what they have to say behind what they
// hold, and moves their log start past the rest once that is confirmed.
//
// Turned down: a file of producers beside each log, as Kafka has it. A copy that begins at its leader's log start (L7)
// has no such file, so a failover to it would forget; and it would be one more thing for recovery to vouch for.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

constexpr std::ptrdiff_t kClientMovesMax = 100;
constexpr std::int32_t kRecordsABatch = 500;
constexpr std::size_t kRecordBytesBesides = 32;  // at most, around key and value

/// Records for an internal topic, in batches that fit.
class StateRecords {
  public:
    explicit StateRecords(const Config& config) : bytes_max_(static_cast<std::size_t>(config.batch_bytes_max)) {}

    void add(const std::optional<Bytes>& key, const Bytes& value) {
        const std::size_t adds = (key ? key->size() : 0) + value.size() + kRecordBytesBesides;
        const bool is_full = builder_.record_count() >= kRecordsABatch || builder_.size_bytes() + adds > bytes_max_;
        if (is_full && builder_.record_count() > 0) flush();
        const auto key_view = key ? std::optional<storage::BytesView>(key->span()) : std::nullopt;
        builder_.add(0, key_view, value.span());
        ++count_;
    }
    /// A log start, and what `producers` holds of batches between `from` and there.
    void add_log_start(TopicPartition tp, const clients::ProducerTable& producers, Offset from, Offset to) {
        for (const auto& [id, state] : producers.states_between(from, to))
            add(clients::encode_state_key({tp, id}), clients::encode_state(state));
        add(clients::encode_state_key({tp, kNoProducer}), clients::encode_log_start({to, producers.forgotten_below()}));
    }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::vector<Bytes> take() {
        if (builder_.record_count() > 0) flush();
        return std::move(batches_);
    }

  private:
    void flush() {
        batches_.push_back(builder_.build());
        builder_ = storage::RecordBatchBuilder(storage::BatchOptions{});
    }

    std::size_t bytes_max_;
    storage::RecordBatchBuilder builder_{storage::BatchOptions{}};
    std::vector<Bytes> batches_;
    std::int64_t count_ = 0;
};

/// The offset past the last record; an error if not all could be appended. Those that were do no harm.
Result<Offset, ErrorCode> append_records(Step& step, TopicPartition home, StateRecords& records) {
    Offset end;
    for (const Bytes& batch : records.take()) {
        const auto appended = append_as_leader(step, home, batch);
        if (!appended) {
            wake_followers(step, home);  // for those before it
            return Failure<ErrorCode>(appended.error());
        }
        end = appended->next_offset;
    }
    wake_followers(step, home);
    return end;
}

/// Has the log start move once `client`'s wish, or retention's, cannot be forgotten any more. kNone: it will, or did.
ErrorCode begin_log_start_move(Step& step, TopicPartition tp, Offset to, std::optional<ClientRef> client) {
    Broker& broker = step.broker;
    const auto home = internal_partition(broker, clients::kProducerIdsTopic);
    if (!home) return ErrorCode::kCoordinatorNotReady;
    const Offset from = broker.logs.view(tp)->log_start_offset;
    StateRecords records(broker.config);
    records.add_log_start(tp, broker.partitions.at(tp).producers.confirmed(), from, to);
    const auto written_end = append_records(step, *home, records);
    if (!written_end) return written_end.error();
    if (!broker.leading) return ErrorCode::kLeadershipEnded;
    const Instant deadline = step.now + broker.config.request_timeout * 5;
    broker.leading->log_start_moves.push_back(LogStartMove{tp, to, *home, *written_end, client, deadline});
    if (client) note_deadline(step, deadline);
    return ErrorCode::kNone;
}

/// What retention took beyond the move is not told: nothing keeps it from coming back after a failover.
void answer_move(Step& step, const LogStartMove& move, ErrorCode error) {
    if (!move.client) return;
    clients::DeleteRecordsAnswer body;
    body.error = error;
    if (const auto view = step.broker.logs.view(move.partition); view && error == ErrorCode::kNone)
        body.log_start_offset = std::min(view->log_start_offset, move.log_start_offset);
    answer(step, *move.client, body);
}

/// Takes the moves out that `is_meant` picks.
template <typename Predicate>
std::vector<LogStartMove> take_moves(Leading& leading, const Predicate& is_meant) {
    std::vector<LogStartMove> taken;
    std::erase_if(leading.log_start_moves, [&](const LogStartMove& move) {
        if (!is_meant(move)) return false;
        taken.push_back(move);
        return true;
    });
    return taken;
}

/// All that the topic of producers has to say, from what the leader knows now.
StateRecords everything_known(const Broker& broker) {
    StateRecords records(broker.config);
    if (const auto block = broker.leading->producer_ids.reserved())
        records.add(std::nullopt, clients::encode_block(*block));
    for (const auto& [tp, partition] : broker.partitions) {
        Offset log_start_offset = broker.logs.view(tp)->log_start_offset;
        for (const LogStartMove& move : broker.leading->log_start_moves)
            if (move.partition == tp) log_start_offset = std::max(log_start_offset, move.log_start_offset);
        if (is_internal(broker, tp.topic) || log_start_offset == Offset(0)) continue;
        records.add_log_start(tp, partition.producers.confirmed(), Offset(0), log_start_offset);
    }
    return records;
}

/// Without the records in [from, to) another leader would know less of producers, or one that was forgotten as it was
/// before it wrote them.
bool takes_what_is_known(const clients::ProducerTable& producers, Offset from, Offset to) {
    return producers.forgotten_below() > from || !producers.states_between(from, to).empty();
}

bool is_too_long(const Broker& broker, TopicPartition home, std::int64_t records_kept) {
    const auto view = broker.logs.view(home);
    const auto& moves = broker.leading->log_start_moves;
    return view->log_end_offset - view->log_start_offset > broker.config.internal_spare_records + 4 * records_kept &&
           std::ranges::find(moves, home, &LogStartMove::partition) == moves.end();
}

/// Writes `records` behind what `home` holds, which goes once they are confirmed. False: there is nothing to write, or
/// not all could be; what was does no harm.
bool rewrite(Step& step, TopicPartition home, StateRecords& records) {
    Broker& broker = step.broker;
    const Offset before = broker.logs.view(home)->log_end_offset;
    if (records.count() == 0) return false;
    const auto written_end = append_records(step, home, records);
    if (!written_end || !broker.leading) return false;
    broker.leading->log_start_moves.push_back(LogStartMove{home, before, home, *written_end, std::nullopt, Instant{}});
    return true;
}

}  // namespace

void on_delete_records(Step& step, const ClientRef& client, const clients::Request& request,
                       const clients::DeleteRecordsRequest& del) {
    Broker& broker = step.broker;
    const auto tp = resolve(broker, del.partition);
    if (!tp) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    if (is_internal(broker, tp->topic)) return refuse(step, client, request, ErrorCode::kInternalTopic);
    const Partition& partition = broker.partitions.at(*tp);
    // Its end is where the damage is: "up to the end" would be told as done, and is not (L4).
    if (partition.must_recopy) return refuse(step, client, request, ErrorCode::kStorageError);
    const Offset high_watermark = partition.high_watermark.value();
    // A new leader may not know yet of all that is confirmed (KIP-207).
    const bool asks_for_end = del.before_offset.value < 0 || del.before_offset > high_watermark;
    if (asks_for_end && high_watermark < partition.epoch_start_offset)
        return refuse(step, client, request, ErrorCode::kOffsetNotAvailable);
    const Offset before = del.before_offset.value < 0 ? high_watermark : del.before_offset;
    if (before > high_watermark) return refuse_when_confirmed(step, client, request, ErrorCode::kOffsetOutOfRange);
    // What is gone already may have gone without a record of that (retention); once a client is told, it stays gone.
    const Offset to = std::max(before, broker.logs.view(*tp)->log_start_offset);
    if (to == Offset(0)) return answer(step, client, clients::DeleteRecordsAnswer{});
    if (!broker.in_sync.has_enough_in_step()) return refuse(step, client, request, ErrorCode::kNotEnoughReplicas);
    const auto of_clients = std::ranges::count_if(broker.leading->log_start_moves,
                                                  [](const LogStartMove& move) { return move.client.has_value(); });
    if (of_clients >= kClientMovesMax) return refuse(step, client, request, ErrorCode::kThrottled);
    const ErrorCode error = begin_log_start_move(step, *tp, to, client);
    if (error != ErrorCode::kNone) return refuse(step, client, request, error);
    settle_log_start_moves(step);
    rewrite_producer_records(step);
}

void apply_retention(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    const storage::TopicEntry* topic = broker.topics.find(tp.topic);
    // What a rebuild still reads stays.
    const bool is_serving = broker.leading && broker.leading->stage == LeadingStage::kServing;
    if (!is_serving || topic == nullptr || topic->config.retention_records_max < 0) return;
    const std::int64_t kept_max = topic->config.retention_records_max;
    const Partition& partition = broker.partitions.at(tp);
    const Offset log_start_offset = broker.logs.view(tp)->log_start_offset;
    const Offset to = partition.high_watermark.value() - kept_max;
    // In steps of a quarter, so that the log start does not move with every record.
    const std::int64_t excess = to - log_start_offset;
    if (excess <= 0 || excess < kept_max / 4) return;
    const bool is_under_way = std::ranges::any_of(broker.leading->log_start_moves,
                                                  [&](const LogStartMove& move) { return move.partition == tp; });
    if (is_under_way) return;
    if (!takes_what_is_known(partition.producers.confirmed(), log_start_offset, to))
        return move_log_start(step, tp, to);
    if (begin_log_start_move(step, tp, to, std::nullopt) == ErrorCode::kNone) rewrite_producer_records(step);
}

void apply_all_retention(Step& step) {
    std::vector<TopicPartition> all;
    for (const auto& [tp, partition] : step.broker.partitions) all.push_back(tp);
    for (const TopicPartition& tp : all)
        if (step.broker.leading && step.broker.partitions.contains(tp)) apply_retention(step, tp);
}

void move_log_start(Step& step, TopicPartition tp, Offset log_start_offset) {
    Broker& broker = step.broker;
    const Offset before = broker.logs.view(tp)->log_start_offset;
    broker.logs.advance_log_start(tp, log_start_offset);
    const Offset now = broker.logs.view(tp)->log_start_offset;  // never past what is durable here
    if (now == before) return;
    observe(step, LogStartAdvanced{tp, now});
    if (!broker.leading) return;
    std::vector<replication::FetchRequest> woken;
    broker.leading->parked.on_news(tp, broker.partitions.at(tp).high_watermark.value(), now, step.now, woken);
    for (const replication::FetchRequest& fetch : woken) answer_follower(step, fetch);
    if (const auto deadline = broker.leading->parked.next_deadline()) note_deadline(step, *deadline);
}

void settle_log_start_moves(Step& step) {
    Broker& broker = step.broker;
    const bool is_serving = broker.leading && broker.leading->stage == LeadingStage::kServing;
    if (!is_serving || broker.leading->log_start_moves.empty()) return;
    // A new leader's watermark may lag what the one before it moved a log start to (L7).
    const auto is_due = [&](const LogStartMove& move) {
        const auto home = broker.partitions.find(move.home);
        return home != broker.partitions.end() && move.written_end <= home->second.high_watermark.value() &&
               broker.partitions.at(move.partition).high_watermark.value() >= move.log_start_offset;
    };
    // All are made before anything is written of what is known: a move that is neither asked for any more nor made yet
    // would be left out, and the producers below it forgotten.
    const std::vector<LogStartMove> due = take_moves(*broker.leading, is_due);
    for (const LogStartMove& move : due) move_log_start(step, move.partition, move.log_start_offset);
    for (const LogStartMove& move : due) {
        if (!broker.leading) return;
        answer_move(step, move, ErrorCode::kNone);
        // What was confirmed meanwhile may be too much already, and no later record need come.
        if (broker.partitions.contains(move.partition)) apply_retention(step, move.partition);
    }
}

void end_log_start_moves(Step& step, TopicPartition tp) {
    Leading& leading = *step.broker.leading;
    // Another leader, that has not heard of the topic's end, may find the record and make the move.
    for (const LogStartMove& move : take_moves(leading, [&](const LogStartMove& m) { return m.partition == tp; }))
        answer_move(step, move, ErrorCode::kRequestTimedOut);
}

void expire_log_start_moves(Step& step) {
    for (LogStartMove& move : step.broker.leading->log_start_moves) {
        if (!move.client) continue;
        if (move.deadline > step.now) {
            note_deadline(step, move.deadline);
            continue;
        }
        answer_move(step, move, ErrorCode::kRequestTimedOut);
        move.client.reset();  // it will move all the same: the record is in the log
    }
}

void apply_producer_state(Step& step, const clients::ProducerStateKey& key, const Bytes& value) {
    Broker& broker = step.broker;
    const auto found = broker.partitions.find(key.partition);
    if (found == broker.partitions.end()) return;  // its topic was deleted
    if (key.producer != kNoProducer) {
        if (const auto state = clients::decode_state(value)) found->second.producers.adopt(key.producer, *state);
        return;
    }
    const auto record = clients::decode_log_start(value);
    const auto home = internal_partition(broker, clients::kProducerIdsTopic);
    if (!record || !home) return;
    found->second.producers.forget_below(record->forgotten_below);
    const Offset log_start_offset = record->log_start_offset;
    // Nobody asks for moves before the leader serves: these are all there are, one a partition, sorted.
    auto& moves = broker.leading->log_start_moves;
    const auto at = std::ranges::lower_bound(moves, key.partition, {}, &LogStartMove::partition);
    if (at == moves.end() || at->partition != key.partition)
        moves.insert(at, LogStartMove{key.partition, log_start_offset, *home, Offset(0), std::nullopt, Instant{}});
    else
        at->log_start_offset = std::max(at->log_start_offset, log_start_offset);
}

void rewrite_producer_records(Step& step) {
    Broker& broker = step.broker;
    const auto home = internal_partition(broker, clients::kProducerIdsTopic);
    if (!broker.leading || !home || !is_too_long(broker, *home, broker.leading->producer_records_kept)) return;
    StateRecords records = everything_known(broker);
    if (rewrite(step, *home, records)) broker.leading->producer_records_kept = records.count();
}

void rewrite_offset_records(Step& step) {
    Broker& broker = step.broker;
    const auto home = internal_partition(broker, clients::kConsumerOffsetsTopic);
    if (!broker.leading || !home) return;
    const auto kept = static_cast<std::int64_t>(broker.leading->offsets.size());
    if (!is_too_long(broker, *home, kept)) return;
    StateRecords records(broker.config);
    for (const auto& [key, value] : broker.leading->offsets.newest())
        records.add(clients::encode_key(key), clients::encode_value(value));
    if (rewrite(step, *home, records)) mark(step, Mark::kOffsetsWrittenAnew);
}

}  // namespace tidelock::broker
