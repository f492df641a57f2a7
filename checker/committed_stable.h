/// V5: what a consumer was served stays in the log with its content; only what is below the high watermark is served
/// (I7); the high watermark of a leadership never falls (I6).
#pragma once

#include "checker/fault_budget.h"
#include "checker/invariant.h"

namespace tidelock::checker {

class CommittedStable {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::HighWatermarkAdvanced& advanced);
    void judge(const Context& context, const BrokerView& broker, const broker::LogRecovered& recovered);
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsServed& served);
    void judge(const Context& context, const BrokerView& broker, const broker::BoundsTold& told);
    void judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving,
               ClusterView& view, FaultBudget& budget);
};

}  // namespace tidelock::checker
