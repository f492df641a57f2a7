#include "checker/producer_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

/// Sequences wrap at 2^31 (Kafka record batch v2).
std::int32_t sequence_after(std::int32_t sequence, std::int64_t count) {
    return static_cast<std::int32_t>((std::int64_t{sequence} + count) & 0x7FFF'FFFF);
}

}  // namespace

void ProducerOrder::judge_batch(const Context& context, const PartitionView& partition,
                                const broker::BatchSummary& batch, Progress& progress, bool report) {
    if (batch.producer_id.value < 0 || batch.base_sequence < 0) return;  // not idempotent, or a control batch
    const std::int64_t count = batch.last_offset - batch.base_offset + 1;
    const LastBatch now{batch.producer_epoch, sequence_after(batch.base_sequence, count - 1), batch.last_offset};
    const auto [last, is_first] = progress.producers.try_emplace(batch.producer_id, now);
    const LastBatch before = last->second;
    last->second = now;
    if (!report) return;

    const char* wrong = nullptr;
    std::int32_t expected = 0;
    if (is_first || before.producer_epoch < batch.producer_epoch) {
        // A producer whose records retention has removed may have been forgotten.
        const bool may_start_anywhere = is_first && partition.legal_start > Offset(0);
        if (batch.base_sequence != 0 && !may_start_anywhere) wrong = "a gap at the start";
    } else if (before.producer_epoch > batch.producer_epoch) {
        wrong = "an older producer epoch after a newer one";
    } else {
        expected = sequence_after(before.last_sequence, 1);
        const bool is_forgotten = before.last_offset < partition.legal_start;
        if (batch.base_sequence != expected && !is_forgotten) {
            wrong = batch.base_sequence > expected ? "a gap" : "a duplicate or reordered sequence";
        }
    }
    if (wrong == nullptr) return;
    const std::string previous =
        is_first ? std::string("nothing")
                 : fmt::format("epoch {} up to sequence {} at offset {}", before.producer_epoch.value,
                               before.last_sequence, before.last_offset.value);
    context.log.report(
        InvariantId::kProducerOrder, context.time_ns,
        fmt::format(
            "{}: {}: producer {} has sequence {} (producer epoch {}) at {}, after {}; expected sequence {} (T2)",
            partition.name, wrong, batch.producer_id.value, batch.base_sequence, batch.producer_epoch.value,
            text_of(batch), previous, expected));
}

void ProducerOrder::rebuild(const Context& context, const PartitionView& partition, Progress& progress) {
    progress.producers.clear();
    progress.judged_end = Offset(0);
    progress.confirmed_cuts = partition.confirmed_cuts;
    for (const BatchNumber batch : partition.confirmed.batches.all()) {
        const broker::BatchSummary& summary = partition.table.summary(batch);
        judge_batch(context, partition, summary, progress, false);
        progress.judged_end = summary.last_offset + 1;
    }
}

void ProducerOrder::judge(const Context& context, const BrokerView& broker,
                          const broker::RecordsAcknowledged& acknowledged) {
    if (acknowledged.by != broker::AcknowledgedBy::kPolicy) return;
    const std::optional<PartitionNumber> number = context.view.find(acknowledged.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    if (progress_.size() <= number->value) progress_.resize(number->value + 1);
    Progress& progress = progress_[number->value];
    if (progress.confirmed_cuts != partition.confirmed_cuts) rebuild(context, partition, progress);
    if (acknowledged.last_offset < progress.judged_end) return;

    const CopyView& copy = context.view.copy(broker, *number);
    const std::span<const BatchNumber> log = copy.batches.all();
    for (std::size_t at = copy.batches.first_ending_past(partition.table, progress.judged_end); at < log.size(); ++at) {
        const broker::BatchSummary& batch = partition.table.summary(log[at]);
        if (batch.base_offset > acknowledged.last_offset) break;
        judge_batch(context, partition, batch, progress, true);
        progress.judged_end = batch.last_offset + 1;
    }
}

void ProducerOrder::judge(const ClientCall& call, const InitProducerIdCall& init, ViolationLog& log) {
    if (call.outcome != Outcome::kOk || init.producer_id == kNoProducer) return;
    const auto [holder, is_new] = given_ids_.try_emplace(init.producer_id, call.call);
    if (is_new) return;
    log.report(InvariantId::kProducerOrder, call.returned_ns,
               fmt::format("client {} call {} was given the new producer id {}, which call {} had been given (T2)",
                           call.client.value, call.call, init.producer_id.value, holder->second));
}

}  // namespace tidelock::checker
