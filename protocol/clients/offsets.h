/// Committed consumer offsets (T1): records of an internal topic, and the table read from them. Keyed by topic id, so a
/// recreated topic starts clean (franz-go#1426).
///
/// Answers come only from records below the high watermark (G3, V14): a failover cannot take such a record back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/ids.h"

namespace tidelock::clients {

inline constexpr std::string_view kConsumerOffsetsTopic = "__consumer_offsets";

struct OffsetKey {
    std::string group;
    TopicPartition partition;
    auto operator<=>(const OffsetKey&) const = default;
};
struct CommittedOffset {
    Offset offset;                 // the next record to read
    LeaderEpoch leader_epoch;      // of the last record read, 0 if not known
    std::int32_t generation = -1;  // room for consumer groups
    std::string metadata;
    bool operator==(const CommittedOffset&) const = default;
};

/// Key and value of a record in kConsumerOffsetsTopic. An empty value is a tombstone: the commit is gone. Both start
/// with a version.
[[nodiscard]] Bytes encode_key(const OffsetKey& key);
[[nodiscard]] Bytes encode_value(const CommittedOffset& value);
[[nodiscard]] Result<OffsetKey, DecodeError> decode_key(const Bytes& key);
/// Empty optional: a tombstone.
[[nodiscard]] Result<std::optional<CommittedOffset>, DecodeError> decode_value(const Bytes& value);

/// The commits in one partition of the topic, on its leader.
class OffsetTable {
  public:
    /// A commit or tombstone record at `record_offset`, in log order. It shows once the high watermark has passed it.
    void apply(Offset record_offset, OffsetKey key, std::optional<CommittedOffset> value);
    /// The high watermark of the internal partition moved to this, exclusive.
    void on_high_watermark(Offset high_watermark);
    /// The committed offset below the high watermark; null: none.
    [[nodiscard]] const CommittedOffset* find(const OffsetKey& key) const;
    /// Keys of a deleted topic, to be tombstoned, without those whose tombstone is in the log already. They show until
    /// their tombstones do, which nobody can see as the topic id is gone.
    [[nodiscard]] std::vector<OffsetKey> keys_of_topic(TopicId topic) const;
    /// Topics that have keys, sorted.
    [[nodiscard]] std::vector<TopicId> topics() const;
    /// Groups with commits that show, sorted.
    [[nodiscard]] std::vector<std::string> groups() const;
    [[nodiscard]] bool has_group(std::string_view group) const;
    /// What a group has committed, by partition.
    [[nodiscard]] std::vector<std::pair<TopicPartition, CommittedOffset>> of_group(std::string_view group) const;
    /// The newest of each key, confirmed or not, sorted; without those a tombstone took away.
    [[nodiscard]] std::map<OffsetKey, CommittedOffset> newest() const;

    [[nodiscard]] std::size_t size() const { return committed_.size(); }
    [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }
    void add_to(Digest& digest) const;
    bool operator==(const OffsetTable&) const = default;

  private:
    struct Pending {
        Offset record_offset;
        OffsetKey key;
        std::optional<CommittedOffset> value;
        bool operator==(const Pending&) const = default;
    };
    // A million of them, that come and go in any order: each change has to be cheap.
    std::map<OffsetKey, CommittedOffset> committed_;
    std::deque<Pending> pending_;  // by record offset
    Offset high_watermark_;
};

}  // namespace tidelock::clients
