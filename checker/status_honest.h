/// V22: what a status answer claims (role, leader, epoch, in-sync set, lagging members) is what the answering broker
/// itself last observed, and the durability it names is what the configuration gives (G8).
#pragma once

#include "checker/invariant.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class StatusHonest {
  public:
    void judge(const BrokerView& broker, const broker::RaftLeaderElected& elected);
    void judge(const BrokerView& broker, const broker::RaftLeaderSteppedDown& stepped_down);
    void judge(const Context& context, const BrokerView& broker, const broker::StatusReported& reported);

  private:
    /// A broker leads Raft, in this life and term; as a caretaker it may not lead the data (G9).
    struct RaftLeadership {
        std::uint32_t life;
        Term term;
        bool caretaker;
    };
    /// Null when the broker's present life does not lead Raft.
    [[nodiscard]] const RaftLeadership* raft_leadership_of(const BrokerView& broker) const;
    void judge_role(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) const;

    FlatMap<BrokerId, RaftLeadership> raft_leaderships_;
};

}  // namespace tidelock::checker
