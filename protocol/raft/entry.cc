#include "protocol/raft/entry.h"

namespace tidelock::raft {
namespace {

constexpr std::size_t kMemberBytes = 4 + 8;
constexpr std::size_t kFormedMemberBytesMin = kMemberBytes + 4;

void write_member(ByteWriter& out, Member member) {
    out.i32(member.broker.value);
    out.u64(member.incarnation.value);
}

Member read_member(ByteReader& in) {
    const BrokerId broker(in.i32());
    const Incarnation incarnation(in.u64());
    if (broker.value <= 0 || incarnation.value == 0) in.fail();
    return {broker, incarnation};
}

Membership read_membership(ByteReader& in) {
    Membership members;
    const std::uint32_t count = in.count(kMemberBytes);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        const Member member = read_member(in);
        if (!members.empty() && members.back().broker >= member.broker) in.fail();
        members.push_back(member);
    }
    return members;
}

}  // namespace

Bytes encode_admission(Member member) {
    ByteWriter out;
    write_member(out, member);
    return out.take();
}

Result<Member, DecodeError> decode_admission(const Bytes& payload) {
    ByteReader in(payload);
    const Member member = read_member(in);
    if (!in.at_end()) return decode_failure("admission: not one member");
    return member;
}

void write_entry(ByteWriter& out, const Entry& entry) {
    out.i64(entry.index.value);
    out.i64(entry.term.value);
    out.u8(static_cast<std::uint8_t>(entry.kind));
    out.blob(entry.payload.span());
}

Entry read_entry(ByteReader& in) {
    Entry entry;
    entry.index = LogIndex(in.i64());
    entry.term = Term(in.i64());
    const std::uint8_t kind = in.u8();
    entry.kind = static_cast<EntryKind>(kind);
    entry.payload = in.blob();
    if (entry.index.value <= 0 || entry.index.value > kNumberMax) in.fail();
    if (entry.term.value <= 0 || entry.term.value > kNumberMax) in.fail();
    if (kind < static_cast<std::uint8_t>(EntryKind::kClaim) || kind > static_cast<std::uint8_t>(EntryKind::kAdmission))
        in.fail();
    if (!in.failed() && entry.kind == EntryKind::kAdmission && !decode_admission(entry.payload)) in.fail();
    return entry;
}

void write_formed_members(ByteWriter& out, const std::vector<FormedMember>& members) {
    out.u32(static_cast<std::uint32_t>(members.size()));
    for (const FormedMember& member : members) {
        write_member(out, {member.broker, member.incarnation});
        out.blob(member.payload.span());
    }
}

std::vector<FormedMember> read_formed_members(ByteReader& in) {
    std::vector<FormedMember> members;
    const std::uint32_t count = in.count(kFormedMemberBytesMin);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        const Member member = read_member(in);
        if (!members.empty() && members.back().broker >= member.broker) in.fail();
        members.push_back({member.broker, member.incarnation, in.blob()});
    }
    return members;
}

void write_snapshot(ByteWriter& out, const Snapshot& snapshot) {
    out.i64(snapshot.last_index.value);
    out.i64(snapshot.last_term.value);
    out.u32(static_cast<std::uint32_t>(snapshot.membership.size()));
    for (const Member& member : snapshot.membership) write_member(out, member);
    write_formed_members(out, snapshot.formation);
    out.blob(snapshot.data.span());
}

Snapshot read_snapshot(ByteReader& in) {
    Snapshot snapshot;
    snapshot.last_index = LogIndex(in.i64());
    snapshot.last_term = Term(in.i64());
    snapshot.membership = read_membership(in);
    snapshot.formation = read_formed_members(in);
    snapshot.data = in.blob();
    if (snapshot.last_index.value < 0 || snapshot.last_index.value > kNumberMax) in.fail();
    if (snapshot.last_term.value < 0 || snapshot.last_term.value > kNumberMax) in.fail();
    return snapshot;
}

}  // namespace tidelock::raft
