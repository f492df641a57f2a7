#include "protocol/storage/log_store.h"

#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/partition_log.h"

namespace tidelock::storage {
namespace {

bool is_log_before(const PartitionLog& log, const TopicPartition& tp) {
    return log.tp < tp;
}

}  // namespace

void LogStore::start(StoreOutputs& out) {
    CHECK(!is_started_);
    is_started_ = true;
    for (WriteFile& write : rewrites_) out.effects.push_back(std::move(write));
    rewrites_.clear();
    flush(out);
}

void LogStore::flush(StoreOutputs& out) {
    if (!is_started_ || is_full_ || commit_stage_ != CommitStage::kIdle) return;
    if (!dirty_.empty() || must_rotate_journal_) begin_commit(out);
}

void LogStore::step(const FileEvent& event, StoreOutputs& out) {
    if (const auto* synced = std::get_if<FileSynced>(&event)) return on_synced(*synced, out);
    if (const auto* done = std::get_if<FileReadDone>(&event)) return on_read(*done, out);
    on_write_failed(std::get<WriteFailed>(event), out);
}

void LogStore::on_synced(const FileSynced& synced, StoreOutputs& out) {
    const std::optional<PendingOp> op = take_op(synced.op);
    if (!op) return;
    PartitionLog* const log = find(op->tp);
    switch (op->kind) {
        case OpKind::kDataSync:
            return on_data_synced(log, synced.ok, out);
        case OpKind::kNamesSync:
            return on_names_synced(synced.ok, out);
        case OpKind::kJournalSync:
            return on_journal_synced(synced.ok, out);
        case OpKind::kCutSync:
            if (log != nullptr) on_cut_synced(*log, synced.ok, out);
            return;
        case OpKind::kRead:
        case OpKind::kVerifyRead:
            return;  // a host that answers a read with a sync: nothing to be had from it
    }
}

void LogStore::on_read(const FileReadDone& done, StoreOutputs& out) {
    const std::optional<PendingOp> op = take_op(done.op);
    if (!op) return;
    if (op->kind == OpKind::kRead) on_read_done(*op, done, out);
    if (op->kind == OpKind::kVerifyRead) on_verify_read(*op, done, out);
}

void LogStore::on_write_failed(const WriteFailed& failed, StoreOutputs& out) {
    const std::optional<PartitionFile> file = parse_partition_file(failed.name.text());
    std::optional<std::uint64_t> journal = parse_journal_file_name(failed.name.text());
    if (!journal) journal = parse_journal_draft_name(failed.name.text());
    if (!file && !journal) return;
    if (file && file->kind == PartitionFileKind::kIndex) {
        out.effects.push_back(RemoveFile{failed.name});  // recovery does without
        return;
    }
    if (failed.reason == WriteFailure::kFull) {
        is_full_ = true;
        out.reports.push_back(DiskFull{failed.name});
    }
    if (journal && *journal == journal_generation_) is_journal_write_failed_ = true;
    PartitionLog* const log = file ? find(file->tp) : nullptr;
    if (log != nullptr) fail_log(*log, out);
}

void LogStore::resume(StoreOutputs& out) {
    is_full_ = false;
    for (PartitionLog& log : logs_) {
        if (log.cut_stage != CutStage::kGivenUp) continue;
        log.cut_stage = CutStage::kNone;
        log.cut_attempts = 0;
        mark_dirty(log);
    }
    if (commit_stage_ == CommitStage::kStalled || commit_stage_ == CommitStage::kGivenUp) {
        journal_attempts_ = 0;
        rotate_journal(out);
    }
    flush(out);
}

PartitionLog* LogStore::find(const TopicPartition& tp) {
    const auto at = std::lower_bound(logs_.begin(), logs_.end(), tp, is_log_before);
    return at != logs_.end() && at->tp == tp ? &*at : nullptr;
}

const PartitionLog* LogStore::find(const TopicPartition& tp) const {
    const auto at = std::lower_bound(logs_.begin(), logs_.end(), tp, is_log_before);
    return at != logs_.end() && at->tp == tp ? &*at : nullptr;
}

FileOpId LogStore::expect(PendingOp op) {
    op.op = make_file_op(FileOwner::kLogStore, next_op_++);
    pending_.push_back(op);
    return op.op;
}

std::optional<LogStore::PendingOp> LogStore::take_op(FileOpId op) {
    const auto at =
        std::find_if(pending_.begin(), pending_.end(), [&](const PendingOp& each) { return each.op == op; });
    if (at == pending_.end()) return std::nullopt;
    const PendingOp taken = *at;
    pending_.erase(at);
    return taken;
}

void LogStore::mark_dirty(PartitionLog& log) {
    if (log.is_dirty) return;
    log.is_dirty = true;
    dirty_.push_back(log.tp);
}

void LogStore::create_partition(const TopicPartition& tp) {
    const auto at = std::lower_bound(logs_.begin(), logs_.end(), tp, is_log_before);
    if (at == logs_.end() || at->tp != tp) {
        PartitionLog log;
        log.tp = tp;
        log.files = SegmentLog(tp, Offset(0));
        log.cut_count = ++cut_count_;
        mark_dirty(*logs_.insert(at, std::move(log)));
        return;
    }
    if (!at->is_dropping) return;
    at->is_dropping = false;
    reset(tp, Offset(0));
    if (at->cut_stage != CutStage::kGivenUp) return;
    at->cut_stage = CutStage::kNone;  // its files may let themselves be cut by now
    at->cut_attempts = 0;
    mark_dirty(*at);
}

void LogStore::drop_partition(const TopicPartition& tp) {
    PartitionLog* const log = find(tp);
    if (log == nullptr || log->is_dropping) return;
    reset(tp, Offset(0));
    log->is_dropping = true;
}

void LogStore::set_high_watermark(const TopicPartition& tp, Offset high_watermark) {
    PartitionLog* const log = find(tp);
    if (log == nullptr) return;
    log->high_watermark = std::max(log->high_watermark, std::min(high_watermark, log->log_end_offset));
}

void LogStore::advance_log_start(const TopicPartition& tp, Offset log_start_offset) {
    PartitionLog* const log = find(tp);
    if (log == nullptr) return;
    const Offset start = std::min({log_start_offset, log->durable_end_offset, log->log_end_offset});
    if (start <= log->log_start_offset) return;
    log->log_start_offset = start;
    log->high_watermark = std::max(log->high_watermark, start);
    std::erase_if(log->unreadable, [&](const Unreadable& place) { return place.from < start; });
    mark_dirty(*log);
}

std::optional<LogView> LogStore::view(const TopicPartition& tp) const {
    const PartitionLog* const log = find(tp);
    if (log == nullptr || log->is_dropping) return std::nullopt;
    // A damaged log still has the old promise on record; what it can stand by ends where the good part does.
    const Offset good_end = std::min(log->log_end_offset, log->damaged_at.value_or(log->log_end_offset));
    // Nor has this life promised anything yet, or since a reset: not even that the log starts where it does.
    const Offset durable_end = log->is_promised ? std::min(log->durable_end_offset, good_end) : Offset(0);
    return LogView{log->log_start_offset, log->log_end_offset,      durable_end, log->high_watermark, log->condition,
                   log->damaged_at,       log->is_history_unvouched};
}

std::optional<Offset> LogStore::place_to_look(const TopicPartition& tp, Offset from, std::int64_t timestamp_ms) const {
    const PartitionLog* const log = find(tp);
    if (log == nullptr || log->is_dropping) return std::nullopt;
    for (const Segment& segment : log->files.segments())
        if (segment.next_offset > from && segment.max_timestamp_ms >= timestamp_ms)
            return std::max(from, segment.base_offset);
    return std::nullopt;
}

const EpochHistory* LogStore::history(const TopicPartition& tp) const {
    const PartitionLog* const log = find(tp);
    return log == nullptr || log->is_dropping ? nullptr : &log->history;
}

}  // namespace tidelock::storage
