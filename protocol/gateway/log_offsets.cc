// ListOffsets and OffsetForLeaderEpoch.
#include <algorithm>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

constexpr kafka::Version kKnowsOffsetNotAvailable = 5;

clients::OffsetAt place_of(const kafka::ListOffsetsRequest& request, std::int64_t timestamp) {
    if (timestamp == kafka::kEarliestOffset) return clients::OffsetAt::kLogStart;
    if (timestamp == kafka::kMaxTimestampOffset) return clients::OffsetAt::kMaxTimestamp;
    if (timestamp != kafka::kLatestOffset) return clients::OffsetAt::kTimestamp;
    return request.isolation_level == kafka::kReadCommitted ? clients::OffsetAt::kLastStable
                                                            : clients::OffsetAt::kHighWatermark;
}

}  // namespace

void ask(Call& call, kafka::ListOffsetsRequest& request) {
    auto& answer = answer_of<kafka::ListOffsetsResponse>(call);
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        for (std::uint32_t p = 0; p < request.topics[t].partitions.size(); ++p) {
            const kafka::ListOffsetsPartition& partition = request.topics[t].partitions[p];
            if (partition.timestamp < kafka::kMaxTimestampOffset) {
                answer.topics[t].partitions[p].error_code = kafka::ErrorCode::kInvalidRequest;
                continue;
            }
            clients::ListOffsetsRequest list;
            list.partition = {request.topics[t].name, TopicId(0), partition.partition_index};
            list.at = place_of(request, partition.timestamp);
            list.timestamp_ms = std::max<std::int64_t>(partition.timestamp, 0);
            list.known_leader_epoch = std::max(partition.current_leader_epoch, LeaderEpoch(0));
            call.ask({t, p}, std::move(list));
        }
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::ListOffsetsRequest& /*request*/) {
    auto& result = answer_of<kafka::ListOffsetsResponse>(call).topics[slot.outer].partitions[slot.inner];
    result.error_code = kafka_error(clients::error_of(answer), AskedOf::kPartition);
    // Clients of before know no word for it; what they know makes them ask again as well (KIP-207).
    const bool is_word_known = call.pending.request.version >= kKnowsOffsetNotAvailable;
    if (result.error_code == kafka::ErrorCode::kOffsetNotAvailable && !is_word_known)
        result.error_code = kafka::ErrorCode::kLeaderNotAvailable;
    const auto* listed = std::get_if<clients::ListOffsetsAnswer>(&answer.body);
    if (listed == nullptr || listed->error != clients::ErrorCode::kNone) return;
    result.offset = listed->offset;
    result.timestamp = listed->timestamp_ms;
    result.leader_epoch = listed->leader_epoch.value > 0 ? listed->leader_epoch : kafka::kNoLeaderEpoch;
}

void ask(Call& call, kafka::OffsetForLeaderEpochRequest& request) {
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        for (std::uint32_t p = 0; p < request.topics[t].partitions.size(); ++p) {
            const kafka::EpochPartition& partition = request.topics[t].partitions[p];
            clients::EpochEndRequest end;
            end.partition = {request.topics[t].topic, TopicId(0), partition.partition};
            end.leader_epoch = partition.leader_epoch;
            end.known_leader_epoch = std::max(partition.current_leader_epoch, LeaderEpoch(0));
            call.ask({t, p}, std::move(end));
        }
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetForLeaderEpochRequest& /*request*/) {
    auto& result = answer_of<kafka::OffsetForLeaderEpochResponse>(call).topics[slot.outer].partitions[slot.inner];
    result.error_code = kafka_error(clients::error_of(answer), AskedOf::kPartition);
    const auto* end = std::get_if<clients::EpochEndAnswer>(&answer.body);
    if (end == nullptr || end->error != clients::ErrorCode::kNone || end->end_offset.value < 0) return;
    result.leader_epoch = end->leader_epoch;
    result.end_offset = end->end_offset;
}

}  // namespace tidelock::gateway
