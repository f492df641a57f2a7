// Compaction and the transfer of snapshots, chunk by chunk (R8).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/base/crc32c.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

void encode_outgoing(const Node& node, Leader& leader) {
    const Snapshot& snapshot = node.persistent.snapshot;
    if (leader.outgoing_snapshot && leader.outgoing_snapshot->last_index == snapshot.last_index) return;
    ByteWriter out;
    write_snapshot(out, snapshot);
    const Bytes encoded = out.take();
    leader.outgoing_snapshot = OutgoingSnapshot{snapshot.last_index, crc32c(encoded.span()), encoded};
}

SnapshotAnswer answer_to(const Node& node, const SnapshotRequest& request) {
    auto answer = begin_answer<SnapshotAnswer>(node, request);
    answer.last_index = request.last_index;
    return answer;
}

bool is_part_of(const IncomingSnapshot& incoming, const SnapshotRequest& request) {
    return incoming.last_index == request.last_index && incoming.last_term == request.last_term &&
           incoming.snapshot_crc == request.snapshot_crc && incoming.snapshot_bytes == request.snapshot_bytes;
}

/// Adds the chunk when it is the next one. Anything else is a repeat or came out of order, and changes nothing.
void take_chunk(Node& node, const SnapshotRequest& request) {
    std::optional<IncomingSnapshot>& incoming = node.incoming_snapshot;
    if (!incoming || !is_part_of(*incoming, request))
        incoming =
            IncomingSnapshot{request.last_index, request.last_term, request.snapshot_crc, request.snapshot_bytes, {}};
    if (request.offset != incoming->received.size()) return;
    incoming->received.insert(incoming->received.end(), request.chunk.span().begin(), request.chunk.span().end());
}

/// The whole snapshot, or nothing when its bytes are not what the leader summed up, or not a snapshot of this group.
std::optional<Snapshot> decode_incoming(const Node& node) {
    const IncomingSnapshot& incoming = *node.incoming_snapshot;
    if (crc32c(incoming.received) != incoming.snapshot_crc) return std::nullopt;
    ByteReader in(incoming.received);
    Snapshot snapshot = read_snapshot(in);
    if (!in.at_end()) return std::nullopt;
    if (snapshot.last_index != incoming.last_index || snapshot.last_term != incoming.last_term) return std::nullopt;
    if ((snapshot.last_index.value == 0) != (snapshot.last_term.value == 0)) return std::nullopt;
    if (!are_configured(node.config, snapshot.membership)) return std::nullopt;
    return snapshot;
}

void drop_entries_up_to(Node& node, LogIndex index) {
    std::vector<Entry>& entries = node.persistent.entries;
    const auto kept =
        std::find_if(entries.begin(), entries.end(), [index](const Entry& entry) { return entry.index > index; });
    entries.erase(entries.begin(), kept);
    const auto newer = std::find_if(node.admissions.begin(), node.admissions.end(),
                                    [index](const Admission& admission) { return admission.index > index; });
    node.admissions.erase(node.admissions.begin(), newer);
}

/// The entries above the snapshot stay only if this log agrees with it at its end; else they contradict it.
void install(Step& s, Snapshot snapshot) {
    Node& node = s.node;
    const bool was_empty = !knows_membership(node);
    const LogIndex index = snapshot.last_index;
    if (term_at(node.persistent, index) != snapshot.last_term) truncate_from(s, node.commit_index + 1);
    drop_entries_up_to(node, index);
    node.persistent.snapshot = std::move(snapshot);
    node.commit_index = index;
    node.dirty = true;
    if (was_empty) {
        emit(s, CancelTimer{TimerKind::kFormation});
        emit(s, Formed{node.persistent.snapshot.formation});
    }
    if (index.value != 0) emit(s, SnapshotInstalled{index, node.persistent.snapshot.data});
}

void install_if_complete(Step& s, BrokerId from, const SnapshotRequest& request) {
    Node& node = s.node;
    if (node.incoming_snapshot->received.size() < request.snapshot_bytes) return;
    std::optional<Snapshot> snapshot = decode_incoming(node);
    node.incoming_snapshot.reset();
    if (!snapshot) return;
    const bool was_empty = !knows_membership(node);
    install(s, std::move(*snapshot));
    if (was_empty) {
        const bool follows = follow(s, from, request.term);
        CHECK(follows);
    }
    refresh_participation(s);
}

bool has_all_of(const Node& node, const SnapshotRequest& request) {
    return knows_membership(node) && request.last_index <= node.commit_index;
}

}  // namespace

void begin_snapshot(Step& s, Leader& leader, Progress& progress) {
    progress.mode = ProgressMode::kSnapshot;
    progress.probe_outstanding = false;
    progress.snapshot_index = s.node.persistent.snapshot.last_index;
    progress.snapshot_offset = 0;
    send_chunk(s, leader, progress);
}

void send_chunk(Step& s, Leader& leader, Progress& progress) {
    const PersistentState& state = s.node.persistent;
    encode_outgoing(s.node, leader);
    const OutgoingSnapshot& outgoing = *leader.outgoing_snapshot;
    if (progress.snapshot_index != outgoing.last_index || progress.snapshot_offset >= outgoing.encoded.size()) {
        progress.snapshot_index = outgoing.last_index;  // compacted meanwhile: start with the newer one
        progress.snapshot_offset = 0;
    }
    const std::size_t left = outgoing.encoded.size() - progress.snapshot_offset;
    SnapshotRequest request;
    request.term = state.term;
    request.leader_incarnation = state.incarnation;
    request.follower_incarnation = progress.incarnation;
    request.last_index = state.snapshot.last_index;
    request.last_term = state.snapshot.last_term;
    request.snapshot_crc = outgoing.crc;
    request.snapshot_bytes = outgoing.encoded.size();
    request.offset = progress.snapshot_offset;
    request.read_round = leader.asked_round;
    request.chunk = outgoing.encoded.slice(progress.snapshot_offset,
                                           std::min<std::size_t>(left, s.node.config.snapshot_chunk_bytes_max));
    send(s, progress.broker, std::move(request));
}

void on_snapshot_request(Step& s, BrokerId from, const SnapshotRequest& request) {
    Node& node = s.node;
    if (request.term < node.persistent.term) return send(s, from, answer_to(node, request));
    if (knows_membership(node) && !follow(s, from, request.term)) return;
    if (!has_all_of(node, request)) {
        if (request.snapshot_bytes > node.config.snapshot_bytes_max) return;
        take_chunk(node, request);
        install_if_complete(s, from, request);
    }
    SnapshotAnswer answer = answer_to(node, request);
    answer.installed = has_all_of(node, request);
    answer.next_offset = node.incoming_snapshot ? node.incoming_snapshot->received.size() : 0;
    if (answer.installed) node.incoming_snapshot.reset();
    send_when_durable(s, from, answer);
}

void on_snapshot_answer(Step& s, BrokerId from, const SnapshotAnswer& answer) {
    Node& node = s.node;
    if (answer.leader_incarnation != node.persistent.incarnation || !knows_membership(node)) return;
    if (answer.term > node.persistent.term) return become_follower(s, answer.term);
    Leader* leader = std::get_if<Leader>(&node.role);
    if (leader == nullptr || answer.term != node.persistent.term) return;
    Progress* progress = find_progress(*leader, from);
    if (!recognise(*progress, answer.follower_incarnation, answer.believed_incarnation)) return;
    note_contact(s, *progress, answer.participation);
    note_read_round(s, *leader, *progress, answer.participation, answer.read_round);
    if (progress->mode != ProgressMode::kSnapshot || answer.last_index != progress->snapshot_index) return;
    if (!answer.installed) {
        if (answer.next_offset == progress->snapshot_offset) return;  // a repeat; the heartbeat sends again
        if (answer.next_offset > progress->snapshot_offset) leader->gained_at = s.now;
        progress->snapshot_offset = answer.next_offset;
        return send_chunk(s, *leader, *progress);
    }
    leader->gained_at = s.now;
    if (answer.last_index >= progress->match_index) {
        progress->match_index = answer.last_index;
        progress->participation = answer.participation;
    }
    progress->mode = ProgressMode::kPipeline;
    progress->next_index = progress->match_index + 1;
    after_progress(s);
    if (std::get_if<Leader>(&node.role) == leader) send_append(s, *leader, *progress, true);
}

void on_snapshot_ready(Step& s, const SnapshotReady& ready) {
    Node& node = s.node;
    node.snapshot_requested = false;
    PersistentState& state = node.persistent;
    CHECK(ready.last_index <= node.commit_index);
    if (ready.last_index <= state.snapshot.last_index) return;
    Membership membership = membership_at(state, ready.last_index);
    const std::optional<Term> term = term_at(state, ready.last_index);
    CHECK(term.has_value());
    drop_entries_up_to(node, ready.last_index);
    state.snapshot = {ready.last_index, *term, std::move(membership), std::move(state.snapshot.formation), ready.data};
    node.dirty = true;
}

void request_snapshot_if_long(Step& s) {
    Node& node = s.node;
    if (node.snapshot_requested || node.persistent.entries.size() <= node.config.log_entries_max) return;
    if (node.commit_index <= node.persistent.snapshot.last_index) return;
    node.snapshot_requested = true;
    emit(s, NeedSnapshot{});
}

}  // namespace tidelock::raft
