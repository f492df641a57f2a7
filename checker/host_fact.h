/// What the world did to the brokers, told by the host as it happens. The fault budget of V1 is computed from these
/// facts only: what a broker says about its own disk excuses nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "checker/history.h"
#include "protocol/base/ids.h"

namespace tidelock::checker {

/// A new life of the broker begins; its first observations follow.
struct BrokerBooted {
    BrokerId broker;
    std::uint32_t life;  // rises with each boot of this broker
};
/// The life ended; unsynced data survives a process kill but perhaps not a power loss.
struct BrokerKilled {
    BrokerId broker;
    bool power_loss;
};
/// Everything on the broker's disk is gone.
struct DiskEmptied {
    BrokerId broker;
};
enum class DiskDamage : std::uint8_t {
    kBitRot,
    kTornSector,  // in data that had been synced
    kMisdirectedWrite,
    kMisdirectedRead,
    kLostSync,    // a sync reported success and did nothing
    kUnreadable,  // read errors
};
/// Synced bytes on the broker's disk changed or cannot be read any more. Failed syncs, full or slow disks and lost
/// unsynced writes are not damage: nothing that was promised rests on them.
struct DiskDamaged {
    BrokerId broker;
    DiskDamage damage;
    std::optional<TopicPartition> partition;  // of the segment hit; none: a file that is not one partition's
    std::string file;
};
/// Whatever was hurt on the broker's disk has been overwritten or removed, and no answer of that disk from before is on
/// its way to the broker, which acts: from now on it knows what its disk holds, and nothing is lost by a fault but to
/// the next one.
struct DiskSound {
    BrokerId broker;
};
/// An operator told a broker that refuses to start to come back as an empty replica (R8): its data counts as destroyed.
struct OperatorRejoinedEmpty {
    BrokerId broker;
};
/// Which name clients' calls mean by this number; told before the first of them returns.
struct ClientTopicNamed {
    ClientTopic topic;
    std::string name;
};
/// An administrator is about to send a deletion: from now on the topics of that name may vanish at any broker, until
/// the DeleteTopicCall says that it failed for sure. One at a time for one name.
struct TopicDeletionAsked {
    std::string topic_name;
};
/// An administrator is about to ask that records below `before` be deleted.
struct RecordDeletionAsked {
    std::string topic_name;
    PartitionIndex partition;
    Offset before;  // exclusive
};
/// Faults stop here; from now on V16's time runs.
struct HealBegan {};

/// A Raft answer of `peer` was handed to the broker.
struct PeerAnswered {
    BrokerId broker;
    BrokerId peer;
    std::int64_t local_ns;  // on the broker's own monotonic clock
};
/// The broker did something, and leads Raft afterwards.
struct LeaderActed {
    BrokerId broker;
    Term term;
    std::int64_t local_ns;
    std::int64_t contact_ns_max;  // by its configuration: within this time a majority answers it or it steps down (R5)
    std::int64_t heartbeat_ns;    // ... how often it looks
};
enum class Promise : std::uint8_t {
    kRaftState,  // term, vote, entries (R2)
    kRecords,    // positions, incarnation, topics (L2, I10)
    kProducers,  // what outlives a producer's records, and log starts (T2, L7)
};
/// The broker has told somebody, or counts on itself, that something is durable, and a power loss at this instant would
/// take it.
struct PromiseNotDurable {
    BrokerId broker;
    Promise promise;
    std::string what;
    std::optional<TopicPartition> partition = std::nullopt;  // whose records; none: what all copies hang on, or Raft
};
/// The life that just began reads a journal of which a part is bad that was once durable: what it vouched for is not
/// known any more (L4).
struct JournalFoundBad {
    BrokerId broker;
    std::string what;
};
/// The life that just began takes a copy for whole whose damage an earlier one had found, and renewed its incarnation
/// for: what it read at boot is bad still (L4, I10).
struct DamageForgotten {
    BrokerId broker;
    std::string what;
};
/// The leader serves, and a deletion that the topic of producers tells of, and that its log reaches, is not made (L7).
struct OpenedBeforeDeletion {
    BrokerId leader;
    std::string what;
};
/// A Raft leader counts `follower`, in the very life that is counted, for entries that it does not hold in that
/// leader's term, or in a term that it has not reached.
struct MatchNotHeld {
    BrokerId leader;
    BrokerId follower;
    std::string what;
};
/// A leader counts `follower`, in the very life of its data that is counted, for records that it does not hold.
struct PositionNotHeld {
    BrokerId leader;
    BrokerId follower;
    TopicPartition partition;
    std::string what;
};
/// A Raft leader that may lead the data has no claim of its term in its log (R4, G9).
struct ClaimNotMade {
    BrokerId leader;
    Term term;
};
/// The broker tells another one, for the first time in its life, with whom the group has formed: each member in which
/// life, in words that are the same for the same members.
struct GroupFormationTold {
    BrokerId broker;
    std::string members;
};
/// A request is not answered though its time is over, its connection holds and the broker acts; or though all that it
/// waits for is there (A5, I7, F1).
struct RequestOverdue {
    BrokerId broker;
    std::string what;
};
/// A client's topic change is answered with success, right now.
struct TopicChangeTold {
    BrokerId broker;  // by which leader
    std::string topic_name;
    std::int32_t partitions;  // that were asked for, those from before included; 0: it is deleted
};

using HostFact =
    std::variant<BrokerBooted, BrokerKilled, DiskEmptied, DiskDamaged, DiskSound, OperatorRejoinedEmpty,
                 ClientTopicNamed, TopicDeletionAsked, RecordDeletionAsked, HealBegan, PeerAnswered, LeaderActed,
                 PromiseNotDurable, JournalFoundBad, DamageForgotten, OpenedBeforeDeletion, PositionNotHeld,
                 ClaimNotMade, MatchNotHeld, GroupFormationTold, RequestOverdue, TopicChangeTold>;

}  // namespace tidelock::checker
