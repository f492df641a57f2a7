/// Whom to answer: a request on a connection.
#pragma once

#include "protocol/base/ids.h"

namespace tidelock::clients {

struct ClientRef {
    ConnectionId connection;
    CorrelationId correlation;
    bool operator==(const ClientRef&) const = default;
};

/// Connection 0 is nobody's: hosts number them from 1, and drop what is said to it.
inline constexpr ClientRef kNobody{};

}  // namespace tidelock::clients
