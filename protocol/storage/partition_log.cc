#include "protocol/storage/partition_log.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::storage {
namespace {

void apply_cut(const CutRequest& cut, Offset& end) {
    if (cut.kind == PendingCut::kAll) end = cut.cut_to;
    if (cut.kind == PendingCut::kTail) end = std::min(end, cut.cut_to);
}

bool is_prefix(const EpochHistory& prefix, const EpochHistory& whole) {
    return prefix.entries().size() <= whole.entries().size() &&
           std::equal(prefix.entries().begin(), prefix.entries().end(), whole.entries().begin());
}

/// What has to be said so that a reader who knows the journaled history knows the present one.
struct HistoryChange {
    std::optional<Offset> cut_from;
    std::size_t known_count = 0;  // entries of the present history that are not repeated
};

HistoryChange change_since_journaled(const PartitionLog& log) {
    EpochHistory known = log.journaled_history;
    if (log.history_cut) known.truncate_from_end(*log.history_cut);
    known.truncate_from_start(log.log_start_offset);
    if (is_prefix(known, log.history)) return {log.history_cut, known.entries().size()};
    return {Offset(0), 0};
}

void journal_history(const PartitionLog& log, CommitWriter& writer, bool is_snapshot) {
    const HistoryChange change = is_snapshot ? HistoryChange{} : change_since_journaled(log);
    if (change.cut_from) writer.add_history_cut(log.tp, *change.cut_from);
    const std::vector<EpochStart>& entries = log.history.entries();
    for (std::size_t i = change.known_count; i < entries.size(); ++i) writer.add_epoch_entry(log.tp, entries[i]);
}

/// The cut the journal tells from here on is the one to be carried out when it is durable.
void promote_wanted_cut(PartitionLog& log) {
    if (log.cut_stage != CutStage::kNone && log.cut_stage != CutStage::kJournaling) return;
    log.active_cut = merge_cuts(log.active_cut, log.wanted_cut);
    log.wanted_cut = {};
    if (log.active_cut.kind != PendingCut::kNone) log.cut_stage = CutStage::kJournaling;
}

}  // namespace

CutRequest merge_cuts(const CutRequest& earlier, const CutRequest& later) {
    if (later.kind == PendingCut::kNone) return earlier;
    if (earlier.kind == PendingCut::kNone || later.kind == PendingCut::kAll) return later;
    if (earlier.kind == PendingCut::kAll) return earlier;
    return {PendingCut::kTail, std::min(earlier.cut_to, later.cut_to)};
}

Offset counted_file_end(const PartitionLog& log) {
    Offset end = log.files.end_offset();
    if (log.cut_stage == CutStage::kJournaling) apply_cut(log.active_cut, end);
    apply_cut(log.wanted_cut, end);
    return end;
}

CutRequest cut_to_boundary(const PartitionLog& log, Offset to) {
    const Offset boundary = std::min(log.files.boundary_at_or_below(to), to);
    // A log start inside a batch: nothing is left of the log, and the files cannot end inside the batch.
    if (boundary < log.log_start_offset) return {PendingCut::kAll, log.log_start_offset};
    return {PendingCut::kTail, boundary};
}

LeaderEpoch durable_epoch(const PartitionLog& log) {
    if (log.history_version == log.history_version_durable) return log.history.latest_epoch();
    LeaderEpoch latest;
    for (const EpochStart& entry : log.history.entries()) {
        const std::vector<EpochStart>& journaled = log.journaled_history.entries();
        if (std::find(journaled.begin(), journaled.end(), entry) == journaled.end()) break;
        latest = entry.leader_epoch;
    }
    return latest;
}

void note_history_cut(PartitionLog& log, Offset from) {
    log.history_cut = log.history_cut ? std::min(*log.history_cut, from) : from;
}

void drop_held_from(PartitionLog& log, Offset to) {
    while (!log.held.empty() && log.held.back().headers.back().next_offset() > to) {
        BatchRun& run = log.held.back();
        const std::size_t dropped_bytes = run.headers.back().size_bytes();
        run.headers.pop_back();
        run.bytes = run.bytes.slice(0, run.bytes.size() - dropped_bytes);
        log.held_bytes -= dropped_bytes;
        if (run.headers.empty()) log.held.pop_back();
    }
}

void journal_partition(PartitionLog& log, CommitWriter& writer, bool is_snapshot) {
    if (log.is_dropping) {
        if (!is_snapshot) writer.add_dropped(log.tp);
        log.journaled_history.clear();
        promote_wanted_cut(log);
        return;
    }
    log.history.truncate_from_start(log.log_start_offset);
    journal_history(log, writer, is_snapshot);
    const CutRequest cut = merge_cuts(log.active_cut, log.wanted_cut);
    const Offset durable_end =
        log.is_in_commit ? std::max(log.captured_end, log.durable_end_offset) : log.durable_end_offset;
    const Offset high_watermark = std::max(log.high_watermark, log.log_start_offset);
    // The history comes first: a reader drops what the log start makes superfluous when it sees the partition's slot.
    writer.add_partition({log.tp,
                          log.log_start_offset,
                          durable_end,
                          high_watermark,
                          cut.kind,
                          cut.cut_to,
                          {},
                          log.is_history_unvouched});
    log.journaled_history = log.history;
    log.history_cut.reset();
    log.history_version_journaled = log.history_version;
    log.log_start_journaled = log.log_start_offset;
    promote_wanted_cut(log);
}

}  // namespace tidelock::storage
