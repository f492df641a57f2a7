#include "scenarios/call_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace tidelock::scenarios {

namespace {

constexpr std::array<std::string_view, 3> kOutcomes{"ok", "failed", "unknown"};
constexpr std::array<std::string_view, 3> kAcks{"none", "leader", "all"};

std::string text_of(const checker::ClientPartition& partition) {
    return fmt::format("topic {}-{}", partition.topic.value, partition.partition.value);
}

std::string text_of(const checker::Membership& membership) {
    return fmt::format("member {} generation {}", membership.member.value, membership.generation);
}

std::string text_of(const std::vector<TopicPartition>& partitions) {
    std::string text;
    for (const TopicPartition& each : partitions)
        text += fmt::format("{}{:x}-{}", text.empty() ? "" : " ", each.topic.value, each.partition.value);
    return text.empty() ? "nothing" : text;
}

struct OperationText {
    std::string operator()(const checker::ProduceCall& call) const {
        std::string text = fmt::format("produce {} {:x} acks {}", text_of(call.partition), fmt::join(call.values, " "),
                                       kAcks[static_cast<std::size_t>(call.acks)]);
        if (call.producer_id != kNoProducer)
            text += fmt::format(" as {}/{} sequence {}", call.producer_id.value, call.producer_epoch.value,
                                call.base_sequence);
        if (call.base_offset) text += fmt::format(" at {}", call.base_offset->value);
        return text;
    }
    std::string operator()(const checker::FetchCall& call) const {
        if (call.refused_log_start)
            return fmt::format("fetch {} from {}: out of range, the log starts at {}", text_of(call.partition),
                               call.from.value, call.refused_log_start->value);
        return fmt::format("fetch {} from {}: {} records, high watermark {}", text_of(call.partition), call.from.value,
                           call.records.size(), call.high_watermark.value);
    }
    std::string operator()(const checker::OffsetCommitCall& call) const {
        return fmt::format("commit group {} {} at {}{}", call.group.value, text_of(call.partition), call.offset.value,
                           call.as ? " as " + text_of(*call.as) : "");
    }
    std::string operator()(const checker::OffsetFetchCall& call) const {
        return fmt::format("committed offset of group {} {}: {}", call.group.value, text_of(call.partition),
                           call.offset ? fmt::format("{}", call.offset->value) : "none");
    }
    std::string operator()(const checker::JoinGroupCall& call) const {
        return fmt::format("join group {}: {} by broker {}", call.group.value, text_of(call.joined),
                           call.coordinator.value);
    }
    std::string operator()(const checker::SyncGroupCall& call) const {
        std::string text = fmt::format("sync group {} as {}", call.group.value, text_of(call.as));
        for (const checker::GroupShare& share : call.given)
            text += fmt::format(", gives member {}: {}", share.member.value, text_of(share.partitions));
        return text + ", told: " + text_of(call.told);
    }
    std::string operator()(const checker::HeartbeatCall& call) const {
        return fmt::format("heartbeat group {} as {}", call.group.value, text_of(call.as));
    }
    std::string operator()(const checker::CreateTopicCall& call) const {
        return fmt::format("create topic {} with {} partitions", call.topic.value, call.partitions);
    }
    std::string operator()(const checker::DeleteTopicCall& call) const {
        return fmt::format("delete topic {}", call.topic.value);
    }
    std::string operator()(const checker::GrowTopicCall& call) const {
        return fmt::format("grow topic {} to {} partitions", call.topic.value, call.partitions);
    }
    std::string operator()(const checker::DeleteRecordsCall& call) const {
        return fmt::format("delete records of {} before {}", text_of(call.partition), call.before.value);
    }
    std::string operator()(const checker::InitProducerIdCall& call) const {
        return fmt::format("new producer id: {}", call.producer_id.value);
    }
    std::string operator()(const checker::TimeLookupCall& call) const {
        return fmt::format("records of {} since {} ms: {}, log start {}", text_of(call.partition), call.timestamp_ms,
                           call.offset ? fmt::format("offset {}", call.offset->value) : "none", call.log_start.value);
    }
    std::string operator()(const checker::EpochEndCall& call) const {
        return fmt::format("end of the epoch of {} before offset {}: {}", text_of(call.partition), call.position.value,
                           call.end.value);
    }
    std::string operator()(const checker::ListOffsetsCall& call) const {
        return fmt::format("{} offset of {}: {}", call.earliest ? "earliest" : "latest", text_of(call.partition),
                           call.offset.value);
    }
};

}  // namespace

std::string text_of(const checker::ClientCall& call) {
    return fmt::format("{} {}: {}", call.call, std::visit(OperationText{}, call.operation),
                       kOutcomes[static_cast<std::size_t>(call.outcome)]);
}

}  // namespace tidelock::scenarios
