/// What Raft replicas tell each other. Requests name the sender's life, answers the sender's and the one they answer
/// (R11), so that no message of an earlier life is ever counted. A refusal of an older term carries the newer one.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "protocol/raft/entry.h"

namespace tidelock::raft {

/// Whether a replica counts (R11). Told in every answer, so a leader counts nobody who does not yet know that it
/// counts.
enum class Participation : std::uint8_t {
    kEmpty = 0,    // knows no membership: wants the base snapshot first
    kLearner = 1,  // copies the log, counts for nothing
    kVoter = 2,    // durably knows that it is in force
};

/// Would you vote for me in `next_term`? Changes nothing at either side (R6).
struct PreVoteRequest {
    Term next_term;
    Incarnation candidate_incarnation;
    LogIndex last_log_index;
    Term last_log_term;
    std::uint64_t round = 0;  // of this candidate's, to tell its answers from those of earlier ones
    bool operator==(const PreVoteRequest&) const = default;
};

struct PreVoteAnswer {
    Term term;       // the voter's own
    Term next_term;  // the one asked about
    Incarnation voter_incarnation;
    Incarnation candidate_incarnation;
    bool granted = false;
    std::uint64_t round = 0;  // the request's
    bool operator==(const PreVoteAnswer&) const = default;
};

struct VoteRequest {
    Term term;
    Incarnation candidate_incarnation;
    LogIndex last_log_index;
    Term last_log_term;
    bool transfer = false;  // the leader asked for this election: its protection does not apply (R10)
    bool operator==(const VoteRequest&) const = default;
};

struct VoteAnswer {
    Term term;
    Incarnation voter_incarnation;
    Incarnation candidate_incarnation;
    bool granted = false;
    bool operator==(const VoteAnswer&) const = default;
};

/// Entries after (prev_log_index, prev_log_term); none is a heartbeat.
struct AppendRequest {
    Term term;
    Incarnation leader_incarnation;
    Incarnation follower_incarnation;  // the life the leader believes it talks to; the answer repeats it
    LogIndex prev_log_index;
    Term prev_log_term;
    LogIndex commit_index;
    ReadRound read_round;
    std::vector<Entry> entries;
    bool operator==(const AppendRequest&) const = default;
};

struct AppendAnswer {
    Term term;
    Incarnation follower_incarnation;
    Incarnation believed_incarnation;  // follower_incarnation of the request
    Incarnation leader_incarnation;
    Participation participation = Participation::kEmpty;
    ReadRound read_round;  // of the request
    bool accepted = false;
    LogIndex match_index;  // accepted: prev_log_index + number of entries. Refused: the prev_log_index that did not fit
    Term conflict_term;    // refused: term of the follower's entry there, 0 when its log is shorter
    LogIndex conflict_index;  // refused: first index of conflict_term, or one past the follower's log (R9)
    bool operator==(const AppendAnswer&) const = default;
};

/// A piece of the encoded snapshot (R8).
struct SnapshotRequest {
    Term term;
    Incarnation leader_incarnation;
    Incarnation follower_incarnation;
    LogIndex last_index;
    Term last_term;
    std::uint32_t snapshot_crc = 0;  // CRC-32C of all snapshot_bytes
    std::uint64_t snapshot_bytes = 0;
    std::uint64_t offset = 0;
    ReadRound read_round;
    Bytes chunk;
    bool operator==(const SnapshotRequest&) const = default;
};

struct SnapshotAnswer {
    Term term;
    Incarnation follower_incarnation;
    Incarnation believed_incarnation;
    Incarnation leader_incarnation;
    Participation participation = Participation::kEmpty;
    ReadRound read_round;           // of the request
    LogIndex last_index;            // of the snapshot answered
    bool installed = false;         // the follower holds everything up to last_index
    std::uint64_t next_offset = 0;  // the byte it wants next
    bool operator==(const SnapshotAnswer&) const = default;
};

/// Stand now, your log is as new as mine (R10).
struct TimeoutNow {
    Term term;
    Incarnation leader_incarnation;
    Incarnation follower_incarnation;
    LogIndex last_index{};  // of the leader's log: one that wrote on since leads on
    bool operator==(const TimeoutNow&) const = default;
};

/// What a replica says while the group has not formed for the sender or the receiver (R11). Not formed: `members` are
/// the lives it has heard of, itself included. Formed: `members` are those the group formed with.
struct FormationStatement {
    Incarnation incarnation;
    bool formed = false;
    std::uint64_t view = 0;         // changes with everything the sender hears of another life
    std::uint64_t echoed_view = 0;  // the receiver's view as the sender last heard it, 0: never
    std::vector<FormedMember> members;
    bool operator==(const FormationStatement&) const = default;
};

using Message = std::variant<PreVoteRequest, PreVoteAnswer, VoteRequest, VoteAnswer, AppendRequest, AppendAnswer,
                             SnapshotRequest, SnapshotAnswer, TimeoutNow, FormationStatement>;

Bytes encode(const Message& message);
/// Errors: truncated or trailing bytes, an unknown kind, negative numbers, entries that do not follow prev_log_index in
/// order.
Result<Message, DecodeError> decode_message(const Bytes& content);

/// `append`, `vote answer` and so on.
std::string_view kind_name(const Message& message);

}  // namespace tidelock::raft
