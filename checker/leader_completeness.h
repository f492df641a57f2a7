/// V6: a leader that serves holds every confirmed record, and a broker answers clients only while it serves (R4, G3).
#pragma once

#include "checker/invariant.h"

namespace tidelock::checker {

class LeaderCompleteness {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving);
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsAcknowledged& acknowledged);
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsServed& served);
};

}  // namespace tidelock::checker
