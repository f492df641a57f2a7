#include "protocol/storage/topic_catalogue.h"

#include <algorithm>

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
    for (const TopicEntry& topic : topics)
        if (topic.id == id) return &topic;
    return nullptr;
}

void TopicCatalogue::put(TopicEntry entry) {
    const auto at = std::lower_bound(topics.begin(), topics.end(), std::string_view(entry.name), is_before);
    if (at != topics.end() && at->name == entry.name)
        *at = std::move(entry);
    else
        topics.insert(at, std::move(entry));
}

void TopicCatalogue::remove(std::string_view name) {
    const auto at = std::lower_bound(topics.begin(), topics.end(), name, is_before);
    if (at != topics.end() && at->name == name) topics.erase(at);
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
    return catalogue;
}

Result<TopicCatalogue, DecodeError> decode_topic_catalogue(const Bytes& content) {
    ByteReader in(content);
    Result<TopicCatalogue, DecodeError> catalogue = decode_topic_catalogue(in);
    if (catalogue && !in.at_end()) return decode_failure("topic catalogue: bytes left over");
    return catalogue;
}

}  // namespace tidelock::storage
