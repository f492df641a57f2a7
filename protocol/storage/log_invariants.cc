// What must hold in a LogStore between any two steps, and its digest.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/partition_log.h"

namespace tidelock::storage {
namespace {

void check_files(const PartitionLog& log) {
    const std::vector<Segment>& segments = log.files.segments();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        CHECK(i == 0 || segments[i].base_offset == segments[i - 1].next_offset);
        CHECK(segments[i].base_offset < segments[i].next_offset);
        CHECK(segments[i].index.front() == IndexEntry{});
    }
}

void check_held(const PartitionLog& log) {
    Offset end = counted_file_end(log);
    std::uint64_t held_bytes = 0;
    for (const BatchRun& run : log.held) {
        CHECK(!run.headers.empty());
        CHECK(run.headers.front().base_offset == end);
        end = run.headers.back().next_offset();
        held_bytes += run.bytes.size();
    }
    CHECK(held_bytes == log.held_bytes);
    if (log.condition != LogCondition::kDamaged) CHECK(log.log_end_offset == end);
}

void check_ends(const PartitionLog& log) {
    CHECK(log.log_start_offset <= log.log_end_offset);
    CHECK(log.high_watermark <= log.log_end_offset);
    CHECK(log.damaged_at.has_value() == (log.condition == LogCondition::kDamaged));
    if (log.condition == LogCondition::kDamaged) return;
    CHECK(log.durable_end_offset <= log.log_end_offset);
    CHECK(log.log_start_offset <= log.durable_end_offset);
    if (log.condition == LogCondition::kFailed) CHECK(log.log_end_offset == log.durable_end_offset);
}

void check_cut(const PartitionLog& log) {
    const bool has_active = log.active_cut.kind != PendingCut::kNone;
    const bool is_active = log.cut_stage == CutStage::kJournaling || log.cut_stage == CutStage::kCutting;
    CHECK(has_active == is_active);
    CHECK((log.cut_syncs_outstanding > 0) == (log.cut_stage == CutStage::kCutting));
}

}  // namespace

void check_invariants(const LogStore& store) {
    for (std::size_t i = 0; i < store.logs_.size(); ++i) {
        const PartitionLog& log = store.logs_[i];
        CHECK(i == 0 || store.logs_[i - 1].tp < log.tp);
        check_files(log);
        check_held(log);
        check_ends(log);
        check_cut(log);
        const bool is_listed = std::find(store.dirty_.begin(), store.dirty_.end(), log.tp) != store.dirty_.end();
        CHECK(is_listed == log.is_dirty);
    }
    CHECK(store.is_commit_in_flight() || store.in_commit_.empty());
    CHECK((store.commit_stage_ == LogStore::CommitStage::kSyncingData) == (store.commit_syncs_outstanding_ > 0));
}

namespace {

void fold_cut(const CutRequest& cut, Digest& digest) {
    digest.add(static_cast<std::uint8_t>(cut.kind));
    digest.add(cut.cut_to);
}

void fold_log(const PartitionLog& log, Digest& digest) {
    log.files.fold(digest);
    log.history.fold(digest);
    digest.add(log.is_history_unvouched);
    log.journaled_history.fold(digest);
    digest.add(log.history_version - log.history_version_durable);
    digest.add(log.log_start_offset);
    digest.add(log.log_end_offset);
    digest.add(log.durable_end_offset);
    digest.add(log.high_watermark);
    digest.add(static_cast<std::uint8_t>(log.condition));
    digest.add(log.damaged_at.value_or(Offset(-1)));
    digest.add(log.held_bytes);
    for (const BatchRun& run : log.held) digest.add(run.bytes.span());
    fold_cut(log.wanted_cut, digest);
    fold_cut(log.active_cut, digest);
    digest.add(static_cast<std::uint8_t>(log.cut_stage));
    digest.add(log.cut_syncs_outstanding);
    digest.add((log.is_dirty ? 4 : 0) + (log.is_dropping ? 2 : 0) + (log.is_in_commit ? 1 : 0));
    digest.add(log.captured_end);
}

}  // namespace

void LogStore::fold(Digest& digest) const {
    digest.add(logs_.size());
    for (const PartitionLog& log : logs_) fold_log(log, digest);
    for (const PendingOp& op : pending_) digest.add(op.op);
    digest.add(static_cast<std::uint8_t>(commit_stage_));
    digest.add(commit_syncs_outstanding_);
    digest.add(journal_generation_);
    digest.add(journal_size_bytes_);
    digest.add(journal_snapshot_bytes_);
    digest.add(commit_sequence_);
    digest.add((is_started_ ? 8 : 0) + (is_full_ ? 4 : 0) + (has_journal_ ? 2 : 0) + (is_names_dirty_ ? 1 : 0));
}

}  // namespace tidelock::storage
