#include "checker/check_quorum.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {

CheckQuorum::Leadership& CheckQuorum::leadership_of(BrokerId broker) {
    const auto at = std::find_if(leaderships_.begin(), leaderships_.end(),
                                 [&](const Leadership& leadership) { return leadership.broker == broker; });
    if (at != leaderships_.end()) return *at;
    leaderships_.emplace_back();
    leaderships_.back().broker = broker;
    return leaderships_.back();
}

void CheckQuorum::on_fact(const PeerAnswered& fact) {
    std::vector<Heard>& heard = leadership_of(fact.broker).heard;
    const auto at = std::find_if(heard.begin(), heard.end(), [&](const Heard& each) { return each.peer == fact.peer; });
    if (at == heard.end()) {
        heard.push_back(Heard{fact.peer, fact.local_ns});
    } else {
        at->local_ns = fact.local_ns;
    }
}

bool CheckQuorum::has_majority(const Leadership& leadership, std::int32_t majority, const LeaderActed& fact) {
    const auto is_recent = [&](std::int64_t local_ns) { return fact.local_ns - local_ns < fact.contact_ns_max; };
    if (is_recent(leadership.since_local_ns)) return true;
    const auto count = 1 + std::count_if(leadership.heard.begin(), leadership.heard.end(),
                                         [&](const Heard& each) { return is_recent(each.local_ns); });
    return count >= majority;
}

void CheckQuorum::judge(const Context& context, const LeaderActed& fact) {
    Leadership& leadership = leadership_of(fact.broker);
    const std::uint32_t life = context.view.broker(fact.broker).life;
    if (leadership.term != fact.term || leadership.life != life) {
        const BrokerId broker = leadership.broker;
        leadership = Leadership{};
        leadership.broker = broker;
        leadership.life = life;
        leadership.term = fact.term;
        leadership.since_local_ns = leadership.acted_local_ns = fact.local_ns;
    }
    const std::int64_t passed_ns = fact.local_ns - leadership.acted_local_ns;
    leadership.acted_local_ns = fact.local_ns;
    if (has_majority(leadership, majority_of(context.view.settings()), fact)) {
        leadership.overdue_ns = 0;
        return;
    }
    // A machine that stood still, or whose clock jumped, gets the time to notice.
    leadership.overdue_ns += std::min(passed_ns, fact.heartbeat_ns);
    if (leadership.overdue_ns <= 4 * fact.heartbeat_ns || leadership.is_reported) return;
    leadership.is_reported = true;
    context.log.report(
        InvariantId::kRaftSafety, context.time_ns,
        fmt::format("broker {} still leads term {}, {} ms after the {} ms within which a majority had to "
                    "answer it (R5)",
                    fact.broker.value, fact.term.value, leadership.overdue_ns / 1'000'000,
                    fact.contact_ns_max / 1'000'000));
}

}  // namespace tidelock::checker
