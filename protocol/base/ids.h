/// The names of things in a cluster (PROTOCOL 1). Each is its own type.
#pragma once

#include <string>

#include "protocol/base/tagged.h"

namespace tidelock {

/// A broker of the configured group; 1 and up.
using BrokerId = Tagged<struct BrokerIdTag, std::int32_t>;
/// Which life of a broker's data this is (I10, R11): drawn anew whenever data is lost. 0 means none.
using Incarnation = Tagged<struct IncarnationTag, std::uint64_t>;
/// Raft term. Becomes the leader epoch at the claim, and only there.
using Term = Tagged<struct TermTag, std::int64_t>;
/// Index of a Raft entry, inclusive, first is 1; 0 means before the first.
using LogIndex = Position<struct LogIndexTag>;
/// Numbers the reads for which a leader has to confirm that it leads still, rising within a leadership; 0 means none.
/// Told in all that a Raft leader sends to its followers, and repeated in their answers (Raft thesis 6.4).
using ReadRound = Position<struct ReadRoundTag>;
/// Epoch of a partition's leader, stamped in every record batch; 0 means none yet.
using LeaderEpoch = Tagged<struct LeaderEpochTag, std::int32_t>;
/// Offset of a record in a partition log. Ends are exclusive.
using Offset = Position<struct OffsetTag>;
/// Which life of a topic this is (F2): a recreated topic has another.
using TopicId = Tagged<struct TopicIdTag, std::uint64_t>;
/// Partition number inside a topic, 0 and up.
using PartitionIndex = Tagged<struct PartitionIndexTag, std::int32_t>;
/// Idempotent producer id; -1 means a producer without one.
using ProducerId = Tagged<struct ProducerIdTag, std::int64_t>;
using ProducerEpoch = Tagged<struct ProducerEpochTag, std::int16_t>;
/// A client connection, as its host numbers them; never reused in one life of a broker.
using ConnectionId = Tagged<struct ConnectionIdTag, std::uint64_t>;
/// Pairs an answer with its request on one connection, along which it rises: a lower one, or the same, is a repeat.
using CorrelationId = Tagged<struct CorrelationIdTag, std::int64_t>;

inline constexpr ProducerId kNoProducer{-1};

/// One partition of one incarnation of a topic: what logs, sets and positions are kept by.
struct TopicPartition {
    TopicId topic;
    PartitionIndex partition;
    constexpr auto operator<=>(const TopicPartition&) const = default;
};

/// A member of an in-sync set: the broker and which life of its data is meant (I10).
struct Replica {
    BrokerId broker;
    Incarnation incarnation;
    constexpr auto operator<=>(const Replica&) const = default;
};

}  // namespace tidelock
