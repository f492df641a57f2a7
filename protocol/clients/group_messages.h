/// What members of a consumer group and their coordinator say to each other (T4): join, sync, heartbeat, leave, and how
/// operators look at groups. The coordinator does not assign: what members tell each other in metadata and assignments
/// is opaque to it. As Kafka's classic group protocol with KIP-345 (static members), KIP-394 (a member learns its id
/// before it joins) and KIP-814 (a returning static leader need not assign again).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/error_code.h"

namespace tidelock::clients {

/// A way of assigning that a member understands, and what it wants the assigning member to know.
struct GroupProtocol {
    std::string name;
    Bytes metadata;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.name, m.metadata);
    }
    bool operator==(const GroupProtocol&) const = default;
};

/// Take me into the group, or into its next generation. Answered when that generation is complete.
struct JoinGroupRequest {
    std::string group;
    std::string member;       // empty: not a member yet
    std::string instance;     // a static member's name; empty: a dynamic member
    std::string client_id;    // as the client calls itself; the member's id begins with it
    std::string client_host;  // for those who look at the group
    Duration session_timeout;
    Duration rebalance_timeout;
    std::string protocol_type;
    std::vector<GroupProtocol> protocols;  // best first
    /// KIP-394: a dynamic member without an id is refused with kMemberIdRequired and told one to come again with, so
    /// that a client which never hears an answer leaves no member behind.
    bool wants_member_first = true;
    /// KIP-814: understands `skip_assignment`.
    bool may_skip_assignment = true;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group, m.member, m.instance, m.client_id, m.client_host, m.session_timeout, m.rebalance_timeout,
          m.protocol_type, m.protocols, m.wants_member_first, m.may_skip_assignment);
    }
    bool operator==(const JoinGroupRequest&) const = default;
};
/// A member as the one that assigns sees it.
struct JoinedMember {
    std::string member;
    std::string instance;
    Bytes metadata;  // of the protocol chosen
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.member, m.instance, m.metadata);
    }
    bool operator==(const JoinedMember&) const = default;
};
struct JoinGroupAnswer {
    ErrorCode error = ErrorCode::kNone;
    std::int32_t generation = -1;
    std::string protocol_type;
    std::string protocol;
    std::string leader;  // the member that assigns
    std::string member;  // the one that asked; also with kMemberIdRequired
    bool skip_assignment = false;
    std::vector<JoinedMember> members;  // told to the leader only
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.generation, m.protocol_type, m.protocol, m.leader, m.member, m.skip_assignment, m.members);
    }
    bool operator==(const JoinGroupAnswer&) const = default;
};

/// What the leader gives to a member.
struct GroupAssignment {
    std::string member;
    Bytes assignment;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.member, m.assignment);
    }
    bool operator==(const GroupAssignment&) const = default;
};
/// What am I assigned? Answered once the leader has sent the assignments.
struct SyncGroupRequest {
    std::string group;
    std::int32_t generation = -1;
    std::string member;
    std::string instance;
    std::string protocol_type;                 // empty: not said
    std::string protocol;                      // empty: not said
    std::vector<GroupAssignment> assignments;  // sent by the leader only
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group, m.generation, m.member, m.instance, m.protocol_type, m.protocol, m.assignments);
    }
    bool operator==(const SyncGroupRequest&) const = default;
};
struct SyncGroupAnswer {
    ErrorCode error = ErrorCode::kNone;
    std::string protocol_type;
    std::string protocol;
    Bytes assignment;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.protocol_type, m.protocol, m.assignment);
    }
    bool operator==(const SyncGroupAnswer&) const = default;
};

/// I am alive. kRebalanceInProgress: join again.
struct HeartbeatRequest {
    std::string group;
    std::int32_t generation = -1;
    std::string member;
    std::string instance;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group, m.generation, m.member, m.instance);
    }
    bool operator==(const HeartbeatRequest&) const = default;
};
struct HeartbeatAnswer {
    ErrorCode error = ErrorCode::kNone;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error);
    }
    bool operator==(const HeartbeatAnswer&) const = default;
};

/// A member by its id, or a static one by its instance with the id empty.
struct LeavingMember {
    std::string member;
    std::string instance;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.member, m.instance);
    }
    bool operator==(const LeavingMember&) const = default;
};
struct LeaveGroupRequest {
    std::string group;
    std::vector<LeavingMember> members;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group, m.members);
    }
    bool operator==(const LeaveGroupRequest&) const = default;
};
struct LeaveGroupAnswer {
    ErrorCode error = ErrorCode::kNone;
    std::vector<ErrorCode> members;  // in the order asked
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.members);
    }
    bool operator==(const LeaveGroupAnswer&) const = default;
};

enum class GroupState : std::uint8_t {
    kEmpty,                // nobody; offsets may be there
    kPreparingRebalance,   // waits for members to join
    kCompletingRebalance,  // waits for the leader's assignments
    kStable,
    kDead,  // no such group
};
/// As Kafka's tools print it.
[[nodiscard]] std::string_view to_text(GroupState state);
[[nodiscard]] constexpr GroupState last_of(GroupState /*any*/) {
    return GroupState::kDead;
}

struct ListGroupsRequest {
    template <class Self, class V>
    static void fields(Self& /*m*/, V& /*v*/) {}
    bool operator==(const ListGroupsRequest&) const = default;
};
struct ListedGroup {
    std::string group;
    std::string protocol_type;
    GroupState state = GroupState::kEmpty;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group, m.protocol_type, m.state);
    }
    bool operator==(const ListedGroup&) const = default;
};
struct ListGroupsAnswer {
    ErrorCode error = ErrorCode::kNone;
    std::vector<ListedGroup> groups;  // by name
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.groups);
    }
    bool operator==(const ListGroupsAnswer&) const = default;
};

struct DescribeGroupRequest {
    std::string group;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.group);
    }
    bool operator==(const DescribeGroupRequest&) const = default;
};
struct DescribedMember {
    std::string member;
    std::string instance;
    std::string client_id;
    std::string client_host;
    Bytes metadata;
    Bytes assignment;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.member, m.instance, m.client_id, m.client_host, m.metadata, m.assignment);
    }
    bool operator==(const DescribedMember&) const = default;
};
struct DescribeGroupAnswer {
    ErrorCode error = ErrorCode::kNone;
    GroupState state = GroupState::kDead;
    std::int32_t generation = -1;
    std::string protocol_type;
    std::string protocol;
    std::vector<DescribedMember> members;
    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v(m.error, m.state, m.generation, m.protocol_type, m.protocol, m.members);
    }
    bool operator==(const DescribeGroupAnswer&) const = default;
};

}  // namespace tidelock::clients
