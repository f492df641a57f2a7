/// The error codes clients see: one list for the text API, the simulated clients and, by a table later, the Kafka wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidelock::clients {

/// The number is what the text API says and what the codec writes; never reuse one.
enum class ErrorCode : std::int16_t {
    kNone = 0,
    kUnknownServerError = 1,
    kCorruptMessage = 2,           // a batch that fails its checksum or its own counts
    kInvalidRequest = 3,           // fields that make no sense together
    kUnknownTopicOrPartition = 4,  // not here; also a topic id whose topic is gone
    kOffsetOutOfRange = 5,         // below the log start or past the log end
    kTopicAlreadyExists = 6,
    kInvalidTopicName = 7,
    kInvalidPartitions = 8,
    kInvalidConfig = 9,
    kMessageTooLarge = 10,
    kNotEnoughReplicas = 11,             // refused up front, nothing was appended (I8)
    kNotEnoughReplicasAfterAppend = 12,  // the set shrank meanwhile; the record is in the log
    kRequestTimedOut = 13,               // after the append: the outcome is unknown (A5)
    kOutOfOrderSequence = 14,            // a gap (T2)
    kInvalidProducerEpoch = 15,          // a newer life of this producer is known
    kUnknownProducerId = 16,             // not a first batch, and nothing is known of the producer
    kDuplicateSequence = 17,             // written before, too long ago to know the offset
    kStorageError = 18,                  // the disk under the partition fails (L9, L4)
    kCoordinatorNotReady = 19,           // rebuilding offsets or producers after a failover (G3)
    kNotLeader = 20,                     // with a hint when the leader is known (G1, ERR_NOT_LEADER)
    kLeaderNotAvailable = 21,            // an election goes on, or the claim has not committed
    kThrottled = 22,                     // a queue is full; nothing was done
    kIllegalGeneration = 23,             // of another generation than the group's (T4)
    kUnknownMember = 24,                 // no member of the group, or not any more
    kOffsetMetadataTooLarge = 25,
    kInternalTopic = 26,    // clients may not write or delete it
    kLeadershipEnded = 27,  // the role changed while the request waited: the outcome is unknown (A6)
    kTransferFailed = 28,   // no such member, not in sync, or it did not take over in time
    kUnsupported = 29,
    kRebalanceInProgress = 30,        // join again
    kInconsistentGroupProtocol = 31,  // nothing in common with the group's members
    kInvalidSessionTimeout = 32,
    kMemberIdRequired = 33,  // come again with the id in the answer (KIP-394)
    kFencedInstance = 34,    // a newer life of this static member is in the group (KIP-345)
    kGroupFull = 35,
    kInvalidGroup = 36,
    kFencedLeaderEpoch = 37,   // the client knows of an older leader than this (KIP-320)
    kUnknownLeaderEpoch = 38,  // the client knows of a newer leader than this
    kOffsetNotAvailable = 39,  // a new leader does not know yet how far records are confirmed (KIP-207)
};
inline constexpr ErrorCode kLastErrorCode = ErrorCode::kOffsetNotAvailable;

/// What a client may conclude from an error.
struct ErrorTraits {
    std::string_view text;    // as the text API prints it
    bool is_retriable;        // the same request may succeed later, here or at another broker
    bool is_outcome_unknown;  // the request may have taken effect, or may still
};

/// Total: every enumerator has an entry.
[[nodiscard]] const ErrorTraits& traits_of(ErrorCode code);
[[nodiscard]] inline std::string_view to_text(ErrorCode code) {
    return traits_of(code).text;
}
/// The code of a number from the wire; empty: there is none.
[[nodiscard]] std::optional<ErrorCode> error_code_of(std::int16_t number);

}  // namespace tidelock::clients
