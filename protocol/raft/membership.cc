// Who counts (R11): forming a group of empty replicas, admitting one that lost its state.
//
// Forming. A replica's view number changes whenever it hears of another life of some peer. It forms when every peer has
// said, in answer to the current view, that it is empty too and knows the same lives. So everybody was empty at a
// moment when all these lives had begun; a life that ended can no longer answer the view that knows its successor. The
// first to form tells the others, and a replica named in a membership adopts it, so that a lost last word does not
// leave half a group formed.
//
// Admission. The entry counts as committed by the votes of others only, since the one it names does not say that it is
// a voter before it knows that the entry is committed. Any majority of an earlier life of it and others shares one of
// those others with them.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/raft/story.h"

namespace tidelock::raft {
namespace {

/// The entry (or snapshot) that names the life of `broker` in force.
Admission admission_in_force(const Node& node, BrokerId broker) {
    for (std::size_t i = node.admissions.size(); i > 0; --i)
        if (node.admissions[i - 1].member.broker == broker) return node.admissions[i - 1];
    const Snapshot& snapshot = node.persistent.snapshot;
    for (const Member& member : snapshot.membership)
        if (member.broker == broker) return {snapshot.last_index, member};
    return {};
}

std::vector<FormedMember> known_lives(const Node& node) {
    std::vector<FormedMember> lives;
    lives.push_back({node.config.self, node.persistent.incarnation, node.formation.own_payload});
    for (const FormationPeer& peer : node.formation.peers)
        if (peer.incarnation.value != 0) lives.push_back({peer.broker, peer.incarnation, peer.payload});
    std::sort(lives.begin(), lives.end(),
              [](const FormedMember& a, const FormedMember& b) { return a.broker < b.broker; });
    return lives;
}

FormationPeer* find_peer(Formation& formation, BrokerId broker) {
    for (FormationPeer& peer : formation.peers)
        if (peer.broker == broker) return &peer;
    return nullptr;
}

void state_emptiness(Step& s, const FormationPeer& peer) {
    const Node& node = s.node;
    send(s, peer.broker,
         FormationStatement{node.persistent.incarnation, false, node.formation.view, peer.view, known_lives(node)});
}

void broadcast_emptiness(Step& s) {
    for (const FormationPeer& peer : s.node.formation.peers) state_emptiness(s, peer);
}

void state_formed(Step& s, BrokerId to, std::uint64_t echoed_view) {
    const Node& node = s.node;
    send_when_durable(s, to,
                      FormationStatement{node.persistent.incarnation, true, node.formation.view, echoed_view,
                                         node.persistent.snapshot.formation});
}

Membership membership_of(const std::vector<FormedMember>& members) {
    Membership membership;
    for (const FormedMember& member : members) membership.push_back({member.broker, member.incarnation});
    return membership;
}

void form(Step& s, std::vector<FormedMember> members) {
    Node& node = s.node;
    CHECK(!knows_membership(node));
    node.persistent.snapshot.membership = membership_of(members);
    node.persistent.snapshot.formation = std::move(members);
    node.dirty = true;
    emit(s, CancelTimer{TimerKind::kFormation});
    emit(s, Formed{node.persistent.snapshot.formation});
    refresh_participation(s);
    for (const FormationPeer& peer : node.formation.peers) state_formed(s, peer.broker, peer.view);
}

/// A fresh statement of a group that formed with this very life.
void adopt_if_named(Step& s, const FormationStatement& statement) {
    const Node& node = s.node;
    if (statement.echoed_view != node.formation.view) return;
    const Membership membership = membership_of(statement.members);
    if (!are_configured(node.config, membership)) return;
    const Member self{node.config.self, node.persistent.incarnation};
    if (std::find(membership.begin(), membership.end(), self) == membership.end()) return;
    form(s, statement.members);
}

/// The sender's own line in its statement; none: it makes no sense.
const FormedMember* own_line(BrokerId from, const FormationStatement& statement) {
    for (const FormedMember& member : statement.members)
        if (member.broker == from && member.incarnation == statement.incarnation) return &member;
    return nullptr;
}

void hear_emptiness(Step& s, FormationPeer& peer, const FormedMember& line, const FormationStatement& statement) {
    Formation& formation = s.node.formation;
    const bool is_other_life = peer.incarnation != line.incarnation || peer.payload != line.payload;
    const bool is_other_view = peer.view != statement.view;
    peer.view = statement.view;
    if (is_other_life) {
        peer.incarnation = line.incarnation;
        peer.payload = line.payload;
        ++formation.view;
        for (FormationPeer& each : formation.peers) each.agrees = false;
        return broadcast_emptiness(s);
    }
    if (is_other_view) state_emptiness(s, peer);
    if (statement.echoed_view == formation.view && statement.members == known_lives(s.node)) peer.agrees = true;
    const bool all_agree = std::all_of(formation.peers.begin(), formation.peers.end(),
                                       [](const FormationPeer& each) { return each.agrees; });
    if (all_agree) form(s, known_lives(s.node));
}

bool has_uncommitted_admission(const Node& node) {
    return !node.admissions.empty() && node.admissions.back().index > node.commit_index;
}

}  // namespace

Incarnation incarnation_in_force(const Node& node, BrokerId broker) {
    return admission_in_force(node, broker).member.incarnation;
}

bool are_configured(const Config& config, const Membership& members) {
    return std::equal(members.begin(), members.end(), config.members.begin(), config.members.end(),
                      [](const Member& member, BrokerId broker) { return member.broker == broker; });
}

Participation participation(const Node& node) {
    if (!knows_membership(node)) return Participation::kEmpty;
    return node.persistent.voter ? Participation::kVoter : Participation::kLearner;
}

void refresh_participation(Step& s) {
    Node& node = s.node;
    const Admission naming = admission_in_force(node, node.config.self);
    const bool is_named = naming.member.incarnation == node.persistent.incarnation;
    if (is_named && !node.persistent.voter && naming.index <= node.commit_index) {
        node.persistent.voter = true;
        node.dirty = true;
        emit(s, VoterChanged{true, naming.index});
        arm_election_timer(s);
    } else if (!is_named && node.persistent.voter) {
        become_follower(s, node.persistent.term, StepDownReason::kNotEligible);
        node.persistent.voter = false;
        node.dirty = true;
        emit(s, VoterChanged{false, naming.index});
        emit(s, CancelTimer{TimerKind::kElection});
    }
}

void propose_admission_if_due(Step& s) {
    Node& node = s.node;
    const Leader* leader = std::get_if<Leader>(&node.role);
    if (leader == nullptr || leader->transfer) return;
    const bool has_own_entry = last_term(node.persistent) == node.persistent.term;
    if (!leader->caretaker && !has_own_entry) return;  // the claim comes first (R4)
    if (has_uncommitted_admission(node)) {
        // An older term's: nothing else of this term would ever commit it under a caretaker, which writes no claim.
        if (!has_own_entry) append_as_leader(s, EntryKind::kAdmission, encode_admission(node.admissions.back().member));
        return;
    }
    for (const Progress& progress : leader->followers) {
        if (!progress.contact || progress.incarnation == incarnation_in_force(node, progress.broker)) continue;
        return append_as_leader(s, EntryKind::kAdmission, encode_admission({progress.broker, progress.incarnation}));
    }
}

void start_formation(Step& s) {
    if (s.node.formation.peers.empty()) return form(s, known_lives(s.node));
    on_formation_timeout(s);
}

void on_formation_timeout(Step& s) {
    if (knows_membership(s.node)) return;
    broadcast_emptiness(s);
    emit(s, SetTimer{TimerKind::kFormation, s.node.config.heartbeat_interval, s.node.config.heartbeat_interval});
}

void on_formation_statement(Step& s, BrokerId from, const FormationStatement& statement) {
    Node& node = s.node;
    if (knows_membership(node)) {
        if (!statement.formed) state_formed(s, from, statement.view);
        return;
    }
    if (statement.formed) return adopt_if_named(s, statement);
    FormationPeer* peer = find_peer(node.formation, from);
    const FormedMember* line = own_line(from, statement);
    if (peer != nullptr && line != nullptr) hear_emptiness(s, *peer, *line, statement);
}

}  // namespace tidelock::raft
