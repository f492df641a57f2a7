/// V22: what a status answer claims (role, leader, epoch, in-sync set) is what the answering broker itself last
/// observed.
#pragma once

#include "checker/invariant.h"

namespace tidelock::checker {

class StatusHonest {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::StatusReported& reported);
};

}  // namespace tidelock::checker
