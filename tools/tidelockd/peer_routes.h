/// The routes of broker to broker HTTP (O2): which message goes where, and what a request has to carry.
#pragma once

#include <string_view>

#include "protocol/broker/peer_message.h"

namespace tidelock::tidelockd {

/// The sender's id.
inline constexpr std::string_view kBrokerHeader = "Tidelock-Broker";

/// As `/replication/raft/append`. A message and its answer take the same route, each as a request of its sender: what
/// answers a message may come after a disk, and nothing waits on a connection for it.
[[nodiscard]] std::string_view route_of(const broker::PeerMessage& message);
/// Whether any message takes this route.
[[nodiscard]] bool is_peer_route(std::string_view route);

}  // namespace tidelock::tidelockd
