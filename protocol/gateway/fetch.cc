// Fetch. A round reads the partitions one after the other until the client has as much as it takes; what is left gets
// its bounds only. A round that brought too little waits for records in any of the partitions, and begins anew.
#include <algorithm>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

constexpr Slot kWaiting{0xFFFF'FFFF, 0};  // of the answer that says that there is something to read

clients::PartitionName name_of(const kafka::FetchTopic& topic, const kafka::FetchPartition& partition) {
    return {topic.topic, kafka::topic_id_of(topic.topic_id).value_or(TopicId(0)), partition.partition};
}

bool names_no_topic(const kafka::FetchTopic& topic) {
    return topic.topic.empty() && kafka::topic_id_of(topic.topic_id).value_or(TopicId(0)).value == 0;
}

/// What consumers know to retry; others end their poll with an exception.
kafka::ErrorCode fetch_error(clients::ErrorCode error) {
    const bool is_passing = error == clients::ErrorCode::kLeaderNotAvailable ||
                            error == clients::ErrorCode::kThrottled || error == clients::ErrorCode::kRequestTimedOut;
    return is_passing ? kafka::ErrorCode::kNotLeaderOrFollower : kafka_error(error, AskedOf::kPartition);
}

/// What the answer holds counts as under way until it has left.
void count_bytes(Call& call, std::int64_t bytes) {
    call.pending.frame_bytes += bytes;
    call.connection.bytes_pending += bytes;
}

/// What may still be read for this answer. All answers of a connection together are bounded; the first, which leaves
/// next, gets what its client takes.
std::int64_t room_for(const Call& call) {
    const FetchRound& round = *call.pending.fetch;
    const std::int64_t of_client = std::min<std::int64_t>(round.request.max_bytes, call.config.fetch_bytes_max);
    const std::int64_t of_connection = call.config.request_bytes_max - call.connection.bytes_pending;
    const bool is_first = call.pending.number == call.connection.pending.front().number;
    const std::int64_t left = of_client - round.bytes_read;
    return std::max<std::int64_t>(0, is_first ? left : std::min(left, of_connection));
}

void read_partition(Call& call, Slot slot) {
    FetchRound& round = *call.pending.fetch;
    const kafka::FetchTopic& topic = round.request.topics[slot.outer];
    const kafka::FetchPartition& partition = topic.partitions[slot.inner];
    const std::int64_t room = room_for(call);
    clients::FetchRequest fetch;
    fetch.partition = name_of(topic, partition);
    fetch.offset = partition.fetch_offset;
    fetch.known_leader_epoch = std::max(partition.current_leader_epoch, LeaderEpoch(0));
    fetch.isolation = round.request.isolation_level == kafka::kReadCommitted
                          ? clients::IsolationLevel::kReadCommitted
                          : clients::IsolationLevel::kReadUncommitted;
    // The first batch comes whole however large it is, so that a client gets on (KIP-74).
    const std::int64_t wanted = std::min<std::int64_t>(std::max(partition.partition_max_bytes, 1), room);
    const bool is_owed_one = round.bytes_read == 0 && call.connection.bytes_pending < call.config.request_bytes_max;
    round.has_no_room = round.has_no_room || (room == 0 && !is_owed_one);
    fetch.bytes_max = static_cast<std::int32_t>(is_owed_one ? std::max<std::int64_t>(wanted, 1) : wanted);
    call.ask(slot, std::move(fetch));
}

/// The next partition from `slot` on, or the end of the round.
void go_on_from(Call& call, Slot slot) {
    FetchRound& round = *call.pending.fetch;
    auto& response = answer_of<kafka::FetchResponse>(call);
    for (; slot.outer < round.request.topics.size(); ++slot.outer, slot.inner = 0) {
        for (; slot.inner < round.request.topics[slot.outer].partitions.size(); ++slot.inner) {
            if (!names_no_topic(round.request.topics[slot.outer])) return read_partition(call, slot);
            response.topics[slot.outer].partitions[slot.inner].error_code = kafka::ErrorCode::kUnknownTopicId;
            round.has_error = true;
        }
    }
    const bool is_enough = round.bytes_read >= round.request.min_bytes || round.has_error || round.has_no_room ||
                           round.positions.empty() || call.now >= round.deadline;
    if (is_enough) return;
    round.is_waiting = true;
    call.ask(kWaiting, clients::AwaitRecordsRequest{round.positions, since(call.now, round.deadline)});
}

void begin_round(Call& call) {
    FetchRound& round = *call.pending.fetch;
    count_bytes(call, -round.bytes_read);
    round.bytes_read = 0;
    round.has_error = round.has_no_room = false;
    round.is_waiting = false;
    round.positions.clear();
    go_on_from(call, {});
}

}  // namespace

void ask(Call& call, kafka::FetchRequest& request) {
    auto& response = answer_of<kafka::FetchResponse>(call);
    // Sessions save naming partitions anew (KIP-227). None is given out, so none can be known.
    if (request.session_id != 0) {
        response.topics.clear();
        response.error_code = kafka::ErrorCode::kFetchSessionIdNotFound;
        return;
    }
    // More than the answer may hold would be waited for in vain.
    request.min_bytes = static_cast<std::int32_t>(
        std::min<std::int64_t>({request.min_bytes, request.max_bytes, call.config.fetch_bytes_max}));
    FetchRound round;
    round.deadline = call.now + milliseconds(std::clamp(request.max_wait_ms, 0, 60'000));
    round.request = std::move(request);
    call.pending.fetch = std::move(round);
    begin_round(call);
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::FetchRequest& /*request*/) {
    FetchRound& round = *call.pending.fetch;
    if (slot == kWaiting) {
        // Late or in vain: what the last round found is told.
        if (clients::error_of(answer) != clients::ErrorCode::kNone || call.now >= round.deadline) return;
        return begin_round(call);
    }
    auto& response = answer_of<kafka::FetchResponse>(call);
    kafka::FetchPartitionResult& result = response.topics[slot.outer].partitions[slot.inner];
    result.error_code = fetch_error(clients::error_of(answer));
    const bool by_id = round.request.topics[slot.outer].topic.empty();
    if (by_id && result.error_code == kafka::ErrorCode::kUnknownTopicOrPartition)
        result.error_code = kafka::ErrorCode::kUnknownTopicId;
    if (result.error_code == kafka::ErrorCode::kNotLeaderOrFollower) {
        result.current_leader = current_leader(answer);
        note_endpoint(call.config, result.current_leader, response.node_endpoints);
    }
    result.records = Bytes();
    if (const auto* fetched = std::get_if<clients::FetchAnswer>(&answer.body)) {
        const bool has_bounds =
            fetched->error == clients::ErrorCode::kNone || fetched->error == clients::ErrorCode::kOffsetOutOfRange;
        if (has_bounds) {
            result.high_watermark = fetched->high_watermark;
            result.last_stable_offset = fetched->last_stable_offset;
            result.log_start_offset = fetched->log_start_offset;
        }
        result.records = fetched->batches;
        // There is more than was asked for: to wait for yet more brings nothing.
        round.has_no_room = round.has_no_room || fetched->has_more;
        round.bytes_read += static_cast<std::int64_t>(fetched->batches.size());
        count_bytes(call, static_cast<std::int64_t>(fetched->batches.size()));
    }
    const kafka::FetchPartition& asked = round.request.topics[slot.outer].partitions[slot.inner];
    if (result.error_code != kafka::ErrorCode::kNone)
        round.has_error = true;
    else
        round.positions.push_back(
            {name_of(round.request.topics[slot.outer], asked), std::max(asked.fetch_offset, result.high_watermark)});
    go_on_from(call, {slot.outer, slot.inner + 1});
}

}  // namespace tidelock::gateway
