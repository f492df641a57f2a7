// L9 and L4: a log whose disk failed it. A failed sync or write takes the log back to its durable end, into a new file,
// after what is kept was read again; a bad batch below the durable end closes it.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/partition_log.h"

namespace tidelock::storage {
namespace {

constexpr std::uint64_t kVerifyBytesMax = 1U << 20U;

}  // namespace

void LogStore::fail_log(PartitionLog& log, StoreOutputs& out) {
    if (log.condition == LogCondition::kDamaged) return;  // closed already, and nothing of it was being written
    const bool is_news = log.condition == LogCondition::kOpen;
    log.condition = LogCondition::kFailed;
    log.needs_new_file = true;
    drop_held_from(log, Offset(0));
    if (!is_news && log.log_end_offset == log.durable_end_offset && log.wanted_cut.kind != PendingCut::kNone) return;
    const CutRequest cut = cut_to_boundary(log, log.durable_end_offset);
    request_cut(log, cut);
    lower_ends(log, std::min(cut.cut_to, log.durable_end_offset));
    log.history.drop_past(log.durable_end_offset);
    note_history_cut(log, log.durable_end_offset + 1);
    if (is_news && !log.is_dropping) out.reports.push_back(LogFailed{log.tp, log.log_end_offset, false});
}

void LogStore::mark_damaged(PartitionLog& log, Offset at, StoreOutputs& out) {
    const Offset from = std::max(log.files.boundary_at_or_below(at), log.log_start_offset);
    if (log.damaged_at && *log.damaged_at <= from) return;
    log.condition = LogCondition::kDamaged;
    log.damaged_at = from;
    log.captured_end = log.durable_end_offset;
    if (!log.is_dropping) out.reports.push_back(LogDamaged{log.tp, from});
}

/// What the failed file keeps is read again: a kernel that lost pages may have lost others than those not yet synced.
void LogStore::begin_verification(PartitionLog& log, StoreOutputs& out) {
    log.cut_stage = CutStage::kVerifying;
    log.is_verify_retried = false;
    const std::vector<Segment>& segments = log.files.segments();
    log.verified_to = segments.empty() ? log.files.end_offset() : segments.back().base_offset;
    verify_next(log, out);
}

void LogStore::verify_next(PartitionLog& log, StoreOutputs& out) {
    // Below the log start the history has no entries to compare with any more, and nothing that counts.
    log.verified_to = std::max(log.verified_to, log.log_start_offset);
    const std::optional<FileRange> range = log.files.locate({log.verified_to, log.files.end_offset(), kVerifyBytesMax});
    if (!range) return finish_cut(log, out);
    const FileOpId op = expect({{}, OpKind::kVerifyRead, log.tp, {}, *range, 0, false});
    out.effects.push_back(
        ReadFile{segment_file_name(log.tp, range->segment_base_offset), range->position, range->length, op});
}

void LogStore::on_verify_read(const PendingOp& op, const FileReadDone& done, StoreOutputs& out) {
    PartitionLog* const log = find(op.tp);
    if (log == nullptr || log->cut_stage != CutStage::kVerifying) return;
    if (log->wanted_cut.kind != PendingCut::kNone) return finish_cut(*log, out);  // verified after that cut
    log->verified_to = std::max(log->verified_to, log->log_start_offset);
    const ReadRange range{log->verified_to, log->files.end_offset(), kVerifyBytesMax};
    if (done.content) {
        const Result<BatchSlice, BatchDamage> slice =
            slice_batches(*done.content, op.range.first_offset, range, log->history, config_.segment.batch);
        if (slice && slice->next_offset > log->verified_to) {
            log->verified_to = slice->next_offset;
            log->is_verify_retried = false;
            return verify_next(*log, out);
        }
    }
    if (!log->is_verify_retried) {
        log->is_verify_retried = true;  // a misdirected read looks the same once
        return verify_next(*log, out);
    }
    log->cut_stage = CutStage::kNone;
    mark_damaged(*log, log->verified_to, out);
}

}  // namespace tidelock::storage
