/// V8, R5: a leader that no majority has answered within an election timeout leads no more. Judged by the leader's own
/// clock, from what reached it.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/host_fact.h"
#include "checker/invariant.h"

namespace tidelock::checker {

class CheckQuorum {
  public:
    void on_fact(const PeerAnswered& fact);
    void judge(const Context& context, const LeaderActed& fact);

  private:
    struct Heard {
        BrokerId peer;
        std::int64_t local_ns;
    };
    /// One broker's leadership of one term.
    struct Leadership {
        BrokerId broker;
        std::uint32_t life = 0;
        Term term;
        std::int64_t since_local_ns = 0;
        std::int64_t acted_local_ns = 0;  // last
        /// How long it has acted without a majority, pauses in which it could not act left out.
        std::int64_t overdue_ns = 0;
        bool is_reported = false;
        std::vector<Heard> heard;
    };

    Leadership& leadership_of(BrokerId broker);
    static bool has_majority(const Leadership& leadership, std::int32_t majority, const LeaderActed& fact);

    std::vector<Leadership> leaderships_;
};

}  // namespace tidelock::checker
