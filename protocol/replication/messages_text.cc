// One line a message, for traces and failing tests.
#include <fmt/format.h>

#include <iterator>

#include "protocol/replication/messages.h"

namespace tidelock::replication {
namespace {

using Line = fmt::memory_buffer;

template <typename... Args>
void add(Line& line, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
}

void add_header(Line& line, const FollowerHeader& header) {
    add(line, " #{} from {}/{:x} epoch {}", header.request_id.value, header.follower.broker.value,
        header.follower.incarnation.value, header.leader_epoch.value);
}

void add_answer(Line& line, RequestId request_id, LeaderEpoch leader_epoch, ErrorCode code) {
    add(line, " #{} epoch {}", request_id.value, leader_epoch.value);
    if (code != ErrorCode::kNone) add(line, " {}", to_text(code));
}

void add_partition(Line& line, TopicPartition partition) {
    add(line, " {:x}-{}", partition.topic.value, partition.partition.value);
}

void add_body(Line& line, const ManifestRequest& message) {
    add_header(line, message.header);
}

void add_body(Line& line, const ManifestAnswer& message) {
    add_answer(line, message.request_id, message.leader_epoch, message.code);
    for (const ManifestTopic& topic : message.manifest.topics)
        add(line, " {}={:x}*{}", topic.name, topic.id.value, topic.partition_count);
}

void add_body(Line& line, const EpochEndRequest& message) {
    add_header(line, message.header);
    for (const EpochEndQuestion& question : message.questions) {
        add_partition(line, question.partition);
        add(line, ":{}?", question.asked_epoch.value);
    }
}

void add_body(Line& line, const EpochEndAnswer& message) {
    add_answer(line, message.request_id, message.leader_epoch, message.code);
    for (const PartitionEpochEnd& end : message.ends) {
        add_partition(line, end.partition);
        if (end.code != ErrorCode::kNone) {
            add(line, ":{}", to_text(end.code));
        } else if (end.answer.end) {
            add(line, ":{} ends {}", end.answer.end->leader_epoch.value, end.answer.end->end_offset.value);
        } else {
            add(line, ":none, log starts {}", end.answer.log_start_offset.value);
        }
    }
}

void add_body(Line& line, const FetchRequest& message) {
    add_header(line, message.header);
    for (const FetchPartition& asked : message.partitions) {
        add_partition(line, asked.partition);
        add(line, ":{} durable {} hw {} last epoch {}", asked.fetch_offset.value, asked.durable_end_offset.value,
            asked.high_watermark.value, asked.last_fetched_epoch.value);
    }
}

void add_body(Line& line, const FetchAnswer& message) {
    add_answer(line, message.request_id, message.leader_epoch, message.code);
    if (message.has_more) add(line, " more");
    for (const PartitionAnswer& answer : message.partitions) {
        add_partition(line, answer.partition);
        add(line, ":{} bytes hw {} start {}", answer.batches.size(), answer.high_watermark.value,
            answer.log_start_offset.value);
        if (answer.code != ErrorCode::kNone) add(line, " {}", to_text(answer.code));
    }
}

void add_body(Line& line, const TopicWanted& message) {
    add(line, " {} partitions {} epoch {}", message.topic, message.partition_count, message.leader_epoch.value);
}

void add_body(Line& line, const PositionUpdate& message) {
    add(line, " from {}/{:x} epoch {}", message.follower.broker.value, message.follower.incarnation.value,
        message.leader_epoch.value);
    for (const PositionUpdate::Position& position : message.positions) {
        add_partition(line, position.partition);
        add(line, ":{}", position.durable_end_offset.value);
    }
}

}  // namespace

std::string_view to_text(ErrorCode code) {
    switch (code) {
        case ErrorCode::kNone:
            return "none";
        case ErrorCode::kNotLeader:
            return "not leader";
        case ErrorCode::kFencedEpoch:
            return "fenced epoch";
        case ErrorCode::kUnknownEpoch:
            return "unknown epoch";
        case ErrorCode::kUnknownPartition:
            return "unknown partition";
        case ErrorCode::kBehindLogStart:
            return "behind log start";
        case ErrorCode::kDiverging:
            return "diverging";
        case ErrorCode::kStorageError:
            return "storage error";
        case ErrorCode::kNotReady:
            return "not ready";
    }
    return "?";
}

std::string_view kind_of(const Message& message) {
    constexpr std::string_view kKinds[] = {"manifest_request", "manifest_answer", "epoch_end_request",
                                           "epoch_end_answer", "fetch_request",   "fetch_answer",
                                           "position_update",  "topic_wanted"};
    static_assert(std::size(kKinds) == std::variant_size_v<Message>);
    return kKinds[message.index()];
}

std::string to_text(const Message& message) {
    Line line;
    add(line, "{}", kind_of(message));
    std::visit([&line](const auto& body) { add_body(line, body); }, message);
    return fmt::to_string(line);
}

}  // namespace tidelock::replication
