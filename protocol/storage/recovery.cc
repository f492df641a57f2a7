#include "protocol/storage/recovery.h"

#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/storage/segment_scan.h"

namespace tidelock::storage {
namespace {

/// The files of one partition folder.
struct PartitionFiles {
    TopicPartition tp;
    std::vector<SegmentFile> segments;  // by base offset
    std::vector<FileName> stray_indexes;
    bool operator==(const PartitionFiles&) const = default;
};

std::vector<PartitionFiles> group_by_partition(const DirectoryImage& image, std::vector<FileName>& strays) {
    std::vector<PartitionFiles> partitions;
    for (const ImageFile& file : image) {
        if (file.name.text().find('/') == std::string_view::npos) continue;
        const std::optional<PartitionFile> parsed = parse_partition_file(file.name.text());
        if (!parsed) {
            strays.push_back(file.name);
            continue;
        }
        if (partitions.empty() || partitions.back().tp != parsed->tp) partitions.push_back({parsed->tp, {}, {}});
        const bool is_segment = parsed->kind == PartitionFileKind::kSegment;
        const bool has_segment = find_file(image, segment_file_name(parsed->tp, parsed->base_offset)) != nullptr;
        if (!is_segment && !has_segment) strays.push_back(file.name);
        if (!is_segment) continue;
        partitions.back().segments.push_back({parsed->base_offset, file.name, &file,
                                              find_file(image, index_file_name(parsed->tp, parsed->base_offset))});
    }
    // Names sort by text: partition 10 before partition 2.
    std::sort(partitions.begin(), partitions.end(),
              [](const PartitionFiles& a, const PartitionFiles& b) { return a.tp < b.tp; });
    return partitions;
}

}  // namespace

bool StoreRecovery::has_damage() const {
    if (journal == JournalCondition::kDamaged) return true;
    return std::any_of(partitions.begin(), partitions.end(),
                       [](const PartitionRecovery& p) { return p.damage != PartitionDamage::kNone; });
}

/// Builds a LogStore out of what the scan of each partition found.
class StoreRecoverer {
  public:
    StoreRecoverer(const DirectoryImage& image, const LogStoreConfig& config) : image_(image), store_(config) {}

    StoreRecovery run() {
        std::vector<PartitionFiles> files = group_by_partition(image_, store_.stray_files_);
        JournalState journal = read_journal(image_);
        // Segments are written only once a journal is durable: without one, the journal was lost.
        if (journal.condition == JournalCondition::kEmpty && !files.empty())
            journal.condition = JournalCondition::kDamaged;
        is_journal_trusted_ = journal.condition != JournalCondition::kDamaged;
        if (!is_journal_trusted_) add_unknown_partitions(files, journal.partitions);

        StoreRecovery recovery{LogStore(store_.config_), journal.condition, {}, {}};
        for (const PartitionRecord& record : journal.partitions) {
            const auto at = std::find_if(files.begin(), files.end(),
                                         [&](const PartitionFiles& each) { return each.tp == record.tp; });
            recovery.partitions.push_back(
                recover_partition(record, at == files.end() ? std::vector<SegmentFile>() : at->segments));
        }
        for (const PartitionFiles& each : files)
            if (store_.find(each.tp) == nullptr) remove_stray(each, recovery.strays);
        adopt_journal(journal);
        recovery.store = std::move(store_);
        return recovery;
    }

  private:
    /// What a lost journal would have said at the least: the files there are, with no promise.
    static void add_unknown_partitions(const std::vector<PartitionFiles>& files,
                                       std::vector<PartitionRecord>& records) {
        for (const PartitionFiles& each : files) {
            const auto at =
                std::lower_bound(records.begin(), records.end(), each.tp,
                                 [](const PartitionRecord& r, const TopicPartition& tp) { return r.tp < tp; });
            if (each.segments.empty() || (at != records.end() && at->tp == each.tp)) continue;
            const Offset start = each.segments.front().base_offset;
            records.insert(at, PartitionRecord{each.tp, start, start, start, PendingCut::kNone, Offset(0), {}, true});
        }
    }

    void remove_stray(const PartitionFiles& files, std::vector<TopicPartition>& strays) {
        if (files.segments.empty()) return;  // lone indexes are on the list already
        strays.push_back(files.tp);
        for (const SegmentFile& segment : files.segments) doom(segment, store_.stray_files_);
    }

    PartitionRecovery recover_partition(const PartitionRecord& record, const std::vector<SegmentFile>& segments) {
        const LogScanInput input{record, segments, is_journal_trusted_, store_.config_};
        LogScan scan = scan_log(input);
        PartitionRecovery found = report(record, scan);
        store_.logs_.push_back(build_log(record, scan, found));
        PartitionLog& log = store_.logs_.back();
        log.is_dirty = false;
        if (scan.needs_cut || log.log_end_offset > log.durable_end_offset || record.pending_cut != PendingCut::kNone)
            store_.mark_dirty(log);
        for (const FileName& name : scan.below_log_start) store_.stray_files_.push_back(name);
        for (WriteFile& write : scan.rewrites) store_.rewrites_.push_back(std::move(write));
        return found;
    }

    static PartitionRecovery report(const PartitionRecord& record, const LogScan& scan) {
        PartitionRecovery found;
        found.tp = record.tp;
        found.log_start_offset = record.log_start_offset;
        found.log_end_offset = scan.end_offset;
        found.durable_end_offset = record.pending_cut == PendingCut::kTail
                                       ? std::min(record.durable_end_offset, record.cut_to)
                                       : record.durable_end_offset;
        found.high_watermark = std::clamp(record.high_watermark, record.log_start_offset, scan.end_offset);
        found.history = scan.history;
        found.damage = scan.damage;
        found.damaged_at = scan.end_offset;
        if (scan.damage == PartitionDamage::kNone) found.damaged_at = Offset(0);
        found.is_foreign = scan.end_offset > record.log_start_offset && scan.history.empty();
        found.is_history_rebuilt = scan.is_history_rebuilt;
        found.is_history_unvouched = scan.is_history_rebuilt || record.is_history_unvouched;
        found.unverified_end_offset = scan.unverified_end_offset;
        found.has_torn_tail = scan.needs_cut;
        return found;
    }

    static PartitionLog build_log(const PartitionRecord& record, LogScan& scan, const PartitionRecovery& found) {
        PartitionLog log;
        log.tp = record.tp;
        log.files = std::move(scan.files);
        log.history = log.journaled_history = found.history;
        log.is_history_unvouched = found.is_history_unvouched;
        log.log_start_offset = log.log_start_journaled = found.log_start_offset;
        log.log_end_offset = found.log_end_offset;
        log.high_watermark = found.high_watermark;
        log.doomed_files = std::move(scan.doomed);
        log.durable_end_offset = found.durable_end_offset;
        if (scan.damage != PartitionDamage::kNone) {
            // Stays in the journal as promised, so that another boot finds the same damage, until truncate() or
            // reset().
            log.condition = LogCondition::kDamaged;
            log.damaged_at = found.damaged_at;
        } else {
            log.durable_end_offset = std::clamp(log.durable_end_offset, found.log_start_offset, found.log_end_offset);
            if (scan.needs_cut) log.wanted_cut = scan.cut;
        }
        log.captured_end = log.durable_end_offset;
        log.reported_epoch = log.history.latest_epoch();
        return log;
    }

    void adopt_journal(const JournalState& journal) {
        store_.journal_generation_ = journal.generation_max;
        store_.old_journals_ = journal.generations;
        for (const std::uint64_t draft : journal.drafts) store_.stray_files_.push_back(journal_draft_name(draft));
        if (!store_.old_journals_.empty() && store_.old_journals_.back() == journal.generation_max)
            store_.old_journals_.pop_back();  // the newest joins them at the first rotation
        store_.must_rotate_journal_ = true;
        store_.is_names_dirty_ = true;
    }

    const DirectoryImage& image_;
    LogStore store_;
    bool is_journal_trusted_ = true;
};

StoreRecovery recover(const DirectoryImage& image, const LogStoreConfig& config) {
    return StoreRecoverer(image, config).run();
}

}  // namespace tidelock::storage
