#include "protocol/clients/offsets.h"

#include <algorithm>
#include <set>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock::clients {
namespace {

constexpr std::uint8_t kVersion = 1;

}  // namespace

Bytes encode_key(const OffsetKey& key) {
    ByteWriter out;
    out.u8(kVersion);
    out.string(key.group);
    out.u64(key.partition.topic.value);
    out.i32(key.partition.partition.value);
    return out.take();
}

Bytes encode_value(const CommittedOffset& value) {
    ByteWriter out;
    out.u8(kVersion);
    out.i64(value.offset.value);
    out.i32(value.leader_epoch.value);
    out.i32(value.generation);
    out.string(value.metadata);
    return out.take();
}

Result<OffsetKey, DecodeError> decode_key(const Bytes& bytes) {
    ByteReader in(bytes);
    if (in.u8() != kVersion) return decode_failure("offset key: unknown version");
    OffsetKey key;
    key.group = in.string();
    key.partition.topic = TopicId(in.u64());
    key.partition.partition = PartitionIndex(in.i32());
    if (!in.at_end() || key.partition.partition.value < 0) return decode_failure("offset key: short or bad field");
    return key;
}

Result<std::optional<CommittedOffset>, DecodeError> decode_value(const Bytes& bytes) {
    if (bytes.empty()) return std::optional<CommittedOffset>();
    ByteReader in(bytes);
    if (in.u8() != kVersion) return decode_failure("offset value: unknown version");
    CommittedOffset value;
    value.offset = Offset(in.i64());
    value.leader_epoch = LeaderEpoch(in.i32());
    value.generation = in.i32();
    value.metadata = in.string();
    if (!in.at_end() || value.offset.value < 0) return decode_failure("offset value: short or bad field");
    return std::optional(std::move(value));
}

void OffsetTable::apply(Offset record_offset, OffsetKey key, std::optional<CommittedOffset> value) {
    CHECK(pending_.empty() || pending_.back().record_offset < record_offset);
    pending_.push_back({record_offset, std::move(key), std::move(value)});
    if (record_offset < high_watermark_) on_high_watermark(high_watermark_);
}

void OffsetTable::on_high_watermark(Offset high_watermark) {
    high_watermark_ = std::max(high_watermark_, high_watermark);
    while (!pending_.empty() && pending_.front().record_offset < high_watermark_) {
        Pending& next = pending_.front();
        if (next.value) {
            committed_.insert_or_assign(std::move(next.key), std::move(*next.value));
        } else {
            committed_.erase(next.key);
        }
        pending_.pop_front();
    }
}

const CommittedOffset* OffsetTable::find(const OffsetKey& key) const {
    const auto at = committed_.find(key);
    return at == committed_.end() ? nullptr : &at->second;
}

std::vector<OffsetKey> OffsetTable::keys_of_topic(TopicId topic) const {
    std::set<OffsetKey> keys;
    for (const auto& [key, value] : committed_)
        if (key.partition.topic == topic) keys.insert(keys.end(), key);
    for (const Pending& pending : pending_) {
        if (pending.key.partition.topic != topic) continue;
        if (pending.value)
            keys.insert(pending.key);
        else
            keys.erase(pending.key);
    }
    return {keys.begin(), keys.end()};
}

std::vector<TopicId> OffsetTable::topics() const {
    std::vector<TopicId> topics;
    for (const auto& [key, value] : committed_) topics.push_back(key.partition.topic);
    for (const Pending& pending : pending_) topics.push_back(pending.key.partition.topic);
    std::ranges::sort(topics);
    topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
    return topics;
}

std::vector<std::string> OffsetTable::groups() const {
    std::vector<std::string> groups;  // keys are sorted by group first
    for (const auto& [key, value] : committed_)
        if (groups.empty() || groups.back() != key.group) groups.push_back(key.group);
    return groups;
}

bool OffsetTable::has_group(std::string_view group) const {
    const auto at = committed_.lower_bound(OffsetKey{std::string(group), {}});
    return at != committed_.end() && at->first.group == group;
}

std::vector<std::pair<TopicPartition, CommittedOffset>> OffsetTable::of_group(std::string_view group) const {
    std::vector<std::pair<TopicPartition, CommittedOffset>> offsets;
    for (auto at = committed_.lower_bound(OffsetKey{std::string(group), {}});
         at != committed_.end() && at->first.group == group; ++at)
        offsets.emplace_back(at->first.partition, at->second);
    return offsets;
}

std::map<OffsetKey, CommittedOffset> OffsetTable::newest() const {
    std::map<OffsetKey, CommittedOffset> newest = committed_;
    for (const Pending& pending : pending_) {
        if (pending.value)
            newest[pending.key] = *pending.value;
        else
            newest.erase(pending.key);
    }
    return newest;
}

void OffsetTable::add_to(Digest& digest) const {
    digest.add(high_watermark_);
    digest.add(pending_.size());
    digest.add(committed_.size());
    for (const auto& [key, value] : committed_) {
        digest.add(std::string_view(key.group));
        digest.add(key.partition.topic);
        digest.add(key.partition.partition);
        digest.add(value.offset);
    }
}

}  // namespace tidelock::clients
