#include "protocol/raft/message.h"

namespace tidelock::raft {
namespace {

enum class Kind : std::uint8_t {
    kPreVoteRequest = 1,
    kPreVoteAnswer = 2,
    kVoteRequest = 3,
    kVoteAnswer = 4,
    kAppendRequest = 5,
    kAppendAnswer = 6,
    kSnapshotRequest = 7,
    kSnapshotAnswer = 8,
    kTimeoutNow = 9,
    kFormationStatement = 10,
};

void write_kind(ByteWriter& out, Kind kind) {
    out.u8(static_cast<std::uint8_t>(kind));
}

Term read_term(ByteReader& in) {
    const Term term(in.i64());
    if (term.value < 0 || term.value > kNumberMax) in.fail();
    return term;
}

ReadRound read_read_round(ByteReader& in) {
    const ReadRound round(in.i64());
    if (round.value < 0 || round.value > kNumberMax) in.fail();
    return round;
}

LogIndex read_index(ByteReader& in) {
    const LogIndex index(in.i64());
    if (index.value < 0 || index.value > kNumberMax) in.fail();
    return index;
}

/// Every sender has a life; 0 is only ever a belief about somebody else.
Incarnation read_life(ByteReader& in) {
    const Incarnation life(in.u64());
    if (life.value == 0) in.fail();
    return life;
}

Incarnation read_belief(ByteReader& in) {
    return Incarnation(in.u64());
}

Participation read_participation(ByteReader& in) {
    const std::uint8_t value = in.u8();
    if (value > static_cast<std::uint8_t>(Participation::kVoter)) in.fail();
    return static_cast<Participation>(value);
}

void write(ByteWriter& out, const PreVoteRequest& m) {
    write_kind(out, Kind::kPreVoteRequest);
    out.i64(m.next_term.value);
    out.u64(m.candidate_incarnation.value);
    out.i64(m.last_log_index.value);
    out.i64(m.last_log_term.value);
    out.u64(m.round);
}

Message read_pre_vote_request(ByteReader& in) {
    PreVoteRequest m;
    m.next_term = read_term(in);
    m.candidate_incarnation = read_life(in);
    m.last_log_index = read_index(in);
    m.last_log_term = read_term(in);
    m.round = in.u64();
    return m;
}

void write(ByteWriter& out, const PreVoteAnswer& m) {
    write_kind(out, Kind::kPreVoteAnswer);
    out.i64(m.term.value);
    out.i64(m.next_term.value);
    out.u64(m.voter_incarnation.value);
    out.u64(m.candidate_incarnation.value);
    out.boolean(m.granted);
    out.u64(m.round);
}

Message read_pre_vote_answer(ByteReader& in) {
    PreVoteAnswer m;
    m.term = read_term(in);
    m.next_term = read_term(in);
    m.voter_incarnation = read_life(in);
    m.candidate_incarnation = read_life(in);
    m.granted = in.boolean();
    m.round = in.u64();
    return m;
}

void write(ByteWriter& out, const VoteRequest& m) {
    write_kind(out, Kind::kVoteRequest);
    out.i64(m.term.value);
    out.u64(m.candidate_incarnation.value);
    out.i64(m.last_log_index.value);
    out.i64(m.last_log_term.value);
    out.boolean(m.transfer);
}

Message read_vote_request(ByteReader& in) {
    VoteRequest m;
    m.term = read_term(in);
    m.candidate_incarnation = read_life(in);
    m.last_log_index = read_index(in);
    m.last_log_term = read_term(in);
    m.transfer = in.boolean();
    return m;
}

void write(ByteWriter& out, const VoteAnswer& m) {
    write_kind(out, Kind::kVoteAnswer);
    out.i64(m.term.value);
    out.u64(m.voter_incarnation.value);
    out.u64(m.candidate_incarnation.value);
    out.boolean(m.granted);
}

Message read_vote_answer(ByteReader& in) {
    VoteAnswer m;
    m.term = read_term(in);
    m.voter_incarnation = read_life(in);
    m.candidate_incarnation = read_life(in);
    m.granted = in.boolean();
    return m;
}

void write(ByteWriter& out, const AppendRequest& m) {
    write_kind(out, Kind::kAppendRequest);
    out.i64(m.term.value);
    out.u64(m.leader_incarnation.value);
    out.u64(m.follower_incarnation.value);
    out.i64(m.prev_log_index.value);
    out.i64(m.prev_log_term.value);
    out.i64(m.commit_index.value);
    out.i64(m.read_round.value);
    out.u32(static_cast<std::uint32_t>(m.entries.size()));
    for (const Entry& entry : m.entries) write_entry(out, entry);
}

/// Entries follow prev in order, and none is newer than the leader's term: step() relies on it.
void check_entries(ByteReader& in, const AppendRequest& m) {
    LogIndex index = m.prev_log_index;
    Term term = m.prev_log_term;
    for (const Entry& entry : m.entries) {
        if (entry.index != index + 1 || entry.term < term) in.fail();
        index = entry.index;
        term = entry.term;
    }
    if (term > m.term || m.term.value == 0) in.fail();
}

Message read_append_request(ByteReader& in) {
    AppendRequest m;
    m.term = read_term(in);
    m.leader_incarnation = read_life(in);
    m.follower_incarnation = read_belief(in);
    m.prev_log_index = read_index(in);
    m.prev_log_term = read_term(in);
    m.commit_index = read_index(in);
    m.read_round = read_read_round(in);
    const std::uint32_t count = in.count(kEntryBytesMin);
    m.entries.reserve(count);
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) m.entries.push_back(read_entry(in));
    if (!in.failed()) check_entries(in, m);
    return m;
}

void write(ByteWriter& out, const AppendAnswer& m) {
    write_kind(out, Kind::kAppendAnswer);
    out.i64(m.term.value);
    out.u64(m.follower_incarnation.value);
    out.u64(m.believed_incarnation.value);
    out.u64(m.leader_incarnation.value);
    out.u8(static_cast<std::uint8_t>(m.participation));
    out.i64(m.read_round.value);
    out.boolean(m.accepted);
    out.i64(m.match_index.value);
    out.i64(m.conflict_term.value);
    out.i64(m.conflict_index.value);
}

Message read_append_answer(ByteReader& in) {
    AppendAnswer m;
    m.term = read_term(in);
    m.follower_incarnation = read_life(in);
    m.believed_incarnation = read_belief(in);
    m.leader_incarnation = read_life(in);
    m.participation = read_participation(in);
    m.read_round = read_read_round(in);
    m.accepted = in.boolean();
    m.match_index = read_index(in);
    m.conflict_term = read_term(in);
    m.conflict_index = read_index(in);
    return m;
}

void write(ByteWriter& out, const SnapshotRequest& m) {
    write_kind(out, Kind::kSnapshotRequest);
    out.i64(m.term.value);
    out.u64(m.leader_incarnation.value);
    out.u64(m.follower_incarnation.value);
    out.i64(m.last_index.value);
    out.i64(m.last_term.value);
    out.u32(m.snapshot_crc);
    out.u64(m.snapshot_bytes);
    out.u64(m.offset);
    out.i64(m.read_round.value);
    out.blob(m.chunk.span());
}

Message read_snapshot_request(ByteReader& in) {
    SnapshotRequest m;
    m.term = read_term(in);
    m.leader_incarnation = read_life(in);
    m.follower_incarnation = read_belief(in);
    m.last_index = read_index(in);
    m.last_term = read_term(in);
    m.snapshot_crc = in.u32();
    m.snapshot_bytes = in.u64();
    m.offset = in.u64();
    m.read_round = read_read_round(in);
    m.chunk = in.blob();
    if (m.offset > m.snapshot_bytes || m.chunk.size() > m.snapshot_bytes - m.offset) in.fail();
    if (m.term.value == 0 || m.last_term > m.term) in.fail();
    return m;
}

void write(ByteWriter& out, const SnapshotAnswer& m) {
    write_kind(out, Kind::kSnapshotAnswer);
    out.i64(m.term.value);
    out.u64(m.follower_incarnation.value);
    out.u64(m.believed_incarnation.value);
    out.u64(m.leader_incarnation.value);
    out.u8(static_cast<std::uint8_t>(m.participation));
    out.i64(m.read_round.value);
    out.i64(m.last_index.value);
    out.boolean(m.installed);
    out.u64(m.next_offset);
}

Message read_snapshot_answer(ByteReader& in) {
    SnapshotAnswer m;
    m.term = read_term(in);
    m.follower_incarnation = read_life(in);
    m.believed_incarnation = read_belief(in);
    m.leader_incarnation = read_life(in);
    m.participation = read_participation(in);
    m.read_round = read_read_round(in);
    m.last_index = read_index(in);
    m.installed = in.boolean();
    m.next_offset = in.u64();
    return m;
}

void write(ByteWriter& out, const TimeoutNow& m) {
    write_kind(out, Kind::kTimeoutNow);
    out.i64(m.term.value);
    out.u64(m.leader_incarnation.value);
    out.u64(m.follower_incarnation.value);
    out.i64(m.last_index.value);
}

Message read_timeout_now(ByteReader& in) {
    TimeoutNow m;
    m.term = read_term(in);
    m.leader_incarnation = read_life(in);
    m.follower_incarnation = read_belief(in);
    m.last_index = read_index(in);
    return m;
}

void write(ByteWriter& out, const FormationStatement& m) {
    write_kind(out, Kind::kFormationStatement);
    out.u64(m.incarnation.value);
    out.boolean(m.formed);
    out.u64(m.view);
    out.u64(m.echoed_view);
    write_formed_members(out, m.members);
}

Message read_formation_statement(ByteReader& in) {
    FormationStatement m;
    m.incarnation = read_life(in);
    m.formed = in.boolean();
    m.view = in.u64();
    m.echoed_view = in.u64();
    m.members = read_formed_members(in);
    return m;
}

Message read_body(ByteReader& in, Kind kind) {
    switch (kind) {
        case Kind::kPreVoteRequest:
            return read_pre_vote_request(in);
        case Kind::kPreVoteAnswer:
            return read_pre_vote_answer(in);
        case Kind::kVoteRequest:
            return read_vote_request(in);
        case Kind::kVoteAnswer:
            return read_vote_answer(in);
        case Kind::kAppendRequest:
            return read_append_request(in);
        case Kind::kAppendAnswer:
            return read_append_answer(in);
        case Kind::kSnapshotRequest:
            return read_snapshot_request(in);
        case Kind::kSnapshotAnswer:
            return read_snapshot_answer(in);
        case Kind::kTimeoutNow:
            return read_timeout_now(in);
        case Kind::kFormationStatement:
            return read_formation_statement(in);
    }
    in.fail();
    return {};
}

}  // namespace

Bytes encode(const Message& message) {
    ByteWriter out;
    std::visit([&out](const auto& body) { write(out, body); }, message);
    return out.take();
}

Result<Message, DecodeError> decode_message(const Bytes& content) {
    ByteReader in(content);
    const Message message = read_body(in, static_cast<Kind>(in.u8()));
    if (!in.at_end()) return decode_failure("raft message: malformed");
    return message;
}

std::string_view kind_name(const Message& message) {
    static constexpr std::string_view kNames[] = {
        "pre-vote request", "pre-vote answer",  "vote request",    "vote answer", "append request",
        "append answer",    "snapshot request", "snapshot answer", "timeout now", "formation statement"};
    static_assert(std::size(kNames) == std::variant_size_v<Message>);
    return kNames[message.index()];
}

}  // namespace tidelock::raft
