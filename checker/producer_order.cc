#include "checker/producer_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/clients/producers.h"

namespace tidelock::checker {
namespace {

/// A loss was accounted for, of records of this partition or of what is kept of producers whose records are gone: the
/// one may be known still, or not any more, where the other was lost.
bool may_remember_otherwise(const Context& context, const PartitionView& partition) {
    if (partition.legal_start == Offset(0)) return false;
    return std::ranges::any_of(context.view.partitions(), [&](const PartitionView& each) {
        const bool concerns =
            each.partition == partition.partition || each.name.starts_with(clients::kProducerIdsTopic);
        return concerns && each.confirmed_cuts > 0;
    });
}

}  // namespace

bool ProducerOrder::may_be_forgotten(const Context& context, const Progress& progress, const LastBatch& last) {
    const std::size_t producers_max = context.view.settings().producers_max;
    const auto later = std::ranges::count_if(
        progress.producers, [&](const auto& each) { return each.second.last_offset > last.last_offset; });
    const std::size_t surely_known = producers_max + 1 - clients::producers_forgotten_at_once(producers_max);
    return static_cast<std::size_t>(later) >= surely_known;
}

void ProducerOrder::note_forgotten(PartitionNumber number, ProducerId producer) {
    const Forgotten forgotten{number, producer};
    if (std::ranges::find(forgotten_, forgotten) == forgotten_.end()) forgotten_.push_back(forgotten);
}

void ProducerOrder::add_forgotten_to(ExcusedLosses& excused, const ClusterView& view) const {
    for (const Forgotten& each : forgotten_)
        for (const ClientPartition& partition : view.client_names_of(each.partition))
            excused.forgotten.push_back(ForgottenProducer{partition, each.producer});
}

void ProducerOrder::judge_batch(const Context& context, PartitionNumber number, const broker::BatchSummary& batch,
                                Progress& progress, bool report) {
    const PartitionView& partition = context.view.partition(number);
    progress.judged_end = batch.last_offset + 1;
    if (batch.producer_id.value < 0 || batch.base_sequence < 0) return;  // not idempotent, or a control batch
    const auto others = static_cast<std::int32_t>(batch.last_offset - batch.base_offset);
    const LastBatch now{batch.producer_epoch, clients::sequence_after(batch.base_sequence, others), batch.last_offset};
    const auto [last, is_first] = progress.producers.try_emplace(batch.producer_id, now);
    const LastBatch before = last->second;
    // Who was forgotten is taken for a new producer, and those begin at 0.
    const bool begins_anew = !is_first && batch.base_sequence == 0 && before.producer_epoch >= batch.producer_epoch &&
                             may_be_forgotten(context, progress, before);
    last->second = now;
    if (begins_anew) return note_forgotten(number, batch.producer_id);
    const Offset seen_at = is_first ? Offset(0) : before.last_offset;
    if (!report) return;

    const char* wrong = nullptr;
    std::int32_t expected = 0;
    if (is_first || before.producer_epoch < batch.producer_epoch) {
        if (batch.base_sequence != 0) wrong = "a gap at the start";
    } else if (before.producer_epoch > batch.producer_epoch) {
        wrong = "an older producer epoch after a newer one";
    } else {
        expected = clients::sequence_after(before.last_sequence, 1);
        if (batch.base_sequence > expected) wrong = "a gap";
        if (batch.base_sequence < expected) wrong = "a duplicate or reordered sequence";
    }
    if (wrong == nullptr || (seen_at < partition.legal_start && may_remember_otherwise(context, partition))) return;
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

void ProducerOrder::rebuild(const Context& context, PartitionNumber number, Progress& progress) {
    const PartitionView& partition = context.view.partition(number);
    progress = Progress{};
    progress.confirmed_cuts = partition.confirmed_cuts;
    for (const BatchNumber batch : partition.confirmed.batches.all())
        judge_batch(context, number, partition.table.summary(batch), progress, false);
}

ProducerOrder::Progress& ProducerOrder::progress_of(const Context& context, PartitionNumber number) {
    if (progress_.size() <= number.value) progress_.resize(number.value + 1);
    Progress& progress = progress_[number.value];
    if (progress.confirmed_cuts != context.view.partition(number).confirmed_cuts) rebuild(context, number, progress);
    return progress;
}

void ProducerOrder::judge(const Context& context, const BrokerView& broker, const broker::ProducerRefused& refused) {
    const bool is_unknown = refused.error == clients::ErrorCode::kUnknownProducerId;
    if (!is_unknown && refused.error != clients::ErrorCode::kOutOfOrderSequence) return;
    const std::optional<PartitionNumber> number = context.view.find(refused.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    Progress known = progress_of(context, *number);  // and what the leader has that nobody confirmed yet
    const std::span<const BatchNumber> log = copy.batches.all();
    for (std::size_t at = copy.batches.first_ending_past(partition.table, known.judged_end); at < log.size(); ++at)
        judge_batch(context, *number, partition.table.summary(log[at]), known, false);
    const auto last = known.producers.find(refused.producer_id);
    if (last == known.producers.end()) return;
    const bool is_retained = last->second.last_offset >= copy.log_start_offset;
    // A leader of the past has not heard of what was confirmed without it.
    const BatchNumber held = copy.batches.holding(partition.table, last->second.last_offset);
    if (is_retained && (held == kNoBatch || partition.table.summary(held).producer_id != refused.producer_id)) return;
    if (is_unknown && may_be_forgotten(context, known, last->second))
        return note_forgotten(*number, refused.producer_id);
    if (!is_retained) return;  // clients judge what is kept of it (T2)
    const bool is_next = last->second.producer_epoch == refused.producer_epoch &&
                         clients::sequence_after(last->second.last_sequence, 1) == refused.base_sequence;
    if (!is_unknown && !is_next) return;
    context.log.report(
        InvariantId::kProducerOrder, context.time_ns,
        fmt::format("{}: broker {} refused sequence {} of producer {} (epoch {}) as \"{}\", though its log has that "
                    "producer's epoch {} up to sequence {} at offset {} (T2)",
                    partition.name, broker.id.value, refused.base_sequence, refused.producer_id.value,
                    refused.producer_epoch.value, clients::to_text(refused.error), last->second.producer_epoch.value,
                    last->second.last_sequence, last->second.last_offset.value));
}

void ProducerOrder::judge(const Context& context, const BrokerView& broker,
                          const broker::RecordsAcknowledged& acknowledged) {
    if (acknowledged.by != broker::AcknowledgedBy::kPolicy) return;
    if (const std::optional<PartitionNumber> number = context.view.find(acknowledged.partition))
        judge_up_to(context, broker, *number, acknowledged.last_offset + 1);
}

void ProducerOrder::judge(const Context& context, const BrokerView& broker, const broker::LogStartAdvanced& advanced) {
    if (!broker.leadership) return;
    if (const std::optional<PartitionNumber> number = context.view.find(advanced.partition))
        judge_up_to(context, broker, *number, advanced.log_start_offset);
}

void ProducerOrder::judge_up_to(const Context& context, const BrokerView& broker, PartitionNumber number, Offset end) {
    const PartitionView& partition = context.view.partition(number);
    Progress& progress = progress_of(context, number);
    if (end <= progress.judged_end) return;

    const CopyView& copy = context.view.copy(broker, number);
    const std::span<const BatchNumber> log = copy.batches.all();
    for (std::size_t at = copy.batches.first_ending_past(partition.table, progress.judged_end); at < log.size(); ++at) {
        const broker::BatchSummary& batch = partition.table.summary(log[at]);
        if (batch.base_offset >= end) break;
        judge_batch(context, number, batch, progress, true);
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

void ProducerOrder::judge(const ClientCall& call, const ProduceCall& produce, ViolationLog& log,
                          const ExcusedLosses& excused) {
    if (produce.producer_id.value < 0 || produce.acks != Acks::kAll) return;
    const Session session{produce.partition, produce.producer_id, produce.producer_epoch};
    const std::int32_t next =
        clients::sequence_after(produce.base_sequence, static_cast<std::int32_t>(produce.values.size()));
    const auto known = acknowledged_.find(session);
    if (call.outcome == Outcome::kOk) {
        const auto deleted = deleted_.find(produce.partition.topic);
        if (deleted != deleted_.end() && call.invoked_ns <= deleted->second) return;
        if (known == acknowledged_.end())
            acknowledged_.emplace(session, Acknowledged{next, call.returned_ns});
        else if (next > known->second.next_sequence)
            known->second = Acknowledged{next, call.returned_ns};
        return;
    }
    const bool is_forgotten = produce.error == clients::ErrorCode::kUnknownProducerId ||
                              produce.error == clients::ErrorCode::kOutOfOrderSequence;
    if (excused.producers || excused.contains(produce.partition)) return;
    if (excused.has_forgotten(produce.partition, produce.producer_id)) return;
    if (!is_forgotten || known == acknowledged_.end()) return;
    const Acknowledged& before = known->second;
    if (call.invoked_ns <= before.returned_ns || produce.base_sequence > before.next_sequence) return;
    if (std::ranges::find(uncertain_topics_, produce.partition.topic) != uncertain_topics_.end()) return;
    log.report(
        InvariantId::kProducerOrder, call.returned_ns,
        fmt::format("client {} call {} of producer {} (epoch {}) with sequence {} was refused as \"{}\", though "
                    "all before sequence {} was acknowledged by policy at {} ns (T2)",
                    call.client.value, call.call, produce.producer_id.value, produce.producer_epoch.value,
                    produce.base_sequence, clients::to_text(produce.error), before.next_sequence, before.returned_ns));
}

void ProducerOrder::judge(const ClientCall& call, const DeleteTopicCall& deletion) {
    if (call.outcome == Outcome::kFailed) return;
    for (auto at = acknowledged_.begin(); at != acknowledged_.end();)
        at = at->first.partition.topic == deletion.topic ? acknowledged_.erase(at) : std::next(at);
    deleted_.insert_or_assign(deletion.topic, call.returned_ns);
    if (call.outcome == Outcome::kUnknown) uncertain_topics_.push_back(deletion.topic);
}

}  // namespace tidelock::checker
