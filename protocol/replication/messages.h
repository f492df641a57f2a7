/// What followers and leaders say to each other about data (F1-F4). Requests name the follower, which life of its data
/// speaks and the leader epoch it follows; a leader of another epoch refuses (F3). Decoding is total: any bytes give a
/// message or an error.
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
#include "protocol/replication/manifest.h"
#include "protocol/replication/truncation.h"

namespace tidelock::replication {

/// Pairs an answer with its request; a follower counts them up through its life.
using RequestId = Tagged<struct RequestIdTag, std::uint64_t>;

enum class ErrorCode : std::uint8_t {
    kNone,
    kNotLeader,         // leads nothing now
    kFencedEpoch,       // the request follows an older epoch than the leader's
    kUnknownEpoch,      // the request follows a newer epoch than the leader knows
    kUnknownPartition,  // not on the leader (any more): ask for the manifest
    kBehindLogStart,    // the offset is below the leader's log start: reset to it (L7)
    kDiverging,         // the log is not a prefix of the leader's: restart at F1
    kStorageError,      // the leader cannot read it now
    kNotReady,          // try again later (leader not open yet, or too many requests)
};
std::string_view to_text(ErrorCode code);

/// Who asks, in which life, following which epoch (F3).
struct FollowerHeader {
    RequestId request_id;
    Replica follower;
    LeaderEpoch leader_epoch;
    bool operator==(const FollowerHeader&) const = default;
};

struct ManifestRequest {
    FollowerHeader header;
    bool operator==(const ManifestRequest&) const = default;
};
struct ManifestAnswer {
    RequestId request_id;
    LeaderEpoch leader_epoch;  // the leader's own
    ErrorCode code = ErrorCode::kNone;
    Manifest manifest;
    bool operator==(const ManifestAnswer&) const = default;
};

struct EpochEndQuestion {
    TopicPartition partition;
    LeaderEpoch asked_epoch;
    bool operator==(const EpochEndQuestion&) const = default;
};
struct EpochEndRequest {
    FollowerHeader header;
    std::vector<EpochEndQuestion> questions;
    bool operator==(const EpochEndRequest&) const = default;
};
struct PartitionEpochEnd {
    TopicPartition partition;
    ErrorCode code = ErrorCode::kNone;
    LeaderEpochEnd answer;
    bool operator==(const PartitionEpochEnd&) const = default;
};
struct EpochEndAnswer {
    RequestId request_id;
    LeaderEpoch leader_epoch;
    ErrorCode code = ErrorCode::kNone;
    std::vector<PartitionEpochEnd> ends;
    bool operator==(const EpochEndAnswer&) const = default;
};

/// One partition of a fetch: what the follower wants next and where it stands. All offsets exclusive ends.
struct FetchPartition {
    TopicPartition partition;
    Offset fetch_offset;             // its log end: fetching runs ahead of syncing
    LeaderEpoch last_fetched_epoch;  // epoch of its last record, 0 without one: lets the leader see a diverging log
    Offset durable_end_offset;       // its position (I1)
    Offset high_watermark;           // as far as it knows: the leader answers early when it has news
    Offset log_start_offset;         // likewise
    bool operator==(const FetchPartition&) const = default;
};
struct FetchRequest {
    FollowerHeader header;
    std::uint64_t manifest_digest = 0;  // of the manifest it has applied
    Duration wait_max;                  // how long the leader may park it; 0: answer at once
    std::int32_t bytes_max = 0;         // over all partitions; the first batch is sent even if larger
    std::vector<FetchPartition> partitions;
    bool operator==(const FetchRequest&) const = default;
};
/// One partition of an answer; partitions without news are left out.
struct PartitionAnswer {
    TopicPartition partition;
    ErrorCode code = ErrorCode::kNone;
    Offset high_watermark;
    Offset log_start_offset;
    Bytes batches;  // whole record batches from the asked offset on, as they rest in the leader's log
    bool operator==(const PartitionAnswer&) const = default;
};
struct FetchAnswer {
    RequestId request_id;
    LeaderEpoch leader_epoch;
    ErrorCode code = ErrorCode::kNone;
    std::uint64_t manifest_digest = 0;  // the leader's; differs: ask for the manifest (F1)
    bool has_more = false;              // records are left that did not fit: fetch again at once
    std::vector<PartitionAnswer> partitions;
    bool operator==(const FetchAnswer&) const = default;
};

/// A follower's durable end moved while its fetch is parked (I1). Not answered; if lost, the next fetch says the same.
struct PositionUpdate {
    Replica follower;
    LeaderEpoch leader_epoch;
    struct Position {
        TopicPartition partition;
        LeaderEpoch last_fetched_epoch;  // as in FetchPartition
        Offset durable_end_offset;
        bool operator==(const Position&) const = default;
    };
    std::vector<Position> positions;
    bool operator==(const PositionUpdate&) const = default;
};

/// A client wants a topic that is not there, and has asked a broker that cannot make it. Not answered: the client asks
/// again, and finds it then.
struct TopicWanted {
    std::string topic;
    std::int32_t partition_count = 1;
    LeaderEpoch leader_epoch{};  // of the leader that it is for: a late word is for nobody
    bool operator==(const TopicWanted&) const = default;
};

using Message = std::variant<ManifestRequest, ManifestAnswer, EpochEndRequest, EpochEndAnswer, FetchRequest,
                             FetchAnswer, PositionUpdate, TopicWanted>;

/// u8 kind (the variant's index), then the fields in order, little endian.
void encode(const Message& message, ByteWriter& out);
/// Reads one message up to the end of the input. Batches in it share storage when the reader was made from Bytes.
[[nodiscard]] Result<Message, DecodeError> decode_message(ByteReader& in);
[[nodiscard]] Result<Message, DecodeError> decode_message(const Bytes& bytes);
/// One line.
[[nodiscard]] std::string to_text(const Message& message);
/// The message's kind, as `fetch_request`.
[[nodiscard]] std::string_view kind_of(const Message& message);

}  // namespace tidelock::replication
