/// The Raft log's vocabulary: entries, who is admitted under which incarnation (R11), snapshots (R8).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::raft {

/// What an entry is for. Claims and commands are opaque to Raft; an admission is Raft's own.
enum class EntryKind : std::uint8_t { kClaim = 1, kCommand = 2, kAdmission = 3 };

/// One entry of the log. Two logs that agree on (index, term) agree on everything up to there (V4).
struct Entry {
    LogIndex index;
    Term term;
    EntryKind kind = EntryKind::kCommand;
    Bytes payload;
    bool operator==(const Entry&) const = default;
};

/// A configured broker in one life of its Raft state: votes and answers count for a life, never for a broker (R11).
struct Member {
    BrokerId broker;
    Incarnation incarnation;
    constexpr auto operator<=>(const Member&) const = default;
};

/// The life of every configured member that counts, sorted by broker. Empty: the group is not known to have formed.
using Membership = std::vector<Member>;

/// Terms and indexes of a decoded value stay below this, so that counting on from them never overflows.
inline constexpr std::int64_t kNumberMax = std::int64_t{1} << 60;

/// The shortest encoding of an entry: what a count of entries is checked against.
inline constexpr std::size_t kEntryBytesMin = 8 + 8 + 1 + 4;

/// A member as it was when the group formed, with what its owner wanted all others to know (data incarnations in
/// `group`).
struct FormedMember {
    BrokerId broker;
    Incarnation incarnation;
    Bytes payload;
    bool operator==(const FormedMember&) const = default;
};

/// The owner's applied state up to `last_index`, which replaces the entries up to there (R8). `last_index` 0 is the
/// state of a group that has just formed: no data, only its membership.
struct Snapshot {
    LogIndex last_index;
    Term last_term;
    Membership membership;                // as of last_index
    std::vector<FormedMember> formation;  // who formed the group, sorted by broker
    Bytes data;
    bool operator==(const Snapshot&) const = default;
};

/// The payload of an admission entry.
Bytes encode_admission(Member member);
/// Errors: anything but exactly one member with a positive broker id and a nonzero incarnation.
Result<Member, DecodeError> decode_admission(const Bytes& payload);

/// Codecs shared by messages and the state file. The reader forms set `in.failed()` on any nonsense.
void write_entry(ByteWriter& out, const Entry& entry);
Entry read_entry(ByteReader& in);
void write_snapshot(ByteWriter& out, const Snapshot& snapshot);
Snapshot read_snapshot(ByteReader& in);
void write_formed_members(ByteWriter& out, const std::vector<FormedMember>& members);
std::vector<FormedMember> read_formed_members(ByteReader& in);

}  // namespace tidelock::raft
