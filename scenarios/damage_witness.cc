#include "scenarios/damage_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "protocol/storage/identity.h"
#include "protocol/storage/segment_log.h"
#include "protocol/storage/state_file.h"

namespace tidelock::scenarios {
namespace {

/// The first bad batch of the copy's log in one segment; none: there is none.
std::optional<Offset> bad_batch_in(std::span<const std::byte> segment, const broker::LogRecovered& copy,
                                   const storage::BatchLimits& limits) {
    while (!segment.empty()) {
        const auto header = storage::decode_batch_header(segment, limits);
        if (!header || header->size_bytes() > segment.size()) return std::nullopt;  // a scan, too, ends here
        const bool is_of_log =
            header->next_offset() > copy.log_start_offset && header->base_offset < copy.log_end_offset;
        if (is_of_log && !storage::check_batch(segment, limits)) return header->base_offset;
        segment = segment.subspan(header->size_bytes());
    }
    return std::nullopt;
}

std::optional<std::string> bad_batch_of(const storage::DirectoryImage& image, const broker::LogRecovered& copy,
                                        const storage::BatchLimits& limits) {
    if (copy.log_start_offset >= copy.log_end_offset) return std::nullopt;  // nothing is in the log, bad or good
    for (const storage::ImageFile& file : image) {
        const auto named = storage::parse_partition_file(file.name.text());
        const bool is_segment =
            named && named->tp == copy.partition && named->kind == storage::PartitionFileKind::kSegment;
        if (!is_segment || !file.content) continue;
        if (const auto bad_at = bad_batch_in(file.content->span(), copy, limits))
            return fmt::format(
                "partition {} of topic {:x} is whole with records [{}, {}), though that at {} in {} is "
                "bad still",
                copy.partition.partition.value, copy.partition.topic.value, copy.log_start_offset.value,
                copy.log_end_offset.value, bad_at->value, file.name.text());
    }
    return std::nullopt;
}

bool is_damage_on_record_in(const storage::DirectoryImage& image) {
    const auto found = storage::recover_state_file(image, "identity", storage::FileOwner::kIdentity);
    if (found.condition != storage::StateFileCondition::kValue) return false;
    const auto identity = storage::decode_identity(found.content);
    return identity && identity->is_damage_on_record;
}

}  // namespace

void DamageWitness::begin_life(const storage::DirectoryImage& image) {
    is_damage_on_record_ = is_damage_on_record_in(image);
    found_.clear();
    resetting_.clear();
    recovered_.clear();
    if (image.empty()) on_record_.clear();
}

void DamageWitness::on_observation(const broker::Observation& observation) {
    if (const auto* recovered = std::get_if<broker::LogRecovered>(&observation)) {
        recovered_.push_back(*recovered);
    } else if (const auto* damaged = std::get_if<broker::DamageFound>(&observation)) {
        found_.insert(damaged->partition);
        resetting_.erase(damaged->partition);
    } else if (std::holds_alternative<broker::DataIncarnationRenewed>(observation)) {
        on_record_.merge(found_);
        found_.clear();
    } else if (const auto* reset = std::get_if<broker::LogReset>(&observation)) {
        found_.erase(reset->partition);
        resetting_.insert(reset->partition);
    } else if (const auto* durable = std::get_if<broker::DurableEndAdvanced>(&observation)) {
        if (resetting_.erase(durable->partition) > 0) on_record_.erase(durable->partition);
    }
}

std::vector<std::string> DamageWitness::forgotten_at_boot(const storage::DirectoryImage& image,
                                                          const storage::BatchLimits& limits) {
    std::vector<std::string> forgotten;
    std::set<TopicPartition> known;
    for (const broker::LogRecovered& copy : recovered_) {
        if (is_damage_on_record_ && copy.unverified_end_offset > copy.log_start_offset)
            forgotten.push_back(fmt::format(
                "damage is on record, and records of partition {} of topic {:x} up to {} are "
                "taken by their headers",
                copy.partition.partition.value, copy.partition.topic.value, copy.unverified_end_offset.value));
        if (!on_record_.contains(copy.partition)) continue;
        if (copy.damaged)
            known.insert(copy.partition);
        else if (auto bad = bad_batch_of(image, copy, limits))
            forgotten.push_back(*std::move(bad));
    }
    on_record_ = std::move(known);
    recovered_.clear();
    return forgotten;
}

}  // namespace tidelock::scenarios
