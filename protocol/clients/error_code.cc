#include "protocol/clients/error_code.h"

#include <iterator>

namespace tidelock::clients {
namespace {

// By number.
constexpr ErrorTraits kTraits[] = {
    {"OK", false, false},
    {"ERR_UNKNOWN_SERVER_ERROR", false, true},
    {"ERR_CORRUPT_MESSAGE", false, false},
    {"ERR_INVALID_REQUEST", false, false},
    {"ERR_UNKNOWN_TOPIC_OR_PARTITION", true, false},
    {"ERR_OFFSET_OUT_OF_RANGE", false, false},
    {"ERR_TOPIC_ALREADY_EXISTS", false, false},
    {"ERR_INVALID_TOPIC_NAME", false, false},
    {"ERR_INVALID_PARTITIONS", false, false},
    {"ERR_INVALID_CONFIG", false, false},
    {"ERR_MESSAGE_TOO_LARGE", false, false},
    {"ERR_NOT_ENOUGH_REPLICAS", true, false},
    {"ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND", true, true},
    {"ERR_REQUEST_TIMED_OUT", true, true},
    {"ERR_OUT_OF_ORDER_SEQUENCE", false, false},
    {"ERR_INVALID_PRODUCER_EPOCH", false, false},
    {"ERR_UNKNOWN_PRODUCER_ID", false, false},
    {"ERR_DUPLICATE_SEQUENCE", false, false},
    {"ERR_STORAGE_ERROR", true, true},
    {"ERR_COORDINATOR_NOT_READY", true, false},
    {"ERR_NOT_LEADER", true, false},
    {"ERR_LEADER_NOT_AVAILABLE", true, false},
    {"ERR_THROTTLED", true, false},
    {"ERR_ILLEGAL_GENERATION", false, false},
    {"ERR_UNKNOWN_MEMBER", false, false},
    {"ERR_OFFSET_METADATA_TOO_LARGE", false, false},
    {"ERR_INTERNAL_TOPIC", false, false},
    {"ERR_LEADERSHIP_ENDED", true, true},
    {"ERR_TRANSFER_FAILED", true, false},
    {"ERR_UNSUPPORTED", false, false},
    {"ERR_REBALANCE_IN_PROGRESS", true, false},
    {"ERR_INCONSISTENT_GROUP_PROTOCOL", false, false},
    {"ERR_INVALID_SESSION_TIMEOUT", false, false},
    {"ERR_MEMBER_ID_REQUIRED", true, false},
    {"ERR_FENCED_INSTANCE", false, false},
    {"ERR_GROUP_FULL", false, false},
    {"ERR_INVALID_GROUP", false, false},
    {"ERR_FENCED_LEADER_EPOCH", true, false},
    {"ERR_UNKNOWN_LEADER_EPOCH", true, false},
    {"ERR_OFFSET_NOT_AVAILABLE", true, false},
};
constexpr std::int16_t kLast = static_cast<std::int16_t>(kLastErrorCode);
static_assert(std::size(kTraits) == kLast + 1);

}  // namespace

const ErrorTraits& traits_of(ErrorCode code) {
    return kTraits[static_cast<std::int16_t>(code)];
}

std::optional<ErrorCode> error_code_of(std::int16_t number) {
    if (number < 0 || number > kLast) return std::nullopt;
    return static_cast<ErrorCode>(number);
}

}  // namespace tidelock::clients
