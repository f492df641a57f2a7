// Offsets by time (ListOffsets): the first record that is no older than a moment, or the newest record. Segments say
// how new their newest batch is, so a lookup reads what may hold the record and nothing before it.
#include <algorithm>
#include <limits>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

constexpr std::uint64_t kLookupReadBytes = 256 << 10;

struct Found {
    Offset offset;
    std::int64_t timestamp_ms = 0;
};

/// Of the batch's records at or past `from` and no older than what is wanted, the first, or the newest (of several, the
/// first of them). What a compressed batch holds only its readers know: its first record stands for all.
std::optional<Found> find_in_batch(const storage::BatchView& batch, Offset from, const TimeRead& lookup) {
    if (batch.header.max_timestamp_ms < lookup.wanted_ms || batch.header.next_offset() <= from) return std::nullopt;
    if (batch.header.compression() != 0)
        return Found{std::max(batch.header.base_offset, from), batch.header.max_timestamp_ms};
    std::optional<Found> found;
    storage::RecordReader reader(batch.bytes.span(), batch.header);
    for (auto record = reader.next(); record && *record; record = reader.next()) {
        const std::int64_t timestamp_ms = (*record)->timestamp_ms;
        if ((*record)->offset < from || timestamp_ms < lookup.wanted_ms) continue;
        if (found && timestamp_ms <= found->timestamp_ms) continue;
        found = Found{(*record)->offset, timestamp_ms};
        if (!lookup.wants_newest) break;
    }
    return found;
}

/// Takes what the batch has for the lookup. True: it is over.
bool take_batch(TimeRead& lookup, const storage::BatchView& batch, Offset from) {
    const auto found = find_in_batch(batch, from, lookup);
    if (!found) return false;
    lookup.found = found->offset;
    lookup.found_ms = found->timestamp_ms;
    // Timestamps are whatever producers wrote: there may be none after this one.
    const bool is_last_moment = found->timestamp_ms == std::numeric_limits<std::int64_t>::max();
    if (!lookup.wants_newest || is_last_moment) return true;
    lookup.wanted_ms = found->timestamp_ms + 1;
    return false;
}

void fail_lookup(Step& step, const TimeRead& lookup, ErrorCode error) {
    clients::ListOffsetsAnswer body;
    body.error = error;
    answer(step, lookup.client, body);
}

/// That there is none, or no newer one, is known to a leader that looked at all that may be confirmed (KIP-207).
void answer_lookup(Step& step, TopicPartition tp, const TimeRead& lookup) {
    const bool is_over = lookup.found && !lookup.wants_newest;
    if (!is_over && lookup.up_to < step.broker.partitions.at(tp).epoch_start_offset)
        return fail_lookup(step, lookup, ErrorCode::kOffsetNotAvailable);
    clients::ListOffsetsAnswer body;
    body.leader_epoch = lookup.leader_epoch;
    if (lookup.found) {
        body.offset = *lookup.found;
        body.timestamp_ms = lookup.found_ms;
    }
    answer_when_confirmed(step, lookup.client, body);
}

void look_from(Step& step, TopicPartition tp, const TimeRead& lookup, Offset from) {
    Broker& broker = step.broker;
    const auto place = broker.logs.place_to_look(tp, from, lookup.wanted_ms);
    if (!place || *place >= lookup.up_to) return answer_lookup(step, tp, lookup);
    if (broker.reads.size() >= static_cast<std::size_t>(broker.config.parked_fetches_max))
        return fail_lookup(step, lookup, ErrorCode::kThrottled);
    const storage::ReadId id = note_read(step, lookup);
    broker.logs.read(storage::ReadRequest{id, tp, *place, lookup.up_to, kLookupReadBytes}, step.store);
}

}  // namespace

void begin_time_lookup(Step& step, const ClientRef& client, TopicPartition tp,
                       const clients::ListOffsetsRequest& list) {
    Broker& broker = step.broker;
    TimeRead lookup;
    lookup.client = client;
    lookup.leader_epoch = broker.leading->leader_epoch;
    lookup.up_to = broker.partitions.at(tp).high_watermark.read_bound();
    lookup.wants_newest = list.at == clients::OffsetAt::kMaxTimestamp;
    lookup.wanted_ms = lookup.wants_newest ? std::numeric_limits<std::int64_t>::min() : list.timestamp_ms;
    look_from(step, tp, lookup, broker.logs.view(tp)->log_start_offset);
}

void on_time_read(Step& step, const TimeRead& lookup, TopicPartition tp, const storage::RecordsRead* read,
                  storage::ReadFailure failure) {
    Broker& broker = step.broker;
    const bool is_still_leading = broker.leading && broker.leading->leader_epoch == lookup.leader_epoch;
    if (!is_still_leading) return;  // its connection was closed with the leadership
    const auto view = broker.logs.view(tp);
    if (!view || !broker.partitions.contains(tp)) return fail_lookup(step, lookup, ErrorCode::kUnknownTopicOrPartition);
    if (read == nullptr && failure == storage::ReadFailure::kOutOfRange)  // retention has overtaken it
        return look_from(step, tp, lookup, view->log_start_offset);
    if (read == nullptr) return fail_lookup(step, lookup, ErrorCode::kStorageError);
    const auto batches = storage::split_batches(read->batches, broker.logs.config().segment.batch);
    CHECK(batches.has_value());
    TimeRead next = lookup;
    for (const storage::BatchView& batch : *batches) {
        if (take_batch(next, batch, view->log_start_offset)) return answer_lookup(step, tp, next);
    }
    if (read->batches.empty()) return answer_lookup(step, tp, next);  // the next batch passes the high watermark
    look_from(step, tp, next, read->next_offset);
}

}  // namespace tidelock::broker
