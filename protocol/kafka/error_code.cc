#include "protocol/kafka/error_code.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidelock::kafka {
namespace {

struct Entry {
    ErrorCode error;
    std::string_view name;
    bool is_retriable;
};

constexpr std::array kEntries = {
    Entry{ErrorCode::kUnknownServerError, "UNKNOWN_SERVER_ERROR", false},
    Entry{ErrorCode::kNone, "NONE", false},
    Entry{ErrorCode::kOffsetOutOfRange, "OFFSET_OUT_OF_RANGE", false},
    Entry{ErrorCode::kCorruptMessage, "CORRUPT_MESSAGE", true},
    Entry{ErrorCode::kUnknownTopicOrPartition, "UNKNOWN_TOPIC_OR_PARTITION", true},
    Entry{ErrorCode::kInvalidFetchSize, "INVALID_FETCH_SIZE", false},
    Entry{ErrorCode::kLeaderNotAvailable, "LEADER_NOT_AVAILABLE", true},
    Entry{ErrorCode::kNotLeaderOrFollower, "NOT_LEADER_OR_FOLLOWER", true},
    Entry{ErrorCode::kRequestTimedOut, "REQUEST_TIMED_OUT", true},
    Entry{ErrorCode::kBrokerNotAvailable, "BROKER_NOT_AVAILABLE", false},
    Entry{ErrorCode::kReplicaNotAvailable, "REPLICA_NOT_AVAILABLE", true},
    Entry{ErrorCode::kMessageTooLarge, "MESSAGE_TOO_LARGE", false},
    Entry{ErrorCode::kStaleControllerEpoch, "STALE_CONTROLLER_EPOCH", false},
    Entry{ErrorCode::kOffsetMetadataTooLarge, "OFFSET_METADATA_TOO_LARGE", false},
    Entry{ErrorCode::kNetworkException, "NETWORK_EXCEPTION", true},
    Entry{ErrorCode::kCoordinatorLoadInProgress, "COORDINATOR_LOAD_IN_PROGRESS", true},
    Entry{ErrorCode::kCoordinatorNotAvailable, "COORDINATOR_NOT_AVAILABLE", true},
    Entry{ErrorCode::kNotCoordinator, "NOT_COORDINATOR", true},
    Entry{ErrorCode::kInvalidTopicException, "INVALID_TOPIC_EXCEPTION", false},
    Entry{ErrorCode::kRecordListTooLarge, "RECORD_LIST_TOO_LARGE", false},
    Entry{ErrorCode::kNotEnoughReplicas, "NOT_ENOUGH_REPLICAS", true},
    Entry{ErrorCode::kNotEnoughReplicasAfterAppend, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", true},
    Entry{ErrorCode::kInvalidRequiredAcks, "INVALID_REQUIRED_ACKS", false},
    Entry{ErrorCode::kIllegalGeneration, "ILLEGAL_GENERATION", false},
    Entry{ErrorCode::kInconsistentGroupProtocol, "INCONSISTENT_GROUP_PROTOCOL", false},
    Entry{ErrorCode::kInvalidGroupId, "INVALID_GROUP_ID", false},
    Entry{ErrorCode::kUnknownMemberId, "UNKNOWN_MEMBER_ID", false},
    Entry{ErrorCode::kInvalidSessionTimeout, "INVALID_SESSION_TIMEOUT", false},
    Entry{ErrorCode::kRebalanceInProgress, "REBALANCE_IN_PROGRESS", false},
    Entry{ErrorCode::kInvalidCommitOffsetSize, "INVALID_COMMIT_OFFSET_SIZE", false},
    Entry{ErrorCode::kTopicAuthorizationFailed, "TOPIC_AUTHORIZATION_FAILED", false},
    Entry{ErrorCode::kGroupAuthorizationFailed, "GROUP_AUTHORIZATION_FAILED", false},
    Entry{ErrorCode::kClusterAuthorizationFailed, "CLUSTER_AUTHORIZATION_FAILED", false},
    Entry{ErrorCode::kInvalidTimestamp, "INVALID_TIMESTAMP", false},
    Entry{ErrorCode::kUnsupportedSaslMechanism, "UNSUPPORTED_SASL_MECHANISM", false},
    Entry{ErrorCode::kIllegalSaslState, "ILLEGAL_SASL_STATE", false},
    Entry{ErrorCode::kUnsupportedVersion, "UNSUPPORTED_VERSION", false},
    Entry{ErrorCode::kTopicAlreadyExists, "TOPIC_ALREADY_EXISTS", false},
    Entry{ErrorCode::kInvalidPartitions, "INVALID_PARTITIONS", false},
    Entry{ErrorCode::kInvalidReplicationFactor, "INVALID_REPLICATION_FACTOR", false},
    Entry{ErrorCode::kInvalidReplicaAssignment, "INVALID_REPLICA_ASSIGNMENT", false},
    Entry{ErrorCode::kInvalidConfig, "INVALID_CONFIG", false},
    Entry{ErrorCode::kNotController, "NOT_CONTROLLER", true},
    Entry{ErrorCode::kInvalidRequest, "INVALID_REQUEST", false},
    Entry{ErrorCode::kUnsupportedForMessageFormat, "UNSUPPORTED_FOR_MESSAGE_FORMAT", false},
    Entry{ErrorCode::kPolicyViolation, "POLICY_VIOLATION", false},
    Entry{ErrorCode::kOutOfOrderSequenceNumber, "OUT_OF_ORDER_SEQUENCE_NUMBER", false},
    Entry{ErrorCode::kDuplicateSequenceNumber, "DUPLICATE_SEQUENCE_NUMBER", false},
    Entry{ErrorCode::kInvalidProducerEpoch, "INVALID_PRODUCER_EPOCH", false},
    Entry{ErrorCode::kInvalidTxnState, "INVALID_TXN_STATE", false},
    Entry{ErrorCode::kInvalidProducerIdMapping, "INVALID_PRODUCER_ID_MAPPING", false},
    Entry{ErrorCode::kInvalidTransactionTimeout, "INVALID_TRANSACTION_TIMEOUT", false},
    Entry{ErrorCode::kConcurrentTransactions, "CONCURRENT_TRANSACTIONS", true},
    Entry{ErrorCode::kTransactionCoordinatorFenced, "TRANSACTION_COORDINATOR_FENCED", false},
    Entry{ErrorCode::kTransactionalIdAuthorizationFailed, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false},
    Entry{ErrorCode::kSecurityDisabled, "SECURITY_DISABLED", false},
    Entry{ErrorCode::kOperationNotAttempted, "OPERATION_NOT_ATTEMPTED", false},
    Entry{ErrorCode::kKafkaStorageError, "KAFKA_STORAGE_ERROR", true},
    Entry{ErrorCode::kSaslAuthenticationFailed, "SASL_AUTHENTICATION_FAILED", false},
    Entry{ErrorCode::kUnknownProducerId, "UNKNOWN_PRODUCER_ID", false},
    Entry{ErrorCode::kReassignmentInProgress, "REASSIGNMENT_IN_PROGRESS", false},
    Entry{ErrorCode::kNonEmptyGroup, "NON_EMPTY_GROUP", false},
    Entry{ErrorCode::kGroupIdNotFound, "GROUP_ID_NOT_FOUND", false},
    Entry{ErrorCode::kFetchSessionIdNotFound, "FETCH_SESSION_ID_NOT_FOUND", true},
    Entry{ErrorCode::kInvalidFetchSessionEpoch, "INVALID_FETCH_SESSION_EPOCH", true},
    Entry{ErrorCode::kListenerNotFound, "LISTENER_NOT_FOUND", true},
    Entry{ErrorCode::kTopicDeletionDisabled, "TOPIC_DELETION_DISABLED", false},
    Entry{ErrorCode::kFencedLeaderEpoch, "FENCED_LEADER_EPOCH", true},
    Entry{ErrorCode::kUnknownLeaderEpoch, "UNKNOWN_LEADER_EPOCH", true},
    Entry{ErrorCode::kUnsupportedCompressionType, "UNSUPPORTED_COMPRESSION_TYPE", false},
    Entry{ErrorCode::kStaleBrokerEpoch, "STALE_BROKER_EPOCH", false},
    Entry{ErrorCode::kOffsetNotAvailable, "OFFSET_NOT_AVAILABLE", true},
    Entry{ErrorCode::kMemberIdRequired, "MEMBER_ID_REQUIRED", false},
    Entry{ErrorCode::kPreferredLeaderNotAvailable, "PREFERRED_LEADER_NOT_AVAILABLE", true},
    Entry{ErrorCode::kGroupMaxSizeReached, "GROUP_MAX_SIZE_REACHED", false},
    Entry{ErrorCode::kFencedInstanceId, "FENCED_INSTANCE_ID", false},
    Entry{ErrorCode::kGroupSubscribedToTopic, "GROUP_SUBSCRIBED_TO_TOPIC", false},
    Entry{ErrorCode::kInvalidRecord, "INVALID_RECORD", false},
    Entry{ErrorCode::kUnstableOffsetCommit, "UNSTABLE_OFFSET_COMMIT", true},
    Entry{ErrorCode::kThrottlingQuotaExceeded, "THROTTLING_QUOTA_EXCEEDED", true},
    Entry{ErrorCode::kProducerFenced, "PRODUCER_FENCED", false},
    Entry{ErrorCode::kResourceNotFound, "RESOURCE_NOT_FOUND", false},
    Entry{ErrorCode::kDuplicateResource, "DUPLICATE_RESOURCE", false},
    Entry{ErrorCode::kUnacceptableCredential, "UNACCEPTABLE_CREDENTIAL", false},
    Entry{ErrorCode::kUnknownTopicId, "UNKNOWN_TOPIC_ID", true},
    Entry{ErrorCode::kInconsistentTopicId, "INCONSISTENT_TOPIC_ID", true},
    Entry{ErrorCode::kTransactionalIdNotFound, "TRANSACTIONAL_ID_NOT_FOUND", false},
    Entry{ErrorCode::kFetchSessionTopicIdError, "FETCH_SESSION_TOPIC_ID_ERROR", true},
    Entry{ErrorCode::kNewLeaderElected, "NEW_LEADER_ELECTED", false},
    Entry{ErrorCode::kMismatchedEndpointType, "MISMATCHED_ENDPOINT_TYPE", false},
    Entry{ErrorCode::kUnsupportedEndpointType, "UNSUPPORTED_ENDPOINT_TYPE", false},
    Entry{ErrorCode::kTransactionAbortable, "TRANSACTION_ABORTABLE", false},
};

const Entry* find(ErrorCode error) {
    const auto* at = std::find_if(kEntries.begin(), kEntries.end(), [=](const Entry& e) { return e.error == error; });
    return at == kEntries.end() ? nullptr : at;
}

}  // namespace

std::string name_of(ErrorCode error) {
    const Entry* entry = find(error);
    if (entry == nullptr) return "ERROR_" + std::to_string(static_cast<int>(error));
    return std::string(entry->name);
}

bool is_retriable(ErrorCode error) {
    const Entry* entry = find(error);
    return entry != nullptr && entry->is_retriable;
}

}  // namespace tidelock::kafka
