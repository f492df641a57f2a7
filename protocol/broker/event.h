/// What happens to a broker: everything that can make it move. Hosts translate arrivals into these and nothing else.
#pragma once

#include <cstdint>
#include <variant>

#include "protocol/base/ids.h"
#include "protocol/broker/peer_message.h"
#include "protocol/clients/messages.h"
#include "protocol/storage/files.h"

namespace tidelock::broker {

/// First event of a life: the data directory as the process finds it, and fresh entropy (nonzero, never repeated).
struct Booted {
    storage::DirectoryImage image;
    std::uint64_t entropy = 0;
    bool operator==(const Booted&) const = default;
};
struct PeerMessageReceived {
    BrokerId from;
    PeerMessage message;
    bool operator==(const PeerMessageReceived&) const = default;
};
/// The host saw its connection to `peer` reset or refused (R6).
struct PeerDisconnected {
    BrokerId peer;
    bool operator==(const PeerDisconnected&) const = default;
};
/// A request that its connection has brought before is dropped: its sender may have been told that nothing was done.
struct ClientRequested {
    ConnectionId connection;
    clients::Request request;
    bool operator==(const ClientRequested&) const = default;
};
/// Of every connection that ends, unless it was ended by CloseClients.
struct ClientDisconnected {
    ConnectionId connection;
    bool operator==(const ClientDisconnected&) const = default;
};

/// A broker's timers; one of each runs at a time.
enum class TimerKind : std::uint8_t {
    kRaftElection,
    kRaftHeartbeat,
    kRaftTransfer,
    kRaftFormation,
    kFetcher,
    kInSyncBounds,  // the time bounds of I2
    kDeadlines,     // waiting produces, parked fetches, topic changes
    kDiskRetry,     // after a full disk, one that made a static leader resign, or one that keeps a dropped log
    kCount
};

struct TimerFired {
    TimerKind timer{};
    bool operator==(const TimerFired&) const = default;
};
struct FileCompleted {
    storage::FileEvent event;
    bool operator==(const FileCompleted&) const = default;
};

/// `static` only: an operator gives the group its leader (002). `command` counts such commands from 1; 0 is the
/// configured role at boot. One that is not newer than the last is ignored.
struct RoleCommanded {
    BrokerId leader;  // this broker: lead; another one: follow it
    std::int32_t command = 0;
    bool operator==(const RoleCommanded&) const = default;
};

using Event = std::variant<Booted, PeerMessageReceived, PeerDisconnected, ClientRequested, ClientDisconnected,
                           TimerFired, FileCompleted, RoleCommanded>;

}  // namespace tidelock::broker
