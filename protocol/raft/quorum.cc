#include "protocol/raft/quorum.h"

#include <algorithm>
#include <functional>

#include "protocol/base/check.h"

namespace tidelock::raft {

namespace {

bool is_in_force(const Node& node, const Progress& progress) {
    return progress.incarnation == incarnation_in_force(node, progress.broker);
}

}  // namespace

std::size_t majority(std::size_t member_count) {
    return member_count / 2 + 1;
}

bool has_vote_quorum(const Node& node, const Candidate& candidate) {
    const bool has_own = std::binary_search(candidate.granted.begin(), candidate.granted.end(), node.config.self);
    return has_own && candidate.granted.size() >= majority(node.config.members.size());
}

bool counts(const Node& node, const Progress& progress) {
    return progress.participation == Participation::kVoter && is_in_force(node, progress);
}

LogIndex committable_index(const Node& node, const Leader& leader) {
    SmallVector<LogIndex, 5> held;
    held.push_back(leader.durable_index);
    for (const Progress& progress : leader.followers)
        if (counts(node, progress)) held.push_back(progress.match_index);
    const std::size_t needed = majority(node.config.members.size());
    if (held.size() < needed) return node.commit_index;
    std::sort(held.begin(), held.end(), std::greater<>());
    const LogIndex index = held[needed - 1];
    if (index <= node.commit_index) return node.commit_index;
    // Terms in the log never fall: an older term here means that nothing of this term is held by a majority.
    return term_at(node.persistent, index) == node.persistent.term ? index : node.commit_index;
}

ReadRound answered_round(const Node& node, const Leader& leader) {
    SmallVector<ReadRound, 5> answered;
    answered.push_back(leader.asked_round);
    for (const Progress& progress : leader.followers)
        if (is_in_force(node, progress)) answered.push_back(progress.read_round);
    const std::size_t needed = majority(node.config.members.size());
    if (answered.size() < needed) return leader.confirmed_round;
    std::sort(answered.begin(), answered.end(), std::greater<>());
    return answered[needed - 1];
}

bool has_contact_quorum(const Node& node, const Leader& leader, Instant now) {
    if (since(leader.since, now) < node.config.election_timeout_max) return true;
    std::size_t heard = 1;
    for (const Progress& progress : leader.followers) {
        // Not counts(): a voter whose log is still being matched is heard, though it holds nothing for certain yet.
        if (!is_in_force(node, progress) || !progress.voter_contact) continue;
        if (since(*progress.voter_contact, now) < node.config.election_timeout_max) ++heard;
    }
    return heard >= majority(node.config.members.size());
}

bool is_in_contact(const Node& node, BrokerId broker, Instant now) {
    const auto* leader = std::get_if<Leader>(&node.role);
    if (leader == nullptr) return false;
    const auto progress = std::ranges::find(leader->followers, broker, &Progress::broker);
    if (progress == leader->followers.end() || !counts(node, *progress) || !progress->contact) return false;
    return since(*progress->contact, now) < node.config.election_timeout_max;
}

}  // namespace tidelock::raft
