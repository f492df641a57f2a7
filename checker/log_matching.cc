#include "checker/log_matching.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kLogMatching;

/// Judges one batch put after `previous`; `deed` says how it came there.
void judge_batch(const Context& context, const BrokerView& broker, const PartitionView& partition,
                 const broker::BatchSummary& batch, BatchNumber previous, const char* deed) {
    const BatchTable& table = partition.table;
    if (previous != kNoBatch && table.summary(previous).leader_epoch > batch.leader_epoch) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} {} {} after {}: epochs in a log never go down (L3)", partition.name,
                        broker.id.value, deed, text_of(batch), text_of(table.summary(previous))));
    }
    const std::optional<BatchNumber> same = table.find_same(batch);
    if (!same) {
        const std::optional<BatchNumber> other = table.find(batch.leader_epoch, batch.base_offset);
        if (!other || batch.leader_epoch == LeaderEpoch(0)) return;
        context.log.report(
            kThis, context.time_ns,
            fmt::format(
                "{}: broker {} {} {}, but that epoch's batch at that offset is {} (producer {}, sequence {}; here "
                "producer {}, sequence {}): one epoch and offset, one content",
                partition.name, broker.id.value, deed, text_of(batch), text_of(table.summary(*other)),
                table.summary(*other).producer_id.value, table.summary(*other).base_sequence, batch.producer_id.value,
                batch.base_sequence));
        return;
    }
    const BatchNumber known_previous = table.at(*same).previous;
    if (previous == kNoBatch || known_previous == kNoBatch || previous == known_previous) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format(
            "{}: broker {} {} {} after {}, elsewhere the same batch follows {}: copies that agree on an epoch and "
            "offset must agree on everything before it",
            partition.name, broker.id.value, deed, text_of(batch), text_of(table.summary(previous)),
            text_of(table.summary(known_previous))));
}

/// A fault was reported in it, and it was not copied anew since.
bool is_known_damaged(const Context& context, const BrokerView& broker, const TopicPartition& which) {
    const std::optional<PartitionNumber> number = context.view.find(which);
    if (!number) return false;
    const CopyView& copy = context.view.copy(broker, *number);
    return copy.damaged || copy.fault_pending;
}

bool is_known_somewhere(const PartitionView& partition, const broker::BatchSummary& batch) {
    return partition.table.find_same(batch).has_value();
}

}  // namespace

void LogMatching::judge(const Context& context, const BrokerView& broker, const broker::BatchAppended& appended) {
    const std::optional<PartitionNumber> number = context.view.find(appended.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const broker::BatchSummary& batch = appended.batch;
    // A copy that restarts at a log start inside a batch gets that whole batch (L7).
    const bool fits = batch.base_offset == copy.log_end_offset ||
                      (copy.batches.empty() && batch.base_offset <= copy.log_start_offset &&
                       batch.last_offset >= copy.log_start_offset);
    if (!fits) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("{}: broker {} appended {} while its log ends at {}: a gap or overlap is never "
                                       "appended (F4)",
                                       partition.name, broker.id.value, text_of(batch), copy.log_end_offset.value));
    }
    const bool is_unheard_of = !appended.as_leader && !is_known_somewhere(partition, batch) &&
                               !partition.table.find(batch.leader_epoch, batch.base_offset);
    if (is_unheard_of) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("{}: broker {} copied {}, which no leader ever appended", partition.name,
                                       broker.id.value, text_of(batch)));
    }
    judge_batch(context, broker, partition, batch, copy.batches.back(), appended.as_leader ? "appended" : "copied");
}

void LogMatching::judge(const Context& context, const BrokerView& broker, const broker::LogTruncated& truncated) {
    const std::optional<PartitionNumber> number = context.view.find(truncated.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const BatchNumber cut = context.view.copy(broker, *number).batches.holding(partition.table, truncated.to);
    if (cut == kNoBatch || partition.table.summary(cut).base_offset == truncated.to) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} cut its log to {}, inside the batch of {}: batches are whole (L1)", partition.name,
                    broker.id.value, truncated.to.value, text_of(partition.table.summary(cut))));
}

void LogMatching::judge(const Context& context, const BrokerView& broker, const broker::DurableEndAdvanced& advanced) {
    const std::optional<PartitionNumber> number = context.view.find(advanced.partition);
    if (!number) return;
    const CopyView& copy = context.view.copy(broker, *number);
    if (advanced.durable_end_offset <= copy.log_end_offset) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("{}: broker {} calls its log durable up to {}, past its end {} (L2)",
                                   context.view.partition(*number).name, broker.id.value,
                                   advanced.durable_end_offset.value, copy.log_end_offset.value));
}

namespace {

/// A fault may have hurt a batch that recovery took by its header alone: the next read of it finds that. Until then it
/// stands for the one that was there.
std::optional<BatchNumber> stood_for(const PartitionView& partition, const CopyView& copy,
                                     const broker::LogRecovered& recovered, const broker::BatchSummary& batch) {
    if (!copy.fault_pending || batch.last_offset >= recovered.unverified_end_offset) return std::nullopt;
    const std::optional<BatchNumber> known = partition.table.find(batch.leader_epoch, batch.base_offset);
    if (!known || partition.table.summary(*known).last_offset != batch.last_offset) return std::nullopt;
    return known;
}

/// What was durable in the life before must be there, byte for byte; else: what is not.
std::optional<std::string> missing_durable_part(const BrokerView& broker, const PartitionView& partition,
                                                const CopyView& copy, const broker::LogRecovered& recovered) {
    std::size_t at = 0;
    const std::vector<broker::BatchSummary>& found = recovered.batches;
    for (const BatchNumber expected : copy.batches.all()) {
        const broker::BatchSummary& batch = partition.table.summary(expected);
        if (batch.last_offset >= copy.durable_end_offset) return std::nullopt;
        if (batch.last_offset < std::max(partition.legal_start, copy.log_start_offset)) continue;
        while (at < found.size() && found[at].base_offset < batch.base_offset) ++at;
        if (at < found.size() && is_same_batch(found[at], batch)) continue;
        if (at < found.size() && stood_for(partition, copy, recovered, found[at]) == expected) continue;
        const std::string instead = at < found.size() ? text_of(found[at]) : std::string("nothing");
        return fmt::format(
            "{}: broker {} had {} durable (durable end {}), recovered {} instead [{}, {}) and does not "
            "call the copy damaged (L4)",
            partition.name, broker.id.value, text_of(batch), copy.durable_end_offset.value, instead,
            recovered.log_start_offset.value, recovered.log_end_offset.value);
    }
    return std::nullopt;
}

}  // namespace

void LogMatching::judge_promise(const Context& context, const BrokerView& broker, PartitionNumber number,
                                const std::optional<std::string>& missing) {
    // A journal that lost its last promise and a log that lost the promised records: nothing is left to tell by.
    if (!missing || broker.shared_fault_pending) return;
    const CopyView& copy = context.view.copy(broker, number);
    if (!copy.fault_pending) {
        context.log.report(kThis, context.time_ns, *missing + ", though no fault hit its disk");
    } else if (copy.durable_under != Incarnation(0)) {
        shortfalls_.push_back({broker.id, broker.life, copy.durable_under, *missing});
    }
}

void LogMatching::judge(const Context& context, const BrokerView& broker, const broker::LogRecovered& recovered) {
    const std::optional<PartitionNumber> number = context.view.find(recovered.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const bool may_differ = copy.fault_pending || broker.shared_fault_pending;
    if (!may_differ && recovered.damaged && !copy.damaged) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} calls its copy, durable up to {}, damaged, though no fault hit it (L4)",
                        partition.name, broker.id.value, copy.durable_end_offset.value));
    }
    if (!recovered.damaged && copy.exists && !copy.damaged)
        judge_promise(context, broker, *number, missing_durable_part(broker, partition, copy, recovered));
    if (recovered.damaged) return;  // what is left of it counts for nothing

    BatchNumber previous = kNoBatch;
    for (const broker::BatchSummary& batch : recovered.batches) {
        if (const auto known = stood_for(partition, copy, recovered, batch)) {
            previous = *known;
            continue;
        }
        judge_batch(context, broker, partition, batch, previous, "recovered");
        const std::optional<BatchNumber> known = partition.table.find_same(batch);
        if (!known) {
            context.log.report(kThis, context.time_ns,
                               fmt::format("{}: broker {} recovered {}, which was never appended anywhere",
                                           partition.name, broker.id.value, text_of(batch)));
            return;
        }
        previous = *known;
    }
}

void LogMatching::judge(const Context& context, const BrokerView& broker, const broker::Started& started) {
    for (const Shortfall& shortfall : shortfalls_) {
        const bool is_hushed_up = shortfall.broker == broker.id && shortfall.life == broker.life &&
                                  shortfall.promised_under == started.data_incarnation;
        if (!is_hushed_up) continue;
        context.log.report(kThis, context.time_ns,
                           fmt::format("{}, nor does it take a new data incarnation (I10)", shortfall.message));
    }
    std::erase_if(shortfalls_, [&](const Shortfall& shortfall) { return shortfall.broker == broker.id; });
}

void LogMatching::judge(const Context& context, const BrokerView& broker, const broker::DamageFound& found) {
    if (broker.shared_fault_pending || is_known_damaged(context, broker, found.partition)) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} calls its copy damaged at offset {}, though no fault hit it: the broker "
                    "promised what was not durable, or lost it by itself (L4)",
                    context.view.name_of(found.partition), broker.id.value, found.at.value));
}

void LogMatching::judge_acting(const Context& context, const BrokerView& broker) {
    if (broker.shared_fault_pending) return;
    for (std::size_t at = 0; at < broker.copies.size(); ++at) {
        const CopyView& copy = broker.copies[at];
        const PartitionView& partition = context.view.partitions()[at];
        const bool is_missing = copy.exists && !copy.recovered && !copy.fault_pending && !partition.may_vanish &&
                                copy.durable_end_offset > std::max(copy.log_start_offset, partition.legal_start);
        if (!is_missing) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} acts in life {} without having recovered its copy, durable up to {} "
                        "before, though no fault hit its disk (L4)",
                        partition.name, broker.id.value, broker.life, copy.durable_end_offset.value));
        return;
    }
}

}  // namespace tidelock::checker
