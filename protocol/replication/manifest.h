/// What topics a leader has; its followers make theirs the same (F2).
#pragma once

#include <cstdint>
#include <string>
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

}  // namespace tidelock::replication
