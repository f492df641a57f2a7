/// One Raft implementation as a pure state machine (rules R1-R11, G2, G9). The owner gives it events, carries out its
/// effects in order, and keeps its own applied state.
///
/// Contract. Whatever promises rest on (term, vote, log, admission) is told to nobody before `Persisted` covers it: the
/// node queues those messages itself. A refusal promises nothing and may name a term that is not durable yet. The host
/// answers every `Persist` once the state of that moment or a later one is durable. A SetTimer replaces the timer of
/// the same kind. Messages may be lost, repeated, reordered and late.
///
/// The owner: sends `EligibilityChanged` and `EligibleMembersChanged` whenever its opinion changes (G2), before
/// `Started` at boot; on `BecameLeader` without caretaker it proposes its claim as the first entry (R4); it follows
/// `EntriesAppended` and `EntriesTruncated` for the newest in-sync-set entry, committed or not; it answers
/// `NeedSnapshot` with `SnapshotReady`.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/base/flat_map.h"
#include "protocol/raft/effect.h"
#include "protocol/raft/event.h"
#include "protocol/raft/persistent_state.h"

namespace tidelock::raft {

struct Follower {
    std::optional<BrokerId> leader;         // of the current term
    std::optional<Instant> leader_contact;  // last append or snapshot from it; empty once its connection broke (R6)
    bool operator==(const Follower&) const = default;
};

struct Candidate {
    bool pre_vote = false;         // asks about term + 1, else stands in term
    bool transfer = false;         // told to stand by the leader (R10)
    BrokerIds granted;             // sorted; holds self once its own vote is durable
    PersistSequence durable_from;  // real election: the write that holds its term and vote
    bool operator==(const Candidate&) const = default;
};

enum class ProgressMode : std::uint8_t {
    kProbe,     // looking for where the logs meet: one append at a time
    kPipeline,  // appends are sent ahead of their answers, up to the window
    kSnapshot,  // gets the snapshot, chunk by chunk
};

/// The leader's knowledge of one other member. match_index never goes back in one life of the member; next_index >
/// match_index.
struct Progress {
    BrokerId broker;
    Incarnation incarnation;                              // the life it believes it talks to
    Participation participation = Participation::kEmpty;  // as told with match_index
    ProgressMode mode = ProgressMode::kProbe;
    bool probe_outstanding = false;  // kProbe: wait for the answer or the next heartbeat
    LogIndex match_index;
    LogIndex next_index;
    LogIndex snapshot_index;               // kSnapshot: last index of the one being sent
    std::uint64_t snapshot_offset = 0;     // kSnapshot: next byte to send
    std::optional<Instant> contact;        // last answer in this term
    std::optional<Instant> voter_contact;  // last of them that said that it counts, whatever it said of the log (R5)
    ReadRound read_round;                  // newest it answered while it counted
    bool operator==(const Progress&) const = default;
};

/// The snapshot being sent, encoded once for all its chunks and receivers.
struct OutgoingSnapshot {
    LogIndex last_index;
    std::uint32_t crc = 0;
    Bytes encoded;
    bool operator==(const OutgoingSnapshot&) const = default;
};

/// A leadership transfer under way (R10).
struct Transfer {
    BrokerId target;
    bool told = false;  // TimeoutNow is on its way
    bool operator==(const Transfer&) const = default;
};

struct Leader {
    bool caretaker = false;              // G9
    Instant since;                       // start of the leadership
    LogIndex durable_index;              // its own match index
    SmallVector<Progress, 4> followers;  // every other member, sorted by broker
    std::optional<Transfer> transfer;
    std::optional<BrokerId> last_target;  // whom a caretaker tried last
    Instant gained_at;                    // when some follower's log came closer to this one last, or `since` (G9)
    std::optional<OutgoingSnapshot> outgoing_snapshot;
    ReadRound asked_round;      // newest the owner asked for
    ReadRound sent_round;       // the one on its way to everybody, or answered
    ReadRound confirmed_round;  // a majority answered it: this was the leader when it was asked
    bool operator==(const Leader&) const = default;
};

using Role = std::variant<Follower, Candidate, Leader>;

/// An admission entry in the log above the snapshot.
struct Admission {
    LogIndex index;
    Member member;
    bool operator==(const Admission&) const = default;
};

/// A write of the state file that the host has not confirmed.
struct OutstandingPersist {
    PersistSequence sequence;
    Instant requested_at;
    Term term;
    LogIndex last_index;
    bool operator==(const OutstandingPersist&) const = default;
};

/// A message that rests on a write.
struct WaitingSend {
    PersistSequence sequence;
    BrokerId to;
    Message message;
    bool operator==(const WaitingSend&) const = default;
};

/// A snapshot of which some chunks have come.
struct IncomingSnapshot {
    LogIndex last_index;
    Term last_term;
    std::uint32_t snapshot_crc = 0;
    std::uint64_t snapshot_bytes = 0;
    std::vector<std::byte> received;
    bool operator==(const IncomingSnapshot&) const = default;
};

/// What this replica last heard of another while it was not formed itself.
struct FormationPeer {
    BrokerId broker;
    Incarnation incarnation;  // 0: nothing heard
    Bytes payload;
    std::uint64_t view = 0;
    bool agrees = false;  // said, in answer to the current view, that it is empty and knows the same lives
    bool operator==(const FormationPeer&) const = default;
};

struct Formation {
    std::uint64_t view = 0;
    Bytes own_payload;
    SmallVector<FormationPeer, 4> peers;  // every other member, sorted by broker
    bool operator==(const Formation&) const = default;
};

/// The election timeout widens with each candidacy that elected nobody, this many times at most (R6).
inline constexpr int kElectionsInVainMax = 8;

/// A caretaker's delay doubles with each caretaking in vain, this many times at most (G9).
inline constexpr int kCaretakingsInVainMax = 3;

/// A replica. A value: copied, compared, printed.
struct Node {
    Config config;
    PersistentState persistent;

    LogIndex commit_index;
    Role role;
    Eligibility eligibility = Eligibility::kNever;
    BrokerIds eligible_members;
    SmallVector<Admission, 2> admissions;  // derived from persistent.entries
    Formation formation;
    std::optional<IncomingSnapshot> incoming_snapshot;
    bool snapshot_requested = false;
    std::uint64_t pre_vote_round = 0;  // the newest one; each boot begins elsewhere, as answers may outlive a boot
    int elections_in_vain = 0;    // its own candidacies since it last heard of a leader, at most kElectionsInVainMax
    int caretakings_in_vain = 0;  // its own since a leader's claim committed last, at most kCaretakingsInVainMax

    PersistSequence requested_sequence;  // newest Persist
    PersistSequence durable_sequence;    // newest Persisted
    bool dirty = false;                  // persistent changed in this step
    std::vector<OutstandingPersist> outstanding;
    std::vector<WaitingSend> waiting;
    bool operator==(const Node&) const = default;
};

/// Whether `state` was written by a group of these members. An operator's mistake otherwise: do not boot.
bool fits(const Config& config, const PersistentState& state);

/// A replica right after boot. `state` fits the configuration. `boot_nonce` is fresh entropy, nonzero;
/// `formation_payload` is what the owner wants all members to know if the group forms in this life. `state` is what
/// recovery found, or fresh_state.
Node make_node(Config config, PersistentState state, Bytes formation_payload, std::uint64_t boot_nonce);

/// Applies one event; appends effects in the order the host must carry them out. Same node and event, same result, on
/// every compiler.
void step(Node& node, Instant now, const Event& event, Effects& effects);

bool is_leader(const Node& node);
bool is_caretaker(const Node& node);
/// Who leads the current term as far as this node knows, itself included.
std::optional<BrokerId> known_leader(const Node& node);
/// The life of `broker` by the newest admission in this log, committed or not; 0 when no membership is known.
Incarnation incarnation_in_force(const Node& node, BrokerId broker);

}  // namespace tidelock::raft
