/// Watches, at the leader, whether each partition of a follower gets its turn when one answer does not hold everything
/// (F1): a copy that starves lags for ever, and what waits for it waits too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/base/flat_map.h"
#include "protocol/broker/broker.h"
#include "protocol/replication/messages.h"

namespace tidelock::scenarios {

class FetchFairness {
  public:
    /// Of P partitions each has its turn within P answers; a few more may be lost, late or answered by the read of
    /// another request.
    static constexpr std::uint32_t turns_missed_max(std::size_t partitions) {
        return static_cast<std::uint32_t>(2 * partitions + 8);
    }

    /// A request of a follower was handed to `leader`, before it acts. A partition that never has its turn, in words,
    /// once.
    std::optional<std::string> on_request(const replication::FetchRequest& request, const broker::Broker& leader);
    /// An answer of `leader` is about to leave.
    void on_answer(BrokerId follower, const replication::FetchAnswer& answer, const broker::Broker& leader);

  private:
    struct Turn {
        Offset position;              // where the follower's copy ended by its latest request
        bool is_passed_over = false;  // the latest answer had records of others only
        std::uint32_t missed = 0;
    };
    struct Follower {
        Replica replica;
        LeaderEpoch leader_epoch;
        FlatMap<TopicPartition, Turn> turns;
    };
    FlatMap<BrokerId, Follower> followers_;
};

}  // namespace tidelock::scenarios
