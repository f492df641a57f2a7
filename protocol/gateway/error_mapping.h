/// Our errors as Kafka's, which depend on what was asked: who is not the leader is, to whom asks about a group, not its
/// coordinator.
#pragma once

#include <cstdint>

#include "protocol/clients/error_code.h"
#include "protocol/kafka/error_code.h"

namespace tidelock::gateway {

enum class AskedOf : std::uint8_t { kPartition, kCoordinator, kController };

[[nodiscard]] kafka::ErrorCode kafka_error(clients::ErrorCode error, AskedOf asked);

}  // namespace tidelock::gateway
