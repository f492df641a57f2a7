/// What clients ask brokers and what they are told. Simulated clients speak these; the Kafka wire is mapped onto them.
/// Decoding is total: any bytes give a message or an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/error_code.h"
#include "protocol/clients/group_messages.h"
#include "protocol/clients/status.h"

namespace tidelock::clients {

/// How much a producer asks for (A5).
enum class Acks : std::uint8_t { kNone, kLeader, kAll };
enum class IsolationLevel : std::uint8_t { kReadUncommitted, kReadCommitted };

/// A partition by its topic's name. `topic_id` 0: whichever life of the name there is; else only that one, which may
/// then go without a name.
struct PartitionName {
    std::string topic;
    TopicId topic_id;
    PartitionIndex partition;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.topic, m.topic_id, m.partition);
    }
    bool operator==(const PartitionName&) const = default;
};
struct Setting {
    std::string key;
    std::string value;
    auto operator<=>(const Setting&) const = default;
};

// --- requests ------------------------------------------------------------------------------------------------

struct ProduceRequest {
    PartitionName partition;
    Acks acks = Acks::kAll;
    Duration timeout;  // after the append
    Bytes batches;     // whole record batches; offsets and epochs in them are the leader's to fill in
    bool operator==(const ProduceRequest&) const = default;
};
struct FetchRequest {
    PartitionName partition;
    Offset offset;
    std::int32_t bytes_max = 0;  // 0: the bounds alone; else at least one batch
    Duration wait_max;           // how long to wait when nothing is below the high watermark
    IsolationLevel isolation = IsolationLevel::kReadUncommitted;
    LeaderEpoch known_leader_epoch{};  // as the client knows it; 0: not said (KIP-320)
    bool operator==(const FetchRequest&) const = default;
};
/// kTimestamp: the first record that is no older; kMaxTimestamp: the newest by its time. Both below the high watermark.
enum class OffsetAt : std::uint8_t { kLogStart, kHighWatermark, kLastStable, kTimestamp, kMaxTimestamp };
struct ListOffsetsRequest {
    PartitionName partition;
    OffsetAt at = OffsetAt::kLogStart;
    std::int64_t timestamp_ms = 0;     // for kTimestamp
    LeaderEpoch known_leader_epoch{};  // 0: not said
    bool operator==(const ListOffsetsRequest&) const = default;
};
struct MetadataRequest {
    std::vector<std::string> topics;   // neither names nor ids: all
    std::vector<TopicId> topic_ids{};  // listed after those by name
    bool lists_topics = true;          // false: brokers and leader alone
    bool operator==(const MetadataRequest&) const = default;
};
struct InitProducerIdRequest {
    /// A producer that goes on under its id, raising its epoch; kNoProducer: a new one.
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch{-1};
    bool operator==(const InitProducerIdRequest&) const = default;
};
struct OffsetCommitRequest {
    std::string group;
    std::int32_t generation = -1;  // -1: a consumer without membership
    std::string member;
    PartitionName partition;
    Offset offset;
    LeaderEpoch leader_epoch;  // of the last record read, 0 if not known
    std::string metadata;
    std::string instance{};  // of a static member
    bool operator==(const OffsetCommitRequest&) const = default;
};
struct OffsetFetchRequest {
    std::string group;
    PartitionName partition;
    bool operator==(const OffsetFetchRequest&) const = default;
};
struct CreateTopicRequest {
    std::string topic;
    std::int32_t partition_count = 1;
    std::vector<Setting> settings;
    bool validate_only = false;
    bool may_forward = false;  // one who does not lead passes it on, and answers kRequestTimedOut
    bool operator==(const CreateTopicRequest&) const = default;
};
struct DeleteTopicRequest {
    std::string topic;
    TopicId topic_id{};  // 0: whichever life of the name there is; without a name: only that one
    bool operator==(const DeleteTopicRequest&) const = default;
};
struct GrowTopicRequest {
    std::string topic;
    std::int32_t partition_count = 0;  // in all, afterwards
    bool validate_only = false;
    bool operator==(const GrowTopicRequest&) const = default;
};
struct SetTopicConfigRequest {
    std::string topic;
    std::vector<Setting> settings;  // replace the settings of the same keys
    bool operator==(const SetTopicConfigRequest&) const = default;
};
/// O1: this broker's view, asked of any broker.
struct StatusRequest {
    bool operator==(const StatusRequest&) const = default;
};
/// Moves the log start forward to `before_offset`, at most to the high watermark (L7). -1: to the high watermark.
struct DeleteRecordsRequest {
    PartitionName partition;
    Offset before_offset{-1};
    bool operator==(const DeleteRecordsRequest&) const = default;
};
struct TransferLeadershipRequest {
    BrokerId to;  // 0: the leader chooses
    bool operator==(const TransferLeadershipRequest&) const = default;
};

/// A place in a partition's log.
struct PartitionPosition {
    PartitionName partition;
    Offset offset;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.partition, m.offset);
    }
    bool operator==(const PartitionPosition&) const = default;
};
/// Tell me when one of these partitions has a record below the high watermark at or past its position, or when
/// something else about one has changed; after `wait_max` (at most a minute) in any case.
struct AwaitRecordsRequest {
    std::vector<PartitionPosition> positions;
    Duration wait_max;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.positions, m.wait_max);
    }
    bool operator==(const AwaitRecordsRequest&) const = default;
};
/// Where did this epoch, or the newest before it, end (L5, KIP-320)?
struct EpochEndRequest {
    PartitionName partition;
    LeaderEpoch leader_epoch;
    LeaderEpoch known_leader_epoch{};  // 0: not said
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.partition, m.leader_epoch, m.known_leader_epoch);
    }
    bool operator==(const EpochEndRequest&) const = default;
};
/// All that a group has committed.
struct GroupOffsetsRequest {
    std::string group;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group);
    }
    bool operator==(const GroupOffsetsRequest&) const = default;
};
/// What are the settings of this topic?
struct DescribeTopicRequest {
    std::string topic;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.topic);
    }
    bool operator==(const DescribeTopicRequest&) const = default;
};

using RequestBody =
    std::variant<ProduceRequest, FetchRequest, ListOffsetsRequest, MetadataRequest, InitProducerIdRequest,
                 OffsetCommitRequest, OffsetFetchRequest, CreateTopicRequest, DeleteTopicRequest, GrowTopicRequest,
                 SetTopicConfigRequest, StatusRequest, DeleteRecordsRequest, TransferLeadershipRequest,
                 JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, LeaveGroupRequest, ListGroupsRequest,
                 DescribeGroupRequest, AwaitRecordsRequest, EpochEndRequest, GroupOffsetsRequest, DescribeTopicRequest>;

struct Request {
    CorrelationId correlation_id;
    RequestBody body;
    bool operator==(const Request&) const = default;
};

// --- answers -------------------------------------------------------------------------------------------------

// Every answer has `error`; its other fields mean something only when that is kNone, if not said otherwise.

struct ProduceAnswer {
    ErrorCode error = ErrorCode::kNone;
    Offset base_offset{-1};  // of the first record; of a duplicate the original one; -1 for acks=none
    Offset log_start_offset;
    bool operator==(const ProduceAnswer&) const = default;
};
struct FetchAnswer {
    ErrorCode error = ErrorCode::kNone;
    Offset high_watermark;
    Offset last_stable_offset;
    Offset log_start_offset;  // also with kOffsetOutOfRange
    Bytes batches;            // whole batches; the first may begin below the asked offset
    bool has_more = false;    // ... and more of them lie below the high watermark
    bool operator==(const FetchAnswer&) const = default;
};
struct ListOffsetsAnswer {
    ErrorCode error = ErrorCode::kNone;
    Offset offset{-1};  // -1: no record is that new
    LeaderEpoch leader_epoch;
    std::int64_t timestamp_ms = -1;  // of the record there, where a time was asked for
    bool operator==(const ListOffsetsAnswer&) const = default;
};
struct MetadataAnswer {
    struct Topic {
        ErrorCode error = ErrorCode::kNone;
        std::string name;
        TopicId id;
        std::int32_t partition_count = 0;
        bool is_internal = false;
        bool operator==(const Topic&) const = default;
    };
    ErrorCode error = ErrorCode::kNone;
    BrokerId leader;  // 0: none known
    LeaderEpoch leader_epoch;
    std::vector<BrokerId> brokers;
    std::vector<BrokerId> in_sync_replicas;
    std::vector<Topic> topics;
    bool operator==(const MetadataAnswer&) const = default;
};
struct InitProducerIdAnswer {
    ErrorCode error = ErrorCode::kNone;
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch;
    bool operator==(const InitProducerIdAnswer&) const = default;
};
struct OffsetCommitAnswer {
    ErrorCode error = ErrorCode::kNone;
    bool operator==(const OffsetCommitAnswer&) const = default;
};
struct OffsetFetchAnswer {
    ErrorCode error = ErrorCode::kNone;
    Offset offset{-1};  // -1: nothing committed
    LeaderEpoch leader_epoch;
    std::string metadata;
    bool operator==(const OffsetFetchAnswer&) const = default;
};
struct CreateTopicAnswer {
    ErrorCode error = ErrorCode::kNone;
    TopicId topic_id;
    bool operator==(const CreateTopicAnswer&) const = default;
};
struct DeleteTopicAnswer {
    ErrorCode error = ErrorCode::kNone;
    bool operator==(const DeleteTopicAnswer&) const = default;
};
struct GrowTopicAnswer {
    ErrorCode error = ErrorCode::kNone;
    bool operator==(const GrowTopicAnswer&) const = default;
};
struct SetTopicConfigAnswer {
    ErrorCode error = ErrorCode::kNone;
    bool operator==(const SetTopicConfigAnswer&) const = default;
};

struct StatusAnswer {
    ErrorCode error = ErrorCode::kNone;
    StatusRole role = StatusRole::kFollower;
    BrokerId leader;  // 0: none known
    LeaderEpoch leader_epoch;
    Term term;
    std::vector<Replica> in_sync_replicas;
    std::vector<Replica> lagging_members;  // I11
    StatusDurability durability = StatusDurability::kMinorityLoss;
    std::int32_t under_replicated_count = 0;  // partitions
    bool operator==(const StatusAnswer&) const = default;
};
struct DeleteRecordsAnswer {
    ErrorCode error = ErrorCode::kNone;
    Offset log_start_offset;
    bool operator==(const DeleteRecordsAnswer&) const = default;
};
struct TransferLeadershipAnswer {
    ErrorCode error = ErrorCode::kNone;  // kRequestTimedOut: the target was told to stand, and may yet
    bool operator==(const TransferLeadershipAnswer&) const = default;
};
struct AwaitRecordsAnswer {
    ErrorCode error = ErrorCode::kNone;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error);
    }
    bool operator==(const AwaitRecordsAnswer&) const = default;
};
struct EpochEndAnswer {
    ErrorCode error = ErrorCode::kNone;
    LeaderEpoch leader_epoch;  // the largest one known up to the one asked for
    Offset end_offset{-1};     // of that epoch, exclusive; -1: none is known that old
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.leader_epoch, m.end_offset);
    }
    bool operator==(const EpochEndAnswer&) const = default;
};
struct GroupOffset {
    PartitionName partition;
    Offset offset;
    LeaderEpoch leader_epoch;
    std::string metadata;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.partition, m.offset, m.leader_epoch, m.metadata);
    }
    bool operator==(const GroupOffset&) const = default;
};
struct GroupOffsetsAnswer {
    ErrorCode error = ErrorCode::kNone;
    std::vector<GroupOffset> offsets;  // those of one topic side by side
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.offsets);
    }
    bool operator==(const GroupOffsetsAnswer&) const = default;
};
struct DescribedSetting {
    std::string key;
    std::string value;
    bool is_default = false;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.key, m.value, m.is_default);
    }
    bool operator==(const DescribedSetting&) const = default;
};
struct DescribeTopicAnswer {
    ErrorCode error = ErrorCode::kNone;
    TopicId topic_id;
    std::int32_t partition_count = 0;
    std::vector<DescribedSetting> settings;  // by key
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.topic_id, m.partition_count, m.settings);
    }
    bool operator==(const DescribeTopicAnswer&) const = default;
};
/// Answers any request that was refused as a whole.
struct RefusedAnswer {
    ErrorCode error = ErrorCode::kInvalidRequest;
    bool operator==(const RefusedAnswer&) const = default;
};

using AnswerBody =
    std::variant<ProduceAnswer, FetchAnswer, ListOffsetsAnswer, MetadataAnswer, InitProducerIdAnswer,
                 OffsetCommitAnswer, OffsetFetchAnswer, CreateTopicAnswer, DeleteTopicAnswer, GrowTopicAnswer,
                 SetTopicConfigAnswer, StatusAnswer, DeleteRecordsAnswer, TransferLeadershipAnswer, JoinGroupAnswer,
                 SyncGroupAnswer, HeartbeatAnswer, LeaveGroupAnswer, ListGroupsAnswer, DescribeGroupAnswer,
                 AwaitRecordsAnswer, EpochEndAnswer, GroupOffsetsAnswer, DescribeTopicAnswer, RefusedAnswer>;

struct Answer {
    CorrelationId correlation_id;
    BrokerId leader_hint;  // 0: none; set with kNotLeader when the leader is known (G7)
    AnswerBody body;
    LeaderEpoch leader_epoch{};  // of the leader hinted at; 0: not known
    bool operator==(const Answer&) const = default;
};

[[nodiscard]] ErrorCode error_of(const Answer& answer);
/// The answer of the kind that `request` expects, carrying nothing but `error`.
[[nodiscard]] Answer refusal_of(const Request& request, ErrorCode error, BrokerId leader_hint = BrokerId{});

/// u8 kind (the variant's index), correlation id, then the fields in order, little endian.
void encode(const Request& request, ByteWriter& out);
void encode(const Answer& answer, ByteWriter& out);
/// Reads one message up to the end of the input. Batches share storage with `bytes`.
[[nodiscard]] Result<Request, DecodeError> decode_request(const Bytes& bytes);
[[nodiscard]] Result<Answer, DecodeError> decode_answer(const Bytes& bytes);
/// One line.
[[nodiscard]] std::string to_text(const Request& request);
[[nodiscard]] std::string to_text(const Answer& answer);
/// As `produce`, `offset_commit`.
[[nodiscard]] std::string_view kind_of(const Request& request);

}  // namespace tidelock::clients
