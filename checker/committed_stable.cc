#include "checker/committed_stable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checker/acked_survival.h"
#include "checker/loss.h"

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kCommittedStable;

/// What is served now must lie on the path served before.
void judge_content(const Context& context, const BrokerView& broker, const PartitionView& partition,
                   const CopyView& copy, const broker::RecordsServed& served) {
    const Offset shared_end = std::min(served.to, partition.served.end);
    if (shared_end <= served.from) return;
    const BatchNumber before = partition.served.batches.holding(partition.table, shared_end - 1);
    const BatchNumber now = copy.batches.holding(partition.table, shared_end - 1);
    if (before == now || before == kNoBatch || now == kNoBatch) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} served {} where consumers were served {} before", partition.name, broker.id.value,
                    text_of(partition.table.summary(now)), text_of(partition.table.summary(before))));
}

/// No copy knows a high watermark that no leader ever had.
void judge_heard(const Context& context, const BrokerView& broker, const PartitionView& partition,
                 Offset high_watermark, const char* how) {
    if (high_watermark <= partition.high_watermark_max) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} {} the high watermark {}, but no leader's was ever past {} (I6)", partition.name,
                    broker.id.value, how, high_watermark.value, partition.high_watermark_max.value));
}

/// A reader is never told less than this leader told before, nor more than it knows.
void judge_told(const Context& context, const BrokerView& broker, PartitionNumber number, LeaderEpoch leader_epoch,
                Offset high_watermark) {
    const PartitionView& partition = context.view.partition(number);
    const CopyView& copy = context.view.copy(broker, number);
    if (copy.told_under == leader_epoch && high_watermark < copy.told_high_watermark) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} told a consumer the high watermark {} after {} under one epoch {} (I6)",
                        partition.name, broker.id.value, high_watermark.value, copy.told_high_watermark.value,
                        leader_epoch.value));
    }
    const Offset known = copy.leader_epoch == leader_epoch ? copy.leader_high_watermark
                                                           : std::max(copy.high_watermark, copy.log_start_offset);
    if (high_watermark <= known) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format(
            "{}: broker {} told a consumer the high watermark {} under epoch {}, past {} that it knows (I6, I7)",
            partition.name, broker.id.value, high_watermark.value, leader_epoch.value, known.value));
}

/// The log begins where it is told to begin (L7).
void judge_told_start(const Context& context, const BrokerView& broker, PartitionNumber number,
                      const broker::BoundsTold& told) {
    const CopyView& copy = context.view.copy(broker, number);
    const bool went_back = copy.told_under == told.leader_epoch && *told.log_start_offset < copy.told_log_start_offset;
    if (*told.log_start_offset == copy.log_start_offset && !went_back) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format(
            "{}: broker {} told a consumer the log start {} under epoch {}; its log starts at {}, and it told {} "
            "before (L7)",
            context.view.partition(number).name, broker.id.value, told.log_start_offset->value, told.leader_epoch.value,
            copy.log_start_offset.value, copy.told_log_start_offset.value));
}

}  // namespace

void CommittedStable::judge(const Context& context, const BrokerView& broker, const broker::BoundsTold& told) {
    const std::optional<PartitionNumber> number = context.view.find(told.partition);
    if (!number) return;
    if (told.high_watermark) judge_told(context, broker, *number, told.leader_epoch, *told.high_watermark);
    if (told.log_start_offset) judge_told_start(context, broker, *number, told);
}

void CommittedStable::judge(const Context& context, const BrokerView& broker, const broker::LogRecovered& recovered) {
    const std::optional<PartitionNumber> number = context.view.find(recovered.partition);
    if (!number) return;
    judge_heard(context, broker, context.view.partition(*number), recovered.high_watermark, "recovered");
}

void CommittedStable::judge(const Context& context, const BrokerView& broker,
                            const broker::HighWatermarkAdvanced& advanced) {
    const std::optional<PartitionNumber> number = context.view.find(advanced.partition);
    if (!number) return;
    const CopyView& copy = context.view.copy(broker, *number);
    const std::string& name = context.view.partition(*number).name;
    if (advanced.as_leader && copy.leader_epoch == advanced.leader_epoch &&
        advanced.high_watermark < copy.leader_high_watermark) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("{}: broker {} moved its high watermark back from {} to {} under epoch {} (I6)",
                                       name, broker.id.value, copy.leader_high_watermark.value,
                                       advanced.high_watermark.value, advanced.leader_epoch.value));
    }
    if (!advanced.as_leader && advanced.high_watermark < copy.high_watermark) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} follows its leader's high watermark back from {} to {} (I6)", name,
                        broker.id.value, copy.high_watermark.value, advanced.high_watermark.value));
    }
    if (!advanced.as_leader)
        judge_heard(context, broker, context.view.partition(*number), advanced.high_watermark, "heard");
    if (advanced.high_watermark > copy.log_end_offset) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} moved its high watermark to {}, past its own log end {} (I6)", name,
                        broker.id.value, advanced.high_watermark.value, copy.log_end_offset.value));
    }
}

void CommittedStable::judge(const Context& context, const BrokerView& broker, const broker::RecordsServed& served) {
    const std::optional<PartitionNumber> number = context.view.find(served.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const bool knows_high_watermark = copy.leader_epoch == served.leader_epoch;
    const Offset limit =
        knows_high_watermark ? std::min(copy.leader_high_watermark, served.high_watermark) : served.high_watermark;
    if (served.to > limit && served.to > served.from) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} served offsets [{}, {}) under epoch {}, past the high watermark {} (I7)",
                        partition.name, broker.id.value, served.from.value, served.to.value, served.leader_epoch.value,
                        limit.value));
    }
    judge_told(context, broker, *number, served.leader_epoch, served.high_watermark);
    judge_content(context, broker, partition, copy, served);
}

void CommittedStable::judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving,
                            ClusterView& view, FaultBudget& budget) {
    const ClaimMoment* superseded = view.superseded_at(serving.leader_epoch);
    const std::size_t count = superseded != nullptr ? superseded->ends.size() : view.partitions().size();
    for (std::uint32_t at = 0; at < count; ++at) {
        const PartitionNumber number(at);
        const StablePrefix& served = view.partition(number).served;
        const Offset end = superseded != nullptr ? superseded->ends[at].served : served.end;
        const std::optional<Loss> loss = find_loss(view, broker, number, served, end);
        if (!loss) continue;
        std::string message = fmt::format(
            "{}: records that consumers were served (up to {}) are gone when broker {} begins to serve under epoch {}: "
            "{}",
            view.partition(number).name, end.value, broker.id.value, serving.leader_epoch.value, loss->explanation);
        if (superseded != nullptr) {
            // The newer leader settles what is lost for good.
            if (!loss->is_excused) context.log.report(kThis, context.time_ns, std::move(message));
            continue;
        }
        if (loss->is_excused) {
            excuse(budget, context.time_ns, message);
            view.note_excused_loss(number, broker);
        } else {
            context.log.report(kThis, context.time_ns, std::move(message));
        }
        view.accept_served_loss(number, loss->first_missing);
    }
}

}  // namespace tidelock::checker
