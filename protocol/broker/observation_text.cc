// One line of text for each observation: traces, timelines and failing tests are made of these.
#include <fmt/format.h>

#include "protocol/broker/observation.h"

namespace tidelock::broker {
namespace {

std::string text(const TopicPartition& p) {
    return fmt::format("{:x}-{}", p.topic.value, p.partition.value);
}

std::string text(const std::vector<Replica>& replicas) {
    std::string line = "{";
    for (const Replica& replica : replicas)
        line += fmt::format("{}{}/{:x}", line.size() > 1 ? "," : "", replica.broker.value,
                            replica.incarnation.value & 0xFFFF);
    return line + "}";
}

std::string text(const BatchSummary& b) {
    std::string line = fmt::format("[{}..{}] leader_epoch={} crc={:08x}", b.base_offset.value, b.last_offset.value,
                                   b.leader_epoch.value, b.content);
    if (b.producer_id != kNoProducer)
        line += fmt::format(" producer={}/{} seq={}", b.producer_id.value, b.producer_epoch.value, b.base_sequence);
    return line;
}

std::string_view text(CutReason reason) {
    switch (reason) {
        case CutReason::kHandshake:
            return "handshake";
        case CutReason::kFailedSync:
            return "failed sync";
        case CutReason::kOperator:
            return "operator";
    }
    return "?";
}

std::string_view text(ResetReason reason) {
    switch (reason) {
        case ResetReason::kBehindLogStart:
            return "behind the leader's log start";
        case ResetReason::kDamaged:
            return "damaged";
        case ResetReason::kForeign:
            return "foreign records";
    }
    return "?";
}

std::string_view text(AcknowledgedBy by) {
    switch (by) {
        case AcknowledgedBy::kNothing:
            return "nothing";
        case AcknowledgedBy::kLeaderAppend:
            return "leader append";
        case AcknowledgedBy::kPolicy:
            return "policy";
    }
    return "?";
}

struct TextOf {
    std::string operator()(const Started& o) const {
        return fmt::format("started raft_incarnation={:x} data_incarnation={:x}", o.raft_incarnation.value,
                           o.data_incarnation.value);
    }
    std::string operator()(const RefusedToStart& o) const { return fmt::format("refused to start why={}", o.why); }
    std::string operator()(const DataIncarnationRenewed& o) const {
        return fmt::format("data incarnation renewed incarnation={:x}", o.incarnation.value);
    }
    std::string operator()(const RaftRecovered& o) const {
        return fmt::format("raft recovered term={} voted_for={} snapshot_last_index={} entries={}", o.term.value,
                           o.voted_for.value, o.snapshot_last_index.value, o.entries.size());
    }
    std::string operator()(const VoteGranted& o) const {
        return fmt::format("vote granted term={} candidate={} voter_incarnation={:x}", o.term.value, o.candidate.value,
                           o.voter_incarnation.value);
    }
    std::string operator()(const RaftLeaderElected& o) const {
        return fmt::format("raft leader elected term={} caretaker={}", o.term.value, o.caretaker);
    }
    std::string operator()(const RaftLeaderSteppedDown& o) const {
        return fmt::format("raft leader stepped down term={}", o.term.value);
    }
    std::string operator()(const ReadRoundAsked& o) const {
        return fmt::format("read round asked term={} round={}", o.term.value, o.round.value);
    }
    std::string operator()(const ReadRoundConfirmed& o) const {
        return fmt::format("read round confirmed term={} up_to={}", o.term.value, o.up_to.value);
    }
    std::string operator()(const RaftEntryAppended& o) const {
        return fmt::format("raft entry appended index={} term={} content={:016x}", o.index.value, o.term.value,
                           o.content);
    }
    std::string operator()(const RaftEntriesTruncated& o) const {
        return fmt::format("raft entries truncated from={} term={}", o.from.value, o.term.value);
    }
    std::string operator()(const RaftEntryCommitted& o) const {
        return fmt::format("raft entry committed index={} term={} content={:016x} learned_in={}", o.index.value,
                           o.term.value, o.content, o.learned_in.value);
    }
    std::string operator()(const RaftReplicaAdmitted& o) const {
        return fmt::format("raft replica admitted index={} broker={} incarnation={}", o.index.value, o.broker.value,
                           o.incarnation.value);
    }
    std::string operator()(const RaftVoterChanged& o) const {
        return fmt::format("raft voter changed is_voter={} named_at={}", o.is_voter, o.named_at.value);
    }
    std::string operator()(const RaftSnapshotInstalled& o) const {
        return fmt::format("raft snapshot installed last_index={} last_term={} content={:016x}", o.last_index.value,
                           o.last_term.value, o.content);
    }
    std::string operator()(const ClaimCommitted& o) const {
        return fmt::format("claim committed leader_epoch={}", o.leader_epoch.value);
    }
    std::string operator()(const LeaderServing& o) const {
        return fmt::format("leader serving leader_epoch={}", o.leader_epoch.value);
    }
    std::string operator()(const LeadershipEnded& o) const {
        return fmt::format("leadership ended leader_epoch={}", o.leader_epoch.value);
    }
    std::string operator()(const FollowingLeader& o) const {
        return fmt::format("following leader leader={} leader_epoch={}", o.leader.value, o.leader_epoch.value);
    }
    std::string operator()(const InSyncSetProposed& o) const {
        return fmt::format("in sync set proposed leader_epoch={} members={}", o.leader_epoch.value, text(o.members));
    }
    std::string operator()(const InSyncSetCommitted& o) const {
        return fmt::format("in sync set committed leader_epoch={} members={}", o.leader_epoch.value, text(o.members));
    }
    std::string operator()(const AcknowledgementSetChanged& o) const {
        return fmt::format("acknowledgement set changed leader_epoch={} members={}", o.leader_epoch.value,
                           text(o.members));
    }
    std::string operator()(const UnderReplicatedPartitions& o) const {
        return fmt::format("under replicated partitions count={}", o.count);
    }
    std::string operator()(const TopicCreated& o) const {
        return fmt::format("topic created topic={:x} name={} partitions={}", o.topic.value, o.name, o.partitions);
    }
    std::string operator()(const TopicGrown& o) const {
        return fmt::format("topic grown topic={:x} partitions={}", o.topic.value, o.partitions);
    }
    std::string operator()(const TopicShrunk& o) const {
        return fmt::format("topic shrunk topic={:x} partitions={}", o.topic.value, o.partitions);
    }
    std::string operator()(const GroupChanged& o) const {
        return fmt::format("group {} group={} member={} generation={} members={}", clients::to_text(o.news.change),
                           o.news.group, o.news.member, o.news.generation, o.news.member_count);
    }
    std::string operator()(const TopicHidden& o) const { return fmt::format("topic hidden topic={:x}", o.topic.value); }
    std::string operator()(const TopicShown& o) const { return fmt::format("topic shown topic={:x}", o.topic.value); }
    std::string operator()(const TopicDropped& o) const {
        return fmt::format("topic dropped topic={:x}", o.topic.value);
    }
    std::string operator()(const BatchAppended& o) const {
        return fmt::format("batch appended partition={} {} as_leader={}", text(o.partition), text(o.batch),
                           o.as_leader);
    }
    std::string operator()(const LogRecovered& o) const {
        return fmt::format(
            "log recovered partition={} log_start_offset={} log_end_offset={} durable_end_offset={} high_watermark={} "
            "batches={} damaged={} unverified_end_offset={}",
            text(o.partition), o.log_start_offset.value, o.log_end_offset.value, o.durable_end_offset.value,
            o.high_watermark.value, o.batches.size(), o.damaged, o.unverified_end_offset.value);
    }
    std::string operator()(const LogTruncated& o) const {
        return fmt::format("log truncated partition={} to={} reason={}", text(o.partition), o.to.value, text(o.reason));
    }
    std::string operator()(const LogReset& o) const {
        return fmt::format("log reset partition={} log_start_offset={} reason={}", text(o.partition),
                           o.log_start_offset.value, text(o.reason));
    }
    std::string operator()(const LogStartAdvanced& o) const {
        return fmt::format("log start advanced partition={} log_start_offset={}", text(o.partition),
                           o.log_start_offset.value);
    }
    std::string operator()(const DurableEndAdvanced& o) const {
        return fmt::format("durable end advanced partition={} durable_end_offset={}", text(o.partition),
                           o.durable_end_offset.value);
    }
    std::string operator()(const DamageFound& o) const {
        return fmt::format("damage found partition={} at={}", text(o.partition), o.at.value);
    }
    std::string operator()(const LogFailed& o) const {
        return fmt::format("log failed partition={}", text(o.partition));
    }
    std::string operator()(const LogReopened& o) const {
        return fmt::format("log reopened partition={} log_end_offset={}", text(o.partition), o.log_end_offset.value);
    }
    std::string operator()(const HighWatermarkAdvanced& o) const {
        return fmt::format("high watermark advanced partition={} leader_epoch={} high_watermark={} as_leader={}",
                           text(o.partition), o.leader_epoch.value, o.high_watermark.value, o.as_leader);
    }
    std::string operator()(const RecordsAcknowledged& o) const {
        return fmt::format(
            "records acknowledged partition={} base_offset={} last_offset={} leader_epoch={} by={} duplicate={}",
            text(o.partition), o.base_offset.value, o.last_offset.value, o.leader_epoch.value, text(o.by), o.duplicate);
    }
    std::string operator()(const RecordsServed& o) const {
        return fmt::format("records served partition={} leader_epoch={} from={} to={} high_watermark={}",
                           text(o.partition), o.leader_epoch.value, o.from.value, o.to.value, o.high_watermark.value);
    }
    std::string operator()(const BoundsTold& o) const {
        std::string line =
            fmt::format("bounds told partition={} leader_epoch={}", text(o.partition), o.leader_epoch.value);
        if (o.log_start_offset) line += fmt::format(" log_start_offset={}", o.log_start_offset->value);
        if (o.high_watermark) line += fmt::format(" high_watermark={}", o.high_watermark->value);
        return line;
    }
    std::string operator()(const StatusReported& o) const {
        return fmt::format(
            "status reported role={} leader_epoch={} term={} leader={} in_sync_replicas={} lagging_members={} "
            "durability=\"{}\" under_replicated={}",
            clients::name_of(o.role), o.leader_epoch.value, o.term.value, o.leader.value, text(o.in_sync_replicas),
            text(o.lagging_members), clients::name_of(o.durability), o.under_replicated_count);
    }
    std::string operator()(const ProtocolViolationRefused& o) const {
        return fmt::format("protocol violation refused rule={} what={}", o.rule, o.what);
    }
    std::string operator()(const ProducerRefused& o) const {
        return fmt::format("producer refused partition={} producer={} producer_epoch={} base_sequence={} error=\"{}\"",
                           text(o.partition), o.producer_id.value, o.producer_epoch.value, o.base_sequence,
                           clients::to_text(o.error));
    }
    std::string operator()(const MarkReached& o) const { return fmt::format("mark reached {}", name_of(o.mark)); }
};

}  // namespace

std::string to_text(const Observation& observation) {
    return std::visit(TextOf{}, observation);
}

}  // namespace tidelock::broker
