/// V20: no copy is cut below its own high watermark or below confirmed records that it holds (L8), the log start never
/// passes the high watermark (L7), and a whole copy is dropped only for the reasons that allow it (L3, L4, L7).
#pragma once

#include "checker/invariant.h"

namespace tidelock::checker {

class CutSafe {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::LogTruncated& truncated);
    void judge(const Context& context, const BrokerView& broker, const broker::LogReset& reset);
    void judge(const Context& context, const BrokerView& broker, const broker::LogStartAdvanced& advanced);
    void judge(const Context& context, const BrokerView& broker, const broker::TopicShrunk& shrunk);
    void judge(const Context& context, const BrokerView& broker, const broker::TopicDropped& dropped);
    /// Somebody asked for what the protocol forbids: brokers that follow it never do.
    void judge(const Context& context, const BrokerView& broker, const broker::ProtocolViolationRefused& refused);
};

}  // namespace tidelock::checker
