#include "checker/cut_safe.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kCutSafe;

/// The first offset at or past `from` where the copy holds a confirmed record; kNoBatch when there is none.
BatchNumber confirmed_held_past(const PartitionView& partition, const CopyView& copy, Offset from) {
    if (from >= partition.confirmed.end) return kNoBatch;
    const BatchNumber confirmed = partition.confirmed.batches.holding(partition.table, from);
    const BatchNumber held = copy.batches.holding(partition.table, from);
    return confirmed == held ? held : kNoBatch;
}

void report_confirmed_cut(const Context& context, const BrokerView& broker, const PartitionView& partition,
                          BatchNumber batch, const std::string& deed) {
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} {} though it held {}, which is confirmed (confirmed up to {}) (L8)", partition.name,
                    broker.id.value, deed, text_of(partition.table.summary(batch)), partition.confirmed.end.value));
}

bool may_be_damaged(const BrokerView& broker, const CopyView& copy) {
    return copy.fault_pending || broker.shared_fault_pending;
}

/// A failed sync takes only what was never durable (L9).
void judge_failed_sync_cut(const Context& context, const BrokerView& broker, const PartitionView& partition,
                           const CopyView& copy, Offset to) {
    if (to >= copy.durable_end_offset || may_be_damaged(broker, copy)) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("{}: broker {} cut its log to {} after a failed sync, below its durable end {} (L9)",
                                   partition.name, broker.id.value, to.value, copy.durable_end_offset.value));
}

}  // namespace

void CutSafe::judge(const Context& context, const BrokerView& broker, const broker::LogTruncated& truncated) {
    const std::optional<PartitionNumber> number = context.view.find(truncated.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    if (truncated.to >= copy.log_end_offset) return;
    switch (truncated.reason) {
        case broker::CutReason::kOperator:
            return;
        case broker::CutReason::kFailedSync:
            judge_failed_sync_cut(context, broker, partition, copy, truncated.to);
            return;
        case broker::CutReason::kHandshake:
            break;
    }
    // Who led last may have dropped the topic and got it back, empty, from one that had not: nobody misses its records.
    const bool is_on_its_way_out = partition.may_vanish && !broker.shows(truncated.partition.topic);
    if (truncated.to < copy.high_watermark && !is_on_its_way_out) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} cut its log from {} to {}, below its own high watermark {} (L8)", partition.name,
                        broker.id.value, copy.log_end_offset.value, truncated.to.value, copy.high_watermark.value));
    }
    const BatchNumber held = confirmed_held_past(partition, copy, truncated.to);
    if (held == kNoBatch || partition.may_vanish) return;
    report_confirmed_cut(context, broker, partition, held,
                         fmt::format("cut its log from {} to {}", copy.log_end_offset.value, truncated.to.value));
}

void CutSafe::judge(const Context& context, const BrokerView& broker, const broker::LogReset& reset) {
    const std::optional<PartitionNumber> number = context.view.find(reset.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const char* wrong = nullptr;
    switch (reset.reason) {
        case broker::ResetReason::kBehindLogStart: {
            if (reset.log_start_offset > partition.legal_start) wrong = "no leader's log starts there (L7)";
            const BatchNumber held = confirmed_held_past(partition, copy, reset.log_start_offset);
            if (held != kNoBatch && !partition.may_vanish) {
                report_confirmed_cut(context, broker, partition, held,
                                     fmt::format("restarted its log at {}", reset.log_start_offset.value));
            }
            break;
        }
        case broker::ResetReason::kDamaged:
            if (!copy.damaged && !may_be_damaged(broker, copy)) wrong = "it had found no damage (L4)";
            break;
        case broker::ResetReason::kForeign:
            if (!copy.batches.empty() && partition.table.summary(copy.batches.back()).leader_epoch > LeaderEpoch(0)) {
                wrong = "its records have leader epochs (L3)";
            }
            break;
    }
    if (wrong == nullptr) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("{}: broker {} dropped its log [{}, {}) and restarted at {}, but {}", partition.name,
                                   broker.id.value, copy.log_start_offset.value, copy.log_end_offset.value,
                                   reset.log_start_offset.value, wrong));
}

namespace {

/// The leader itself writes anew what internal topics hold, and drops what it wrote before.
bool is_rewritten(const PartitionView& partition) {
    return partition.name.starts_with("__");
}

/// What is wrong about a log start that moves to `to`; empty when nothing is.
std::string wrong_about(const Context& context, const BrokerView& broker, const PartitionView& partition,
                        const CopyView& copy, Offset to) {
    if (to < copy.log_start_offset) return "backwards";
    if (to > partition.high_watermark_max) {
        return fmt::format("past every high watermark (the highest is {})", partition.high_watermark_max.value);
    }
    if (!broker.leadership) {
        if (to <= partition.legal_start) return {};
        return fmt::format("though no leader's log started past {}", partition.legal_start.value);
    }
    if (to > copy.high_watermark) return fmt::format("past its high watermark {}", copy.high_watermark.value);
    if (to <= partition.deletion_asked_below || is_rewritten(partition)) return {};
    const Settings& settings = context.view.settings();
    if (!settings.retention_enabled)
        return fmt::format("though deletion was asked for below {} only", partition.deletion_asked_below.value);
    // A new leader finishes moves of the one before it, whose high watermark it may not have reached yet.
    if (to <= partition.high_watermark_max - settings.retention_records_min) return {};
    return fmt::format("though retention leaves {} records below the high watermark, which was {} at most",
                       settings.retention_records_min, partition.high_watermark_max.value);
}

}  // namespace

void CutSafe::judge(const Context& context, const BrokerView& broker, const broker::LogStartAdvanced& advanced) {
    const std::optional<PartitionNumber> number = context.view.find(advanced.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const std::string wrong = wrong_about(context, broker, partition, copy, advanced.log_start_offset);
    if (wrong.empty()) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} moved its log start from {} to {}, {} (L7)", partition.name, broker.id.value,
                    copy.log_start_offset.value, advanced.log_start_offset.value, wrong));
}

namespace {

/// Confirmed records go with their topic only when somebody asked for its deletion, or when the life of the data they
/// were durable under has ended: who copies from nothing begins with nothing (F2, I10).
void judge_dropped(const Context& context, const BrokerView& broker, TopicId topic, std::int32_t from) {
    for (std::size_t at = 0; at < broker.copies.size(); ++at) {
        const PartitionView& partition = context.view.partitions()[at];
        const CopyView& copy = broker.copies[at];
        const bool is_dropped = partition.partition.topic == topic && partition.partition.partition.value >= from;
        if (!is_dropped || !copy.exists || partition.may_vanish) continue;
        const bool is_same_life = copy.durable_under == broker.data_incarnation && !copy.damaged;
        if (!is_same_life) continue;
        const BatchNumber held =
            confirmed_held_past(partition, copy, std::max(copy.log_start_offset, partition.legal_start));
        if (held == kNoBatch) continue;
        report_confirmed_cut(context, broker, partition, held, "dropped its copy");
    }
}

}  // namespace

void CutSafe::judge(const Context& context, const BrokerView& broker, const broker::TopicShrunk& shrunk) {
    judge_dropped(context, broker, shrunk.topic, shrunk.partitions);
}

void CutSafe::judge(const Context& context, const BrokerView& broker, const broker::TopicDropped& dropped) {
    judge_dropped(context, broker, dropped.topic, 0);
}

void CutSafe::judge(const Context& context, const BrokerView& broker, const broker::ProtocolViolationRefused& refused) {
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} was asked for what {} forbids and refused: {}", broker.id.value,
                                   refused.rule, refused.what));
}

}  // namespace tidelock::checker
