/// V4: two copies that agree on (leader epoch, offset) agree on everything before it, by induction over appends: a
/// batch has one content and one predecessor. And what recovery finds is what was there (L4).
#pragma once

#include "checker/invariant.h"

namespace tidelock::checker {

class LogMatching {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::BatchAppended& appended);
    void judge(const Context& context, const BrokerView& broker, const broker::LogRecovered& recovered);
    void judge(const Context& context, const BrokerView& broker, const broker::LogTruncated& truncated);
    void judge(const Context& context, const BrokerView& broker, const broker::DurableEndAdvanced& advanced);
    /// A broker acts: by now it must have recovered every copy it had.
    void judge_acting(const Context& context, const BrokerView& broker);
};

}  // namespace tidelock::checker
