/// V18: nothing is acknowledged or served under an authority the broker has given up, and nothing acknowledged under a
/// superseded one that the newer leader does not have (A1, A6).
#pragma once

#include "checker/invariant.h"

namespace tidelock::checker {

class NoStaleAck {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsAcknowledged& acknowledged);
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsServed& served);
    void judge(const Context& context, const BrokerView& broker, const broker::BoundsTold& told);
};

}  // namespace tidelock::checker
