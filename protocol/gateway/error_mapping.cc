#include "protocol/gateway/error_mapping.h"

#include <cstddef>
#include <iterator>

namespace tidelock::gateway {
namespace {

using K = kafka::ErrorCode;

/// One of our errors as each of those who may be asked says it.
struct Row {
    clients::ErrorCode error;
    K partition;
    K coordinator;
    K controller;
};
constexpr Row everywhere(clients::ErrorCode error, K said) {
    return {error, said, said, said};
}

using C = clients::ErrorCode;
// By our number. Nobody serves yet, or too much is under way: clients wait a little and ask again.
constexpr Row kRows[] = {
    everywhere(C::kNone, K::kNone),
    everywhere(C::kUnknownServerError, K::kUnknownServerError),
    everywhere(C::kCorruptMessage, K::kCorruptMessage),
    everywhere(C::kInvalidRequest, K::kInvalidRequest),
    everywhere(C::kUnknownTopicOrPartition, K::kUnknownTopicOrPartition),
    everywhere(C::kOffsetOutOfRange, K::kOffsetOutOfRange),
    everywhere(C::kTopicAlreadyExists, K::kTopicAlreadyExists),
    everywhere(C::kInvalidTopicName, K::kInvalidTopicException),
    everywhere(C::kInvalidPartitions, K::kInvalidPartitions),
    everywhere(C::kInvalidConfig, K::kInvalidConfig),
    everywhere(C::kMessageTooLarge, K::kMessageTooLarge),
    {C::kNotEnoughReplicas, K::kNotEnoughReplicas, K::kCoordinatorNotAvailable, K::kNotEnoughReplicas},
    {C::kNotEnoughReplicasAfterAppend, K::kNotEnoughReplicasAfterAppend, K::kCoordinatorNotAvailable,
     K::kNotEnoughReplicasAfterAppend},
    {C::kRequestTimedOut, K::kRequestTimedOut, K::kCoordinatorNotAvailable, K::kRequestTimedOut},
    everywhere(C::kOutOfOrderSequence, K::kOutOfOrderSequenceNumber),
    everywhere(C::kInvalidProducerEpoch, K::kInvalidProducerEpoch),
    everywhere(C::kUnknownProducerId, K::kUnknownProducerId),
    everywhere(C::kDuplicateSequence, K::kDuplicateSequenceNumber),
    {C::kStorageError, K::kKafkaStorageError, K::kCoordinatorNotAvailable, K::kKafkaStorageError},
    everywhere(C::kCoordinatorNotReady, K::kCoordinatorLoadInProgress),
    {C::kNotLeader, K::kNotLeaderOrFollower, K::kNotCoordinator, K::kNotController},
    {C::kLeaderNotAvailable, K::kLeaderNotAvailable, K::kCoordinatorLoadInProgress, K::kNotController},
    {C::kThrottled, K::kLeaderNotAvailable, K::kCoordinatorLoadInProgress, K::kThrottlingQuotaExceeded},
    everywhere(C::kIllegalGeneration, K::kIllegalGeneration),
    everywhere(C::kUnknownMember, K::kUnknownMemberId),
    everywhere(C::kOffsetMetadataTooLarge, K::kOffsetMetadataTooLarge),
    everywhere(C::kInternalTopic, K::kInvalidTopicException),
    {C::kLeadershipEnded, K::kNotLeaderOrFollower, K::kNotCoordinator, K::kNotController},
    everywhere(C::kTransferFailed, K::kUnknownServerError),
    everywhere(C::kUnsupported, K::kInvalidRequest),
    everywhere(C::kRebalanceInProgress, K::kRebalanceInProgress),
    everywhere(C::kInconsistentGroupProtocol, K::kInconsistentGroupProtocol),
    everywhere(C::kInvalidSessionTimeout, K::kInvalidSessionTimeout),
    everywhere(C::kMemberIdRequired, K::kMemberIdRequired),
    everywhere(C::kFencedInstance, K::kFencedInstanceId),
    everywhere(C::kGroupFull, K::kGroupMaxSizeReached),
    everywhere(C::kInvalidGroup, K::kInvalidGroupId),
    everywhere(C::kFencedLeaderEpoch, K::kFencedLeaderEpoch),
    everywhere(C::kUnknownLeaderEpoch, K::kUnknownLeaderEpoch),
    everywhere(C::kOffsetNotAvailable, K::kOffsetNotAvailable),
};

constexpr bool are_rows_in_order() {
    for (std::size_t i = 0; i < std::size(kRows); ++i)
        if (static_cast<std::size_t>(kRows[i].error) != i) return false;
    return std::size(kRows) == static_cast<std::size_t>(clients::kLastErrorCode) + 1;
}
static_assert(are_rows_in_order());

}  // namespace

kafka::ErrorCode kafka_error(clients::ErrorCode error, AskedOf asked) {
    const Row& row = kRows[static_cast<std::size_t>(error)];
    switch (asked) {
        case AskedOf::kPartition:
            return row.partition;
        case AskedOf::kCoordinator:
            return row.coordinator;
        case AskedOf::kController:
            return row.controller;
    }
    return row.partition;
}

}  // namespace tidelock::gateway
