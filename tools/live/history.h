/// What was seen of real brokers and their clients in one schedule, as it came in, for the checker in the order in
/// which it happened. All times are nanoseconds of this machine's monotonic clock, which brokers and clients share.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "checker/checker.h"
#include "checker/history.h"
#include "checker/host_fact.h"
#include "protocol/broker/observation.h"

namespace tidelock::live {

struct SeenObservation {
    BrokerId broker;
    std::uint32_t life = 0;
    broker::Observation observation;
};
using Seen = std::variant<checker::HostFact, SeenObservation, checker::ClientCall>;

class History {
  public:
    void add(std::int64_t time_ns, Seen seen) { all_.push_back({time_ns, std::move(seen)}); }
    /// Tells the checker everything, by time; what has the same time in the order in which it was added.
    void tell(checker::Checker& checker);
    /// Who opened last, under the highest epoch, by what was told.
    [[nodiscard]] std::optional<BrokerId> last_serving() const;
    [[nodiscard]] std::size_t size() const { return all_.size(); }

  private:
    struct Entry {
        std::int64_t time_ns = 0;
        Seen seen;
    };
    std::vector<Entry> all_;
};

}  // namespace tidelock::live
