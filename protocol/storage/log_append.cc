// Taking records and epochs in: what is refused, what goes to the file at once and what is held back.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/partition_log.h"

namespace tidelock::storage {
namespace {

Failure<AppendRefusal> refusal(AppendRefusal reason) {
    return Failure<AppendRefusal>(reason);
}

Result<BatchRun, AppendRefusal> split_run(const Bytes& batches, const BatchLimits& limits) {
    BatchRun run{batches, {}};
    for (std::size_t at = 0; at < batches.size();) {
        const Result<BatchHeader, BatchError> header = decode_batch_header(batches.span().subspan(at), limits);
        if (!header) return refusal(AppendRefusal::kBadBatch);
        run.headers.push_back(*header);
        at += header->size_bytes();
    }
    if (run.headers.empty()) return refusal(AppendRefusal::kBadBatch);
    return run;
}

/// Whether the run continues the log without a gap (F4) and without going back in epochs (L3).
std::optional<AppendRefusal> fault_of(const BatchRun& run, const PartitionLog& log) {
    Offset expected = log.log_end_offset;
    LeaderEpoch latest = log.history.latest_epoch();
    const std::optional<EpochStart> entry = log.history.latest();
    for (const BatchHeader& header : run.headers) {
        if (header.base_offset != expected) return AppendRefusal::kNotContiguous;
        if (header.leader_epoch < latest || header.leader_epoch.value < 0) return AppendRefusal::kEpochWentBack;
        if (entry && header.base_offset < entry->start_offset) return AppendRefusal::kEpochWentBack;
        expected = header.next_offset();
        latest = header.leader_epoch;
    }
    return std::nullopt;
}

}  // namespace

const char* describe(AppendRefusal reason) {
    switch (reason) {
        case AppendRefusal::kUnknownPartition:
            return "unknown partition";
        case AppendRefusal::kBadBatch:
            return "bad batch";
        case AppendRefusal::kNotContiguous:
            return "not contiguous";
        case AppendRefusal::kEpochWentBack:
            return "epoch went back";
        case AppendRefusal::kClosed:
            return "log closed";
        case AppendRefusal::kBusy:
            return "too many held records";
    }
    return "unknown";
}

Result<void, AppendRefusal> LogStore::append(const TopicPartition& tp, const Bytes& batches, StoreOutputs& out) {
    PartitionLog* const log = find(tp);
    if (log == nullptr || log->is_dropping) return refusal(AppendRefusal::kUnknownPartition);
    if (log->condition != LogCondition::kOpen) return refusal(AppendRefusal::kClosed);
    if (log->held_bytes + batches.size() > config_.held_bytes_max) return refusal(AppendRefusal::kBusy);
    Result<BatchRun, AppendRefusal> run = split_run(batches, config_.segment.batch);
    if (!run) return refusal(run.error());
    if (const std::optional<AppendRefusal> fault = fault_of(*run, *log)) return refusal(*fault);

    for (const BatchHeader& header : run->headers) {
        if (header.leader_epoch == log->history.latest_epoch()) continue;
        const Result<void, HistoryRefusal> assigned = log->history.assign({header.leader_epoch, header.base_offset});
        CHECK(assigned.has_value());
        ++log->history_version;
    }
    log->log_end_offset = run->headers.back().next_offset();
    mark_dirty(*log);
    if (must_hold(*log)) {
        log->held_bytes += batches.size();
        log->held.push_back(std::move(*run));
        return {};
    }
    log->files.append(*run, config_.segment, std::min(log->high_watermark, log->durable_end_offset), out.effects);
    return {};
}

Result<void, HistoryRefusal> LogStore::note_epoch(const TopicPartition& tp, const EpochStart& entry) {
    PartitionLog* const log = find(tp);
    if (log == nullptr || log->is_dropping) return Failure<HistoryRefusal>(HistoryRefusal::kUnknownPartition);
    if (log->history.latest() == entry) return {};
    if (entry.start_offset < log->log_end_offset) return Failure<HistoryRefusal>(HistoryRefusal::kOffsetWentBack);
    const Result<void, HistoryRefusal> assigned = log->history.assign(entry);
    if (!assigned) return assigned;
    ++log->history_version;
    mark_dirty(*log);
    return {};
}

bool LogStore::must_hold(const PartitionLog& log) const {
    if (!has_journal_ || log.condition != LogCondition::kOpen) return true;
    if (log.wanted_cut.kind != PendingCut::kNone || log.active_cut.kind != PendingCut::kNone) return true;
    return log.history_version != log.history_version_durable;
}

void LogStore::release_held(PartitionLog& log, StoreOutputs& out) {
    if (log.held.empty() || must_hold(log)) return;
    const Offset thin_below = std::min(log.high_watermark, log.durable_end_offset);
    for (const BatchRun& run : log.held) log.files.append(run, config_.segment, thin_below, out.effects);
    log.held.clear();
    log.held_bytes = 0;
    mark_dirty(log);
}

}  // namespace tidelock::storage
