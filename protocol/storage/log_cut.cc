// Cutting a log: first the journal learns of it, then the files are shortened and that is synced, then writing goes on.
//
// Why in this order. A journal that promised 10 records while the file has 5 would be damage at recovery, so the
// promise is lowered first. And nothing new is written where cut records were before the cut is durable: a crash that
// lost the cut but kept some of the new sectors could leave new batches followed by old ones that fit.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/partition_log.h"

namespace tidelock::storage {

Offset LogStore::truncate(const TopicPartition& tp, Offset to) {
    PartitionLog* const log = find(tp);
    if (log == nullptr) return Offset(0);
    const auto latest = log->history.latest();
    const bool has_late_epoch = latest && latest->start_offset >= log->log_end_offset;
    if (to >= log->log_end_offset && !log->damaged_at && !has_late_epoch) return log->log_end_offset;
    const Offset limit = std::clamp(to, log->log_start_offset, log->log_end_offset);
    const Offset file_end = counted_file_end(*log);
    Offset end = limit;
    if (limit >= file_end && !log->damaged_at) {
        drop_held_from(*log, limit);
        end = log->held.empty() ? file_end : log->held.back().headers.back().next_offset();
    } else {
        drop_held_from(*log, Offset(0));
        const CutRequest cut = cut_to_boundary(*log, limit);
        request_cut(*log, cut);
        end = cut.cut_to;
    }
    lower_ends(*log, end);
    // What is appended next belongs to an epoch that the durable history may not show there.
    if (log->history.latest() && log->history.latest()->start_offset >= end) ++log->history_version;
    log->history.truncate_from_end(end);
    note_history_cut(*log, end);
    return end;
}

void LogStore::reset(const TopicPartition& tp, Offset start_offset) {
    PartitionLog* const log = find(tp);
    if (log == nullptr) return;
    drop_held_from(*log, Offset(0));
    request_cut(*log, {PendingCut::kAll, start_offset});
    log->log_start_offset = start_offset;
    log->log_end_offset = log->durable_end_offset = log->high_watermark = log->captured_end = start_offset;
    lower_ends(*log, start_offset);
    log->unreadable.clear();
    log->history.clear();
    log->is_history_unvouched = false;
    log->is_promised = false;
    if (log->damaged_at) log->condition = LogCondition::kOpen;
    log->damaged_at.reset();
    note_history_cut(*log, Offset(0));
}

/// The log ends at `log_end_offset` now, and so does everything said about it.
void LogStore::lower_ends(PartitionLog& log, Offset log_end_offset) {
    log.log_end_offset = log_end_offset;
    log.durable_end_offset = std::min(log.durable_end_offset, log_end_offset);
    log.captured_end = std::min(log.captured_end, log_end_offset);
    log.high_watermark = std::min(log.high_watermark, log_end_offset);
    if (log.damaged_at && log_end_offset <= *log.damaged_at) {
        log.damaged_at.reset();
        log.condition = LogCondition::kOpen;
    }
    log.cut_count = ++cut_count_;
    std::erase_if(log.unreadable, [&](const Unreadable& place) { return place.from >= log_end_offset; });
    mark_dirty(log);
}

void LogStore::request_cut(PartitionLog& log, const CutRequest& cut) {
    log.wanted_cut = merge_cuts(log.wanted_cut, cut);
    mark_dirty(log);
}

/// The journal's commit that tells of the cut is durable.
void LogStore::begin_cut(PartitionLog& log, StoreOutputs& out) {
    CHECK(log.cut_stage == CutStage::kJournaling);
    CHECK(log.cut_syncs_outstanding == 0);
    log.cut_stage = CutStage::kCutting;
    log.is_cut_failed = false;
    if (log.active_cut.kind == PendingCut::kAll)
        log.files.clear(log.active_cut.cut_to, out.effects);
    else if (log.active_cut.cut_to < log.files.end_offset())
        log.files.truncate(log.active_cut.cut_to, out.effects);
    else
        log.files.repeat_cut(out.effects);  // bytes past the end: a torn tail, or what a failed sync left
    for (const FileName& name : log.doomed_files) out.effects.push_back(RemoveFile{name});
    log.doomed_files.clear();

    log.files.take_dirty([&](Offset base_offset) {
        const FileOpId op = expect({{}, OpKind::kCutSync, log.tp, {}, {}, 0, false});
        out.effects.push_back(SyncFile{segment_file_name(log.tp, base_offset), op});
        ++log.cut_syncs_outstanding;
    });
    out.effects.push_back(SyncDirectory{expect({{}, OpKind::kCutSync, log.tp, {}, {}, 0, false})});
    ++log.cut_syncs_outstanding;
}

void LogStore::on_cut_synced(PartitionLog& log, bool is_ok, StoreOutputs& out) {
    if (log.cut_stage != CutStage::kCutting) return;
    CHECK(log.cut_syncs_outstanding > 0);
    log.is_cut_failed = log.is_cut_failed || !is_ok;
    if (--log.cut_syncs_outstanding > 0) return;
    if (log.is_cut_failed) return on_cut_failed(log, out);
    log.cut_stage = CutStage::kNone;
    log.active_cut = {};
    log.cut_attempts = 0;
    if (log.condition == LogCondition::kFailed && log.wanted_cut.kind == PendingCut::kNone && !log.is_dropping)
        return begin_verification(log, out);
    finish_cut(log, out);
}

/// The kept records that were not synced before are unknown now too: start again, at the durable end.
void LogStore::on_cut_failed(PartitionLog& log, StoreOutputs& out) {
    request_cut(log, merge_cuts(log.active_cut, log.wanted_cut));
    log.active_cut = {};
    log.cut_stage = CutStage::kNone;
    const bool is_final = ++log.cut_attempts >= config_.repair_attempts_max;
    fail_log(log, out);
    if (!is_final) return;
    log.cut_stage = CutStage::kGivenUp;
    if (log.is_dropping)
        out.reports.push_back(RemovalGivenUp{log.tp});
    else
        out.reports.push_back(LogFailed{log.tp, log.log_end_offset, true});
}

void LogStore::finish_cut(PartitionLog& log, StoreOutputs& out) {
    log.cut_stage = CutStage::kNone;
    mark_dirty(log);
    if (log.wanted_cut.kind != PendingCut::kNone) return;  // the next commit's
    if (log.is_dropping) return remove_log(log.tp);
    if (log.needs_new_file) log.files.seal_open_segment();
    log.needs_new_file = false;
    // Nothing is written before a commit says that no cut is pending: if the newest one rotted, the one before it would
    // have recovery cut what was promised since.
    ++log.history_version;
    if (log.condition == LogCondition::kFailed) {
        log.condition = LogCondition::kOpen;
        out.reports.push_back(LogReopened{log.tp, log.log_end_offset});
    }
    release_held(log, out);
}

void LogStore::remove_log(TopicPartition tp) {
    const auto is_it = [&](const PartitionLog& log) { return log.tp == tp; };
    logs_.erase(std::find_if(logs_.begin(), logs_.end(), is_it));
    dirty_.erase(std::remove(dirty_.begin(), dirty_.end(), tp), dirty_.end());
}

}  // namespace tidelock::storage
