/// V8, reads: a leader that is told by a majority that it leads still, after it asked, did lead when it asked: no
/// leader of a later term had been elected by then (Raft thesis 6.4). T1 rests on it.
#pragma once

#include <deque>

#include "checker/invariant.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class ReadConfirmation {
  public:
    void judge(const broker::RaftLeaderElected& elected);
    void judge(const BrokerView& broker, const broker::ReadRoundAsked& asked);
    void judge(const Context& context, const BrokerView& broker, const broker::ReadRoundConfirmed& confirmed);

  private:
    struct Asked {
        ReadRound round;
        Term newest_term;  // of any leader elected by then
    };
    /// One leadership's questions that nobody has answered yet, by round.
    struct Asker {
        Term term;
        std::deque<Asked> asked;
    };
    Term newest_term_;
    FlatMap<BrokerId, Asker> askers_;
};

}  // namespace tidelock::checker
