#include "protocol/raft/persistent_state.h"

#include "protocol/base/check.h"

namespace tidelock::raft {
namespace {

void admit(Membership& members, Member admitted) {
    for (Member& member : members)
        if (member.broker == admitted.broker) member.incarnation = admitted.incarnation;
}

std::string find_log_flaw(const PersistentState& state) {
    LogIndex index = state.snapshot.last_index;
    Term term = state.snapshot.last_term;
    for (const Entry& entry : state.entries) {
        if (entry.index != index + 1) return "entries are not consecutive";
        if (entry.term < term) return "a term in the log falls";
        index = entry.index;
        term = entry.term;
    }
    if (term > state.term) return "an entry is newer than the term";
    return {};
}

std::string find_membership_flaw(const PersistentState& state) {
    if (state.snapshot.membership.empty()) {
        if (state.term.value != 0 || state.voted_for) return "a term without a membership";
        if (!state.entries.empty() || state.snapshot.last_index.value != 0) return "a log without a membership";
        if (!state.snapshot.formation.empty() || !state.snapshot.data.empty()) return "a snapshot without a membership";
        if (state.voter) return "a voter without a membership";
        return {};
    }
    if (!state.voter) return {};
    for (const Member& member : membership_at(state, last_index(state)))
        if (member.incarnation == state.incarnation) return {};
    return "a voter that its log does not name";
}

}  // namespace

PersistentState fresh_state(Incarnation incarnation) {
    CHECK(incarnation.value != 0);
    PersistentState state;
    state.incarnation = incarnation;
    return state;
}

bool is_empty(const PersistentState& state) {
    return state.snapshot.membership.empty();
}

LogIndex last_index(const PersistentState& state) {
    return state.snapshot.last_index + static_cast<std::int64_t>(state.entries.size());
}

Term last_term(const PersistentState& state) {
    return state.entries.empty() ? state.snapshot.last_term : state.entries.back().term;
}

std::optional<Term> term_at(const PersistentState& state, LogIndex index) {
    if (index == state.snapshot.last_index) return state.snapshot.last_term;
    if (index < state.snapshot.last_index || index > last_index(state)) return std::nullopt;
    return entry_at(state, index).term;
}

const Entry& entry_at(const PersistentState& state, LogIndex index) {
    CHECK(index > state.snapshot.last_index);
    CHECK(index <= last_index(state));
    return state.entries[static_cast<std::size_t>(index - state.snapshot.last_index - 1)];
}

Membership membership_at(const PersistentState& state, LogIndex up_to) {
    Membership members = state.snapshot.membership;
    for (const Entry& entry : state.entries) {
        if (entry.index > up_to) break;
        if (entry.kind != EntryKind::kAdmission) continue;
        if (const Result<Member, DecodeError> admitted = decode_admission(entry.payload)) admit(members, *admitted);
    }
    return members;
}

std::string find_flaw(const PersistentState& state) {
    if (state.incarnation.value == 0) return "no incarnation";
    if (state.term.value < 0 || state.term.value > kNumberMax) return "an impossible term";
    if ((state.snapshot.last_index.value == 0) != (state.snapshot.last_term.value == 0))
        return "a snapshot with half a position";
    if (std::string flaw = find_log_flaw(state); !flaw.empty()) return flaw;
    return find_membership_flaw(state);
}

Bytes encode(const PersistentState& state) {
    ByteWriter out;
    out.reserve(128 + 64 * state.entries.size() + state.snapshot.data.size());
    out.i64(state.term.value);
    out.boolean(state.voted_for.has_value());
    out.i32(state.voted_for ? state.voted_for->broker.value : 0);
    out.u64(state.voted_for ? state.voted_for->incarnation.value : 0);
    out.u64(state.incarnation.value);
    out.boolean(state.voter);
    write_snapshot(out, state.snapshot);
    out.u32(static_cast<std::uint32_t>(state.entries.size()));
    for (const Entry& entry : state.entries) write_entry(out, entry);
    return out.take();
}

Result<PersistentState, DecodeError> decode_persistent_state(const Bytes& content) {
    ByteReader in(content);
    PersistentState state;
    state.term = Term(in.i64());
    const bool voted = in.boolean();
    const BrokerId candidate(in.i32());
    const Incarnation candidate_incarnation(in.u64());
    if (voted) state.voted_for = Member{candidate, candidate_incarnation};
    if (voted ? candidate.value <= 0 || candidate_incarnation.value == 0
              : candidate.value != 0 || candidate_incarnation.value != 0)
        in.fail();
    state.incarnation = Incarnation(in.u64());
    state.voter = in.boolean();
    state.snapshot = read_snapshot(in);
    const std::uint32_t count = in.count(kEntryBytesMin);
    state.entries.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) state.entries.push_back(read_entry(in));
    if (!in.at_end()) return decode_failure("raft state: malformed");
    if (const std::string flaw = find_flaw(state); !flaw.empty()) return decode_failure("raft state: " + flaw);
    return state;
}

}  // namespace tidelock::raft
