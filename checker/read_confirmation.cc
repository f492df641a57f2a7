#include "checker/read_confirmation.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {

void ReadConfirmation::judge(const broker::RaftLeaderElected& elected) {
    newest_term_ = std::max(newest_term_, elected.term);
}

void ReadConfirmation::judge(const BrokerView& broker, const broker::ReadRoundAsked& asked) {
    Asker& asker = askers_[broker.id];
    if (asker.term != asked.term) asker = Asker{asked.term, {}};
    asker.asked.push_back(Asked{asked.round, newest_term_});
}

void ReadConfirmation::judge(const Context& context, const BrokerView& broker,
                             const broker::ReadRoundConfirmed& confirmed) {
    Asker& asker = askers_[broker.id];
    if (asker.term != confirmed.term) return;
    while (!asker.asked.empty() && asker.asked.front().round <= confirmed.up_to) {
        const Asked asked = asker.asked.front();
        asker.asked.pop_front();
        if (asked.newest_term <= confirmed.term) continue;
        context.log.report(
            InvariantId::kRaftSafety, context.time_ns,
            fmt::format("broker {} holds its leadership of term {} for confirmed in round {}, but term "
                        "{} had a leader before that round was asked for (Raft thesis 6.4)",
                        broker.id.value, confirmed.term.value, asked.round.value, asked.newest_term.value));
    }
}

}  // namespace tidelock::checker
