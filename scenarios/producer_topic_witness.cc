#include "scenarios/producer_topic_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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
        if (const auto log_start_offset = clients::decode_log_start(value)) known = std::max(known, *log_start_offset);
    } else if (const auto state = clients::decode_state(value)) {
        Offset& known = content.last_offsets.try_emplace(*key, Offset(-1)).first->second;
        known = std::max(known, state->last_offset);
    }
}

/// Takes the segment's records from `from` on. The offset past its last whole batch.
Offset read_segment(const Bytes& segment, Offset base_offset, Offset from, TopicContent& content) {
    Offset next = base_offset;
    std::size_t position = 0;
    while (position < segment.size()) {
        const std::span<const std::byte> rest = segment.span().subspan(position);
        const auto header = storage::check_batch(rest);
        if (!header) break;
        storage::RecordReader reader(rest.first(header->size_bytes()), *header);
        for (auto record = reader.next(); record && *record; record = reader.next())
            if ((*record)->offset >= from) take_record(**record, content);
        next = header->next_offset();
        position += header->size_bytes();
    }
    return next;
}

/// Empty: the medium does not hold all that the leader takes for durable, which is for others to judge.
std::optional<TopicContent> read_topic(const sim::Disk& disk, const broker::Broker& broker, TopicPartition home) {
    const std::optional<storage::LogView> view = broker.logs.view(home);
    if (!view || view->damaged_at) return std::nullopt;
    TopicContent content;
    Offset next;
    bool is_first = true;
    for (const std::string& name : disk.list()) {  // sorted, so in the order of their offsets
        const auto file = storage::parse_partition_file(name);
        if (!file || file->tp != home || file->kind != storage::PartitionFileKind::kSegment) continue;
        if (!is_first && file->base_offset != next) return std::nullopt;
        is_first = false;
        next = read_segment(disk.durable_content(name), file->base_offset, view->log_start_offset, content);
    }
    if (next < view->durable_end_offset) return std::nullopt;
    return content;
}

/// Producers with a batch below the log start, as far as no bound can have made another table forget them.
std::vector<std::pair<ProducerId, Offset>> producers_below(const broker::Broker& broker,
                                                           const clients::ProducerTable& table,
                                                           Offset log_start_offset) {
    const auto producers_max = static_cast<std::size_t>(broker.config.producers_max);
    const std::size_t kept_for_sure = producers_max + 1 - clients::producers_forgotten_at_once(producers_max);
    const auto all = table.states_between(Offset(0), Offset(std::numeric_limits<std::int64_t>::max()));
    std::vector<Offset> last_offsets;
    for (const auto& [id, state] : all) last_offsets.push_back(state.last_offset);
    std::ranges::sort(last_offsets, std::greater());
    const Offset oldest_kept = last_offsets.size() > kept_for_sure ? last_offsets[kept_for_sure - 1] : Offset(0);
    std::vector<std::pair<ProducerId, Offset>> below;
    for (const auto& [id, state] : table.states_between(Offset(0), log_start_offset)) {
        const auto whole = std::ranges::find(all, id, &std::pair<ProducerId, clients::ProducerState>::first);
        if (whole->second.last_offset >= oldest_kept) below.emplace_back(id, state.last_offset);
    }
    return below;
}

}  // namespace

std::vector<std::string> untold_to_successor(const sim::Disk& disk, const broker::Broker& broker,
                                             const ToldLogStarts& told) {
    std::vector<std::string> untold;
    const auto home = topic_of_producers(broker);
    if (!home || !broker::is_serving(broker)) return untold;
    const std::optional<TopicContent> content = read_topic(disk, broker, *home);
    if (!content) return untold;
    for (const auto& [tp, partition] : broker.partitions) {
        const auto view = broker.logs.view(tp);
        const storage::TopicEntry* topic = broker.topics.find(tp.topic);
        if (!view || topic == nullptr || is_internal(topic->name)) continue;
        for (const auto& [id, last_offset] : producers_below(broker, partition.producers, view->log_start_offset)) {
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
        if (promised == told.end()) continue;
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

}  // namespace tidelock::scenarios
