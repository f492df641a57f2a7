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

  private:
    void take_epoch(const Context& context, const BrokerView& broker, LeaderEpoch leader_epoch, const char* deed);

    struct Holder {
        BrokerId broker;
        std::uint32_t life;
    };
    FlatMap<LeaderEpoch, Holder> holders_;
};

}  // namespace tidelock::checker
