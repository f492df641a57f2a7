#include "tools/live/history.h"

#include <algorithm>

namespace tidelock::live {

void History::tell(checker::Checker& checker) {
    std::ranges::stable_sort(all_, {}, &Entry::time_ns);
    struct Route {
        checker::Checker& checker;
        std::int64_t time_ns;
        void operator()(const checker::HostFact& fact) const { checker.on_host_fact(time_ns, fact); }
        void operator()(const SeenObservation& seen) const {
            checker.on_observation(time_ns, seen.broker, seen.life, seen.observation);
        }
        void operator()(const checker::ClientCall& call) const { checker.on_call(call); }
    };
    for (const Entry& entry : all_) std::visit(Route{checker, entry.time_ns}, entry.seen);
}

std::optional<BrokerId> History::last_serving() const {
    std::optional<BrokerId> last;
    LeaderEpoch epoch;
    for (const Entry& entry : all_) {
        const auto* seen = std::get_if<SeenObservation>(&entry.seen);
        const auto* serving = seen == nullptr ? nullptr : std::get_if<broker::LeaderServing>(&seen->observation);
        if (serving == nullptr || (last && serving->leader_epoch < epoch)) continue;
        last = seen->broker;
        epoch = serving->leader_epoch;
    }
    return last;
}

}  // namespace tidelock::live
