// The follower's side carried out on its own catalogue and logs (F1-F4, L6-L8).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

/// Manifests of leaders one after another whose writes are still on their way.
constexpr std::size_t kCatalogueWritesMax = 100;

/// Exclusive: no leader may ask for a cut below it (L8). A topic that is being deleted has nothing to keep: who leads
/// without its records leads after every member had hidden it, and nobody shows it again (F2).
Offset kept_below(const Broker& broker, TopicPartition tp) {
    const storage::TopicEntry* topic = broker.topics.find(tp.topic);
    if (topic != nullptr && topic->config.is_deleting) return Offset(0);
    return broker.partitions.at(tp).high_watermark.value();
}

replication::LocalEnds local_ends(const Broker& broker, TopicPartition tp) {
    const auto view = broker.logs.view(tp);
    const storage::EpochHistory* history = broker.logs.history(tp);
    CHECK(view.has_value());
    const LeaderEpoch last_epoch =
        view->log_end_offset > view->log_start_offset ? history->epoch_at(view->log_end_offset - 1) : LeaderEpoch(0);
    return replication::LocalEnds{
        tp, last_epoch, view->log_start_offset, view->log_end_offset, view->durable_end_offset, kept_below(broker, tp)};
}

/// Follower's watermark: what the leader said, as far as this copy is durable.
void follow_high_watermark(Step& step, TopicPartition tp, Offset leader_high_watermark) {
    Broker& broker = step.broker;
    Partition& partition = broker.partitions[tp];
    const auto view = broker.logs.view(tp);
    if (!partition.high_watermark.follow(leader_high_watermark, view->durable_end_offset)) return;
    broker.logs.set_high_watermark(tp, partition.high_watermark.value());
    partition.producers.on_high_watermark(partition.high_watermark.value());
    observe(step, HighWatermarkAdvanced{tp, broker.fetcher.leader_epoch(), partition.high_watermark.value(), false});
}

bool are_batches_sound(const Broker& broker, const Bytes& batches) {
    const storage::BatchLimits& limits = broker.logs.config().segment.batch;
    const auto views = storage::split_batches(batches, limits);
    return views && std::ranges::all_of(*views, [&](const storage::BatchView& view) {
               return storage::check_batch(view.bytes.span(), limits).has_value();
           });
}

/// A leader's log start may lie inside a batch (L7). A copy that starts there takes the batch whole: its log begins at
/// the batch's first offset, and the leader's log start follows with the same answer.
void begin_inside_first_batch(Step& step, const replication::Append& append) {
    const auto view = step.broker.logs.view(append.partition);
    const auto header = storage::decode_batch_header(append.batches.span(), step.broker.logs.config().segment.batch);
    const bool is_empty = view->log_start_offset == view->log_end_offset && view->log_end_offset == append.at;
    if (!is_empty || !header || header->base_offset >= append.at || header->next_offset() <= append.at) return;
    reset_partition(step, append.partition, header->base_offset, ResetReason::kBehindLogStart);
}

struct FetchRoute {
    Step& step;
    std::vector<TopicPartition>& appended;

    [[nodiscard]] Broker& broker() const { return step.broker; }

    void operator()(const replication::SendToLeader& e) const { send(step, e.leader, e.message); }
    void operator()(const replication::SetFetchTimer& e) const {
        step.effects.push_back(SetTimer{TimerKind::kFetcher, e.min, e.max});
    }
    void operator()(const replication::ApplyManifest& e) const {
        auto catalogue = catalogue_of(e.manifest);
        if (!catalogue) return restart(step);
        const bool is_same = *catalogue == newest_catalogue(broker());
        if (is_same && broker().catalogue_writes.empty()) return finish_reconciling(step);
        if (broker().catalogue_writes.size() >= kCatalogueWritesMax) return restart(step);  // a slow disk
        write_catalogue(step, CatalogueWrite{{}, std::move(*catalogue), 0, true});
    }
    void operator()(const replication::Truncate& e) const {
        Partition& partition = broker().partitions[e.partition];
        const Offset before = broker().logs.view(e.partition)->log_end_offset;
        const Offset end = broker().logs.truncate(e.partition, e.offset);
        if (end < before) {
            forget_past(partition, end);
            if (end < partition.high_watermark.value())
                partition.high_watermark = replication::HighWatermark(
                    end, broker().logs.view(e.partition)->log_start_offset, end, high_watermark_rule(broker()));
            mark(step, Mark::kHandshakeCut);
            if (e.round_count > 1) mark(step, Mark::kHandshakeTookTwoRounds);
            observe(step, LogTruncated{e.partition, end, CutReason::kHandshake});
        }
        report_cut(e.partition);
    }
    void operator()(const replication::Reset& e) const {
        reset_partition(step, e.partition, e.log_start_offset, ResetReason::kBehindLogStart);
        mark(step, Mark::kFollowerReset);
        report_cut(e.partition);
    }
    void operator()(const replication::Discard& e) const {
        broker().partitions[e.partition].must_recopy = true;
        if (!broker().config.seed_rules.ignore_data_incarnation) return renew_data_incarnation(step);
        reset_partition(step, e.partition, Offset(0), ResetReason::kForeign);
        report_cut(e.partition);
    }
    void operator()(const replication::Append& e) const {
        if (!broker().logs.view(e.partition)) return fail_append(e.partition);
        if (!e.batches.empty()) {
            begin_inside_first_batch(step, e);
            const bool fits = are_batches_sound(broker(), e.batches);
            if (!fits || !broker().logs.append(e.partition, e.batches, step.store)) return fail_append(e.partition);
            take_file_effects(step, step.store.effects);
            note_batches(step, e.partition, e.batches, false);
            appended.push_back(e.partition);
        }
        follow_high_watermark(step, e.partition, e.leader_high_watermark);
        const Offset log_start =
            std::min(e.leader_log_start_offset, broker().partitions[e.partition].high_watermark.value());
        move_log_start(step, e.partition, log_start);
    }
    void operator()(const replication::AnswerApplied&) const {
        replication::FetchEffects next;
        std::vector<replication::LocalEnds> ends;
        for (const TopicPartition& tp : appended) ends.push_back(local_ends(broker(), tp));
        appended.clear();
        broker().fetcher.on_local_logs_changed(ends, step.now, next);
        broker().fetcher.on_answer_applied(step.now, next);
        run_fetcher(step, next);
    }
    void operator()(const replication::CutWasRefused& e) const {
        observe(step, ProtocolViolationRefused{"L8", "asked to cut to " + std::to_string(e.refusal.asked_offset.value) +
                                                         " below its high watermark " +
                                                         std::to_string(e.refusal.high_watermark.value)});
    }

    void report_cut(TopicPartition tp) const {
        replication::FetchEffects next;
        broker().fetcher.on_log_cut(local_ends(broker(), tp), step.now, next);
        run_fetcher(step, next);
    }
    void fail_append(TopicPartition tp) const {
        replication::FetchEffects next;
        broker().fetcher.on_append_failed(tp, step.now, next);
        run_fetcher(step, next);
    }
    static void restart(Step& step) {
        replication::FetchEffects next;
        step.broker.fetcher.on_reconcile_failed(step.now, next);
        run_fetcher(step, next);
    }
};

}  // namespace

void forget_past(Partition& partition, Offset log_end_offset) {
    partition.tail.truncate(log_end_offset);
    if (!partition.producers.truncate_to(log_end_offset)) partition.must_reread_producers = true;
}

void run_fetcher(Step& step, replication::FetchEffects& effects) {
    const replication::FetchEffects taken = std::move(effects);
    effects.clear();
    std::vector<TopicPartition> appended;
    for (const replication::FetchEffect& effect : taken) std::visit(FetchRoute{step, appended}, effect);
}

void on_fetcher_timer(Step& step) {
    replication::FetchEffects effects;
    step.broker.fetcher.on_timer(step.now, effects);
    run_fetcher(step, effects);
}

void reset_partition(Step& step, TopicPartition tp, Offset log_start_offset, ResetReason reason) {
    Broker& broker = step.broker;
    Partition& partition = broker.partitions[tp];
    broker.logs.reset(tp, log_start_offset);
    partition.producers.clear();
    partition.tail.clear();
    partition.must_recopy = false;
    partition.must_reread_producers = false;
    partition.high_watermark =
        replication::HighWatermark(log_start_offset, log_start_offset, log_start_offset, high_watermark_rule(broker));
    observe(step, LogReset{tp, log_start_offset, reason});
}

void finish_reconciling(Step& step) {
    Broker& broker = step.broker;
    if (broker.fetcher.phase() != replication::FetchPhase::kReconciling) return;
    std::vector<replication::LocalPartition> locals;
    std::vector<TopicPartition> all;
    for (const auto& [tp, partition] : broker.partitions) all.push_back(tp);
    for (const TopicPartition& tp : all) {
        Partition& partition = broker.partitions[tp];
        if (partition.must_recopy) {
            mark(step, Mark::kDamagedCopyRecopied);
            reset_partition(step, tp, Offset(0), ResetReason::kDamaged);
        }
        const auto view = broker.logs.view(tp);
        CHECK(view.has_value());
        partition.high_watermark = replication::HighWatermark(partition.high_watermark.value(), view->log_start_offset,
                                                              view->log_end_offset, high_watermark_rule(broker));
        locals.push_back(replication::LocalPartition{tp, broker.logs.history(tp)->entries(), view->log_start_offset,
                                                     view->log_end_offset, view->durable_end_offset,
                                                     kept_below(broker, tp)});
    }
    replication::FetchEffects effects;
    broker.fetcher.on_reconciled(std::move(locals), step.now, effects);
    run_fetcher(step, effects);
}

void report_local_logs(Step& step, std::span<const TopicPartition> changed) {
    Broker& broker = step.broker;
    std::vector<replication::LocalEnds> ends;
    for (const TopicPartition& tp : changed)
        if (broker.partitions.contains(tp) && broker.logs.view(tp)) ends.push_back(local_ends(broker, tp));
    if (ends.empty()) return;
    replication::FetchEffects effects;
    broker.fetcher.on_local_logs_changed(ends, step.now, effects);
    run_fetcher(step, effects);
}

}  // namespace tidelock::broker
