/// What a replication group decides through its Raft log: who leads the data in which epoch, and who is in sync (G2,
/// R4, I3). A fold over the log's entries: applied to the committed ones it is what the group has decided, to all of
/// them what this replica has to assume when it asks whether it may stand.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::group {

/// The first entry of a leader: it takes the epoch of its term, with the set it found (R4). The very first claim of a
/// group brings the set the group formed with.
struct Claim {
    LeaderEpoch leader_epoch;
    BrokerId leader;
    std::vector<Replica> in_sync_replicas;  // sorted, the leader included
    bool operator==(const Claim&) const = default;
};

/// A new in-sync set, valid only on top of exactly the set version and in exactly the epoch it was made for (I3).
struct InSyncSetChange {
    LeaderEpoch leader_epoch;
    std::int64_t replaces_version;
    std::vector<Replica> in_sync_replicas;
    bool operator==(const InSyncSetChange&) const = default;
};

using Entry = std::variant<Claim, InSyncSetChange>;

Bytes encode(const Entry& entry);
/// Any bytes give an entry or an error.
Result<Entry, DecodeError> decode_entry(const Bytes& bytes);

/// The leader epoch a Raft term becomes at its claim. The one place where a term turns into an epoch.
LeaderEpoch leader_epoch_of(Term term);

struct Metadata {
    LeaderEpoch leader_epoch;               // of the last claim; 0: nobody has led yet
    BrokerId leader;                        // who made it; 0: nobody
    std::int64_t in_sync_set_version = 0;   // counts claims and changes; 0: no set has existed yet
    std::vector<Replica> in_sync_replicas;  // sorted by broker

    bool operator==(const Metadata&) const = default;
};

/// Applies one entry; a change made for another epoch or set version leaves everything as it was (I3).
void apply(Metadata& metadata, const Entry& entry);

/// Is exactly this life of this broker's data in the set (I10)?
bool is_in_sync(const Metadata& metadata, Replica replica);

Bytes encode(const Metadata& metadata);
Result<Metadata, DecodeError> decode_metadata(const Bytes& bytes);

}  // namespace tidelock::group
