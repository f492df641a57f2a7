/// Asks of a broker, at any instant: if the power failed now and every write that is not synced were lost, would it
/// find what it has promised? A power loss without the loss: nothing in the world changes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checker/host_fact.h"
#include "protocol/broker/broker.h"
#include "protocol/broker/peer_message.h"
#include "sim/disk.h"

namespace tidelock::scenarios {

/// The data directory as such a power loss would leave it. Names that only a directory sync would make durable are
/// missing.
storage::DirectoryImage image_after_power_loss(const sim::Disk& disk);

/// What of the Raft state that `message` to `to` rests on is not durable (R2); empty when all of it is. `own` is the
/// sender's state in memory: which entries its match index means.
std::optional<std::string> broken_raft_promise(const sim::Disk& disk, const raft::PersistentState& own,
                                               const raft::Message& message, BrokerId to);
/// What of the committed entries a leader counted itself for is not durable; empty when it does not lead, or a majority
/// holds them without it.
std::optional<std::string> broken_leader_promise(const sim::Disk& disk, const raft::Node& node);
/// Records of one partition, or what all of them hang on, that a power loss would take.
struct BrokenPromise {
    std::optional<TopicPartition> partition;
    std::string what;
};
/// What of the records, topics and identity that `broker` takes for durable is not (L2, I10, L6): each partition of
/// which something is missing, or only the first thing that all hang on.
std::vector<BrokenPromise> broken_record_promises(const sim::Disk& disk, const broker::Broker& broker);

/// Looks at a sample of the promises a broker makes in one life: every granted vote, every commit that rests on the
/// leader's own disk and every epoch of a static leader, and of the others one in so many, because a look costs about
/// as much as a boot.
class PromiseWatch {
  public:
    /// `message` is about to leave. What it promises is in force from then on.
    std::vector<checker::PromiseNotDurable> look(const sim::Disk& disk, const broker::Broker& broker,
                                                 const broker::SendToPeer& message);

    /// It has told somebody with whom the group formed.
    [[nodiscard]] bool is_formation_told() const { return is_formation_told_; }

    /// After a step, in which a leader may have moved its commit index.
    std::optional<checker::PromiseNotDurable> look_at_commit(const sim::Disk& disk, const broker::Broker& broker);

  private:
    std::optional<checker::PromiseNotDurable> look_at_raft(const sim::Disk& disk, const broker::Broker& broker,
                                                           const raft::Message& message, BrokerId to);
    std::optional<checker::PromiseNotDurable> look_at_static_epoch(const sim::Disk& disk, const broker::Broker& broker);
    bool is_news(const raft::Message& message);
    bool is_news(const replication::Message& message);

    bool is_formation_told_ = false;
    std::uint32_t raft_promises_ = 0;
    std::uint32_t record_promises_ = 0;
    Term term_max_;
    LogIndex match_index_max_;  // told in term_max_
    LogIndex commit_index_;
    LeaderEpoch static_epoch_;         // the latest that it led in, looked at
    std::int64_t positions_told_ = 0;  // the sum over partitions in the last message that had any
};

}  // namespace tidelock::scenarios
