#include "scenarios/producer_topic_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "protocol/clients/offsets.h"
#include "protocol/clients/producer_state.h"
#include "protocol/clients/producers.h"
#include "protocol/storage/record_batch.h"
#include "protocol/storage/segment_log.h"

namespace tidelock::scenarios {
namespace {

/// By the topic's records: of each producer the offset its last batch ends at (inclusive), of each partition the log
/// start.
struct TopicContent {
    FlatMap<clients::ProducerStateKey, Offset> last_offsets;
    FlatMap<TopicPartition, Offset> log_starts;
};

std::optional<TopicPartition> topic_of_producers(const broker::Broker& broker) {
    const storage::TopicEntry* topic = broker.topics.find(clients::kProducerIdsTopic);
    if (topic == nullptr) return std::nullopt;
    return TopicPartition{topic->id, PartitionIndex(0)};
}

bool is_internal(std::string_view topic_name) {
    return topic_name == clients::kProducerIdsTopic || topic_name == clients::kConsumerOffsetsTopic;
}

void take_record(const storage::RecordView& record, TopicContent& content) {
    if (!record.key || !record.value) return;
    const Bytes value = Bytes::copy_of(*record.value);
    const auto key = clients::decode_state_key(Bytes::copy_of(*record.key));
    if (!key) return;
    if (key->producer == kNoProducer) {
        Offset& known = content.log_starts[key->partition];
        if (const auto told = clients::decode_log_start(value)) known = std::max(known, told->log_start_offset);
    } else if (const auto state = clients::decode_state(value)) {
        Offset& known = content.last_offsets.try_emplace(*key, Offset(-1)).first->second;
        known = std::max(known, state->last_offset);
    }
}

/// Calls `take` with each whole batch of the segment and its header. The offset past the last one.
template <typename Take>
Offset read_segment(std::span<const std::byte> segment, Offset base_offset, const Take& take) {
    Offset next = base_offset;
    while (const auto header = storage::check_batch(segment)) {
        take(*header, segment.first(header->size_bytes()));
        next = header->next_offset();
        segment = segment.subspan(header->size_bytes());
    }
    return next;
}

/// Calls `take` with the batches of the log as they rest on the medium. False: the medium does not hold all that the
/// broker takes for durable, which is for others to judge.
template <typename Take>
bool read_log(const sim::Disk& disk, const broker::Broker& broker, TopicPartition tp, const Take& take) {
    const std::optional<storage::LogView> view = broker.logs.view(tp);
    if (!view || view->damaged_at) return false;
    Offset next;
    bool is_first = true;
    for (const std::string& name : disk.list()) {  // sorted, so in the order of their offsets
        const auto file = storage::parse_partition_file(name);
        if (!file || file->tp != tp || file->kind != storage::PartitionFileKind::kSegment) continue;
        if (!is_first && file->base_offset != next) return false;
        is_first = false;
        const Bytes segment = disk.durable_content(name);
        next = read_segment(segment.span(), file->base_offset, take);
    }
    return next >= view->durable_end_offset;
}

constexpr Offset kEndOfTime{std::numeric_limits<std::int64_t>::max()};

/// What its records before `end` say.
std::optional<TopicContent> read_topic(const sim::Disk& disk, const broker::Broker& broker, TopicPartition home,
                                       Offset end = kEndOfTime) {
    TopicContent content;
    const auto log_start_offset = broker.logs.view(home)->log_start_offset;
    const bool is_whole = read_log(disk, broker, home, [&](const storage::BatchHeader& header, auto batch) {
        storage::RecordReader reader(batch, header);
        for (auto record = reader.next(); record && *record; record = reader.next())
            if ((*record)->offset >= log_start_offset && (*record)->offset < end) take_record(**record, content);
    });
    if (!is_whole) return std::nullopt;
    return content;
}

/// As many producers as are known to every table of a log, those that wrote last; of the others none is older than
/// this offset. Whoever's last batch ends there or later is known for sure.
Offset known_for_sure_from(std::vector<Offset> last_offsets, const broker::Broker& broker) {
    const auto producers_max = static_cast<std::size_t>(broker.config.producers_max);
    const std::size_t kept = producers_max + 1 - clients::producers_forgotten_at_once(producers_max);
    if (last_offsets.size() <= kept) return Offset(0);
    std::ranges::sort(last_offsets, std::greater());
    return last_offsets[kept - 1];
}

/// Producers whose last confirmed batch is below the log start, as far as no bound can have made another table forget
/// them. Whoever has a confirmed one in the log is known from there.
std::vector<std::pair<ProducerId, Offset>> producers_below(const broker::Broker& broker,
                                                           const clients::ProducerTable& table,
                                                           FlatMap<ProducerId, Offset> confirmed,
                                                           Offset log_start_offset) {
    for (const auto& [id, state] : table.states_between(Offset(0), kEndOfTime)) {
        Offset& last_offset = confirmed[id];
        last_offset = std::max(last_offset, state.last_offset);
    }
    std::vector<Offset> last_offsets;
    for (const auto& [id, last_offset] : confirmed) last_offsets.push_back(last_offset);
    const Offset sure_from = known_for_sure_from(std::move(last_offsets), broker);
    std::vector<std::pair<ProducerId, Offset>> below;
    for (const auto& [id, last_offset] : confirmed)
        if (last_offset >= sure_from && last_offset < log_start_offset) below.emplace_back(id, last_offset);
    return below;
}

/// Those of `confirmed` whose last batch the table does not know, though it knows the producer.
std::vector<std::pair<ProducerId, Offset>> known_as_before(const clients::ProducerTable& table,
                                                           const FlatMap<ProducerId, Offset>& confirmed) {
    std::vector<std::pair<ProducerId, Offset>> before;
    for (const auto& [id, state] : table.states_between(Offset(0), kEndOfTime)) {
        const auto found = confirmed.find(id);
        if (found != confirmed.end() && found->second > state.last_offset) before.emplace_back(id, found->second);
    }
    return before;
}

/// Of each producer the offset its last batch in the log ends at (inclusive); none: the medium does not hold the log.
std::optional<FlatMap<ProducerId, Offset>> producers_in_log(const sim::Disk& disk, const broker::Broker& broker,
                                                            TopicPartition tp) {
    FlatMap<ProducerId, Offset> last_offsets;
    const storage::LogView view = *broker.logs.view(tp);
    const bool is_whole = read_log(disk, broker, tp, [&](const storage::BatchHeader& header, auto) {
        const bool is_in_log =
            header.base_offset >= view.log_start_offset && header.next_offset() <= view.durable_end_offset;
        if (is_in_log && header.producer_id != kNoProducer) last_offsets[header.producer_id] = header.next_offset() - 1;
    });
    if (!is_whole) return std::nullopt;
    return last_offsets;
}

}  // namespace

void ConfirmedWriters::on_observation(const broker::Observation& observation) {
    if (const auto* recovered = std::get_if<broker::LogRecovered>(&observation)) {
        logs_.erase(recovered->partition);
        // Below that nobody has asked a checksum who wrote: a rotten header names a producer that there never was (L4).
        for (const broker::BatchSummary& batch : recovered->batches)
            if (batch.base_offset >= recovered->unverified_end_offset) write(recovered->partition, batch);
        confirm(recovered->partition, recovered->high_watermark);
    } else if (const auto* appended = std::get_if<broker::BatchAppended>(&observation)) {
        write(appended->partition, appended->batch);
    } else if (const auto* advanced = std::get_if<broker::HighWatermarkAdvanced>(&observation)) {
        confirm(advanced->partition, advanced->high_watermark);
    } else if (const auto* truncated = std::get_if<broker::LogTruncated>(&observation)) {
        cut(truncated->partition, truncated->to);
    } else if (const auto* reset = std::get_if<broker::LogReset>(&observation)) {
        logs_.erase(reset->partition);
    } else if (const auto* dropped = std::get_if<broker::TopicDropped>(&observation)) {
        forget_from(dropped->topic, PartitionIndex(0));
    } else if (const auto* shrunk = std::get_if<broker::TopicShrunk>(&observation)) {
        forget_from(shrunk->topic, PartitionIndex(shrunk->partitions));
    }
}

/// A copy that comes back after its topic was dropped here begins without records.
void ConfirmedWriters::forget_from(TopicId topic, PartitionIndex first) {
    const auto begin = logs_.lower_bound(TopicPartition{topic, first});
    auto end = begin;
    while (end != logs_.end() && end->first.topic == topic) ++end;
    logs_.erase(begin, end);
}

FlatMap<ProducerId, Offset> ConfirmedWriters::of(TopicPartition tp) const {
    const auto log = logs_.find(tp);
    return log == logs_.end() ? FlatMap<ProducerId, Offset>() : log->second.confirmed;
}

void ConfirmedWriters::write(TopicPartition tp, const broker::BatchSummary& batch) {
    if (batch.producer_id == kNoProducer) return;
    logs_[tp].unconfirmed.push_back({batch.producer_id, batch.base_offset, batch.last_offset + 1});
}

void ConfirmedWriters::confirm(TopicPartition tp, Offset high_watermark) {
    Log& log = logs_[tp];
    log.high_watermark = std::max(log.high_watermark, high_watermark);
    while (!log.unconfirmed.empty() && log.unconfirmed.front().next_offset <= log.high_watermark) {
        log.confirmed[log.unconfirmed.front().producer] = log.unconfirmed.front().next_offset - 1;
        log.unconfirmed.pop_front();
    }
}

void ConfirmedWriters::cut(TopicPartition tp, Offset end) {
    Log& log = logs_[tp];
    log.high_watermark = std::min(log.high_watermark, end);
    while (!log.unconfirmed.empty() && log.unconfirmed.back().base_offset >= end) log.unconfirmed.pop_back();
    for (auto at = log.confirmed.begin(); at != log.confirmed.end();)
        at = at->second >= end ? log.confirmed.erase(at) : std::next(at);
}

std::vector<std::string> untold_to_successor(const sim::Disk& disk, const broker::Broker& broker,
                                             const ConfirmedWriters& writers, const ToldLogStarts& told) {
    std::vector<std::string> untold;
    const auto home = topic_of_producers(broker);
    if (!home || !broker::is_serving(broker)) return untold;
    const std::optional<TopicContent> content = read_topic(disk, broker, *home);
    if (!content) return untold;
    for (const auto& [tp, partition] : broker.partitions) {
        const auto view = broker.logs.view(tp);
        const storage::TopicEntry* topic = broker.topics.find(tp.topic);
        if (!view || topic == nullptr || is_internal(topic->name)) continue;
        for (const auto& [id, last_offset] :
             producers_below(broker, partition.producers.confirmed(), writers.of(tp), view->log_start_offset)) {
            const auto found = content->last_offsets.find(clients::ProducerStateKey{tp, id});
            if (found != content->last_offsets.end() && found->second >= last_offset) continue;
            const Offset known = found == content->last_offsets.end() ? Offset(-1) : found->second;
            untold.push_back(
                fmt::format("that producer {} wrote up to {} in {}-{}, whose log starts at {}: the topic "
                            "of producers, from which the next leader learns it, says {}",
                            id.value, last_offset.value, topic->name, tp.partition.value, view->log_start_offset.value,
                            known.value));
        }
        const auto promised = told.find(tp);
        if (promised == told.end() || promised->second == Offset(0)) continue;
        const auto found = content->log_starts.find(tp);
        if (found != content->log_starts.end() && found->second >= promised->second) continue;
        untold.push_back(
            fmt::format("the log start {} of {}-{} that a client was told: the topic of producers, from "
                        "which the next leader learns it, says {}",
                        promised->second.value, topic->name, tp.partition.value,
                        found == content->log_starts.end() ? 0 : found->second.value));
    }
    return untold;
}

std::vector<std::string> misremembered_producers(const sim::Disk& disk, const broker::Broker& broker,
                                                 const ConfirmedWriters& writers) {
    std::vector<std::string> wrong;
    if (!broker::is_serving(broker)) return wrong;
    for (const auto& [tp, partition] : broker.partitions) {
        const storage::TopicEntry* topic = broker.topics.find(tp.topic);
        if (topic == nullptr || partition.must_recopy || !broker.logs.view(tp)) continue;
        for (const auto& [id, last_offset] : known_as_before(partition.producers.newest(), writers.of(tp)))
            wrong.push_back(
                fmt::format("that producer {} wrote up to {} in {}-{}, which it saw confirmed: it leads and knows of "
                            "an older state",
                            id.value, last_offset.value, topic->name, tp.partition.value));
        const auto in_log = producers_in_log(disk, broker, tp);
        if (!in_log) continue;
        FlatMap<ProducerId, Offset> known;
        std::vector<Offset> last_offsets;
        for (const auto& [id, state] : partition.producers.newest().states_between(Offset(0), kEndOfTime)) {
            known.emplace(id, state.last_offset);
            last_offsets.push_back(state.last_offset);
        }
        for (const auto& [id, last_offset] : *in_log)
            if (!known.contains(id)) last_offsets.push_back(last_offset);
        const Offset sure_from = known_for_sure_from(std::move(last_offsets), broker);
        for (const auto& [id, last_offset] : *in_log) {
            const auto found = known.find(id);
            const bool is_forgotten = found == known.end();
            if (is_forgotten ? last_offset < sure_from : found->second >= last_offset) continue;
            wrong.push_back(fmt::format(
                "that producer {} wrote up to {} in {}-{}, as its own log says: it leads and "
                "knows of it up to {}",
                id.value, last_offset.value, topic->name, tp.partition.value, is_forgotten ? -1 : found->second.value));
        }
    }
    return wrong;
}

std::vector<std::string> deletions_not_made(const sim::Disk& disk, const broker::Broker& broker) {
    std::vector<std::string> missing;
    const auto home = topic_of_producers(broker);
    const auto at_home = home ? broker.partitions.find(*home) : broker.partitions.end();
    if (at_home == broker.partitions.end() || !broker::is_serving(broker)) return missing;
    // What came later may wait for its confirmation.
    const auto content = read_topic(disk, broker, *home, at_home->second.epoch_start_offset);
    if (!content) return missing;
    for (const auto& [tp, log_start_offset] : content->log_starts) {
        const auto view = broker.logs.view(tp);
        const storage::TopicEntry* topic = broker.topics.find(tp.topic);
        if (!view || topic == nullptr || !broker.partitions.contains(tp)) continue;
        if (view->log_start_offset >= log_start_offset || view->log_end_offset < log_start_offset) continue;
        missing.push_back(fmt::format("the deletion up to {} in {}-{}: its log starts at {}", log_start_offset.value,
                                      topic->name, tp.partition.value, view->log_start_offset.value));
    }
    return missing;
}

}  // namespace tidelock::scenarios
