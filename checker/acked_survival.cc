#include "checker/acked_survival.h"

#include <fmt/format.h>

#include <utility>

#include "checker/loss.h"

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kAckedSurvival;
constexpr std::size_t kExcusesKeptMax = 8;

/// The broker holds the batch durably, or did when it was the member that the leader counts.
bool has_or_had(const ClusterView& view, const BrokerView& leader, BrokerId broker, PartitionNumber number,
                BatchNumber batch) {
    const CopyView& copy = view.copy(view.broker(broker), number);
    const PartitionView& partition = view.partition(number);
    if (view.holds_durably(copy, partition, batch)) return true;
    if (!leader.leadership || !leader.leadership->acknowledgement_set) return false;
    for (const Replica& member : *leader.leadership->acknowledgement_set) {
        if (member.broker != broker) continue;
        const Offset last_offset = partition.table.summary(batch).last_offset;
        if (view.once_held_as(member, copy, last_offset)) return true;
        if (view.has_dropped_as(member, copy, last_offset, leader)) return true;
        if (view.has_retained_past(copy, partition, batch, leader)) return true;
    }
    return false;
}

std::string positions_text(const ClusterView& view, PartitionNumber number) {
    std::string text;
    for (const BrokerView& broker : view.brokers()) {
        const CopyView& copy = view.copy(broker, number);
        text += fmt::format("{}broker {}: durable end {}, log end {}{}", text.empty() ? "" : "; ", broker.id.value,
                            copy.durable_end_offset.value, copy.log_end_offset.value, copy.damaged ? ", damaged" : "");
    }
    return text;
}

/// Enough brokers hold the batch durably, or held it until a fault took it.
void judge_copies(const Context& context, const BrokerView& leader, PartitionNumber number, BatchNumber batch,
                  const broker::RecordsAcknowledged& acknowledged) {
    const ClusterView& view = context.view;
    const PartitionView& partition = view.partition(number);
    std::int32_t copies = 0;
    for (const BrokerView& broker : view.brokers()) {
        if (has_or_had(view, leader, broker.id, number, batch)) ++copies;
    }
    if (copies >= view.settings().min_insync_replicas) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format(
            "{}: broker {} acknowledged offsets {}..{} under epoch {} with {} durable copies, {} are promised (I8, "
            "L2): {}",
            partition.name, leader.id.value, acknowledged.base_offset.value, acknowledged.last_offset.value,
            acknowledged.leader_epoch.value, copies, view.settings().min_insync_replicas,
            positions_text(view, number)));
}

/// Every member of the leader's acknowledgement set holds it: any of them may become the next leader.
void judge_members(const Context& context, const BrokerView& leader, PartitionNumber number, BatchNumber batch,
                   const broker::RecordsAcknowledged& acknowledged) {
    if (!leader.leadership || !leader.leadership->acknowledgement_set) return;
    const ClusterView& view = context.view;
    const PartitionView& partition = view.partition(number);
    for (const Replica& member : *leader.leadership->acknowledgement_set) {
        if (has_or_had(view, leader, member.broker, number, batch)) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format(
                "{}: broker {} acknowledged offsets {}..{} under epoch {} though broker {} of its acknowledgement "
                "set {} does not hold them durably (I6, A2): {}",
                partition.name, leader.id.value, acknowledged.base_offset.value, acknowledged.last_offset.value,
                acknowledged.leader_epoch.value, member.broker.value, text_of(*leader.leadership->acknowledgement_set),
                positions_text(view, number)));
        return;
    }
}

/// The committed set is not smaller than the minimum when the record is confirmed (I8).
void judge_minimum(const Context& context, const BrokerView& leader, PartitionNumber number,
                   const broker::RecordsAcknowledged& acknowledged) {
    if (!leader.leadership || !leader.leadership->committed_set) return;
    const std::vector<Replica>& set = *leader.leadership->committed_set;
    const std::int32_t minimum = context.view.settings().min_insync_replicas;
    if (static_cast<std::int32_t>(set.size()) >= minimum) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} acknowledged offsets {}..{} under epoch {} with the in-sync set {}, "
                    "which is smaller than {} (I8)",
                    context.view.partition(number).name, leader.id.value, acknowledged.base_offset.value,
                    acknowledged.last_offset.value, acknowledged.leader_epoch.value, text_of(set), minimum));
}

/// acks=leader, where it is answered durably (A5): no set is waited for, but the leader's own sync is.
void judge_own_copy(const Context& context, const BrokerView& leader, PartitionNumber number,
                    const broker::RecordsAcknowledged& acknowledged) {
    if (!context.view.settings().ack_leader_durably) return;
    const CopyView& copy = context.view.copy(leader, number);
    if (copy.durable_end_offset > acknowledged.last_offset) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} acknowledged offsets {}..{} under epoch {} to a producer that waits for its sync, "
                    "but its log is durable up to {} (A5)",
                    context.view.partition(number).name, leader.id.value, acknowledged.base_offset.value,
                    acknowledged.last_offset.value, acknowledged.leader_epoch.value, copy.durable_end_offset.value));
}

}  // namespace

void excuse(FaultBudget& budget, std::int64_t time_ns, const std::string& reason) {
    ++budget.losses_excused;
    if (budget.excused.size() < kExcusesKeptMax) budget.excused.push_back(ExcusedLoss{time_ns, reason});
}

void AckedSurvival::judge(const Context& context, const BrokerView& broker,
                          const broker::RecordsAcknowledged& acknowledged) {
    if (acknowledged.by == broker::AcknowledgedBy::kNothing) return;
    const std::optional<PartitionNumber> number = context.view.find(acknowledged.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const BatchNumber batch = copy.batches.holding(partition.table, acknowledged.last_offset);
    // A duplicate may be answered from the producer table when retention has removed the records.
    if (acknowledged.duplicate && acknowledged.last_offset < copy.log_start_offset) return;
    if (batch == kNoBatch) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} acknowledged offsets {}..{} which its log [{}, {}) does not hold",
                        partition.name, broker.id.value, acknowledged.base_offset.value, acknowledged.last_offset.value,
                        copy.log_start_offset.value, copy.log_end_offset.value));
        return;
    }
    if (acknowledged.by == broker::AcknowledgedBy::kLeaderAppend)
        return judge_own_copy(context, broker, *number, acknowledged);
    if (!acknowledged.duplicate) judge_minimum(context, broker, *number, acknowledged);
    judge_copies(context, broker, *number, batch, acknowledged);
    judge_members(context, broker, *number, batch, acknowledged);
}

void AckedSurvival::judge_leader(const Context& context, const BrokerView& broker, const std::string& when,
                                 ClusterView& view, FaultBudget& budget) {
    for (std::uint32_t at = 0; at < view.partitions().size(); ++at) {
        const PartitionNumber number(at);
        const std::optional<Loss> loss =
            find_loss(view, broker, number, view.partition(number).confirmed, view.partition(number).confirmed.end);
        if (!loss) continue;
        std::string message =
            fmt::format("{}: a confirmed record is lost {}: {}", view.partition(number).name, when, loss->explanation);
        if (loss->is_excused) {
            excuse(budget, context.time_ns, message);
            view.note_excused_loss(number, broker);
        } else {
            context.log.report(kThis, context.time_ns, std::move(message));
        }
        view.accept_confirmed_loss(number, loss->first_missing);
    }
    view.note_excused_gaps(broker);
}

void AckedSurvival::judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving,
                          ClusterView& view, FaultBudget& budget) {
    judge_leader(
        context, broker,
        fmt::format("when broker {} begins to serve under epoch {}", broker.id.value, serving.leader_epoch.value), view,
        budget);
}

void AckedSurvival::judge_at_end(const Context& context, const BrokerView& leader, ClusterView& view,
                                 FaultBudget& budget) {
    judge_leader(context, leader, fmt::format("at the end, led by broker {}", leader.id.value), view, budget);
}

}  // namespace tidelock::checker
