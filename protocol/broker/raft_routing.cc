// Between Raft and everybody else: its writes, its timers, and what its entries mean for the group (R1-R11, G2, G9,
// I3).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"
#include "protocol/group/eligibility.h"
#include "protocol/raft/quorum.h"

namespace tidelock::broker {
namespace {

TimerKind timer_of(raft::TimerKind timer) {
    switch (timer) {
        case raft::TimerKind::kElection:
            return TimerKind::kRaftElection;
        case raft::TimerKind::kHeartbeat:
            return TimerKind::kRaftHeartbeat;
        case raft::TimerKind::kTransfer:
            return TimerKind::kRaftTransfer;
        case raft::TimerKind::kFormation:
            return TimerKind::kRaftFormation;
    }
    return TimerKind::kRaftElection;
}

void persist_raft(Step& step, raft::PersistSequence sequence) {
    Broker& broker = step.broker;
    std::vector<storage::FileEffect> effects;
    const storage::StateSequence file_sequence = broker.raft_file.write(raft::encode(broker.raft.persistent), effects);
    broker.raft_writes.push_back(RaftWrite{file_sequence, sequence});
    take_file_effects(step, effects);
}

bool is_eligible(const Broker& broker, BrokerId member) {
    if (broker.in_log.in_sync_set_version == 0) return true;
    const auto& set = broker.in_log.in_sync_replicas;
    return std::ranges::any_of(set, [&](const Replica& replica) { return replica.broker == member; });
}

/// The disk takes what is written and does not say that it has: followers may be in step with records that it holds up,
/// and no broker opens before its topics are durable. Whoever serves may wait for a slow file of topics.
/// Members whose disks are all slow would pass the lead to and fro and confirm nothing: whoever gave it up for that
/// leads on for longer the next time.
bool is_disk_stalled(const Broker& broker, Instant now) {
    const bool leads = raft::is_leader(broker.raft) && !raft::is_caretaker(broker.raft);
    const Duration bound = broker.config.election_timeout_max * (std::int64_t{1} << (leads ? broker.stalls_in_row : 0));
    const auto is_overdue = [&](const std::optional<Instant>& asked_at, std::int64_t bounds) {
        return asked_at && since(*asked_at, now) > bound * bounds;
    };
    // A leader with a read that never ends does not open, or keeps who waits for it out of the set; but where reads are
    // slow for all, the next leader would have to begin its own anew.
    return is_overdue(broker.commit_since, 1) || (!is_serving(broker) && is_overdue(broker.catalogue_since, 1)) ||
           is_overdue(broker.reads_since, 4);
}

/// A member of the set may lead whether it is in step or not (G2): it has all that was confirmed. One that lags because
/// this disk hangs, and gives it nothing to read, is as good as any; any other lags by its own fault.
bool could_take_over(const Broker& broker, const Replica& member, Instant now) {
    // Whoever has just died does not lag yet, and is nobody to leave the lead to.
    const bool is_there = broker.in_sync.is_alive_as(member) && raft::is_in_contact(broker.raft, member.broker, now);
    if (member.broker == broker.config.id || !is_there) return false;
    const auto& lagging = broker.in_sync.lagging_members();
    return is_disk_stalled(broker, now) || std::ranges::find(lagging, member) == lagging.end();
}

/// L9: a broker that cannot append is not to lead, unless it leads already and nobody could take over.
bool is_held_up_by_disk(const Broker& broker, Instant now) {
    const auto is_failed = [](const storage::PartitionLog& log) {
        return log.condition == storage::LogCondition::kFailed && !log.is_dropping;
    };
    const bool is_held_up =
        broker.is_disk_full || is_disk_stalled(broker, now) || std::ranges::any_of(broker.logs.logs(), is_failed);
    if (!is_held_up) return false;
    if (!broker.leading) return true;
    return std::ranges::any_of(broker.in_sync.committed().members,
                               [&](const Replica& member) { return could_take_over(broker, member, now); });
}

/// Commits in time again, and none that was not for longer than any leader waits for its disk: that row is over.
void note_commit_time(Broker& broker, Duration took, Instant now) {
    if (broker.stalls_in_row == 0) return;
    const Duration in_time = broker.config.election_timeout_max;
    if (took > in_time)
        broker.stalled_at = now;
    else if (since(*broker.stalled_at, now) > in_time * (std::int64_t{2} << kStallsInRowMax))
        broker.stalls_in_row = 0;
}

/// What an entry means for the group; empty: nothing. A payload that no broker writes means nothing on every replica
/// alike, as they all see the same bytes: it is as good as never proposed.
std::optional<group::Entry> meaning_of(const raft::Entry& entry) {
    if (entry.kind == raft::EntryKind::kAdmission) return std::nullopt;
    auto decoded = group::decode_entry(entry.payload);
    if (!decoded) return std::nullopt;
    const auto* claim = std::get_if<group::Claim>(&*decoded);
    // R4: a claim takes the epoch of its own term.
    if (claim != nullptr && std::int64_t{claim->leader_epoch.value} != static_cast<std::int64_t>(entry.term.value))
        return std::nullopt;
    return std::move(*decoded);
}

raft::Eligibility own_eligibility(const Broker& broker, Instant now) {
    if (broker.is_identity_renewing) return raft::Eligibility::kNever;
    const bool configured_to_lead = broker.config.role != ConfiguredRole::kFollower;
    group::Metadata in_log = broker.in_log;
    if (broker.config.seed_rules.ignore_data_incarnation)
        for (Replica& replica : in_log.in_sync_replicas)
            if (replica.broker == broker.config.id) replica = self(broker);
    switch (group::standing(in_log, self(broker), configured_to_lead)) {
        case group::Standing::kMayLead:
            if (!is_held_up_by_disk(broker, now)) return raft::Eligibility::kMayLead;
            break;
        case group::Standing::kNone:
            return raft::Eligibility::kNever;
        case group::Standing::kCaretaker:
            break;
    }
    return broker.config.seed_rules.no_caretaker ? raft::Eligibility::kNever : raft::Eligibility::kCaretakerOnly;
}

void propose_claim(Step& step, Term term) {
    Broker& broker = step.broker;
    const group::Claim claim{group::leader_epoch_of(term), broker.config.id,
                             group::set_to_claim(broker.in_log, self(broker), broker.formed_with)};
    run_raft(step, raft::Proposed{raft::EntryKind::kClaim, group::encode(group::Entry(claim))});
}

/// A set change of this leader's own epoch committed; anything else the fold has dealt with.
void on_change_committed(Step& step, const group::InSyncSetChange& change) {
    Broker& broker = step.broker;
    const bool applies = broker.decided.leader_epoch == change.leader_epoch &&
                         broker.decided.in_sync_replicas == change.in_sync_replicas;
    if (!applies || !broker.leading || broker.leading->leader_epoch != change.leader_epoch) return;
    observe(step, InSyncSetCommitted{change.leader_epoch, change.in_sync_replicas});
    const std::size_t before_count = broker.in_sync.committed().members.size();
    const bool has_shrunk = change.in_sync_replicas.size() < before_count;
    if (has_shrunk) mark(step, Mark::kInSyncSetShrunk);
    if (change.in_sync_replicas.size() > before_count) mark(step, Mark::kInSyncSetExpanded);
    if (change.in_sync_replicas.size() == before_count) mark(step, Mark::kMemberReplaced);
    replication::InSyncEffects effects;
    broker.in_sync.on_change_committed(
        change.leader_epoch,
        replication::VersionedSet{replication::SyncStateSetEpoch(broker.decided.in_sync_set_version),
                                  change.in_sync_replicas},
        effects);
    route_in_sync_effects(step, effects);
    advance_all_high_watermarks(step);
    // Whoever else is to go, and what waits for the set, need not wait for the next regular look.
    if (has_shrunk && broker.leading) look_at_in_sync_bounds_within(step, kNextRemoval);
}

void on_claim_committed(Step& step, const group::Claim& claim) {
    Broker& broker = step.broker;
    if (broker.decided.leader_epoch != claim.leader_epoch) return;
    const bool is_own = claim.leader == broker.config.id && raft::is_leader(broker.raft) &&
                        group::leader_epoch_of(broker.raft.persistent.term) == claim.leader_epoch;
    if (!is_own) return follow_decided_leader(step);
    begin_leading(step, claim.leader_epoch,
                  replication::VersionedSet{replication::SyncStateSetEpoch(broker.decided.in_sync_set_version),
                                            broker.decided.in_sync_replicas});
}

void on_admission_committed(Step& step, const raft::Entry& entry) {
    const auto member = raft::decode_admission(entry.payload);
    CHECK(member.has_value());
    observe(step, RaftReplicaAdmitted{entry.index, member->broker, member->incarnation});
    mark(step, Mark::kReplicaAdmitted);
}

void on_entry_committed(Step& step, const raft::Entry& entry) {
    Broker& broker = step.broker;
    observe(step, RaftEntryCommitted{entry.index, entry.term, raft_content_hash(entry), broker.raft.persistent.term});
    broker.applied_index = entry.index;
    if (entry.kind == raft::EntryKind::kAdmission) return on_admission_committed(step, entry);
    const auto meaning = meaning_of(entry);
    if (!meaning)
        return observe(step, ProtocolViolationRefused{"R4", "an entry that no broker writes was committed at " +
                                                                std::to_string(entry.index.value)});
    group::apply(broker.decided, *meaning);
    if (const auto* claim = std::get_if<group::Claim>(&*meaning))
        on_claim_committed(step, *claim);
    else
        on_change_committed(step, std::get<group::InSyncSetChange>(*meaning));
}

void on_snapshot_installed(Step& step, const raft::SnapshotInstalled& installed) {
    Broker& broker = step.broker;
    mark(step, Mark::kRaftSnapshotInstalled);
    observe(step, RaftSnapshotInstalled{installed.last_index, broker.raft.persistent.snapshot.last_term,
                                        hash_bytes(installed.data.span())});
    if (installed.last_index.value == 0) return;
    const auto metadata = group::decode_metadata(installed.data);
    // Who is in sync is not known any more, and Raft's log begins after it: this replica can neither vote for anybody
    // nor lead by what it holds. No other one is harmed if it stops.
    if (!metadata) {
        observe(step, ProtocolViolationRefused{"R8", metadata.error().what});
        end_leading(step);
        return refuse_to_start(step, "raft: a peer sent a snapshot that no broker writes; rejoin as empty (R8)");
    }
    broker.compacted = *metadata;
    broker.applied_index = std::max(broker.applied_index, installed.last_index);
    if (broker.decided.in_sync_set_version < metadata->in_sync_set_version) broker.decided = *metadata;
    follow_decided_leader(step);
}

std::vector<Replica> formed_replicas(const std::vector<raft::FormedMember>& members) {
    std::vector<Replica> replicas;
    for (const raft::FormedMember& member : members) {
        ByteReader in(member.payload);
        const Incarnation incarnation(in.u64());
        if (in.at_end()) replicas.push_back(Replica{member.broker, incarnation});
    }
    return replicas;
}

struct RaftRoute {
    Step& step;
    bool& log_changed;

    void operator()(const raft::Send& e) const {
        const auto* pre_vote = std::get_if<raft::PreVoteAnswer>(&e.message);
        if (pre_vote != nullptr && !pre_vote->granted) mark(step, Mark::kPreVoteRefused);
        step.effects.push_back(SendToPeer{e.to, PeerMessage(e.message)});
    }
    void operator()(const raft::Persist& e) const { persist_raft(step, e.sequence); }
    void operator()(const raft::SetTimer& e) const {
        step.effects.push_back(SetTimer{timer_of(e.timer), e.min, e.max});
    }
    void operator()(const raft::CancelTimer& e) const { step.effects.push_back(CancelTimer{timer_of(e.timer)}); }
    void operator()(const raft::EntriesAppended& e) const {
        log_changed = true;
        for (LogIndex index = e.first; index <= e.last; index += 1) {
            const raft::Entry& entry = raft::entry_at(step.broker.raft.persistent, index);
            observe(step, RaftEntryAppended{index, entry.term, raft_content_hash(entry)});
        }
    }
    void operator()(const raft::EntriesTruncated& e) const {
        log_changed = true;
        mark(step, Mark::kRaftEntriesOverwritten);
        observe(step, RaftEntriesTruncated{e.from, step.broker.raft.persistent.term});
    }
    void operator()(const raft::Committed& e) const { on_entry_committed(step, e.entry); }
    void operator()(const raft::BecameFollower&) const {}
    void operator()(const raft::BecameCandidate&) const {}
    void operator()(const raft::BecameLeader& e) const {
        observe(step, RaftLeaderElected{e.term, e.caretaker});
        if (e.caretaker) return mark(step, Mark::kCaretakerElected);
        propose_claim(step, e.term);
    }
    void operator()(const raft::SteppedDown& e) const {
        observe(step, RaftLeaderSteppedDown{e.term});
        if (e.reason == raft::StepDownReason::kQuorumLost) mark(step, Mark::kCheckQuorumStepDown);
        if (e.reason == raft::StepDownReason::kCaretakingInVain) mark(step, Mark::kCaretakerGaveUp);
        end_leading(step);
    }
    void operator()(const raft::LeadershipConfirmed& e) const {
        observe(step, ReadRoundConfirmed{step.broker.raft.persistent.term, e.up_to});
        on_leadership_confirmed(step, e.up_to);
    }
    void operator()(const raft::LeaderKnown& e) const {
        Broker& broker = step.broker;
        broker.known_leader = e.leader.value_or(BrokerId{});
        // The claim may lie in a snapshot: then no entry of it commits again in this life.
        const bool has_claimed = e.leader && broker.decided.leader == *e.leader &&
                                 broker.decided.leader_epoch == group::leader_epoch_of(e.term);
        if (has_claimed) follow_decided_leader(step);
    }
    void operator()(const raft::VoteGranted& e) const {
        observe(step, VoteGranted{e.term, e.candidate.broker, step.broker.raft.persistent.incarnation});
    }
    void operator()(const raft::SnapshotInstalled& e) const {
        log_changed = true;
        on_snapshot_installed(step, e);
    }
    void operator()(const raft::NeedSnapshot&) const {
        Broker& broker = step.broker;
        broker.compacted = broker.decided;
        mark(step, Mark::kRaftLogCompacted);
        run_raft(step, raft::SnapshotReady{broker.applied_index, group::encode(broker.decided)});
    }
    void operator()(const raft::TransferFinished& e) const { on_transfer_finished(step, e); }
    void operator()(const raft::ProposalRefused& e) const {
        if (e.reason == raft::RefusalReason::kTransferring) retract_pending_change(step);
    }
    void operator()(const raft::Formed& e) const {
        mark(step, Mark::kGroupFormed);
        step.broker.formed_with = formed_replicas(e.members);
    }
    void operator()(const raft::VoterChanged& e) const { observe(step, RaftVoterChanged{e.voter, e.named_at}); }
    void operator()(const raft::ProtocolViolated& e) const {
        observe(step, ProtocolViolationRefused{e.kind == raft::ViolationKind::kTwoLeadersInTerm
                                                   ? "R1: two leaders in a term"
                                                   : "R1: committed entry conflicts",
                                               std::to_string(e.peer.value)});
    }
};

}  // namespace

std::uint64_t raft_content_hash(const raft::Entry& entry) {
    Digest digest;
    digest.add(static_cast<int>(entry.kind));
    digest.add(entry.payload.span());
    return digest.value();
}

void run_raft(Step& step, raft::Event event) {
    raft::Effects effects;
    raft::step(step.broker.raft, step.now, event, effects);
    bool log_changed = false;
    for (const raft::Effect& effect : effects) std::visit(RaftRoute{step, log_changed}, effect);
    if (log_changed) refresh_log_metadata(step);
}

void on_raft_file_durable(Step& step) {
    Broker& broker = step.broker;
    std::optional<raft::PersistSequence> durable;
    // A step inside a step asks for its write before the outer one does, so the numbers need not rise along the list.
    while (!broker.raft_writes.empty() &&
           broker.raft_writes.front().file_sequence <= broker.raft_file.durable_sequence()) {
        durable = std::max(durable.value_or(raft::PersistSequence(0)), broker.raft_writes.front().raft_sequence);
        broker.raft_writes.erase(broker.raft_writes.begin());
    }
    if (durable) run_raft(step, raft::Persisted{*durable});
}

void refresh_log_metadata(Step& step) {
    Broker& broker = step.broker;
    broker.in_log = broker.compacted;
    for (const raft::Entry& entry : broker.raft.persistent.entries) {
        if (const auto meaning = meaning_of(entry)) group::apply(broker.in_log, *meaning);
    }
    if (broker.formed_with.empty()) broker.formed_with = formed_replicas(broker.raft.persistent.snapshot.formation);
    refresh_eligibility(step);
}

void watch_disk(Step& step) {
    Broker& broker = step.broker;
    const bool was_stalled = is_disk_stalled(broker, step.now);
    const bool is_same_commit = broker.commit_since && broker.commit_watched == broker.logs.commit_count();
    if (broker.commit_since && !is_same_commit)
        note_commit_time(broker, since(*broker.commit_since, step.now), step.now);
    if (!broker.logs.is_commit_in_flight())
        broker.commit_since.reset();
    else if (!is_same_commit)
        broker.commit_since = step.now;
    broker.commit_watched = broker.logs.commit_count();
    // Others that end meanwhile say nothing of one that never does, and of whoever waits for it.
    broker.reads_since.reset();
    if (!broker.reads.empty()) broker.reads_since = broker.reads.begin()->second.asked_at;
    if (broker.catalogue_writes.empty()) {
        broker.catalogue_since.reset();
    } else if (!broker.catalogue_since || broker.catalogue_watched != broker.catalogue_writes.front().file_sequence) {
        broker.catalogue_watched = broker.catalogue_writes.front().file_sequence;
        broker.catalogue_since = step.now;
    }
    if (was_stalled && !is_disk_stalled(broker, step.now)) refresh_eligibility(step);
}

void refresh_eligibility(Step& step) {
    Broker& broker = step.broker;
    if (broker.config.preset != Preset::kGroup || broker.lifecycle != Lifecycle::kRunning) return;
    raft::BrokerIds eligible;
    for (const BrokerId member : broker.config.members)
        if (is_eligible(broker, member)) eligible.push_back(member);
    if (eligible != broker.raft.eligible_members) run_raft(step, raft::EligibleMembersChanged{eligible});
    const raft::Eligibility own = own_eligibility(broker, step.now);
    if (own == broker.raft.eligibility) return;
    const bool is_held_up = is_held_up_by_disk(broker, step.now);
    if (own == raft::Eligibility::kCaretakerOnly && !is_held_up) mark(step, Mark::kMayNotStand);
    const bool is_stalled = is_disk_stalled(broker, step.now);
    if (broker.leading && is_held_up)
        mark(step, is_stalled ? Mark::kLeaderResignedOnStalledDisk : Mark::kLeaderResignedOnFullDisk);
    if (is_held_up && is_stalled && raft::is_leader(broker.raft) && !raft::is_caretaker(broker.raft)) {
        broker.stalls_in_row = std::min(broker.stalls_in_row + 1, kStallsInRowMax);
        broker.stalled_at = step.now;
    }
    run_raft(step, raft::EligibilityChanged{own});
}

}  // namespace tidelock::broker
