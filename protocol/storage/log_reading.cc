// Reads: from the host's files, or from memory while records are held. Every batch that leaves was vouched for.
#include <algorithm>

#include "protocol/storage/partition_log.h"

namespace tidelock::storage {
namespace {

void take_batches(const BatchRun& run, const ReadRequest& request, BatchSlice& slice) {
    std::size_t at = 0;
    std::size_t from = 0;
    std::size_t to = 0;
    for (const BatchHeader& header : run.headers) {
        const std::size_t after = at + header.size_bytes();
        if (header.next_offset() > request.from) {
            const bool is_first = to == 0;
            if (header.next_offset() > request.up_to || (!is_first && after - from > request.bytes_max)) break;
            if (is_first) {
                from = at;
                slice.first_offset = header.base_offset;
            }
            to = after;
            slice.next_offset = header.next_offset();
        }
        at = after;
    }
    slice.bytes = run.bytes.slice(from, to - from);
}

/// Batches of the one held run that `request.from` is in.
BatchSlice slice_held(const PartitionLog& log, const ReadRequest& request) {
    BatchSlice slice{request.from, request.from, Bytes()};
    for (const BatchRun& run : log.held) {
        if (run.headers.back().next_offset() <= request.from) continue;
        take_batches(run, request, slice);
        break;
    }
    return slice;
}

RecordsRead answer(const ReadRequest& request, BatchSlice slice) {
    return {request.read_id, request.tp, slice.first_offset, slice.next_offset, std::move(slice.bytes)};
}

/// Each of two attempts.
constexpr int kReadFailuresMax = 8;
constexpr std::size_t kUnreadablePlacesMax = 8;  // of a log; of one more the oldest is forgotten

std::optional<ReadFailure> fault_of(const ReadRequest& request, const PartitionLog* log) {
    if (log == nullptr || log->is_dropping) return ReadFailure::kOutOfRange;
    if (request.from < log->log_start_offset || request.from > log->log_end_offset) return ReadFailure::kOutOfRange;
    if (log->damaged_at && request.from >= *log->damaged_at) return ReadFailure::kDamaged;
    return std::nullopt;
}

}  // namespace

void LogStore::read(const ReadRequest& request, StoreOutputs& out) {
    const PartitionLog* const log = find(request.tp);
    if (const std::optional<ReadFailure> fault = fault_of(request, log)) {
        out.reports.push_back(ReadFailed{request.read_id, request.tp, *fault});
        return;
    }
    ReadRequest clamped = request;
    clamped.up_to = std::min(request.up_to, log->damaged_at.value_or(log->log_end_offset));
    const Offset file_end = counted_file_end(*log);
    if (clamped.from >= clamped.up_to || clamped.from >= file_end) {
        out.reports.push_back(answer(clamped, slice_held(*log, clamped)));
        return;
    }
    clamped.up_to = std::min(clamped.up_to, file_end);
    issue_read(clamped, false, *log, out);
}

void LogStore::issue_read(const ReadRequest& request, bool is_retry, const PartitionLog& log, StoreOutputs& out) {
    const std::optional<FileRange> range = log.files.locate({request.from, request.up_to, request.bytes_max});
    if (!range) {
        out.reports.push_back(ReadFailed{request.read_id, request.tp, ReadFailure::kOutOfRange});
        return;
    }
    const FileOpId op = expect({{}, OpKind::kRead, request.tp, request, *range, log.cut_count, is_retry});
    out.effects.push_back(
        ReadFile{segment_file_name(request.tp, range->segment_base_offset), range->position, range->length, op});
}

void LogStore::on_read_done(const PendingOp& op, const FileReadDone& done, StoreOutputs& out) {
    PartitionLog* const log = find(op.tp);
    const bool is_void =
        log == nullptr || log->is_dropping || log->cut_count != op.cut_count || op.read.from < log->log_start_offset;
    if (is_void) {
        out.reports.push_back(ReadFailed{op.read.read_id, op.tp, ReadFailure::kOutOfRange});
        return;
    }
    if (!done.content) return on_bad_read(op, *log, std::nullopt, out);
    const ReadRange range{op.read.from, op.read.up_to, op.read.bytes_max};
    Result<BatchSlice, BatchDamage> slice =
        slice_batches(*done.content, op.range.first_offset, range, log->history, config_.segment.batch);
    if (!slice) return on_bad_read(op, *log, slice.error().at_offset, out);
    std::erase_if(log->unreadable, [&](const Unreadable& place) {
        return op.read.from <= place.from && place.from < slice->next_offset;
    });
    out.reports.push_back(answer(op.read, std::move(*slice)));
}

/// How often in a row the device has answered an error there. Each place counts for itself: errors that pass, here and
/// there over months, say nothing about any of them.
int LogStore::note_read_failure(PartitionLog& log, Offset from) {
    auto place = std::ranges::find(log.unreadable, from, &Unreadable::from);
    if (place == log.unreadable.end()) {
        if (log.unreadable.size() == kUnreadablePlacesMax) log.unreadable.erase(log.unreadable.begin());
        place = log.unreadable.insert(log.unreadable.end(), Unreadable{from, 0});
    }
    return ++place->failures;
}

/// A device may answer once from the wrong place; what it answers twice is believed. An error may pass, so it takes
/// more of them until the records are given up (L4).
void LogStore::on_bad_read(const PendingOp& op, PartitionLog& log, std::optional<Offset> bad_at, StoreOutputs& out) {
    if (!op.is_retry) return issue_read(op.read, true, log, out);
    const ReadFailure reason = bad_at ? ReadFailure::kDamaged : ReadFailure::kIo;
    out.reports.push_back(ReadFailed{op.read.read_id, op.tp, reason});
    if (!bad_at && note_read_failure(log, op.read.from) < kReadFailuresMax) return;
    if (!bad_at) {
        bad_at = op.read.from;
        std::erase_if(log.unreadable, [&](const Unreadable& place) { return place.from == *bad_at; });
    }
    // Above the durable end it may be a write that failed without being told yet: the log falls back to its durable
    // end.
    if (*bad_at < log.durable_end_offset)
        mark_damaged(log, *bad_at, out);
    else
        fail_log(log, out);
}

}  // namespace tidelock::storage
