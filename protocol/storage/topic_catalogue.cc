#include "protocol/storage/topic_catalogue.h"

#include <algorithm>
#include <numeric>

namespace tidelock::storage {
namespace {

constexpr std::size_t kTopicBytesMin = 4 + 8 + 4 + 8 + 4 + 1;

bool is_before(const TopicEntry& entry, std::string_view name) {
    return entry.name < name;
}

TopicEntry read_entry(ByteReader& in) {
    TopicEntry entry;
    entry.name = in.string();
    entry.id = TopicId(in.u64());
    entry.partition_count = in.i32();
    entry.config.retention_records_max = in.i64();
    entry.config.min_in_sync_replicas = in.i32();
    entry.config.is_internal = in.boolean();
    entry.config.is_deleting = in.boolean();
    return entry;
}

bool is_sane(const TopicEntry& entry) {
    return !entry.name.empty() && entry.name.size() <= kTopicNameBytesMax && entry.id.value != 0 &&
           entry.partition_count >= 1 && entry.partition_count <= kPartitionCountMax &&
           entry.config.retention_records_max >= -1 && entry.config.min_in_sync_replicas >= 1;
}

bool has_unique_ids(const TopicCatalogue& catalogue) {
    std::vector<TopicId> ids;
    for (const TopicEntry& topic : catalogue.topics) ids.push_back(topic.id);
    std::sort(ids.begin(), ids.end());
    return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

}  // namespace

const TopicEntry* TopicCatalogue::find(std::string_view name) const {
    const auto at = std::lower_bound(topics.begin(), topics.end(), name, is_before);
    return at != topics.end() && at->name == name ? &*at : nullptr;
}

const TopicEntry* TopicCatalogue::find(TopicId id) const {
    const auto id_at = [&](std::uint32_t place) { return topics[place].id; };
    const auto at = std::ranges::lower_bound(by_id, id, {}, id_at);
    return at != by_id.end() && id_at(*at) == id ? &topics[*at] : nullptr;
}

void TopicCatalogue::put(TopicEntry entry) {
    const auto at = std::lower_bound(topics.begin(), topics.end(), std::string_view(entry.name), is_before);
    const bool is_known = at != topics.end() && at->name == entry.name;
    if (is_known && at->id == entry.id) {
        *at = std::move(entry);
        return;
    }
    if (is_known) remove(entry.name);
    const auto place = static_cast<std::uint32_t>(
        std::lower_bound(topics.begin(), topics.end(), std::string_view(entry.name), is_before) - topics.begin());
    for (std::uint32_t& each : by_id)
        if (each >= place) ++each;
    const TopicId id = entry.id;
    topics.insert(topics.begin() + place, std::move(entry));
    by_id.insert(std::ranges::lower_bound(by_id, id, {}, [&](std::uint32_t each) { return topics[each].id; }), place);
}

void TopicCatalogue::remove(std::string_view name) {
    const auto at = std::lower_bound(topics.begin(), topics.end(), name, is_before);
    if (at == topics.end() || at->name != name) return;
    const auto place = static_cast<std::uint32_t>(at - topics.begin());
    std::erase(by_id, place);
    for (std::uint32_t& each : by_id)
        if (each > place) --each;
    topics.erase(at);
}

void TopicCatalogue::fold(Digest& digest) const {
    digest.add(topics.size());
    for (const TopicEntry& topic : topics) {
        digest.add(topic.name);
        digest.add(topic.id);
        digest.add(topic.partition_count);
        digest.add(topic.config.retention_records_max);
        digest.add(topic.config.min_in_sync_replicas);
        digest.add(topic.config.is_internal ? 1 : 0);
        digest.add(topic.config.is_deleting ? 1 : 0);
    }
}

std::string find_flaw(const TopicCatalogue& catalogue) {
    if (catalogue.topics.size() > kTopicCountMax) return "topic catalogue: count";
    for (std::size_t i = 0; i < catalogue.topics.size(); ++i) {
        const TopicEntry& entry = catalogue.topics[i];
        if (!is_sane(entry)) return "topic catalogue: topic " + entry.name;
        if (i > 0 && catalogue.topics[i - 1].name >= entry.name) return "topic catalogue: order";
    }
    return has_unique_ids(catalogue) ? std::string() : "topic catalogue: one id twice";
}

void encode(const TopicCatalogue& catalogue, ByteWriter& out) {
    out.u32(static_cast<std::uint32_t>(catalogue.topics.size()));
    for (const TopicEntry& topic : catalogue.topics) {
        out.string(topic.name);
        out.u64(topic.id.value);
        out.i32(topic.partition_count);
        out.i64(topic.config.retention_records_max);
        out.i32(topic.config.min_in_sync_replicas);
        out.boolean(topic.config.is_internal);
        out.boolean(topic.config.is_deleting);
    }
}

Result<TopicCatalogue, DecodeError> decode_topic_catalogue(ByteReader& in) {
    TopicCatalogue catalogue;
    const std::uint32_t count = in.count(kTopicBytesMin);
    if (count > kTopicCountMax) return decode_failure("topic catalogue: count");
    catalogue.topics.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        TopicEntry entry = read_entry(in);
        if (in.failed()) return decode_failure("topic catalogue: cut short");
        catalogue.topics.push_back(std::move(entry));
    }
    if (in.failed()) return decode_failure("topic catalogue: cut short");
    if (const std::string flaw = find_flaw(catalogue); !flaw.empty()) return decode_failure(flaw);
    catalogue.by_id.resize(count);
    std::iota(catalogue.by_id.begin(), catalogue.by_id.end(), 0U);
    std::ranges::sort(catalogue.by_id, {}, [&](std::uint32_t place) { return catalogue.topics[place].id; });
    return catalogue;
}

Result<TopicCatalogue, DecodeError> decode_topic_catalogue(const Bytes& content) {
    ByteReader in(content);
    Result<TopicCatalogue, DecodeError> catalogue = decode_topic_catalogue(in);
    if (catalogue && !in.at_end()) return decode_failure("topic catalogue: bytes left over");
    return catalogue;
}

}  // namespace tidelock::storage
