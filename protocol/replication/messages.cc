// The codec: one encode and one total decode a message, fields in the order of the struct.
#include "protocol/replication/messages.h"

#include <utility>

namespace tidelock::replication {
namespace {

constexpr std::uint8_t kLastErrorCode = static_cast<std::uint8_t>(ErrorCode::kNotReady);

// Smallest encodings of list elements, for the count check before anything is allocated.
constexpr std::size_t kPartitionBytes = 12;
constexpr std::size_t kQuestionBytes = kPartitionBytes + 4;
constexpr std::size_t kEpochEndBytes = kPartitionBytes + 1 + 1 + 16;
constexpr std::size_t kFetchPartitionBytes = kPartitionBytes + 36;
constexpr std::size_t kPartitionAnswerBytes = kPartitionBytes + 1 + 16 + 4;
constexpr std::size_t kPositionBytes = kPartitionBytes + 12;
constexpr std::size_t kTopicBytes = 4 + 8 + 4 + 1 + 4;
constexpr std::size_t kSettingBytes = 8;

// --- shared pieces -------------------------------------------------------------------------------------------

void put(TopicPartition partition, ByteWriter& out) {
    out.u64(partition.topic.value);
    out.i32(partition.partition.value);
}
TopicPartition get_partition(ByteReader& in) {
    const TopicId topic(in.u64());
    const PartitionIndex partition(in.i32());
    if (partition.value < 0) in.fail();
    return {topic, partition};
}

void put(Replica replica, ByteWriter& out) {
    out.i32(replica.broker.value);
    out.u64(replica.incarnation.value);
}
Replica get_replica(ByteReader& in) {
    const BrokerId broker(in.i32());
    const Incarnation incarnation(in.u64());
    return {broker, incarnation};
}

void put(const FollowerHeader& header, ByteWriter& out) {
    out.u64(header.request_id.value);
    put(header.follower, out);
    out.i32(header.leader_epoch.value);
}
FollowerHeader get_header(ByteReader& in) {
    FollowerHeader header;
    header.request_id = RequestId(in.u64());
    header.follower = get_replica(in);
    header.leader_epoch = LeaderEpoch(in.i32());
    return header;
}

/// An exclusive end: never negative.
Offset get_offset(ByteReader& in) {
    const Offset offset(in.i64());
    if (offset.value < 0) in.fail();
    return offset;
}
ErrorCode get_code(ByteReader& in) {
    const std::uint8_t code = in.u8();
    if (code > kLastErrorCode) in.fail();
    return in.failed() ? ErrorCode::kNone : static_cast<ErrorCode>(code);
}
void put(ErrorCode code, ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(code));
}

void put_count(std::size_t count, ByteWriter& out) {
    out.u32(static_cast<std::uint32_t>(count));
}

// --- manifest ------------------------------------------------------------------------------------------------

void put(const ManifestTopic& topic, ByteWriter& out) {
    out.string(topic.name);
    out.u64(topic.id.value);
    out.i32(topic.partition_count);
    out.boolean(topic.is_internal);
    put_count(topic.settings.size(), out);
    for (const TopicSetting& setting : topic.settings) {
        out.string(setting.key);
        out.string(setting.value);
    }
}
ManifestTopic get_topic(ByteReader& in) {
    ManifestTopic topic;
    topic.name = in.string();
    topic.id = TopicId(in.u64());
    topic.partition_count = in.i32();
    if (topic.partition_count < 0) in.fail();
    topic.is_internal = in.boolean();
    const std::uint32_t count = in.count(kSettingBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        TopicSetting setting;
        setting.key = in.string();
        setting.value = in.string();
        if (!topic.settings.empty() && !(topic.settings.back().key < setting.key)) in.fail();
        topic.settings.push_back(std::move(setting));
    }
    return topic;
}

void put_body(const ManifestRequest& message, ByteWriter& out) {
    put(message.header, out);
}
ManifestRequest get_manifest_request(ByteReader& in) {
    return {get_header(in)};
}

void put_body(const ManifestAnswer& message, ByteWriter& out) {
    out.u64(message.request_id.value);
    out.i32(message.leader_epoch.value);
    put(message.code, out);
    put_count(message.manifest.topics.size(), out);
    for (const ManifestTopic& topic : message.manifest.topics) put(topic, out);
    out.blob(message.manifest.aborted_transactions.span());
}
ManifestAnswer get_manifest_answer(ByteReader& in) {
    ManifestAnswer message;
    message.request_id = RequestId(in.u64());
    message.leader_epoch = LeaderEpoch(in.i32());
    message.code = get_code(in);
    const std::uint32_t count = in.count(kTopicBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        ManifestTopic topic = get_topic(in);
        // One order and one life of a name, so that equal manifests have equal digests.
        if (!message.manifest.topics.empty() && !(message.manifest.topics.back().name < topic.name)) in.fail();
        message.manifest.topics.push_back(std::move(topic));
    }
    message.manifest.aborted_transactions = in.blob();
    return message;
}

// --- truncation ----------------------------------------------------------------------------------------------

void put_body(const EpochEndRequest& message, ByteWriter& out) {
    put(message.header, out);
    put_count(message.questions.size(), out);
    for (const EpochEndQuestion& question : message.questions) {
        put(question.partition, out);
        out.i32(question.asked_epoch.value);
    }
}
EpochEndRequest get_epoch_end_request(ByteReader& in) {
    EpochEndRequest message;
    message.header = get_header(in);
    const std::uint32_t count = in.count(kQuestionBytes);
    message.questions.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        const TopicPartition partition = get_partition(in);
        message.questions.push_back({partition, LeaderEpoch(in.i32())});
    }
    return message;
}

void put_body(const EpochEndAnswer& message, ByteWriter& out) {
    out.u64(message.request_id.value);
    out.i32(message.leader_epoch.value);
    put(message.code, out);
    put_count(message.ends.size(), out);
    for (const PartitionEpochEnd& end : message.ends) {
        put(end.partition, out);
        put(end.code, out);
        out.boolean(end.answer.end.has_value());
        if (end.answer.end) {
            out.i32(end.answer.end->leader_epoch.value);
            out.i64(end.answer.end->end_offset.value);
        }
        out.i64(end.answer.log_start_offset.value);
        out.i64(end.answer.log_end_offset.value);
    }
}
EpochEndAnswer get_epoch_end_answer(ByteReader& in) {
    EpochEndAnswer message;
    message.request_id = RequestId(in.u64());
    message.leader_epoch = LeaderEpoch(in.i32());
    message.code = get_code(in);
    const std::uint32_t count = in.count(kEpochEndBytes);
    message.ends.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        PartitionEpochEnd end;
        end.partition = get_partition(in);
        end.code = get_code(in);
        if (in.boolean()) {
            const LeaderEpoch leader_epoch(in.i32());
            end.answer.end = EpochEnd{leader_epoch, get_offset(in)};
        }
        end.answer.log_start_offset = get_offset(in);
        end.answer.log_end_offset = get_offset(in);
        message.ends.push_back(end);
    }
    return message;
}

// --- fetch ---------------------------------------------------------------------------------------------------

void put_body(const FetchRequest& message, ByteWriter& out) {
    put(message.header, out);
    out.u64(message.manifest_digest);
    out.i64(message.wait_max.value);
    out.i32(message.bytes_max);
    put_count(message.partitions.size(), out);
    for (const FetchPartition& asked : message.partitions) {
        put(asked.partition, out);
        out.i64(asked.fetch_offset.value);
        out.i32(asked.last_fetched_epoch.value);
        out.i64(asked.durable_end_offset.value);
        out.i64(asked.high_watermark.value);
        out.i64(asked.log_start_offset.value);
    }
}
FetchRequest get_fetch_request(ByteReader& in) {
    FetchRequest message;
    message.header = get_header(in);
    message.manifest_digest = in.u64();
    message.wait_max = Duration(in.i64());
    message.bytes_max = in.i32();
    if (message.wait_max < Duration(0) || message.bytes_max < 0) in.fail();
    const std::uint32_t count = in.count(kFetchPartitionBytes);
    message.partitions.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        FetchPartition asked;
        asked.partition = get_partition(in);
        asked.fetch_offset = get_offset(in);
        asked.last_fetched_epoch = LeaderEpoch(in.i32());
        asked.durable_end_offset = get_offset(in);
        asked.high_watermark = get_offset(in);
        asked.log_start_offset = get_offset(in);
        message.partitions.push_back(asked);
    }
    return message;
}

void put_body(const FetchAnswer& message, ByteWriter& out) {
    out.u64(message.request_id.value);
    out.i32(message.leader_epoch.value);
    put(message.code, out);
    out.u64(message.manifest_digest);
    out.boolean(message.has_more);
    put_count(message.partitions.size(), out);
    for (const PartitionAnswer& answer : message.partitions) {
        put(answer.partition, out);
        put(answer.code, out);
        out.i64(answer.high_watermark.value);
        out.i64(answer.log_start_offset.value);
        out.blob(answer.batches.span());
    }
}
FetchAnswer get_fetch_answer(ByteReader& in) {
    FetchAnswer message;
    message.request_id = RequestId(in.u64());
    message.leader_epoch = LeaderEpoch(in.i32());
    message.code = get_code(in);
    message.manifest_digest = in.u64();
    message.has_more = in.boolean();
    const std::uint32_t count = in.count(kPartitionAnswerBytes);
    message.partitions.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        PartitionAnswer answer;
        answer.partition = get_partition(in);
        answer.code = get_code(in);
        answer.high_watermark = get_offset(in);
        answer.log_start_offset = get_offset(in);
        answer.batches = in.blob();
        message.partitions.push_back(std::move(answer));
    }
    return message;
}

void put_body(const PositionUpdate& message, ByteWriter& out) {
    put(message.follower, out);
    out.i32(message.leader_epoch.value);
    put_count(message.positions.size(), out);
    for (const PositionUpdate::Position& position : message.positions) {
        put(position.partition, out);
        out.i32(position.last_fetched_epoch.value);
        out.i64(position.durable_end_offset.value);
    }
}
PositionUpdate get_position_update(ByteReader& in) {
    PositionUpdate message;
    message.follower = get_replica(in);
    message.leader_epoch = LeaderEpoch(in.i32());
    const std::uint32_t count = in.count(kPositionBytes);
    message.positions.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        PositionUpdate::Position position;
        position.partition = get_partition(in);
        position.last_fetched_epoch = LeaderEpoch(in.i32());
        position.durable_end_offset = get_offset(in);
        message.positions.push_back(position);
    }
    return message;
}

void put_body(const TopicWanted& message, ByteWriter& out) {
    out.string(message.topic);
    out.i32(message.partition_count);
    out.i32(message.leader_epoch.value);
}
TopicWanted get_topic_wanted(ByteReader& in) {
    TopicWanted message;
    message.topic = in.string();
    message.partition_count = in.i32();
    message.leader_epoch = LeaderEpoch(in.i32());
    return message;
}

/// By the variant's index; an unknown kind fails the reader.
Message get_body(std::uint8_t kind, ByteReader& in) {
    switch (kind) {
        case 0:
            return get_manifest_request(in);
        case 1:
            return get_manifest_answer(in);
        case 2:
            return get_epoch_end_request(in);
        case 3:
            return get_epoch_end_answer(in);
        case 4:
            return get_fetch_request(in);
        case 5:
            return get_fetch_answer(in);
        case 6:
            return get_position_update(in);
        case 7:
            return get_topic_wanted(in);
        default:
            in.fail();
            return ManifestRequest{};
    }
}

}  // namespace

void encode(const Message& message, ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(message.index()));
    std::visit([&out](const auto& body) { put_body(body, out); }, message);
}

Result<Message, DecodeError> decode_message(ByteReader& in) {
    const std::uint8_t kind = in.u8();
    Message message = get_body(kind, in);
    if (in.failed())
        return decode_failure("replication message of kind " + std::to_string(kind) + ": short or bad field");
    if (!in.at_end())
        return decode_failure("replication message of kind " + std::to_string(kind) + ": bytes left over");
    return message;
}

Result<Message, DecodeError> decode_message(const Bytes& bytes) {
    ByteReader in(bytes);
    return decode_message(in);
}

}  // namespace tidelock::replication
