/// What a Raft replica asks for: the owner and the host carry effects out in the order of the list.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "protocol/raft/event.h"

namespace tidelock::raft {

enum class StepDownReason : std::uint8_t {
    kHigherTerm,
    kQuorumLost,
    kStorageStalled,
    kCaretakingInVain,
    kNotEligible,
    kRequested
};
enum class RefusalReason : std::uint8_t { kNotLeader, kCaretaker, kTransferring };
enum class ViolationKind : std::uint8_t { kTwoLeadersInTerm, kCommittedEntryConflict };

struct Send {
    BrokerId to;
    Message message;
    bool operator==(const Send&) const = default;
};
/// Make node.persistent durable and answer Persisted. At most one a step, its last effect.
struct Persist {
    PersistSequence sequence;
    bool operator==(const Persist&) const = default;
};
/// Fire once after a random time in [min, max].
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
/// Entries [first, last], inclusive, joined the log; not committed yet, not durable yet. Read them with entry_at.
struct EntriesAppended {
    LogIndex first;
    LogIndex last;
    bool operator==(const EntriesAppended&) const = default;
};
/// Entries from `from` on left the log; none of them was committed.
struct EntriesTruncated {
    LogIndex from;
    bool operator==(const EntriesTruncated&) const = default;
};
/// In index order, each once a boot, admissions included.
struct Committed {
    Entry entry;
    bool operator==(const Committed&) const = default;
};
/// A candidate or pre-candidate follows again. Leaders get SteppedDown.
struct BecameFollower {
    Term term;
    bool operator==(const BecameFollower&) const = default;
};
/// Stands in `term`, or asks whether it should (pre_vote).
struct BecameCandidate {
    Term term;
    bool pre_vote = false;
    bool operator==(const BecameCandidate&) const = default;
};
/// Leads `term`. Comes a second time, without caretaker, when a caretaker becomes eligible.
struct BecameLeader {
    Term term;
    bool caretaker = false;
    bool operator==(const BecameLeader&) const = default;
};
/// Led `term` until now.
struct SteppedDown {
    Term term;
    StepDownReason reason{};
    bool operator==(const SteppedDown&) const = default;
};
/// This was still the leader after every round up to this one was asked for: nobody had led a later term by then, so
/// what this leader knew to be confirmed is all that was (Raft thesis 6.4).
struct LeadershipConfirmed {
    ReadRound up_to;
    bool operator==(const LeadershipConfirmed&) const = default;
};
/// Follows this leader; empty: knows none.
struct LeaderKnown {
    std::optional<BrokerId> leader;
    Term term;
    bool operator==(const LeaderKnown&) const = default;
};
/// A durable vote is on its way to `candidate`, itself included.
struct VoteGranted {
    Term term;
    Member candidate;
    bool operator==(const VoteGranted&) const = default;
};
/// Replaces the owner's applied state and everything it read from the log, except entries above last_index that are
/// still there.
struct SnapshotInstalled {
    LogIndex last_index;
    Bytes data;
    bool operator==(const SnapshotInstalled&) const = default;
};
/// The log has outgrown log_entries_max: answer with SnapshotReady when convenient.
struct NeedSnapshot {
    bool operator==(const NeedSnapshot&) const = default;
};
/// `succeeded`: leadership was given up to an election that `target` was told to start.
struct TransferFinished {
    BrokerId target;
    bool succeeded = false;
    bool was_told = false;  // not succeeded: the target may still stand
    bool operator==(const TransferFinished&) const = default;
};
struct ProposalRefused {
    RefusalReason reason{};
    bool operator==(const ProposalRefused&) const = default;
};
/// The membership the group formed with became known here: by formation, or from a member that knew it. Not durable
/// yet.
struct Formed {
    std::vector<FormedMember> members;
    bool operator==(const Formed&) const = default;
};
/// This replica started or ceased to count (R11).
struct VoterChanged {
    bool voter = false;
    LogIndex named_at;  // the entry, or end of the snapshot, that names the life in force
    bool operator==(const VoterChanged&) const = default;
};
/// A peer sent what a correct peer cannot send; it was ignored.
struct ProtocolViolated {
    BrokerId peer;
    ViolationKind kind{};
    bool operator==(const ProtocolViolated&) const = default;
};

using Effect = std::variant<Send, Persist, SetTimer, CancelTimer, EntriesAppended, EntriesTruncated, Committed,
                            BecameFollower, BecameCandidate, BecameLeader, SteppedDown, LeadershipConfirmed,
                            LeaderKnown, VoteGranted, SnapshotInstalled, NeedSnapshot, TransferFinished,
                            ProposalRefused, Formed, VoterChanged, ProtocolViolated>;
using Effects = std::vector<Effect>;

}  // namespace tidelock::raft
