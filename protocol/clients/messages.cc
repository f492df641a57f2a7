// The codec: one put and one get a struct, fields in order. Requests and answers share their variant's order.
#include "protocol/clients/messages.h"

#include <utility>

#include "protocol/clients/message_fields.h"

namespace tidelock::clients {
namespace {

constexpr std::size_t kStringBytes = 4;
constexpr std::size_t kSettingBytes = 8;
constexpr std::size_t kReplicaBytes = 12;
constexpr std::size_t kTopicBytes = 2 + 4 + 8 + 4 + 1;

// --- shared pieces -------------------------------------------------------------------------------------------

void put_count(std::size_t count, ByteWriter& out) {
    out.u32(static_cast<std::uint32_t>(count));
}

/// An enum by its number, refused above `last`.
template <typename Enum>
Enum get_enum(ByteReader& in, Enum last) {
    const std::uint8_t number = in.u8();
    if (number > static_cast<std::uint8_t>(last)) in.fail();
    return in.failed() ? Enum{} : static_cast<Enum>(number);
}
template <typename Enum>
void put_enum(Enum value, ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(value));
}

void put(ErrorCode error, ByteWriter& out) {
    out.u16(static_cast<std::uint16_t>(error));
}
ErrorCode get_error(ByteReader& in) {
    const std::optional<ErrorCode> error = error_code_of(static_cast<std::int16_t>(in.u16()));
    if (!error) in.fail();
    return error.value_or(ErrorCode::kNone);
}

void put(const PartitionName& name, ByteWriter& out) {
    out.string(name.topic);
    out.u64(name.topic_id.value);
    out.i32(name.partition.value);
}
PartitionName get_name(ByteReader& in) {
    PartitionName name;
    name.topic = in.string();
    name.topic_id = TopicId(in.u64());
    name.partition = PartitionIndex(in.i32());
    return name;
}

void put(const std::vector<Setting>& settings, ByteWriter& out) {
    put_count(settings.size(), out);
    for (const Setting& setting : settings) {
        out.string(setting.key);
        out.string(setting.value);
    }
}
std::vector<Setting> get_settings(ByteReader& in) {
    std::vector<Setting> settings;
    const std::uint32_t count = in.count(kSettingBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        std::string key = in.string();
        settings.push_back({std::move(key), in.string()});
    }
    return settings;
}

void put(const std::vector<BrokerId>& brokers, ByteWriter& out) {
    put_count(brokers.size(), out);
    for (const BrokerId broker : brokers) out.i32(broker.value);
}
std::vector<BrokerId> get_brokers(ByteReader& in) {
    std::vector<BrokerId> brokers;
    const std::uint32_t count = in.count(4);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) brokers.emplace_back(in.i32());
    return brokers;
}

void put(const std::vector<Replica>& replicas, ByteWriter& out) {
    put_count(replicas.size(), out);
    for (const Replica& replica : replicas) {
        out.i32(replica.broker.value);
        out.u64(replica.incarnation.value);
    }
}
std::vector<Replica> get_replicas(ByteReader& in) {
    std::vector<Replica> replicas;
    const std::uint32_t count = in.count(kReplicaBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        const BrokerId broker(in.i32());
        replicas.push_back({broker, Incarnation(in.u64())});
    }
    return replicas;
}

// --- requests ------------------------------------------------------------------------------------------------

void put_body(const ProduceRequest& body, ByteWriter& out) {
    put(body.partition, out);
    put_enum(body.acks, out);
    out.i64(body.timeout.value);
    out.blob(body.batches.span());
}
void get_body(ProduceRequest& body, ByteReader& in) {
    body.partition = get_name(in);
    body.acks = get_enum(in, Acks::kAll);
    body.timeout = Duration(in.i64());
    body.batches = in.blob();
}

void put_body(const FetchRequest& body, ByteWriter& out) {
    put(body.partition, out);
    out.i64(body.offset.value);
    out.i32(body.bytes_max);
    out.i64(body.wait_max.value);
    put_enum(body.isolation, out);
    out.i32(body.known_leader_epoch.value);
}
void get_body(FetchRequest& body, ByteReader& in) {
    body.partition = get_name(in);
    body.offset = Offset(in.i64());
    body.bytes_max = in.i32();
    body.wait_max = Duration(in.i64());
    body.isolation = get_enum(in, IsolationLevel::kReadCommitted);
    body.known_leader_epoch = LeaderEpoch(in.i32());
}

void put_body(const ListOffsetsRequest& body, ByteWriter& out) {
    put(body.partition, out);
    put_enum(body.at, out);
    out.i64(body.timestamp_ms);
    out.i32(body.known_leader_epoch.value);
}
void get_body(ListOffsetsRequest& body, ByteReader& in) {
    body.partition = get_name(in);
    body.at = get_enum(in, OffsetAt::kMaxTimestamp);
    body.timestamp_ms = in.i64();
    body.known_leader_epoch = LeaderEpoch(in.i32());
}

void put_body(const MetadataRequest& body, ByteWriter& out) {
    put_count(body.topics.size(), out);
    for (const std::string& topic : body.topics) out.string(topic);
    FieldWriter writer(out);
    writer(body.topic_ids, body.lists_topics);
}
void get_body(MetadataRequest& body, ByteReader& in) {
    const std::uint32_t count = in.count(kStringBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) body.topics.push_back(in.string());
    FieldReader reader(in);
    reader(body.topic_ids, body.lists_topics);
}

void put_body(const InitProducerIdRequest& body, ByteWriter& out) {
    out.i64(body.producer_id.value);
    out.u16(static_cast<std::uint16_t>(body.producer_epoch.value));
}
void get_body(InitProducerIdRequest& body, ByteReader& in) {
    body.producer_id = ProducerId(in.i64());
    body.producer_epoch = ProducerEpoch(static_cast<std::int16_t>(in.u16()));
}

void put_body(const OffsetCommitRequest& body, ByteWriter& out) {
    out.string(body.group);
    out.i32(body.generation);
    out.string(body.member);
    put(body.partition, out);
    out.i64(body.offset.value);
    out.i32(body.leader_epoch.value);
    out.string(body.metadata);
    out.string(body.instance);
}
void get_body(OffsetCommitRequest& body, ByteReader& in) {
    body.group = in.string();
    body.generation = in.i32();
    body.member = in.string();
    body.partition = get_name(in);
    body.offset = Offset(in.i64());
    body.leader_epoch = LeaderEpoch(in.i32());
    body.metadata = in.string();
    body.instance = in.string();
}

void put_body(const OffsetFetchRequest& body, ByteWriter& out) {
    out.string(body.group);
    put(body.partition, out);
}
void get_body(OffsetFetchRequest& body, ByteReader& in) {
    body.group = in.string();
    body.partition = get_name(in);
}

void put_body(const CreateTopicRequest& body, ByteWriter& out) {
    out.string(body.topic);
    out.i32(body.partition_count);
    put(body.settings, out);
    out.boolean(body.validate_only);
    out.boolean(body.may_forward);
}
void get_body(CreateTopicRequest& body, ByteReader& in) {
    body.topic = in.string();
    body.partition_count = in.i32();
    body.settings = get_settings(in);
    body.validate_only = in.boolean();
    body.may_forward = in.boolean();
}

void put_body(const DeleteTopicRequest& body, ByteWriter& out) {
    out.string(body.topic);
    out.u64(body.topic_id.value);
}
void get_body(DeleteTopicRequest& body, ByteReader& in) {
    body.topic = in.string();
    body.topic_id = TopicId(in.u64());
}

void put_body(const GrowTopicRequest& body, ByteWriter& out) {
    out.string(body.topic);
    out.i32(body.partition_count);
    out.boolean(body.validate_only);
}
void get_body(GrowTopicRequest& body, ByteReader& in) {
    body.topic = in.string();
    body.partition_count = in.i32();
    body.validate_only = in.boolean();
}

void put_body(const SetTopicConfigRequest& body, ByteWriter& out) {
    out.string(body.topic);
    put(body.settings, out);
}
void get_body(SetTopicConfigRequest& body, ByteReader& in) {
    body.topic = in.string();
    body.settings = get_settings(in);
}

void put_body(const StatusRequest&, ByteWriter&) {}
void get_body(StatusRequest&, ByteReader&) {}

void put_body(const DeleteRecordsRequest& body, ByteWriter& out) {
    put(body.partition, out);
    out.i64(body.before_offset.value);
}
void get_body(DeleteRecordsRequest& body, ByteReader& in) {
    body.partition = get_name(in);
    body.before_offset = Offset(in.i64());
}

void put_body(const TransferLeadershipRequest& body, ByteWriter& out) {
    out.i32(body.to.value);
}
void get_body(TransferLeadershipRequest& body, ByteReader& in) {
    body.to = BrokerId(in.i32());
}

// --- answers -------------------------------------------------------------------------------------------------

void put_body(const ProduceAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i64(body.base_offset.value);
    out.i64(body.log_start_offset.value);
}
void get_body(ProduceAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.base_offset = Offset(in.i64());
    body.log_start_offset = Offset(in.i64());
}

void put_body(const FetchAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i64(body.high_watermark.value);
    out.i64(body.last_stable_offset.value);
    out.i64(body.log_start_offset.value);
    out.blob(body.batches.span());
    out.boolean(body.has_more);
}
void get_body(FetchAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.high_watermark = Offset(in.i64());
    body.last_stable_offset = Offset(in.i64());
    body.log_start_offset = Offset(in.i64());
    body.batches = in.blob();
    body.has_more = in.boolean();
}

void put_body(const ListOffsetsAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i64(body.offset.value);
    out.i32(body.leader_epoch.value);
    out.i64(body.timestamp_ms);
}
void get_body(ListOffsetsAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.offset = Offset(in.i64());
    body.leader_epoch = LeaderEpoch(in.i32());
    body.timestamp_ms = in.i64();
}

void put_body(const MetadataAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i32(body.leader.value);
    out.i32(body.leader_epoch.value);
    put(body.brokers, out);
    put(body.in_sync_replicas, out);
    put_count(body.topics.size(), out);
    for (const MetadataAnswer::Topic& topic : body.topics) {
        put(topic.error, out);
        out.string(topic.name);
        out.u64(topic.id.value);
        out.i32(topic.partition_count);
        out.boolean(topic.is_internal);
    }
}
void get_body(MetadataAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.leader = BrokerId(in.i32());
    body.leader_epoch = LeaderEpoch(in.i32());
    body.brokers = get_brokers(in);
    body.in_sync_replicas = get_brokers(in);
    const std::uint32_t count = in.count(kTopicBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        MetadataAnswer::Topic topic;
        topic.error = get_error(in);
        topic.name = in.string();
        topic.id = TopicId(in.u64());
        topic.partition_count = in.i32();
        topic.is_internal = in.boolean();
        body.topics.push_back(std::move(topic));
    }
}

void put_body(const InitProducerIdAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i64(body.producer_id.value);
    out.u16(static_cast<std::uint16_t>(body.producer_epoch.value));
}
void get_body(InitProducerIdAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.producer_id = ProducerId(in.i64());
    body.producer_epoch = ProducerEpoch(static_cast<std::int16_t>(in.u16()));
}

void put_body(const OffsetFetchAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i64(body.offset.value);
    out.i32(body.leader_epoch.value);
    out.string(body.metadata);
}
void get_body(OffsetFetchAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.offset = Offset(in.i64());
    body.leader_epoch = LeaderEpoch(in.i32());
    body.metadata = in.string();
}

void put_body(const CreateTopicAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.u64(body.topic_id.value);
}
void get_body(CreateTopicAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.topic_id = TopicId(in.u64());
}

void put_body(const StatusAnswer& body, ByteWriter& out) {
    put(body.error, out);
    put_enum(body.role, out);
    out.i32(body.leader.value);
    out.i32(body.leader_epoch.value);
    out.i64(body.term.value);
    put(body.in_sync_replicas, out);
    put(body.lagging_members, out);
    put_enum(body.durability, out);
    out.i32(body.under_replicated_count);
}
void get_body(StatusAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.role = get_enum(in, StatusRole::kCaretaker);
    body.leader = BrokerId(in.i32());
    body.leader_epoch = LeaderEpoch(in.i32());
    body.term = Term(in.i64());
    body.in_sync_replicas = get_replicas(in);
    body.lagging_members = get_replicas(in);
    body.durability = get_enum(in, StatusDurability::kReceivedOnly);
    body.under_replicated_count = in.i32();
}

void put_body(const DeleteRecordsAnswer& body, ByteWriter& out) {
    put(body.error, out);
    out.i64(body.log_start_offset.value);
}
void get_body(DeleteRecordsAnswer& body, ByteReader& in) {
    body.error = get_error(in);
    body.log_start_offset = Offset(in.i64());
}

/// Messages that name their fields, and answers that are nothing but their error.
template <typename Body>
void put_body(const Body& body, ByteWriter& out) {
    if constexpr (HasFields<Body>) {
        FieldWriter writer(out);
        Body::fields(body, writer);
    } else {
        put(body.error, out);
    }
}
template <typename Body>
void get_body(Body& body, ByteReader& in) {
    if constexpr (HasFields<Body>) {
        FieldReader reader(in);
        Body::fields(body, reader);
    } else {
        body.error = get_error(in);
    }
}

/// Reads the alternative of a variant that `kind` names; an unknown kind fails the reader.
template <typename Variant, std::size_t kIndex = 0>
Variant get_alternative(std::size_t kind, ByteReader& in) {
    if constexpr (kIndex < std::variant_size_v<Variant>) {
        if (kind != kIndex) return get_alternative<Variant, kIndex + 1>(kind, in);
        std::variant_alternative_t<kIndex, Variant> body;
        get_body(body, in);
        return body;
    } else {
        in.fail();
        return Variant{};
    }
}

template <typename Decoded>
Result<Decoded, DecodeError> finish(Decoded decoded, std::string_view what, const ByteReader& in) {
    if (in.failed()) return decode_failure(std::string(what) + ": short or bad field");
    if (!in.at_end()) return decode_failure(std::string(what) + ": bytes left over");
    return decoded;
}

template <std::size_t... kIndex>
AnswerBody answer_body_of(std::size_t kind, ErrorCode error, std::index_sequence<kIndex...>) {
    AnswerBody body;
    const auto make = [&]<std::size_t kAlternative>() {
        if (kind != kAlternative) return;
        std::variant_alternative_t<kAlternative, AnswerBody> answer;
        answer.error = error;
        body = std::move(answer);
    };
    (make.template operator()<kIndex>(), ...);
    return body;
}

}  // namespace

// refusal_of finds an answer's kind by its request's.
static_assert(std::variant_size_v<AnswerBody> == std::variant_size_v<RequestBody> + 1);
static_assert(std::is_same_v<std::variant_alternative_t<11, RequestBody>, StatusRequest>);
static_assert(std::is_same_v<std::variant_alternative_t<11, AnswerBody>, StatusAnswer>);

ErrorCode error_of(const Answer& answer) {
    return std::visit([](const auto& body) { return body.error; }, answer.body);
}

Answer refusal_of(const Request& request, ErrorCode error, BrokerId leader_hint) {
    constexpr auto kKinds = std::make_index_sequence<std::variant_size_v<AnswerBody>>();
    return {request.correlation_id, leader_hint, answer_body_of(request.body.index(), error, kKinds)};
}

void encode(const Request& request, ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(request.body.index()));
    out.i64(request.correlation_id.value);
    std::visit([&out](const auto& body) { put_body(body, out); }, request.body);
}

void encode(const Answer& answer, ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(answer.body.index()));
    out.i64(answer.correlation_id.value);
    out.i32(answer.leader_hint.value);
    out.i32(answer.leader_epoch.value);
    std::visit([&out](const auto& body) { put_body(body, out); }, answer.body);
}

Result<Request, DecodeError> decode_request(const Bytes& bytes) {
    ByteReader in(bytes);
    Request request;
    const std::uint8_t kind = in.u8();
    request.correlation_id = CorrelationId(in.i64());
    request.body = get_alternative<RequestBody>(kind, in);
    return finish(std::move(request), "client request", in);
}

Result<Answer, DecodeError> decode_answer(const Bytes& bytes) {
    ByteReader in(bytes);
    Answer answer;
    const std::uint8_t kind = in.u8();
    answer.correlation_id = CorrelationId(in.i64());
    answer.leader_hint = BrokerId(in.i32());
    answer.leader_epoch = LeaderEpoch(in.i32());
    answer.body = get_alternative<AnswerBody>(kind, in);
    return finish(std::move(answer), "client answer", in);
}

}  // namespace tidelock::clients
