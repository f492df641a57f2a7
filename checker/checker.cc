#include "checker/checker.h"

#include <fmt/format.h>

#include <utility>

#include "checker/acked_survival.h"
#include "checker/check_quorum.h"
#include "checker/client_history.h"
#include "checker/cluster_view.h"
#include "checker/committed_stable.h"
#include "checker/cut_safe.h"
#include "checker/group_fencing.h"
#include "checker/invariant.h"
#include "checker/isr_complete.h"
#include "checker/leader_completeness.h"
#include "checker/log_matching.h"
#include "checker/no_stale_ack.h"
#include "checker/offsets_monotonic.h"
#include "checker/producer_order.h"
#include "checker/progress.h"
#include "checker/raft_safety.h"
#include "checker/read_confirmation.h"
#include "checker/single_leader.h"
#include "checker/status_honest.h"
#include "checker/topic_changes.h"

namespace tidelock::checker {

struct Checker::Parts {
    explicit Parts(Settings settings) : view(std::move(settings)) {}

    ClusterView view;
    ViolationLog log;
    FaultBudget budget;

    AckedSurvival acked_survival;
    SingleLeader single_leader;
    LogMatching log_matching;
    CommittedStable committed_stable;
    LeaderCompleteness leader_completeness;
    IsrComplete isr_complete;
    TopicChanges topic_changes;
    RaftSafety raft_safety;
    ReadConfirmation read_confirmation;
    CheckQuorum check_quorum;
    ProducerOrder producer_order;
    OffsetsMonotonic offsets_monotonic;
    GroupFencing group_fencing;
    NoStaleAck no_stale_ack;
    CutSafe cut_safe;
    ClientHistory client_history;
    StatusHonest status_honest;

    [[nodiscard]] ExcusedLosses excused_losses() const {
        ExcusedLosses excused = view.excused_losses();
        producer_order.add_forgotten_to(excused, view);
        return excused;
    }
};

/// Who hears what. Invariants judge an observation against the view as it was before.
struct Checker::Hearing {
    Parts& parts;
    const Context& context;
    const BrokerView& broker;

    void operator()(const broker::RaftRecovered& o) const {
        parts.raft_safety.judge(context, broker, o);
        parts.single_leader.judge(context, broker, o);
    }
    void operator()(const broker::VoteGranted& o) const { parts.raft_safety.judge(context, broker, o); }
    void operator()(const broker::RaftLeaderElected& o) const {
        parts.raft_safety.judge(context, broker, o);
        parts.read_confirmation.judge(o);
        parts.status_honest.judge(broker, o);
    }
    void operator()(const broker::RaftLeaderSteppedDown& o) const { parts.status_honest.judge(broker, o); }
    void operator()(const broker::ReadRoundAsked& o) const { parts.read_confirmation.judge(broker, o); }
    void operator()(const broker::ReadRoundConfirmed& o) const { parts.read_confirmation.judge(context, broker, o); }
    void operator()(const broker::RaftEntryAppended& o) const { parts.raft_safety.judge(context, broker, o); }
    void operator()(const broker::RaftEntriesTruncated& o) const { parts.raft_safety.judge(context, broker, o); }
    void operator()(const broker::RaftEntryCommitted& o) const {
        parts.raft_safety.judge(context, broker, o);
        parts.single_leader.judge(context, broker, o);
    }
    void operator()(const broker::RaftReplicaAdmitted& o) const { parts.raft_safety.judge(context, broker, o); }
    void operator()(const broker::RaftVoterChanged& o) const { parts.raft_safety.judge(context, broker, o); }
    void operator()(const broker::RaftSnapshotInstalled& o) const { parts.raft_safety.judge(context, broker, o); }

    void operator()(const broker::ClaimCommitted& o) const {
        parts.single_leader.judge(context, broker, o);
        parts.log_matching.judge_acting(context, broker);
    }
    void operator()(const broker::LeaderServing& o) const {
        parts.single_leader.judge(context, broker, o);
        parts.isr_complete.judge(context, broker, o);
        // Before V1 and V5, which account for losses and then no longer ask for them.
        parts.leader_completeness.judge(context, broker, o);
        parts.topic_changes.judge(context, broker, o);
        parts.committed_stable.judge(context, broker, o, parts.view, parts.budget);
        // One that opens after a newer claim committed is judged by what was promised before; the newer one's opening
        // decides what is lost.
        if (parts.view.superseded_at(o.leader_epoch) != nullptr) return;
        parts.acked_survival.judge(context, broker, o, parts.view, parts.budget);
    }
    void operator()(const broker::FollowingLeader&) const { parts.log_matching.judge_acting(context, broker); }
    void operator()(const broker::InSyncSetProposed& o) const {
        parts.isr_complete.judge(context, broker, o);
        parts.topic_changes.judge(context, broker, o);
    }
    void operator()(const broker::InSyncSetCommitted& o) const { parts.isr_complete.judge(context, broker, o); }

    void operator()(const broker::BatchAppended& o) const {
        parts.single_leader.judge(context, broker, o);
        parts.log_matching.judge(context, broker, o);
    }
    void operator()(const broker::Started& o) const {
        parts.log_matching.judge(context, broker, o);
        parts.isr_complete.judge(context, broker, o);
    }
    void operator()(const broker::DamageFound& o) const { parts.log_matching.judge(context, broker, o); }
    void operator()(const broker::LogRecovered& o) const {
        parts.log_matching.judge(context, broker, o);
        parts.committed_stable.judge(context, broker, o);
    }
    void operator()(const broker::DurableEndAdvanced& o) const { parts.log_matching.judge(context, broker, o); }
    void operator()(const broker::LogTruncated& o) const {
        parts.log_matching.judge(context, broker, o);
        parts.cut_safe.judge(context, broker, o);
    }
    void operator()(const broker::LogReset& o) const {
        parts.cut_safe.judge(context, broker, o);
        parts.isr_complete.judge(context, broker, o);
    }
    void operator()(const broker::LogStartAdvanced& o) const {
        parts.cut_safe.judge(context, broker, o);
        parts.producer_order.judge(context, broker, o);
    }

    void operator()(const broker::HighWatermarkAdvanced& o) const {
        parts.committed_stable.judge(context, broker, o);
        parts.isr_complete.judge(context, broker, o);
    }
    void operator()(const broker::RecordsAcknowledged& o) const {
        parts.acked_survival.judge(context, broker, o);
        parts.leader_completeness.judge(context, broker, o);
        parts.producer_order.judge(context, broker, o);
        parts.no_stale_ack.judge(context, broker, o);
    }
    void operator()(const broker::RecordsServed& o) const {
        parts.committed_stable.judge(context, broker, o);
        parts.leader_completeness.judge(context, broker, o);
        parts.no_stale_ack.judge(context, broker, o);
    }
    void operator()(const broker::BoundsTold& o) const {
        parts.committed_stable.judge(context, broker, o);
        parts.no_stale_ack.judge(context, broker, o);
    }
    void operator()(const broker::StatusReported& o) const { parts.status_honest.judge(context, broker, o); }
    void operator()(const broker::TopicShrunk& o) const { parts.cut_safe.judge(context, broker, o); }
    void operator()(const broker::TopicDropped& o) const { parts.cut_safe.judge(context, broker, o); }
    void operator()(const broker::ProducerRefused& o) const { parts.producer_order.judge(context, broker, o); }
    void operator()(const broker::ProtocolViolationRefused& o) const { parts.cut_safe.judge(context, broker, o); }

    // These change the view only, or nothing.
    void operator()(const broker::RefusedToStart&) const {}
    void operator()(const broker::DataIncarnationRenewed&) const {}
    void operator()(const broker::LeadershipEnded&) const {}
    void operator()(const broker::AcknowledgementSetChanged&) const {}
    void operator()(const broker::UnderReplicatedPartitions&) const {}
    void operator()(const broker::TopicCreated&) const {}
    void operator()(const broker::TopicGrown&) const {}
    void operator()(const broker::TopicHidden&) const {}
    void operator()(const broker::GroupChanged&) const {}
    void operator()(const broker::TopicShown&) const {}
    void operator()(const broker::LogFailed&) const {}
    void operator()(const broker::LogReopened&) const {}
    void operator()(const broker::MarkReached&) const {}
};

Checker::Checker(Settings settings) : parts_(std::make_unique<Parts>(std::move(settings))) {}
Checker::~Checker() = default;
Checker::Checker(Checker&&) noexcept = default;
Checker& Checker::operator=(Checker&&) noexcept = default;

void Checker::on_observation(std::int64_t time_ns, BrokerId broker, std::uint32_t life,
                             const broker::Observation& observation) {
    if (std::holds_alternative<broker::MarkReached>(observation)) return;
    Parts& parts = *parts_;
    const BrokerView& known = parts.view.broker(broker);
    if (known.id != broker || known.life != life) parts.view.begin_life(broker, life);
    const Context context{time_ns, parts.view, parts.log};
    std::visit(Hearing{parts, context, parts.view.broker(broker)}, observation);
    parts.view.apply(broker, observation);
}

/// Who hears what of the world, before the view takes it in.
struct Checker::FactHearing {
    Parts& parts;
    const Context& context;

    void operator()(const BrokerKilled& f) const { ++(f.power_loss ? parts.budget.power_losses : parts.budget.kills); }
    void operator()(const DiskEmptied& f) const {
        ++parts.budget.disks_emptied;
        parts.raft_safety.on_disk_emptied(f.broker);
    }
    void operator()(const OperatorRejoinedEmpty& f) const {
        ++parts.budget.disks_emptied;
        parts.raft_safety.on_disk_emptied(f.broker);
    }
    void operator()(const DiskDamaged&) const { ++parts.budget.disks_damaged; }
    void operator()(const DiskSound&) const {}
    void operator()(const PeerAnswered& f) const { parts.check_quorum.on_fact(f); }
    void operator()(const LeaderActed& f) const { parts.check_quorum.judge(context, f); }
    void operator()(const PromiseNotDurable& f) const {
        if (may_be_destroyed(f)) return;
        parts.log.report(invariant_of(f.promise), context.time_ns,
                         fmt::format("broker {} promised what a power loss would take: {} ({})", f.broker.value, f.what,
                                     rule_of(f.promise)));
    }
    static InvariantId invariant_of(Promise promise) {
        if (promise == Promise::kRaftState) return InvariantId::kRaftSafety;
        return promise == Promise::kRecords ? InvariantId::kLogMatching : InvariantId::kProducerOrder;
    }
    static std::string_view rule_of(Promise promise) {
        if (promise == Promise::kRaftState) return "R2";
        return promise == Promise::kRecords ? "L2" : "T2, L7";
    }
    void operator()(const TopicChangeTold& f) const { parts.topic_changes.judge(context, f); }
    void operator()(const RequestOverdue& f) const {
        parts.log.report(InvariantId::kProgress, context.time_ns,
                         fmt::format("broker {} lets somebody wait {}", f.broker.value, f.what));
    }
    void operator()(const DamageForgotten& f) const {
        parts.log.report(
            InvariantId::kIsrComplete, context.time_ns,
            fmt::format("broker {} has found damage, and forgets it: {} (L4, I10)", f.broker.value, f.what));
    }
    void operator()(const OpenedBeforeDeletion& f) const {
        parts.log.report(InvariantId::kLeaderCompleteness, context.time_ns,
                         fmt::format("broker {} serves, and has not made {} (L7)", f.leader.value, f.what));
    }
    void operator()(const MatchNotHeld& f) const {
        // What a fault destroyed was held before.
        if (parts.view.broker(f.follower).raft_fault_pending) return;
        parts.log.report(InvariantId::kRaftSafety, context.time_ns,
                         fmt::format("broker {} leads and counts broker {} for {} (R9, R11)", f.leader.value,
                                     f.follower.value, f.what));
    }
    void operator()(const PositionNotHeld& f) const {
        // What a fault destroyed was held before.
        const BrokerView& follower = parts.view.broker(f.follower);
        const std::optional<PartitionNumber> number = parts.view.find(f.partition);
        const bool is_hurt = number && parts.view.copy(follower, *number).fault_pending;
        if (is_hurt || follower.shared_fault_pending) return;
        parts.log.report(InvariantId::kIsrComplete, context.time_ns,
                         fmt::format("broker {} leads and counts broker {} for {} of partition {} (L2, I10)",
                                     f.leader.value, f.follower.value, f.what, f.partition.partition.value));
    }
    void operator()(const ClaimNotMade& f) const {
        parts.log.report(InvariantId::kProgress, context.time_ns,
                         fmt::format("broker {} leads term {}, may lead the data, and does not claim it (R4, G9)",
                                     f.leader.value, f.term.value));
    }
    void operator()(const GroupFormationTold& f) const { parts.raft_safety.judge(context, f); }
    /// What a fault destroyed was durable before: a fault of the very files that the promise rests on.
    [[nodiscard]] bool may_be_destroyed(const PromiseNotDurable& f) const {
        const BrokerView& broker = parts.view.broker(f.broker);
        if (f.promise == Promise::kRaftState) return broker.raft_fault_pending;
        if (broker.shared_fault_pending || !f.partition) return broker.shared_fault_pending;
        const std::optional<PartitionNumber> number = parts.view.find(*f.partition);
        return number && parts.view.copy(broker, *number).fault_pending;
    }
    void operator()(const BrokerBooted&) const {}
    void operator()(const JournalFoundBad&) const {}
    void operator()(const ClientTopicNamed&) const {}
    void operator()(const TopicDeletionAsked&) const {}
    void operator()(const RecordDeletionAsked&) const {}
    void operator()(const HealBegan&) const {}
};

void Checker::on_host_fact(std::int64_t time_ns, const HostFact& fact) {
    Parts& parts = *parts_;
    const Context context{time_ns, parts.view, parts.log};
    std::visit(FactHearing{parts, context}, fact);
    parts.view.on_fact(fact);
}

struct Checker::CallHearing {
    Parts& parts;
    const ClientCall& call;

    const ExcusedLosses& excused;

    void operator()(const ProduceCall& o) const {
        parts.client_history.judge(call, o, parts.log, excused);
        parts.producer_order.judge(call, o, parts.log, excused);
    }
    void operator()(const FetchCall& o) const { parts.client_history.judge(call, o, parts.log, excused); }
    void operator()(const OffsetCommitCall& o) const {
        parts.offsets_monotonic.judge(call, o);
        parts.group_fencing.judge(call, o, parts.log);
    }
    void operator()(const JoinGroupCall& o) const { parts.group_fencing.judge(call, o, parts.log); }
    void operator()(const SyncGroupCall& o) const { parts.group_fencing.judge(call, o, parts.log); }
    void operator()(const HeartbeatCall& o) const { parts.group_fencing.judge(call, o, parts.log); }
    void operator()(const OffsetFetchCall& o) const { parts.offsets_monotonic.judge(call, o, excused); }
    void operator()(const DeleteTopicCall& o) const {
        parts.client_history.judge(call, o);
        parts.producer_order.judge(call, o);
        parts.offsets_monotonic.judge(call, o);
        parts.view.end_topic_deletion(parts.view.name_of(o.topic), call.outcome);
    }
    void operator()(const DeleteRecordsCall& o) const { parts.client_history.judge(call, o, parts.log, excused); }
    void operator()(const CreateTopicCall& o) const { parts.client_history.judge(call, o); }
    void operator()(const GrowTopicCall& o) const { parts.client_history.judge(call, o); }
    void operator()(const ListOffsetsCall& o) const { parts.client_history.judge(call, o, parts.log, excused); }
    void operator()(const TimeLookupCall& o) const { parts.client_history.judge(call, o, parts.log, excused); }
    void operator()(const EpochEndCall& o) const { parts.client_history.judge(call, o, parts.log, excused); }
    void operator()(const InitProducerIdCall& o) const {
        if (!excused.producers) parts.producer_order.judge(call, o, parts.log);
    }
};

void Checker::on_call(const ClientCall& call) {
    const ExcusedLosses excused = parts_->excused_losses();
    std::visit(CallHearing{*parts_, call, excused}, call.operation);
}

void Checker::at_end(std::int64_t time_ns, const FinalView& view) {
    Parts& parts = *parts_;
    const Context context{time_ns, parts.view, parts.log};
    if (view.leader) {
        parts.acked_survival.judge_at_end(context, parts.view.broker(*view.leader), parts.view, parts.budget);
    }
    parts.client_history.judge_at_end(time_ns, parts.view.settings(), view, parts.log, parts.excused_losses());
    parts.offsets_monotonic.judge_at_end(parts.log);
    parts.group_fencing.judge_at_end(time_ns, parts.log);
    if (!view.judge_progress) return;
    for (const std::string& unmet : unmet_expectations(parts.view.settings(), view)) {
        parts.log.report(InvariantId::kProgress, time_ns, fmt::format("faults have stopped, but {}", unmet));
    }
}

const std::vector<Violation>& Checker::violations() const {
    return parts_->log.all();
}

const FaultBudget& Checker::fault_budget() const {
    return parts_->budget;
}

std::int64_t Checker::acknowledged_record_count() const {
    return parts_->client_history.acknowledged_record_count();
}

std::int64_t Checker::read_record_count() const {
    return parts_->client_history.read_record_count();
}

}  // namespace tidelock::checker
