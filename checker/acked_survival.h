/// V1: a confirmed record stays readable at its offset with its content, unless the faults exceeded what its policy
/// promises. A record is confirmed when its producer was told so by policy; with it everything before it in that
/// leader's log.
#pragma once

#include "checker/fault_budget.h"
#include "checker/invariant.h"

namespace tidelock::checker {

class AckedSurvival {
  public:
    /// Judges the moment of the promise: enough durable copies exist, and no confirmed record is missing before it.
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsAcknowledged& acknowledged);
    /// Judges every confirmed record when a leader opens; a loss is reported, or counted as excused, once.
    void judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving,
               ClusterView& view, FaultBudget& budget);
    /// The same for the leader at the end of the run.
    void judge_at_end(const Context& context, const BrokerView& leader, ClusterView& view, FaultBudget& budget);

  private:
    void judge_leader(const Context& context, const BrokerView& broker, const std::string& when, ClusterView& view,
                      FaultBudget& budget);
};

/// Counts a loss that the faults account for.
void excuse(FaultBudget& budget, std::int64_t time_ns, const std::string& reason);

}  // namespace tidelock::checker
