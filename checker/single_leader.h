/// V2: at most one broker ever acts as leader of an epoch, and only on a committed claim (R4).
#pragma once

#include <cstdint>

#include "checker/invariant.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class SingleLeader {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::ClaimCommitted& claimed);
    void judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving);
    void judge(const Context& context, const BrokerView& broker, const broker::BatchAppended& appended);
    /// What this life of the broker knows to be committed: its claim has to be among it.
    void judge(const Context& context, const BrokerView& broker, const broker::RaftRecovered& recovered);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftEntryCommitted& committed);

  private:
    void take_epoch(const Context& context, const BrokerView& broker, LeaderEpoch leader_epoch, const char* deed);

    struct Holder {
        BrokerId broker;
        std::uint32_t life;
    };
    FlatMap<LeaderEpoch, Holder> holders_;
    FlatMap<BrokerId, Term> committed_terms_;  // of the newest entry that this life saw commit; none: no Raft at work
};

}  // namespace tidelock::checker
