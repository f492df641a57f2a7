#include "scenarios/match_witness.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::scenarios {

std::optional<std::string> unheld_match(const raft::Node& leader, const raft::Node& follower) {
    const auto* leading = std::get_if<raft::Leader>(&leader.role);
    if (leading == nullptr || follower.persistent.term > leader.persistent.term) return std::nullopt;
    const auto progress = std::ranges::find(leading->followers, follower.config.self, &raft::Progress::broker);
    if (progress == leading->followers.end() || progress->incarnation != follower.persistent.incarnation)
        return std::nullopt;
    const LogIndex match = progress->match_index;
    if (match.value > 0 && follower.persistent.term < leader.persistent.term)
        return fmt::format("entries up to {} in term {}, of which it has not heard: it is in term {}", match.value,
                           leader.persistent.term.value, follower.persistent.term.value);
    const LogIndex held = raft::last_index(follower.persistent);
    if (match > held) return fmt::format("entries up to {}, of which it holds those up to {}", match.value, held.value);
    const std::optional<Term> counted = raft::term_at(leader.persistent, match);
    const std::optional<Term> found = raft::term_at(follower.persistent, match);
    // What is in a snapshot is committed: those agree.
    if (!counted || !found || *counted == *found) return std::nullopt;
    return fmt::format("entry {} of term {}, where it holds one of term {}", match.value, counted->value, found->value);
}

}  // namespace tidelock::scenarios
