#include "protocol/broker/observation.h"

namespace tidelock::broker {
namespace {

/// Feeds one observation's fields to the digest, in the order of their declaration.
struct DigestFields {
    Digest& digest;

    void partition(const TopicPartition& p) const {
        digest.add(p.topic);
        digest.add(p.partition);
    }
    void members(const std::vector<Replica>& replicas) const {
        digest.add(replicas.size());
        for (const Replica& replica : replicas) {
            digest.add(replica.broker);
            digest.add(replica.incarnation);
        }
    }
    void batch(const BatchSummary& b) const {
        digest.add(b.base_offset);
        digest.add(b.last_offset);
        digest.add(b.leader_epoch);
        digest.add(b.content);
        digest.add(b.producer_id);
        digest.add(b.producer_epoch);
        digest.add(b.base_sequence);
    }
    void operator()(const Started& o) const {
        digest.add(o.raft_incarnation);
        digest.add(o.data_incarnation);
    }
    void operator()(const RefusedToStart& o) const { digest.add(std::string_view(o.why)); }
    void operator()(const DataIncarnationRenewed& o) const { digest.add(o.incarnation); }
    void operator()(const RaftRecovered& o) const {
        digest.add(o.incarnation);
        digest.add(o.term);
        digest.add(o.voted_for);
        digest.add(o.snapshot_last_index);
        digest.add(o.entries.size());
        for (const RaftEntrySummary& entry : o.entries) {
            digest.add(entry.term);
            digest.add(entry.content);
        }
    }
    void operator()(const VoteGranted& o) const {
        digest.add(o.term);
        digest.add(o.candidate);
        digest.add(o.voter_incarnation);
    }
    void operator()(const RaftLeaderElected& o) const {
        digest.add(o.term);
        digest.add(o.caretaker);
    }
    void operator()(const RaftLeaderSteppedDown& o) const { digest.add(o.term); }
    void operator()(const ReadRoundAsked& o) const {
        digest.add(o.term);
        digest.add(o.round.value);
    }
    void operator()(const ReadRoundConfirmed& o) const {
        digest.add(o.term);
        digest.add(o.up_to.value);
    }
    void operator()(const RaftEntryAppended& o) const {
        digest.add(o.index);
        digest.add(o.term);
        digest.add(o.content);
    }
    void operator()(const RaftEntriesTruncated& o) const {
        digest.add(o.from);
        digest.add(o.term);
    }
    void operator()(const RaftEntryCommitted& o) const {
        digest.add(o.index);
        digest.add(o.term);
        digest.add(o.content);
        digest.add(o.learned_in);
    }
    void operator()(const RaftReplicaAdmitted& o) const {
        digest.add(o.index);
        digest.add(o.broker);
        digest.add(o.incarnation);
    }
    void operator()(const RaftVoterChanged& o) const {
        digest.add(o.is_voter);
        digest.add(o.named_at);
    }
    void operator()(const RaftSnapshotInstalled& o) const {
        digest.add(o.last_index);
        digest.add(o.last_term);
        digest.add(o.content);
    }
    void operator()(const ClaimCommitted& o) const { digest.add(o.leader_epoch); }
    void operator()(const LeaderServing& o) const { digest.add(o.leader_epoch); }
    void operator()(const LeadershipEnded& o) const { digest.add(o.leader_epoch); }
    void operator()(const FollowingLeader& o) const {
        digest.add(o.leader);
        digest.add(o.leader_epoch);
    }
    void operator()(const InSyncSetProposed& o) const {
        digest.add(o.leader_epoch);
        members(o.members);
        digest.add(o.content);
    }
    void operator()(const InSyncSetCommitted& o) const {
        digest.add(o.leader_epoch);
        members(o.members);
    }
    void operator()(const AcknowledgementSetChanged& o) const {
        digest.add(o.leader_epoch);
        members(o.members);
    }
    void operator()(const UnderReplicatedPartitions& o) const { digest.add(o.count); }
    void operator()(const TopicCreated& o) const {
        digest.add(o.topic);
        digest.add(std::string_view(o.name));
        digest.add(o.partitions);
    }
    void operator()(const TopicGrown& o) const {
        digest.add(o.topic);
        digest.add(o.partitions);
    }
    void operator()(const TopicShrunk& o) const {
        digest.add(o.topic);
        digest.add(o.partitions);
    }
    void operator()(const TopicHidden& o) const { digest.add(o.topic); }
    void operator()(const GroupChanged& o) const {
        digest.add(static_cast<std::uint8_t>(o.news.change));
        digest.add(std::string_view(o.news.group));
        digest.add(std::string_view(o.news.member));
        digest.add(o.news.generation);
        digest.add(o.news.member_count);
    }
    void operator()(const TopicShown& o) const { digest.add(o.topic); }
    void operator()(const TopicDropped& o) const { digest.add(o.topic); }
    void operator()(const BatchAppended& o) const {
        partition(o.partition);
        batch(o.batch);
        digest.add(o.as_leader);
    }
    void operator()(const LogRecovered& o) const {
        partition(o.partition);
        digest.add(o.log_start_offset);
        digest.add(o.log_end_offset);
        digest.add(o.durable_end_offset);
        digest.add(o.high_watermark);
        digest.add(o.batches.size());
        for (const BatchSummary& b : o.batches) batch(b);
        digest.add(o.damaged);
        digest.add(o.unverified_end_offset);
    }
    void operator()(const LogTruncated& o) const {
        partition(o.partition);
        digest.add(o.to);
        digest.add(static_cast<int>(o.reason));
    }
    void operator()(const LogReset& o) const {
        partition(o.partition);
        digest.add(o.log_start_offset);
        digest.add(static_cast<int>(o.reason));
    }
    void operator()(const LogStartAdvanced& o) const {
        partition(o.partition);
        digest.add(o.log_start_offset);
    }
    void operator()(const DurableEndAdvanced& o) const {
        partition(o.partition);
        digest.add(o.durable_end_offset);
    }
    void operator()(const DamageFound& o) const {
        partition(o.partition);
        digest.add(o.at);
    }
    void operator()(const LogFailed& o) const { partition(o.partition); }
    void operator()(const LogReopened& o) const {
        partition(o.partition);
        digest.add(o.log_end_offset);
    }
    void operator()(const HighWatermarkAdvanced& o) const {
        partition(o.partition);
        digest.add(o.leader_epoch);
        digest.add(o.high_watermark);
        digest.add(o.as_leader);
    }
    void operator()(const RecordsAcknowledged& o) const {
        partition(o.partition);
        digest.add(o.base_offset);
        digest.add(o.last_offset);
        digest.add(o.leader_epoch);
        digest.add(static_cast<int>(o.by));
        digest.add(o.duplicate);
    }
    void operator()(const RecordsServed& o) const {
        partition(o.partition);
        digest.add(o.leader_epoch);
        digest.add(o.from);
        digest.add(o.to);
        digest.add(o.high_watermark);
    }
    void operator()(const BoundsTold& o) const {
        partition(o.partition);
        digest.add(o.leader_epoch);
        digest.add(o.log_start_offset.value_or(Offset(-1)));
        digest.add(o.high_watermark.value_or(Offset(-1)));
    }
    void operator()(const StatusReported& o) const {
        digest.add(static_cast<int>(o.role));
        digest.add(o.leader_epoch);
        digest.add(o.term);
        digest.add(o.leader);
        members(o.in_sync_replicas);
        members(o.lagging_members);
        digest.add(static_cast<int>(o.durability));
        digest.add(o.under_replicated_count);
    }
    void operator()(const ProtocolViolationRefused& o) const {
        digest.add(std::string_view(o.rule));
        digest.add(std::string_view(o.what));
    }
    void operator()(const MarkReached& o) const { digest.add(static_cast<int>(o.mark)); }
    void operator()(const ProducerRefused& o) const {
        partition(o.partition);
        digest.add(o.producer_id);
        digest.add(o.producer_epoch);
        digest.add(o.base_sequence);
        digest.add(static_cast<int>(o.error));
    }
};

}  // namespace

std::uint64_t digest_of(const Observation& observation) {
    Digest digest;
    digest.add(observation.index());
    std::visit(DigestFields{digest}, observation);
    return digest.value();
}

}  // namespace tidelock::broker
