/// Content of the state file `topics`: every topic this broker knows, by incarnation (F2). A deleted topic is simply
/// absent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::storage {

inline constexpr std::size_t kTopicNameBytesMax = 249;
inline constexpr std::int32_t kPartitionCountMax = 1 << 16;
inline constexpr std::size_t kTopicCountMax = 1 << 16;

struct TopicConfig {
    std::int64_t retention_records_max = -1;  // per partition; -1: keep everything
    std::int32_t min_in_sync_replicas = 1;
    bool is_internal = false;
    bool is_deleting = false;  // hidden; its records go once every replica that counts has hidden it
    bool operator==(const TopicConfig&) const = default;
};

struct TopicEntry {
    std::string name;
    TopicId id;
    std::int32_t partition_count = 1;
    TopicConfig config;
    bool operator==(const TopicEntry&) const = default;
};

/// Sorted by name; names and ids are unique.
struct TopicCatalogue {
    std::vector<TopicEntry> topics;
    std::vector<std::uint32_t> by_id;  // places in `topics`; put, remove and decoding keep it

    [[nodiscard]] const TopicEntry* find(std::string_view name) const;
    [[nodiscard]] const TopicEntry* find(TopicId id) const;
    /// Adds a topic or replaces the one of that name.
    void put(TopicEntry entry);
    /// Removes the topic of that name, if there is one.
    void remove(std::string_view name);
    void fold(Digest& digest) const;
    bool operator==(const TopicCatalogue& other) const { return topics == other.topics; }
};

/// What no broker may write down, as no broker would read it again; empty: nothing is wrong. `topic catalogue: ...`.
[[nodiscard]] std::string find_flaw(const TopicCatalogue& catalogue);

void encode(const TopicCatalogue& catalogue, ByteWriter& out);
/// Total: counts, lengths, order and uniqueness are checked.
Result<TopicCatalogue, DecodeError> decode_topic_catalogue(ByteReader& in);
/// As above, from a whole state file's content with nothing left over.
Result<TopicCatalogue, DecodeError> decode_topic_catalogue(const Bytes& content);

}  // namespace tidelock::storage
