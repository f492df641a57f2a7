#include "scenarios/upkeep_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "protocol/storage/checkpoint_journal.h"
#include "protocol/storage/segment_log.h"

namespace tidelock::scenarios {
namespace {

constexpr std::array<std::string_view, 6> kStateFiles{"identity.a", "identity.b", "raft.a",
                                                      "raft.b",     "topics.a",   "topics.b"};

/// The partition's first segment that is not wholly below its log start; none: no segment begins at or below that.
std::optional<Offset> first_base_needed(const std::vector<storage::PartitionFile>& files, TopicPartition tp,
                                        Offset log_start_offset) {
    std::optional<Offset> first;
    for (const storage::PartitionFile& file : files)
        if (file.tp == tp && file.kind == storage::PartitionFileKind::kSegment && file.base_offset <= log_start_offset)
            first = std::max(first.value_or(file.base_offset), file.base_offset);
    return first;
}

std::string why_stray(const broker::Broker& broker, const std::vector<storage::PartitionFile>& files,
                      const storage::PartitionFile& file) {
    const std::optional<storage::LogView> log = broker.logs.view(file.tp);
    if (!log) return "the broker has no such partition";
    if (file.base_offset > log->log_end_offset) return fmt::format("its log ends at {}", log->log_end_offset.value);
    const auto first = first_base_needed(files, file.tp, log->log_start_offset);
    if (first && file.base_offset < *first) return fmt::format("its log starts at {}", log->log_start_offset.value);
    const bool has_segment = std::ranges::any_of(files, [&](const storage::PartitionFile& other) {
        return other.tp == file.tp && other.base_offset == file.base_offset &&
               other.kind == storage::PartitionFileKind::kSegment;
    });
    return has_segment ? "" : "its segment is gone";
}

void look_at_files(const broker::Broker& broker, const std::vector<std::string>& names,
                   std::vector<std::string>& overdue) {
    std::vector<storage::PartitionFile> files;
    for (const std::string& name : names)
        if (const auto file = storage::parse_partition_file(name)) files.push_back(*file);
    std::size_t journals = 0;
    for (const std::string& name : names) {
        if (std::ranges::find(kStateFiles, name) != kStateFiles.end()) continue;
        if (storage::parse_journal_file_name(name)) {
            ++journals;
            continue;
        }
        const auto file = storage::parse_partition_file(name);
        const std::string why = file ? why_stray(broker, files, *file) : "nothing reads it";
        if (!why.empty()) overdue.push_back(fmt::format("keeps the file {}: {}", name, why));
    }
    if (journals > 1) overdue.push_back(fmt::format("keeps {} checkpoint journals", journals));
}

void look_at_raft(const broker::Broker& broker, std::vector<std::string>& overdue) {
    const std::size_t kept = broker.raft.persistent.entries.size();
    const std::size_t kept_max = broker.raft.config.log_entries_max;
    const bool is_group = broker.config.preset == broker::Preset::kGroup;
    if (is_group && kept > kept_max)
        overdue.push_back(fmt::format("keeps {} Raft entries, {} at most are meant to be", kept, kept_max));
}

void look_at_retention(const broker::Broker& broker, std::vector<std::string>& overdue) {
    if (!broker::is_serving(broker)) return;
    for (const auto& [tp, partition] : broker.partitions) {
        const storage::TopicEntry* topic = broker.topics.find(tp.topic);
        const auto log = broker.logs.view(tp);
        if (topic == nullptr || !log || topic->config.is_deleting || topic->config.retention_records_max < 0) continue;
        // Log starts move in steps of a quarter of what is kept.
        const std::int64_t kept_max = topic->config.retention_records_max + topic->config.retention_records_max / 4 + 1;
        const std::int64_t kept = partition.high_watermark.value() - log->log_start_offset;
        if (kept > kept_max)
            overdue.push_back(fmt::format("keeps {} confirmed records of {}-{}, of which {} are to be kept", kept,
                                          topic->name, tp.partition.value, topic->config.retention_records_max));
    }
}

}  // namespace

std::vector<std::string> overdue_upkeep(const broker::Broker& broker, const std::vector<std::string>& files) {
    std::vector<std::string> overdue;
    look_at_files(broker, files, overdue);
    look_at_raft(broker, overdue);
    look_at_retention(broker, overdue);
    for (std::string& each : overdue) each = fmt::format("broker {} {}", broker.config.id.value, each);
    return overdue;
}

}  // namespace tidelock::scenarios
