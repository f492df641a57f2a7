// Between files, state files and the log store on one side and everybody whose promises rest on them on the other (L2,
// L4, L9).
#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

constexpr Duration kDiskRetry = milliseconds(500);

void retry_disk_later(Step& step) {
    Broker& broker = step.broker;
    if (!broker.is_disk_full) mark(step, Mark::kDiskFull);
    broker.is_disk_full = true;
    broker.is_disk_refusing = true;
    step.effects.push_back(SetTimer{TimerKind::kDiskRetry, kDiskRetry, kDiskRetry});
    refresh_eligibility(step);
}

void step_state_file(Step& step, storage::StateFile& file, storage::FileOwner owner, const storage::FileEvent& event) {
    std::vector<storage::FileEffect> effects;
    const storage::StateFileOutcome outcome = file.step(event, effects);
    take_file_effects(step, effects);
    switch (outcome) {
        case storage::StateFileOutcome::kNothing:
            return;
        case storage::StateFileOutcome::kDurable:
            return on_state_file_durable(step, owner);
        case storage::StateFileOutcome::kFull:
            return retry_disk_later(step);
        case storage::StateFileOutcome::kFailed:
            resign(step, Mark::kLeaderResignedOnFailedSync);
            return refuse_to_start(step, "a state file cannot be written; replace the disk");
    }
}

storage::FileOwner owner_of_event(const Broker& broker, const storage::FileEvent& event) {
    if (const auto* synced = std::get_if<storage::FileSynced>(&event)) return storage::owner_of(synced->op);
    if (const auto* read = std::get_if<storage::FileReadDone>(&event)) return storage::owner_of(read->op);
    const storage::FileName& name = std::get<storage::WriteFailed>(event).name;
    if (broker.identity_file.owns(name)) return storage::FileOwner::kIdentity;
    if (broker.raft_file.owns(name)) return storage::FileOwner::kRaft;
    if (broker.topics_file.owns(name)) return storage::FileOwner::kTopics;
    return storage::FileOwner::kLogStore;
}

void cut_after_failure(Step& step, TopicPartition tp, Offset log_end_offset) {
    const auto found = step.broker.partitions.find(tp);
    if (found == step.broker.partitions.end()) return;
    forget_past(found->second, log_end_offset);
    observe(step, LogTruncated{tp, log_end_offset, CutReason::kFailedSync});
}

struct ReadRoute {
    Step& step;
    const storage::RecordsRead* read;  // null: it failed
    TopicPartition tp;
    storage::ReadFailure failure;  // meaningful if it failed

    void operator()(const ConsumerRead& purpose) const {
        if (read != nullptr)
            on_consumer_read(step, purpose, *read);
        else
            fail_consumer_read(step, purpose, tp, failure);
    }
    void operator()(const TimeRead& purpose) const { on_time_read(step, purpose, tp, read, failure); }
    void operator()(const FollowerRead& purpose) const { on_follower_read(step, purpose, read, tp); }
    void operator()(const RebuildRead& purpose) const {
        const auto& leading = step.broker.leading;
        if (!leading || leading->leader_epoch != purpose.leader_epoch) return;
        const bool is_wanted = std::ranges::find(leading->rebuilds, tp, &Rebuild::partition) != leading->rebuilds.end();
        // A leader that cannot read what it must answer from may not lead; what was dropped it need not read.
        if (read == nullptr && is_wanted)
            resign(step, Mark::kDamageFoundAtRead);
        else if (read != nullptr)
            on_rebuild_read(step, *read);
        else
            start_rebuild_reads(step);
    }
};

void on_read_ended(Step& step, storage::ReadId id, const storage::RecordsRead* read, TopicPartition tp,
                   storage::ReadFailure failure = {}) {
    const auto found = step.broker.reads.find(id);
    if (found == step.broker.reads.end()) return;
    const ReadPurpose purpose = found->second.purpose;
    step.broker.reads.erase(found);
    std::visit(ReadRoute{step, read, tp, failure}, purpose);
}

struct ReportRoute {
    Step& step;

    void operator()(const storage::Persisted& report) const {
        Broker& broker = step.broker;
        observe(step, DurableEndAdvanced{report.tp, report.durable_end_offset});
        if (broker.partitions.contains(report.tp)) step.persisted.push_back(report.tp);  // else hidden: being deleted
    }
    void operator()(const storage::RecordsRead& report) const {
        on_read_ended(step, report.read_id, &report, report.tp);
    }
    void operator()(const storage::ReadFailed& report) const {
        on_read_ended(step, report.read_id, nullptr, report.tp, report.reason);
    }
    void operator()(const storage::LogDamaged& report) const {
        Broker& broker = step.broker;
        observe(step, DamageFound{report.tp, report.at_offset});
        mark(step, Mark::kDamageFoundAtRead);
        // A hidden partition may be shown again; then its log says that it is damaged.
        if (const auto found = broker.partitions.find(report.tp); found != broker.partitions.end())
            found->second.must_recopy = true;
        record_damage(step);
    }
    void operator()(const storage::LogFailed& report) const {
        observe(step, LogFailed{report.tp});
        cut_after_failure(step, report.tp, report.log_end_offset);
        if (report.is_final) retry_disk_later(step);
        step.broker.fetcher.stop();
        resign(step, Mark::kLeaderResignedOnFailedSync);
        refresh_eligibility(step);
    }
    void operator()(const storage::LogReopened& report) const {
        mark(step, Mark::kLogReopenedAfterFailedSync);
        observe(step, LogReopened{report.tp, report.log_end_offset});
        refresh_eligibility(step);
        follow_decided_leader(step);
        resume_static_role(step);
    }
    void operator()(const storage::DiskFull&) const { retry_disk_later(step); }
    void operator()(const storage::JournalFailed& report) const {
        if (report.is_final) retry_disk_later(step);
    }
    void operator()(const storage::RemovalGivenUp&) const {
        // Nobody else asks for it, and no record depends on it: whoever leads goes on.
        step.effects.push_back(SetTimer{TimerKind::kDiskRetry, kDiskRetry, kDiskRetry});
    }
};

}  // namespace

void on_file_completed(Step& step, const storage::FileEvent& event) {
    Broker& broker = step.broker;
    switch (owner_of_event(broker, event)) {
        case storage::FileOwner::kIdentity:
            return step_state_file(step, broker.identity_file, storage::FileOwner::kIdentity, event);
        case storage::FileOwner::kRaft:
            return step_state_file(step, broker.raft_file, storage::FileOwner::kRaft, event);
        case storage::FileOwner::kTopics:
            return step_state_file(step, broker.topics_file, storage::FileOwner::kTopics, event);
        case storage::FileOwner::kLogStore:
            return broker.logs.step(event, step.store);
    }
}

storage::ReadId note_read(Step& step, ReadPurpose purpose) {
    const storage::ReadId id(step.broker.next_read++);
    step.broker.reads.emplace(id, ReadUnderWay{std::move(purpose), step.now});
    return id;
}

void resign(Step& step, Mark why) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    mark(step, why);
    if (broker.config.preset == Preset::kGroup) {
        run_raft(step, raft::StepDownRequested{});
    } else {
        end_leading(step);
        retry_static_role_later(step);  // nobody else will lead
    }
}

void on_store_report(Step& step, const storage::StoreReport& report) {
    std::visit(ReportRoute{step}, report);
}

void on_persisted(Step& step) {
    Broker& broker = step.broker;
    const std::vector<TopicPartition> persisted = std::move(step.persisted);
    step.persisted.clear();
    if (!broker.leading) return report_local_logs(step, persisted);
    for (const TopicPartition& tp : persisted) {
        const auto view = broker.logs.view(tp);
        if (!view || !broker.leading) continue;
        broker.in_sync.on_leader_log_changed(tp, view->log_end_offset, view->durable_end_offset);
        advance_high_watermark(step, tp);
    }
    advance_opening(step);
}

void on_disk_retry_timer(Step& step) {
    Broker& broker = step.broker;
    // A disk that refused nothing since the last attempt has room again.
    broker.is_disk_full = broker.is_disk_refusing;
    broker.is_disk_refusing = false;
    if (broker.is_disk_full) step.effects.push_back(SetTimer{TimerKind::kDiskRetry, kDiskRetry, kDiskRetry});
    std::vector<storage::FileEffect> effects;
    broker.identity_file.resume(effects);
    broker.raft_file.resume(effects);
    broker.topics_file.resume(effects);
    take_file_effects(step, effects);
    if (broker.lifecycle != Lifecycle::kRunning) return;
    broker.logs.resume(step.store);
    drain_store(step);
    refresh_eligibility(step);
    resume_role(step);
    if (is_serving(broker)) apply_all_retention(step);  // a move may have found no room
}

void add_partition(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    const auto view = broker.logs.view(tp);
    CHECK(view.has_value());
    const auto [found, is_new] = broker.partitions.try_emplace(tp);
    if (!is_new) return;
    Partition& partition = found->second;
    partition.pending =
        replication::PendingAcknowledgements(static_cast<std::size_t>(broker.config.pending_produces_max));
    // What recovery found of this copy is asked of its log, whenever the partition appears (L3, L4).
    const bool is_group = broker.config.preset == Preset::kGroup;
    const bool is_foreign = view->log_end_offset > view->log_start_offset && broker.logs.history(tp)->empty();
    partition.must_recopy =
        view->condition == storage::LogCondition::kDamaged || (is_group && (view->is_history_unvouched || is_foreign));
    partition.producers = clients::PartitionProducers(static_cast<std::size_t>(broker.config.producers_max));
    partition.tail = TailCache(static_cast<std::size_t>(broker.config.tail_cache_bytes_max));
    partition.high_watermark = replication::HighWatermark(view->high_watermark, view->log_start_offset,
                                                          view->log_end_offset, high_watermark_rule(broker));
}

}  // namespace tidelock::broker
