/// A consumer group as its coordinator knows it (T4): members, their generation, what they were assigned. Values only;
/// `groups.h` says what happens to them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/time.h"
#include "protocol/clients/client_ref.h"
#include "protocol/clients/group_messages.h"

namespace tidelock::clients {

struct GroupMember {
    std::string id;
    std::string instance;  // empty: dynamic
    std::string client_id;
    std::string client_host;
    Duration session_timeout;
    Duration rebalance_timeout;
    std::vector<GroupProtocol> protocols;  // best first
    Bytes assignment;                      // in the group's generation
    std::optional<ClientRef> joining;      // waits for the next generation
    std::optional<ClientRef> syncing;      // waits for the assignments
    bool has_synced = false;               // has asked for its assignment in this generation
    bool was_in_generation = false;        // has been told its id in an answer
    bool may_skip_assignment = false;      // KIP-814
    Instant session_ends;                  // unless it waits for an answer
    bool operator==(const GroupMember&) const = default;

    [[nodiscard]] bool is_static() const { return !instance.empty(); }
};

struct Group {
    GroupState state = GroupState::kEmpty;
    std::int32_t generation = 0;
    std::string protocol_type;  // of its members; kept while there are any
    std::string protocol;       // chosen for the generation
    std::string leader;         // the member that assigns
    std::map<std::string, GroupMember> members;
    std::map<std::string, std::string> instances;  // static members' ids
    std::map<std::string, Instant> invited;        // ids given out to members that have not come yet, and until when
    Instant rebalance_ends;                        // kPreparingRebalance: who has not joined by then is out
    Instant rebalance_latest;                      // of a first generation, however many come
    bool is_first_generation = false;              // the rebalance waits for more members, not for those it has
    bool has_newcomers = false;                    // since the wait was last drawn out
    std::optional<Instant> sync_ends;              // who has not synced by then is out
    bool operator==(const Group&) const = default;
};

/// Of the protocols that all members understand, the one most of them like best, of equals the leader's best. Empty:
/// none.
[[nodiscard]] std::string chosen_protocol(const Group& group);
/// Whether a member with these protocols leaves the group one that all understand.
[[nodiscard]] bool has_common_protocol(const Group& group, const std::string& joining_member,
                                       const std::vector<GroupProtocol>& protocols);
/// What the member says of itself in the protocol; empty if it does not understand it.
[[nodiscard]] Bytes metadata_of(const GroupMember& member, const std::string& protocol);
[[nodiscard]] bool has_everybody_joined(const Group& group);
[[nodiscard]] Duration rebalance_timeout_of(const Group& group);

}  // namespace tidelock::clients
