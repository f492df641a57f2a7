/// What happens to a Raft replica: each event is applied as step(node, now, event, effects).
#pragma once

#include <variant>

#include "protocol/raft/config.h"
#include "protocol/raft/message.h"

namespace tidelock::raft {

/// Numbers the writes of the state file; acknowledging one acknowledges all before it.
using PersistSequence = Position<struct PersistSequenceTag>;

/// First event of a boot.
struct Started {
    bool operator==(const Started&) const = default;
};
struct MessageReceived {
    BrokerId from;
    Message message;
    bool operator==(const MessageReceived&) const = default;
};
struct TimerFired {
    TimerKind timer{};
    bool operator==(const TimerFired&) const = default;
};
/// The owner wants an entry of kind claim or command. Answered in the same step by EntriesAppended or ProposalRefused.
struct Proposed {
    EntryKind kind{};
    Bytes payload;
    bool operator==(const Proposed&) const = default;
};
/// The state as of `sequence`, or a later one, is durable.
struct Persisted {
    PersistSequence sequence;
    bool operator==(const Persisted&) const = default;
};
/// The host saw its connection to `peer` reset or refused (R6).
struct PeerDisconnected {
    BrokerId peer;
    bool operator==(const PeerDisconnected&) const = default;
};
/// kNever until the first of these.
struct EligibilityChanged {
    Eligibility eligibility{};
    bool operator==(const EligibilityChanged&) const = default;
};
/// Who may lead, as far as the owner knows: where a caretaker may hand leadership (G9).
struct EligibleMembersChanged {
    BrokerIds members;
    bool operator==(const EligibleMembersChanged&) const = default;
};
/// Is this still the leader? Answered by LeadershipConfirmed once a majority has answered something sent after this;
/// never if it leads no more. `round` is higher than any before it in this leadership. A follower ignores it.
struct ConfirmationRequested {
    ReadRound round;
    bool operator==(const ConfirmationRequested&) const = default;
};
/// Hand leadership to `target` (R10). Ends in TransferFinished.
struct TransferRequested {
    BrokerId target;
    bool operator==(const TransferRequested&) const = default;
};
/// The owner gives leadership or candidacy up, for example because its disk failed. A follower ignores it.
struct StepDownRequested {
    bool operator==(const StepDownRequested&) const = default;
};
/// The owner's applied state as of `last_index`, which must be committed; an older one than the snapshot held is
/// ignored (R8).
struct SnapshotReady {
    LogIndex last_index;
    Bytes data;
    bool operator==(const SnapshotReady&) const = default;
};

using Event =
    std::variant<Started, MessageReceived, TimerFired, Proposed, Persisted, PeerDisconnected, EligibilityChanged,
                 EligibleMembersChanged, ConfirmationRequested, TransferRequested, StepDownRequested, SnapshotReady>;

}  // namespace tidelock::raft
