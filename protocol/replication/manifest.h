/// What topics a leader has, and what a follower does to have the same (F2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"

namespace tidelock::replication {

/// One setting of a topic, as text; its meaning is the broker's.
struct TopicSetting {
    std::string key;
    std::string value;
    auto operator<=>(const TopicSetting&) const = default;
};

struct ManifestTopic {
    std::string name;
    TopicId id;  // which life of the name
    std::int32_t partition_count = 0;
    bool is_internal = false;
    std::vector<TopicSetting> settings;  // sorted by key, no key twice
    bool operator==(const ManifestTopic&) const = default;
};

struct Manifest {
    std::vector<ManifestTopic> topics;  // sorted by name, no name twice
    Bytes aborted_transactions;  // the index of aborted transactions, its own encoding; empty until there are any
    bool operator==(const Manifest&) const = default;
};

/// Equal for equal manifests, whoever computes it. What a follower compares to learn that it must ask again (F1).
[[nodiscard]] std::uint64_t digest_of(const Manifest& manifest);

struct CreateTopic {
    ManifestTopic topic;
    bool operator==(const CreateTopic&) const = default;
};
/// The leader has no topic of this name and life: drop its partitions with all records.
struct DropTopic {
    std::string name;
    TopicId id;
    bool operator==(const DropTopic&) const = default;
};
/// New partitions [from_count, to_count) start empty; the others keep their records.
struct GrowTopic {
    TopicId id;
    std::int32_t from_count;
    std::int32_t to_count;
    bool operator==(const GrowTopic&) const = default;
};
/// This copy grew the topic as a leader that nobody followed any more: partitions [to_count, from_count) are dropped.
/// Nothing in them was confirmed by the set, as no member has them.
struct DropPartitions {
    TopicId id;
    std::int32_t from_count;
    std::int32_t to_count;
    bool operator==(const DropPartitions&) const = default;
};
struct ReconfigureTopic {
    TopicId id;
    std::vector<TopicSetting> settings;
    bool operator==(const ReconfigureTopic&) const = default;
};
/// In the order to carry out. A topic recreated on the leader is a drop of the old life and a create of the new one.
using TopicAction = std::variant<DropTopic, CreateTopic, GrowTopic, DropPartitions, ReconfigureTopic>;

/// What makes `local` (sorted by name) like the leader's manifest. Applying it and asking again gives nothing.
[[nodiscard]] std::vector<TopicAction> diff(std::span<const ManifestTopic> local, const Manifest& leader);

}  // namespace tidelock::replication
