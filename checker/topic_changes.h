/// F2: a topic change that a client was told of is made by everybody who acknowledgements wait for and by whoever joins
/// them (V7), and no leader takes it back (V6). Told creations at the end are V21's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/invariant.h"

namespace tidelock::checker {

class TopicChanges {
  public:
    void judge(const Context& context, const TopicChangeTold& told);
    void judge(const Context& context, const BrokerView& broker, const broker::InSyncSetProposed& proposed) const;
    void judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving) const;

  private:
    /// Of one life of a topic: how many partitions it was told to have, or that it is deleted.
    struct Change {
        TopicId topic;
        std::string name;
        std::int32_t partitions;  // 0: deleted
    };
    static std::string text_of(const Change& change);
    static bool has_made(const ClusterView& view, const BrokerView& broker, const Change& change);
    static void judge_member(const Context& context, const BrokerView& leader, const Replica& member,
                             const Change& change, const char* which);
    std::vector<Change> told_;
};

}  // namespace tidelock::checker
