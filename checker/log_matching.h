/// V4: two copies that agree on (leader epoch, offset) agree on everything before it, by induction over appends: a
/// batch has one content and one predecessor. And what recovery finds is what was there (L4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/invariant.h"

namespace tidelock::checker {

class LogMatching {
  public:
    void judge(const Context& context, const BrokerView& broker, const broker::BatchAppended& appended);
    void judge(const Context& context, const BrokerView& broker, const broker::LogRecovered& recovered);
    void judge(const Context& context, const BrokerView& broker, const broker::LogTruncated& truncated);
    void judge(const Context& context, const BrokerView& broker, const broker::DurableEndAdvanced& advanced);
    /// Damage is found only where a disk fault did some.
    void judge(const Context& context, const BrokerView& broker, const broker::DamageFound& found);
    /// A copy that came back with less than it had promised and calls itself whole goes under a new data incarnation.
    void judge(const Context& context, const BrokerView& broker, const broker::Started& started);
    /// A broker acts: by now it must have recovered every copy it had.
    void judge_acting(const Context& context, const BrokerView& broker);

  private:
    /// Promised records that a recovery did not find and did not miss.
    struct Shortfall {
        BrokerId broker;
        std::uint32_t life;
        Incarnation promised_under;
        std::string message;
    };
    void judge_promise(const Context& context, const BrokerView& broker, PartitionNumber number,
                       const std::optional<std::string>& missing);

    std::vector<Shortfall> shortfalls_;
};

}  // namespace tidelock::checker
