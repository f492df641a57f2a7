#include "protocol/group/metadata.h"

#include <algorithm>
#include <limits>

#include "protocol/base/check.h"

namespace tidelock::group {
namespace {

constexpr std::uint8_t kClaimTag = 1;
constexpr std::uint8_t kChangeTag = 2;
constexpr std::size_t kReplicaBytes = sizeof(std::int32_t) + sizeof(std::uint64_t);

void write_replicas(ByteWriter& out, const std::vector<Replica>& replicas) {
    out.u32(static_cast<std::uint32_t>(replicas.size()));
    for (const Replica& replica : replicas) {
        out.i32(replica.broker.value);
        out.u64(replica.incarnation.value);
    }
}

std::vector<Replica> read_replicas(ByteReader& in) {
    std::vector<Replica> replicas(in.count(kReplicaBytes));
    for (Replica& replica : replicas) {
        replica.broker = BrokerId(in.i32());
        replica.incarnation = Incarnation(in.u64());
    }
    const bool strictly_rising = std::ranges::adjacent_find(replicas, [](const Replica& a, const Replica& b) {
                                     return a.broker >= b.broker;
                                 }) == replicas.end();
    if (!strictly_rising) in.fail();
    return replicas;
}

}  // namespace

Bytes encode(const Entry& entry) {
    ByteWriter out;
    if (const Claim* claim = std::get_if<Claim>(&entry)) {
        out.u8(kClaimTag);
        out.i32(claim->leader_epoch.value);
        out.i32(claim->leader.value);
        write_replicas(out, claim->in_sync_replicas);
    } else {
        const InSyncSetChange& change = std::get<InSyncSetChange>(entry);
        out.u8(kChangeTag);
        out.i32(change.leader_epoch.value);
        out.i64(change.replaces_version);
        write_replicas(out, change.in_sync_replicas);
    }
    return out.take();
}

Result<Entry, DecodeError> decode_entry(const Bytes& bytes) {
    ByteReader in(bytes);
    const std::uint8_t tag = in.u8();
    Entry entry;
    if (tag == kClaimTag) {
        Claim claim;
        claim.leader_epoch = LeaderEpoch(in.i32());
        claim.leader = BrokerId(in.i32());
        claim.in_sync_replicas = read_replicas(in);
        entry = std::move(claim);
    } else if (tag == kChangeTag) {
        InSyncSetChange change;
        change.leader_epoch = LeaderEpoch(in.i32());
        change.replaces_version = in.i64();
        change.in_sync_replicas = read_replicas(in);
        entry = std::move(change);
    } else {
        return decode_failure("group entry: unknown kind");
    }
    if (!in.at_end()) return decode_failure("group entry: cut off, too long, or its set is not sorted");
    return entry;
}

LeaderEpoch leader_epoch_of(Term term) {
    CHECK(term.value <= std::numeric_limits<std::int32_t>::max());
    return LeaderEpoch(static_cast<std::int32_t>(term.value));
}

void apply(Metadata& metadata, const Entry& entry) {
    if (const Claim* claim = std::get_if<Claim>(&entry)) {
        if (claim->leader_epoch <= metadata.leader_epoch) return;
        metadata.leader_epoch = claim->leader_epoch;
        metadata.leader = claim->leader;
        metadata.in_sync_replicas = claim->in_sync_replicas;
        ++metadata.in_sync_set_version;
        return;
    }
    const InSyncSetChange& change = std::get<InSyncSetChange>(entry);
    if (change.leader_epoch != metadata.leader_epoch || change.replaces_version != metadata.in_sync_set_version) return;
    metadata.in_sync_replicas = change.in_sync_replicas;
    ++metadata.in_sync_set_version;
}

bool is_in_sync(const Metadata& metadata, Replica replica) {
    return std::ranges::find(metadata.in_sync_replicas, replica) != metadata.in_sync_replicas.end();
}

Bytes encode(const Metadata& metadata) {
    ByteWriter out;
    out.i32(metadata.leader_epoch.value);
    out.i32(metadata.leader.value);
    out.i64(metadata.in_sync_set_version);
    write_replicas(out, metadata.in_sync_replicas);
    return out.take();
}

Result<Metadata, DecodeError> decode_metadata(const Bytes& bytes) {
    ByteReader in(bytes);
    Metadata metadata;
    metadata.leader_epoch = LeaderEpoch(in.i32());
    metadata.leader = BrokerId(in.i32());
    metadata.in_sync_set_version = in.i64();
    metadata.in_sync_replicas = read_replicas(in);
    if (!in.at_end()) return decode_failure("group metadata: cut off, too long, or its set is not sorted");
    return metadata;
}

}  // namespace tidelock::group
