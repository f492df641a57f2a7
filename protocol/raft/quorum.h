/// Counting majorities (R3, R11): of members, never of messages.
#pragma once

#include "protocol/raft/raft.h"

namespace tidelock::raft {

/// The smallest number of members that is a majority of `member_count`: 2 of 2, 2 of 3, 3 of 4.
std::size_t majority(std::size_t member_count);

/// Every quorum below needs a majority of all configured members; replicas that do not count lower the supply, never
/// the need.
bool has_vote_quorum(const Node& node, const Candidate& candidate);

/// Whether the leader may count this follower's answers: the life in force in its own log, and it says that it is a
/// voter.
bool counts(const Node& node, const Progress& progress);

/// The highest index of the current term that a majority holds durably, or commit_index when there is none above it
/// (Raft 5.4.2).
LogIndex committable_index(const Node& node, const Leader& leader);

/// The highest round that a majority, the leader included, has answered; confirmed_round when too few count.
ReadRound answered_round(const Node& node, const Leader& leader);

/// Whether a majority, the leader included, has answered within election_timeout_max (R5).
bool has_contact_quorum(const Node& node, const Leader& leader, Instant now);

/// Whether this node leads and has heard from `broker`, a voter that counts, within election_timeout_max.
bool is_in_contact(const Node& node, BrokerId broker, Instant now);

}  // namespace tidelock::raft
