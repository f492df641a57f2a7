#include "tools/bench/load/kafka_reader.h"

#include <fmt/format.h>

#include "protocol/storage/record_batch.h"

namespace tidelock::load {
namespace {

constexpr std::int32_t kFetchBytesMax = 8 << 20;

}  // namespace

kafka::FetchRequest fetch_of(const std::string& topic, std::int32_t partition, std::int64_t offset,
                             std::int32_t wait_ms) {
    kafka::FetchRequest fetch;
    fetch.max_wait_ms = wait_ms;
    fetch.min_bytes = 1;
    fetch.max_bytes = kFetchBytesMax;
    auto& wanted = fetch.topics.emplace_back();
    wanted.topic = topic;
    auto& part = wanted.partitions.emplace_back();
    part.partition = PartitionIndex(partition);
    part.fetch_offset = Offset(offset);
    part.partition_max_bytes = kFetchBytesMax;
    return fetch;
}

std::string take_records(const kafka::FetchPartitionResult& result, std::int64_t& next, const RecordSink& sink) {
    if (result.error_code != kafka::ErrorCode::kNone) return kafka::name_of(result.error_code);
    const Bytes bytes = result.records.value_or(Bytes());
    for (std::size_t at = 0; at < bytes.size();) {
        const auto rest = bytes.span().subspan(at);
        const auto header = storage::check_batch(rest);
        if (!header && at > 0 && header.error() == storage::BatchError::kTooShort) return {};  // cut off: the next time
        if (!header) return fmt::format("a batch at offset {} is broken: {}", next, describe(header.error()));
        storage::RecordReader records(rest.first(header->size_bytes()), *header);
        for (;;) {
            const auto record = records.next();
            if (!record) return fmt::format("a record at offset {} is broken: {}", next, describe(record.error()));
            if (!record->has_value()) break;
            const storage::RecordView& view = **record;
            if (view.offset.value < next || !view.value) continue;
            sink(stamp_of(*view.value).value_or(Stamp{}), view.offset.value, view.value->size());
        }
        next = std::max(next, header->next_offset().value);
        at += header->size_bytes();
    }
    return {};
}

Result<std::int64_t, std::string> offset_of(Channel& channel, const std::string& topic, std::int32_t partition,
                                            std::int64_t which, std::int64_t patience_ns) {
    kafka::ListOffsetsRequest request;
    auto& asked = request.topics.emplace_back();
    asked.name = topic;
    asked.partitions.push_back({PartitionIndex(partition), kafka::kNoLeaderEpoch, which});
    const auto answer = call<kafka::ListOffsetsResponse>(channel, request, kListOffsetsVersion, patience_ns);
    if (!answer) return Failure<std::string>(answer.error());
    if (answer->topics.empty() || answer->topics[0].partitions.empty())
        return Failure<std::string>("the broker says nothing about the partition");
    const auto& found = answer->topics[0].partitions[0];
    if (found.error_code != kafka::ErrorCode::kNone) return Failure<std::string>(kafka::name_of(found.error_code));
    return found.offset.value;
}

}  // namespace tidelock::load
