// Group commit: one round of syncs, one journal commit, then the promises.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/partition_log.h"

namespace tidelock::storage {

void LogStore::begin_commit(StoreOutputs& out) {
    CHECK(commit_syncs_outstanding_ == 0);
    CHECK(in_commit_.empty());
    commit_stage_ = CommitStage::kSyncingData;
    in_commit_.swap(dirty_);
    bool must_sync_names = is_names_dirty_;
    for (const TopicPartition& tp : in_commit_) {
        PartitionLog* const log = find(tp);
        CHECK(log != nullptr);
        capture(*log, out);
        must_sync_names = must_sync_names || log->is_names_in_commit;
    }
    if (must_sync_names) {
        is_names_dirty_ = false;
        out.effects.push_back(SyncDirectory{expect({{}, OpKind::kNamesSync, {}, {}, {}, 0, false})});
        ++commit_syncs_outstanding_;
    }
    if (commit_syncs_outstanding_ == 0) write_journal(out);
}

/// Takes the log as it is now into the commit; what is appended from here on is the next one's.
void LogStore::capture(PartitionLog& log, StoreOutputs& out) {
    log.is_dirty = false;
    log.is_in_commit = true;
    log.is_names_in_commit = false;
    log.captured_end = log.durable_end_offset;
    // A log that is closed or being cut gains nothing here; its files are synced by the cut.
    const bool is_steady = log.condition == LogCondition::kOpen && log.cut_stage == CutStage::kNone && !log.is_dropping;
    if (!is_steady || log.wanted_cut.kind == PendingCut::kAll) return;
    log.captured_end = std::max(log.durable_end_offset, counted_file_end(log));
    log.is_names_in_commit = log.files.is_names_dirty();
    log.files.take_dirty([&](Offset base_offset) {
        const FileOpId op = expect({{}, OpKind::kDataSync, log.tp, {}, {}, 0, false});
        out.effects.push_back(SyncFile{segment_file_name(log.tp, base_offset), op});
        ++commit_syncs_outstanding_;
    });
}

void LogStore::on_data_synced(PartitionLog* log, bool is_ok, StoreOutputs& out) {
    if (!is_ok && log != nullptr) fail_log(*log, out);
    --commit_syncs_outstanding_;
    if (commit_syncs_outstanding_ == 0) write_journal(out);
}

/// Without its name a file is nothing: every log that waited for the directory fails like one whose file sync failed.
void LogStore::on_names_synced(bool is_ok, StoreOutputs& out) {
    if (!is_ok) {
        is_names_dirty_ = true;
        for (const TopicPartition& tp : in_commit_) {
            PartitionLog* const log = find(tp);
            if (log != nullptr && log->is_names_in_commit) fail_log(*log, out);
        }
    }
    --commit_syncs_outstanding_;
    if (commit_syncs_outstanding_ == 0) write_journal(out);
}

void LogStore::write_journal(StoreOutputs& out) {
    // Where a snapshot alone passes the bound, every commit would write one.
    const std::uint64_t size_max = std::max<std::uint64_t>(config_.journal_bytes_max, 2 * journal_snapshot_bytes_);
    if (must_rotate_journal_ || journal_size_bytes_ >= size_max) return rotate_journal(out);
    CommitWriter writer(journal_generation_, commit_sequence_ + 1);
    for (const TopicPartition& tp : in_commit_) {
        PartitionLog* const log = find(tp);
        if (log != nullptr) journal_partition(*log, writer, false);
    }
    if (writer.empty()) return finish_commit(out);
    const Bytes commit = writer.finish();
    const FileName name = journal_file_name(journal_generation_);
    out.effects.push_back(WriteFile{name, journal_size_bytes_, commit});
    out.effects.push_back(SyncFile{name, expect({{}, OpKind::kJournalSync, {}, {}, {}, 0, false})});
    journal_size_bytes_ += commit.size();
    ++commit_sequence_;
    commit_stage_ = CommitStage::kSyncingJournal;
}

/// Writes everything the journal has to say into a new file, which gets its name when it is durable. The old one stays
/// until that name is durable too.
void LogStore::rotate_journal(StoreOutputs& out) {
    must_rotate_journal_ = true;
    is_journal_write_failed_ = false;
    if (journal_generation_ > 0 && !is_journal_draft_) old_journals_.push_back(journal_generation_);
    is_journal_draft_ = true;
    ++journal_generation_;
    commit_sequence_ = 1;
    CommitWriter writer(journal_generation_, commit_sequence_);
    writer.add_file_header();
    for (PartitionLog& log : logs_) {
        if (!log.is_in_commit) {
            log.is_in_commit = true;
            log.captured_end = log.durable_end_offset;
            in_commit_.push_back(log.tp);
        }
        journal_partition(log, writer, true);
    }
    const Bytes snapshot = writer.finish();
    journal_size_bytes_ = journal_snapshot_bytes_ = snapshot.size();
    const FileName name = journal_draft_name(journal_generation_);
    out.effects.push_back(WriteFile{name, 0, snapshot});
    out.effects.push_back(SyncFile{name, expect({{}, OpKind::kJournalSync, {}, {}, {}, 0, false})});
    commit_stage_ = CommitStage::kSyncingNewJournal;
}

void LogStore::on_journal_synced(bool is_ok, StoreOutputs& out) {
    if (!is_ok || is_journal_write_failed_) return on_journal_failed(out);
    if (commit_stage_ == CommitStage::kSyncingNewJournal) {
        commit_stage_ = CommitStage::kSyncingNewDirectory;
        is_journal_draft_ = false;
        out.effects.push_back(
            RenameFile{journal_draft_name(journal_generation_), journal_file_name(journal_generation_)});
        out.effects.push_back(SyncDirectory{expect({{}, OpKind::kJournalSync, {}, {}, {}, 0, false})});
        return;
    }
    if (commit_stage_ == CommitStage::kSyncingNewDirectory) finish_rotation(out);
    seal_journal(out);
    finish_commit(out);
}

/// Before anybody hears that the commit is durable. The next one takes the seal's place and its number.
void LogStore::seal_journal(StoreOutputs& out) {
    CommitWriter writer(journal_generation_, commit_sequence_ + 1);
    writer.add_seal();
    out.effects.push_back(WriteFile{journal_file_name(journal_generation_), journal_size_bytes_, writer.finish()});
}

void LogStore::finish_rotation(StoreOutputs& out) {
    for (const std::uint64_t generation : old_journals_)
        out.effects.push_back(RemoveFile{journal_file_name(generation)});
    for (const FileName& name : stray_files_) out.effects.push_back(RemoveFile{name});
    is_names_dirty_ = is_names_dirty_ || !old_journals_.empty() || !stray_files_.empty();
    old_journals_.clear();
    stray_files_.clear();
    must_rotate_journal_ = false;
    has_journal_ = true;
}

/// L9: what the journal file holds is unknown, and so is what a second sync of it would mean.
void LogStore::on_journal_failed(StoreOutputs& out) {
    const bool is_final = ++journal_attempts_ >= config_.repair_attempts_max;
    out.reports.push_back(JournalFailed{journal_attempts_, is_final});
    must_rotate_journal_ = true;
    if (commit_stage_ == CommitStage::kSyncingNewJournal)
        out.effects.push_back(RemoveFile{journal_draft_name(journal_generation_)});
    if (is_final)
        commit_stage_ = CommitStage::kGivenUp;
    else if (is_full_)
        commit_stage_ = CommitStage::kStalled;
    else
        rotate_journal(out);
}

void LogStore::finish_commit(StoreOutputs& out) {
    commit_stage_ = CommitStage::kIdle;
    ++commit_count_;
    journal_attempts_ = 0;
    std::vector<TopicPartition> committed;
    committed.swap(in_commit_);
    for (const TopicPartition& tp : committed) {
        PartitionLog* const log = find(tp);
        if (log != nullptr) finish_partition_commit(*log, out);
    }
}

void LogStore::finish_partition_commit(PartitionLog& log, StoreOutputs& out) {
    log.is_in_commit = false;
    log.is_names_in_commit = false;
    log.history_version_durable = log.history_version_journaled;
    const Offset before = log.durable_end_offset;
    log.durable_end_offset = std::max(before, log.captured_end);
    const LeaderEpoch epoch_now = durable_epoch(log);
    const bool is_news = log.durable_end_offset != before || epoch_now != log.reported_epoch || !log.is_promised;
    const bool is_reset_pending = log.wanted_cut.kind == PendingCut::kAll;  // the next commit tells of it
    if (is_news && !log.is_dropping && !is_reset_pending && log.condition != LogCondition::kDamaged) {
        log.is_promised = true;
        log.reported_epoch = epoch_now;
        out.reports.push_back(Persisted{log.tp, log.durable_end_offset, epoch_now});
    }
    if (log.cut_stage == CutStage::kJournaling) return begin_cut(log, out);
    if (log.files.remove_below(log.log_start_journaled, out.effects)) is_names_dirty_ = true;
    release_held(log, out);
}

}  // namespace tidelock::storage
