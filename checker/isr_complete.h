/// V7: every member of the leader's acknowledgement set durably holds everything below its high watermark (I6), the set
/// is the larger one while a change is pending (I4), and nobody discards data under an incarnation that a set may name,
/// or goes on under it with a journal that cannot vouch for the data any more, or takes a copy for whole whose damage
/// the incarnation was renewed for (I10).
#pragma once

#include "checker/invariant.h"

namespace tidelock::checker {

class IsrComplete {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::HighWatermarkAdvanced& advanced);
    void judge(const Context& context, const BrokerView& broker, const broker::InSyncSetProposed& proposed);
    void judge(const Context& context, const BrokerView& broker, const broker::InSyncSetCommitted& committed);
    void judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving);
    void judge(const Context& context, const BrokerView& broker, const broker::LogReset& reset);
    void judge(const Context& context, const BrokerView& broker, const broker::Started& started);
};

}  // namespace tidelock::checker
