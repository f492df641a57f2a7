/// What a broker wants done. Hosts carry effects out in the order given and report back by events.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "protocol/base/time.h"
#include "protocol/broker/event.h"
#include "protocol/broker/observation.h"

namespace tidelock::broker {

/// May be lost; nothing is reported if it is.
struct SendToPeer {
    BrokerId to;
    PeerMessage message;
    bool operator==(const SendToPeer&) const = default;
};
struct AnswerClient {
    ConnectionId connection;
    clients::Answer answer;
    bool operator==(const AnswerClient&) const = default;
};
/// Leadership ended: every client connection is closed (G4).
struct CloseClients {
    bool operator==(const CloseClients&) const = default;
};
/// Fire once after a random time in [min, max], drawn by the host; replaces the timer of the same kind.
struct SetTimer {
    TimerKind timer{};
    Duration min;
    Duration max;
    bool operator==(const SetTimer&) const = default;
};
struct CancelTimer {
    TimerKind timer{};
    bool operator==(const CancelTimer&) const = default;
};
struct Observe {
    Observation observation;
    bool operator==(const Observe&) const = default;
};

using Effect =
    std::variant<SendToPeer, AnswerClient, CloseClients, storage::FileEffect, SetTimer, CancelTimer, Observe>;
using Effects = std::vector<Effect>;

}  // namespace tidelock::broker
