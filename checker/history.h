/// The client history: what clients asked and were told, the only input of V14 and V21. Calls are given when they
/// return, in order of return; a call that never returned is given at the end of the run as `kUnknown`.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/clients/error_code.h"

namespace tidelock::checker {

/// A client session as the runner numbers them.
using ClientId = Tagged<struct ClientIdTag, std::int32_t>;
/// The runner's number of a topic *name*: clients know nothing else. A topic deleted and created again keeps it.
using ClientTopic = Tagged<struct ClientTopicTag, std::int32_t>;
/// The runner's number of a consumer group id.
using ClientGroup = Tagged<struct ClientGroupTag, std::int32_t>;

/// The runner's number of the id that a coordinator gave to a member of a consumer group.
using GroupMember = Tagged<struct GroupMemberTag, std::int32_t>;
/// The runner's number of a static member's name.
using GroupInstance = Tagged<struct GroupInstanceTag, std::int32_t>;

struct ClientPartition {
    ClientTopic topic;
    PartitionIndex partition;
    constexpr auto operator<=>(const ClientPartition&) const = default;
};

enum class Outcome : std::uint8_t {
    kOk,
    kFailed,   // for sure: the request changed nothing and never will
    kUnknown,  // timed out, connection lost, or an answer that leaves it open (A5)
};

enum class Acks : std::uint8_t { kNone, kLeader, kAll };

/// One attempt to append a batch. A retry is another call with the same values.
struct ProduceCall {
    ClientPartition partition;
    ProducerId producer_id;  // kNoProducer: not idempotent
    ProducerEpoch producer_epoch;
    std::int32_t base_sequence = -1;
    Acks acks = Acks::kAll;
    std::vector<std::uint64_t> values;                     // one a record; never 0; unique in the run, but for retries
    std::optional<Offset> base_offset;                     // when ok and told
    clients::ErrorCode error = clients::ErrorCode::kNone;  // when it was answered with one
};
struct ReadRecord {
    Offset offset;
    std::uint64_t value;
};
/// Data records only: the runner leaves out control records.
struct FetchCall {
    ClientPartition partition;
    Offset from;
    bool read_committed = false;
    std::vector<ReadRecord> records;
    Offset high_watermark;
    std::optional<Offset> refused_log_start = std::nullopt;  // refused as out of range: where the log was said to start
};
/// In whose name something is asked of a group.
struct Membership {
    GroupMember member;
    std::int32_t generation = -1;
    constexpr auto operator<=>(const Membership&) const = default;
};
struct OffsetCommitCall {
    ClientGroup group;
    ClientPartition partition;
    Offset offset;
    std::optional<Membership> as = std::nullopt;  // none: not as a member
};
struct OffsetFetchCall {
    ClientGroup group;
    ClientPartition partition;
    std::optional<Offset> offset;  // none: "no offset committed"
};
/// A member as the one that leads its generation is told of it.
struct GroupPeer {
    GroupMember member;
    std::optional<GroupInstance> instance;  // of a static member
    bool operator==(const GroupPeer&) const = default;
};
struct JoinGroupCall {
    ClientGroup group;
    std::optional<GroupInstance> instance;  // of a static member
    Membership joined;                      // when ok
    BrokerId coordinator;                   // who answered, when ok
    std::vector<GroupPeer> peers;           // when ok, told to the leader of the generation only
};
/// What the leading member gives to another.
struct GroupShare {
    GroupMember member;
    std::optional<GroupInstance> instance;  // of a static member
    std::vector<TopicPartition> partitions;
};
struct SyncGroupCall {
    ClientGroup group;
    Membership as;
    std::optional<GroupInstance> instance;  // of a static member
    std::vector<GroupShare> given;          // by the leader of the generation
    std::vector<TopicPartition> told;       // when ok
};
struct HeartbeatCall {
    ClientGroup group;
    Membership as;
    BrokerId coordinator;  // who answered, when ok
};
/// A new producer id was asked for (raising the epoch of an old one is no such call).
struct InitProducerIdCall {
    ProducerId producer_id = kNoProducer;  // when ok
};
struct CreateTopicCall {
    ClientTopic topic;
    std::int32_t partitions;
};
struct DeleteTopicCall {
    ClientTopic topic;
};
struct GrowTopicCall {
    ClientTopic topic;
    std::int32_t partitions;
};
struct DeleteRecordsCall {
    ClientPartition partition;
    Offset before;                        // exclusive
    bool is_refused_as_past_end = false;  // told that the log does not reach there
};
struct ListOffsetsCall {
    ClientPartition partition;
    bool earliest;
    Offset offset;
};
/// Where are the records that are not older than a time? Judged by what the client had read itself.
struct TimeLookupCall {
    ClientPartition partition;
    std::int64_t timestamp_ms;
    Offset first_read;               // the first record that it had read and that is not older
    std::int64_t read_since_ns;      // when it began to read what it judges by
    bool is_too_early = false;       // the record at `offset` is older: it had read that one too
    std::optional<Offset> offset{};  // as told; empty: told that there is none
    Offset log_start{};              // as told afterwards: what is at and past it was there
};
/// Where did the epoch end of which the last record before `position` is, that the client had read (KIP-320)?
struct EpochEndCall {
    ClientPartition partition;
    Offset position;
    std::int64_t read_since_ns;  // when it read that record
    Offset end{};                // as told, exclusive
};

struct ClientCall {
    ClientId client;
    std::int64_t call;  // the runner's number, for messages
    std::int64_t invoked_ns;
    std::int64_t returned_ns;
    Outcome outcome;
    std::variant<ProduceCall, FetchCall, OffsetCommitCall, OffsetFetchCall, CreateTopicCall, DeleteTopicCall,
                 GrowTopicCall, DeleteRecordsCall, ListOffsetsCall, InitProducerIdCall, JoinGroupCall, SyncGroupCall,
                 HeartbeatCall, TimeLookupCall, EpochEndCall>
        operation;
};

}  // namespace tidelock::checker
