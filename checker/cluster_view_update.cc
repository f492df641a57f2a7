// How each observation changes the view. An observation that breaks an invariant still has to leave a usable view.
#include <algorithm>
#include <utility>

#include "checker/cluster_view.h"

namespace tidelock::checker {
namespace {

/// Lengthens `prefix` to `to` along the log of `copy`; what the copy does not have cannot be followed.
void extend(StablePrefix& prefix, const BatchTable& table, const CopyView& copy, Offset to) {
    if (to <= prefix.end) return;
    const std::span<const BatchNumber> log = copy.batches.all();
    for (std::size_t at = copy.batches.first_ending_past(table, prefix.end); at < log.size(); ++at) {
        const broker::BatchSummary& batch = table.summary(log[at]);
        if (batch.base_offset >= to) break;
        // The batch that reaches over the prefix's end is in it already.
        const bool is_in_prefix =
            !prefix.batches.empty() && table.summary(prefix.batches.back()).last_offset >= batch.base_offset;
        if (!is_in_prefix) prefix.batches.push(log[at]);
    }
    prefix.end = to;
}

}  // namespace

struct ViewUpdate {
    ClusterView& view;
    BrokerView& broker;

    [[nodiscard]] PartitionView& partition(PartitionNumber number) const { return view.partitions_[number.value]; }

    void operator()(const broker::Started& o) const {
        broker.started = true;
        broker.raft_incarnation = o.raft_incarnation;
        broker.data_incarnation = o.data_incarnation;
        broker.is_emptied = false;
        broker.hidden.clear();  // a boot tells again what it hides
    }
    void operator()(const broker::DataIncarnationRenewed& o) const {
        broker.data_incarnation = o.incarnation;
        broker.journal_damage.clear();
    }

    [[nodiscard]] LeadershipView& leadership_under(LeaderEpoch leader_epoch) const {
        if (!broker.leadership || broker.leadership->leader_epoch != leader_epoch) {
            broker.leadership.emplace();
            broker.leadership->leader_epoch = leader_epoch;
        }
        return *broker.leadership;
    }
    void operator()(const broker::ClaimCommitted& o) const {
        LeadershipView& leadership = leadership_under(o.leader_epoch);
        if (!leadership.claimed) {
            for (CopyView& copy : broker.copies) copy.epoch_start_offset = copy.log_end_offset;
        }
        leadership.claimed = true;
        broker.following.reset();
        view.take_claim(o.leader_epoch, broker.id);
    }
    void operator()(const broker::LeaderServing& o) const {
        (*this)(broker::ClaimCommitted{o.leader_epoch});
        broker.leadership->serving = true;
    }
    void operator()(const broker::LeadershipEnded&) const { broker.leadership.reset(); }
    void operator()(const broker::FollowingLeader& o) const { broker.following = o; }
    void operator()(const broker::InSyncSetProposed& o) const {
        LeadershipView& leadership = leadership_under(o.leader_epoch);
        leadership.proposed_set = o.members;
        leadership.proposed_content = o.content;
        leadership.proposal_entered = false;
    }
    void operator()(const broker::InSyncSetCommitted& o) const {
        LeadershipView& leadership = leadership_under(o.leader_epoch);
        leadership.committed_set = o.members;
        if (leadership.proposed_set == o.members) leadership.proposed_set.reset();
    }
    void operator()(const broker::AcknowledgementSetChanged& o) const {
        LeadershipView& leadership = leadership_under(o.leader_epoch);
        leadership.acknowledgement_set = o.members;
        // A proposal that Raft refused is taken back; one in the log may still commit, whatever happens.
        if (!leadership.proposal_entered) leadership.proposed_set.reset();
    }

    void operator()(const broker::RaftEntryAppended& o) const {
        if (!broker.leadership || broker.leadership->proposed_content != o.content) return;
        broker.leadership->proposal_entered = true;
    }

    void operator()(const broker::GroupChanged&) const {}
    void operator()(const broker::TopicHidden& o) const {
        if (broker.shows(o.topic)) broker.hidden.push_back(o.topic);
    }
    void operator()(const broker::TopicShown& o) const { std::erase(broker.hidden, o.topic); }
    void operator()(const broker::TopicCreated& o) const {
        std::erase(broker.hidden, o.topic);
        view.topic_of(o.topic, o.name);
        view.create_partitions(broker, o.topic, o.partitions);
    }
    void operator()(const broker::TopicGrown& o) const { view.create_partitions(broker, o.topic, o.partitions); }
    void operator()(const broker::TopicShrunk& o) const { drop(o.topic, o.partitions); }
    void operator()(const broker::TopicDropped& o) const { drop(o.topic, 0); }
    void drop(TopicId topic, std::int32_t from) const {
        for (std::size_t at = 0; at < broker.copies.size(); ++at) {
            const TopicPartition& which = view.partitions_[at].partition;
            if (which.topic != topic || which.partition.value < from) continue;
            CopyView& copy = broker.copies[at];
            // A catalogue lost to a fault takes the copies with it; until then they were there (I10).
            const bool was_destroyed = broker.shared_fault_pending && copy.durable_under != broker.data_incarnation;
            if (was_destroyed)
                ClusterView::destroy(copy, copy.durable_under);
            else
                forget(copy, copy.exists && view.partitions_[at].may_vanish);
        }
    }

    /// Of one that went with a deleted topic its leader may still be told what it held.
    void forget(CopyView& copy, bool is_deleted) const {
        const Offset held_below = copy.durable_end_offset;
        copy = CopyView{};
        if (!is_deleted) return;
        copy.dropped_below = held_below;
        copy.dropped_under = broker.data_incarnation;
    }

    void operator()(const broker::BatchAppended& o) const {
        const PartitionNumber number = view.number_of(o.partition);
        CopyView& copy = view.copy_of(broker, number);
        BatchTable& table = partition(number).table;
        copy.exists = copy.recovered = copy.is_told = true;
        copy.batches.cut_tail(table, o.batch.base_offset);
        copy.batches.push(table.intern(o.batch, copy.batches.back()));
        copy.log_end_offset = o.batch.last_offset + 1;
        copy.durable_end_offset = std::min(copy.durable_end_offset, o.batch.base_offset);
    }
    void operator()(const broker::LogRecovered& o) const {
        const PartitionNumber number = view.number_of(o.partition);
        CopyView& copy = view.copy_of(broker, number);
        BatchTable& table = partition(number).table;
        copy.exists = copy.recovered = copy.is_told = true;
        copy.reset_pending = false;  // a reset that was not durable may not have happened
        copy.damaged = o.damaged;
        if (o.damaged) lose_to_fault(copy);
        // A sound disk has shown the copy as it is.
        if (!o.damaged && !broker.disk_fault_pending) copy.fault_pending = false;
        copy.batches.clear();
        for (const broker::BatchSummary& batch : o.batches) {
            // What was taken by its header alone is the batch of that name, whatever a fault made of its bytes.
            const std::optional<BatchNumber> named = batch.last_offset < o.unverified_end_offset
                                                         ? table.find(batch.leader_epoch, batch.base_offset)
                                                         : std::nullopt;
            copy.batches.push(named ? *named : table.intern(batch, copy.batches.back()));
        }
        copy.log_start_offset = o.log_start_offset;
        copy.log_end_offset = o.log_end_offset;
        copy.durable_end_offset = o.durable_end_offset;
        copy.high_watermark = o.high_watermark;
    }
    void operator()(const broker::LogTruncated& o) const { cut(o.partition, o.to); }
    void operator()(const broker::LogReopened& o) const { cut(o.partition, o.log_end_offset); }
    void operator()(const broker::LogFailed& o) const {
        // What was not durable does not count any more (L9).
        cut(o.partition, view.copy_of(broker, view.number_of(o.partition)).durable_end_offset);
    }
    void cut(const TopicPartition& which, Offset to) const {
        const PartitionNumber number = view.number_of(which);
        CopyView& copy = view.copy_of(broker, number);
        copy.batches.cut_tail(partition(number).table, to);
        copy.log_end_offset = std::min(copy.log_end_offset, to);
        copy.durable_end_offset = std::min(copy.durable_end_offset, to);
        copy.high_watermark = std::min(copy.high_watermark, to);
    }
    void operator()(const broker::LogReset& o) const {
        CopyView& copy = view.copy_of(broker, view.number_of(o.partition));
        if (o.reason != broker::ResetReason::kBehindLogStart) {
            copy.gave_up.add_below(copy.durable_end_offset);
            copy.once_held_below = std::max(copy.once_held_below, copy.durable_end_offset);
        }
        copy.batches.clear();
        copy.damaged = false;
        copy.reset_pending = true;
        copy.log_start_offset = copy.log_end_offset = copy.durable_end_offset = o.log_start_offset;
        copy.high_watermark = Offset(0);
        copy.durable_under = Incarnation(0);
    }
    void operator()(const broker::LogStartAdvanced& o) const {
        const PartitionNumber number = view.number_of(o.partition);
        CopyView& copy = view.copy_of(broker, number);
        copy.log_start_offset = std::max(copy.log_start_offset, o.log_start_offset);
        copy.log_end_offset = std::max(copy.log_end_offset, copy.log_start_offset);
        copy.durable_end_offset = std::max(copy.durable_end_offset, copy.log_start_offset);
        copy.batches.cut_head(partition(number).table, copy.log_start_offset);
        // A follower only follows; that it goes no further than a leader is V20's.
        if (broker.leadership)
            partition(number).legal_start = std::max(partition(number).legal_start, o.log_start_offset);
    }
    void operator()(const broker::DurableEndAdvanced& o) const {
        const PartitionNumber number = view.number_of(o.partition);
        CopyView& copy = view.copy_of(broker, number);
        copy.durable_end_offset = o.durable_end_offset;
        // Of an empty copy it may tell the end of a commit that began before the reset.
        const bool holds_records = o.durable_end_offset > copy.log_start_offset;
        if (holds_records && std::exchange(copy.reset_pending, false)) copy.fault_pending = false;
        if (!holds_records || copy.damaged) return;
        copy.durable_under = broker.data_incarnation;
        if (!copy.fault_pending && !broker.shared_fault_pending) view.get_back(copy, partition(number));
    }
    void operator()(const broker::DamageFound& o) const {
        CopyView& copy = view.copy_of(broker, view.number_of(o.partition));
        copy.damaged = true;
        lose_to_fault(copy);
    }
    /// A copy with damage counts for nothing, what was appended after the fault struck included. What it told before
    /// may still be counted.
    void lose_to_fault(CopyView& copy) const {
        if (!copy.fault_pending && !broker.shared_fault_pending) return;
        ClusterView::lose(copy, broker.data_incarnation);
    }

    void operator()(const broker::HighWatermarkAdvanced& o) const {
        const PartitionNumber number = view.number_of(o.partition);
        CopyView& copy = view.copy_of(broker, number);
        copy.high_watermark = std::max(copy.high_watermark, o.high_watermark);
        if (!o.as_leader) return;
        copy.leader_epoch = o.leader_epoch;
        copy.leader_high_watermark = o.high_watermark;
        partition(number).high_watermark_max = std::max(partition(number).high_watermark_max, o.high_watermark);
    }
    void operator()(const broker::RecordsAcknowledged& o) const {
        if (o.by != broker::AcknowledgedBy::kPolicy) return;
        const PartitionNumber number = view.number_of(o.partition);
        PartitionView& known = partition(number);
        extend(known.confirmed, known.table, view.copy_of(broker, number), o.last_offset + 1);
    }
    void operator()(const broker::RecordsServed& o) const {
        const PartitionNumber number = view.number_of(o.partition);
        PartitionView& known = partition(number);
        CopyView& copy = view.copy_of(broker, number);
        tell(copy, o.leader_epoch, o.high_watermark, std::nullopt);
        extend(known.served, known.table, copy, o.to);
    }
    void operator()(const broker::BoundsTold& o) const {
        tell(view.copy_of(broker, view.number_of(o.partition)), o.leader_epoch, o.high_watermark, o.log_start_offset);
    }
    static void tell(CopyView& copy, LeaderEpoch leader_epoch, std::optional<Offset> high_watermark,
                     std::optional<Offset> log_start_offset) {
        if (copy.told_under != leader_epoch) copy.told_high_watermark = copy.told_log_start_offset = Offset(0);
        copy.told_under = leader_epoch;
        copy.told_high_watermark = std::max(copy.told_high_watermark, high_watermark.value_or(Offset(0)));
        copy.told_log_start_offset = std::max(copy.told_log_start_offset, log_start_offset.value_or(Offset(0)));
    }

    // Nothing in the view depends on these; raft_safety keeps its own record of Raft.
    void operator()(const broker::RefusedToStart&) const {}
    void operator()(const broker::RaftRecovered&) const {}
    void operator()(const broker::VoteGranted&) const {}
    void operator()(const broker::RaftLeaderElected&) const {}
    void operator()(const broker::RaftLeaderSteppedDown&) const {}
    void operator()(const broker::ReadRoundAsked&) const {}
    void operator()(const broker::ReadRoundConfirmed&) const {}
    void operator()(const broker::RaftEntriesTruncated&) const {}
    void operator()(const broker::RaftEntryCommitted&) const {}
    void operator()(const broker::RaftReplicaAdmitted&) const {}
    void operator()(const broker::RaftVoterChanged&) const {}
    void operator()(const broker::RaftSnapshotInstalled&) const {}
    void operator()(const broker::UnderReplicatedPartitions&) const {}
    void operator()(const broker::StatusReported&) const {}
    void operator()(const broker::ProtocolViolationRefused&) const {}
    void operator()(const broker::MarkReached&) const {}
    void operator()(const broker::ProducerRefused&) const {}
};

void ClusterView::apply(BrokerId id, const broker::Observation& observation) {
    std::visit(ViewUpdate{*this, broker_of(id)}, observation);
}

}  // namespace tidelock::checker
