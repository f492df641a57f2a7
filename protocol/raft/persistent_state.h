/// What a Raft replica must find again after a crash (R2): the content of the dual-copy `raft` state file.
///
/// Invariants: entries are consecutive from snapshot.last_index + 1, their terms never fall and never exceed `term`;
/// without a membership there is no entry, no snapshot and no vote; a voter's own incarnation is the latest its log
/// names (R11).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/raft/entry.h"

namespace tidelock::raft {

struct PersistentState {
    Term term;
    std::optional<Member> voted_for;  // in `term`; never cleared or changed while the term stays (V8)
    Incarnation incarnation;          // this replica's life; nonzero
    bool voter = false;               // formed, or its admission is known to be committed (R11)
    Snapshot snapshot;
    std::vector<Entry> entries;
    bool operator==(const PersistentState&) const = default;
};

/// The state of a replica that has nothing: it neither votes nor stands nor counts until it forms or is admitted (R11).
PersistentState fresh_state(Incarnation incarnation);

/// No membership, no term, no entry: such a replica may say that it is empty (R11).
bool is_empty(const PersistentState& state);

/// Index of the newest entry, or of the snapshot.
LogIndex last_index(const PersistentState& state);
/// Term of the newest entry, or of the snapshot.
Term last_term(const PersistentState& state);
/// Term of the entry at `index`. Empty below the snapshot's last index and above the newest entry: a compacted term is
/// unknown, never zero.
std::optional<Term> term_at(const PersistentState& state, LogIndex index);
/// The entry at `index`; it must be above the snapshot and no newer than the log.
const Entry& entry_at(const PersistentState& state, LogIndex index);
/// The life of each member by the snapshot and every admission up to and including `up_to`, committed or not.
Membership membership_at(const PersistentState& state, LogIndex up_to);

/// Names the first invariant that does not hold; empty when all do.
std::string find_flaw(const PersistentState& state);

Bytes encode(const PersistentState& state);
/// Errors: truncated or trailing bytes, an unknown kind, or a state whose invariants do not hold (find_flaw).
Result<PersistentState, DecodeError> decode_persistent_state(const Bytes& content);

}  // namespace tidelock::raft
