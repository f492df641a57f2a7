/// Being a member of a group (T4): FindCoordinator, JoinGroup, SyncGroup, Heartbeat, LeaveGroup. What members tell each
/// other in metadata and assignments is opaque to brokers; it shares storage with its frame.
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- FindCoordinator -----------------------------------------------------------------------------------------

/// key_type.
inline constexpr std::int8_t kGroupKey = 0;
inline constexpr std::int8_t kTransactionKey = 1;

/// One key up to version 3, several from 4 on.
struct FindCoordinatorRequest {
    static constexpr ApiKey kApi = ApiKey::kFindCoordinator;
    static constexpr bool kIsRequest = true;

    std::string key;
    std::int8_t key_type = kGroupKey;
    std::vector<std::string> coordinator_keys;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("key", m.key, until(3));
        v.field("key_type", m.key_type, since(1));
        v.field("coordinator_keys", m.coordinator_keys, since(4));
    }
    bool operator==(const FindCoordinatorRequest&) const = default;
};

/// The coordinator of a key, or why there is none now.
struct Coordinator {
    std::string key;
    BrokerId node_id = kNoBroker;
    std::string host;
    std::int32_t port = -1;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("key", m.key);
        v.field("node_id", m.node_id);
        v.field("host", m.host);
        v.field("port", m.port);
        v.field("error_code", m.error_code);
        v.field("error_message", m.error_message);
    }
    bool operator==(const Coordinator&) const = default;
};

/// One coordinator up to version 3, one a key from 4 on.
struct FindCoordinatorResponse {
    static constexpr ApiKey kApi = ApiKey::kFindCoordinator;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> error_message;
    BrokerId node_id = kNoBroker;
    std::string host;
    std::int32_t port = -1;
    std::vector<Coordinator> coordinators;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("error_code", m.error_code, until(3));
        v.field("error_message", m.error_message, between(1, 3));
        v.field("node_id", m.node_id, until(3));
        v.field("host", m.host, until(3));
        v.field("port", m.port, until(3));
        v.field("coordinators", m.coordinators, since(4));
    }
    bool operator==(const FindCoordinatorResponse&) const = default;
};

// --- JoinGroup -----------------------------------------------------------------------------------------------

/// A way of assigning that the member understands, best first.
struct JoinGroupProtocol {
    std::string name;
    Bytes metadata;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("metadata", m.metadata);
    }
    bool operator==(const JoinGroupProtocol&) const = default;
};

/// Take me into the group, or into its next generation. Answered when the generation is complete.
struct JoinGroupRequest {
    static constexpr ApiKey kApi = ApiKey::kJoinGroup;
    static constexpr bool kIsRequest = true;

    std::string group_id;
    std::int32_t session_timeout_ms = 0;
    std::int32_t rebalance_timeout_ms = -1;  // -1, as in version 0: the session timeout
    std::string member_id;                   // empty: not a member yet
    std::optional<std::string> group_instance_id;
    std::string protocol_type;
    std::vector<JoinGroupProtocol> protocols;
    std::optional<std::string> reason;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("session_timeout_ms", m.session_timeout_ms);
        v.field("rebalance_timeout_ms", m.rebalance_timeout_ms, since(1));
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id, since(5));
        v.field("protocol_type", m.protocol_type);
        v.field("protocols", m.protocols);
        v.field("reason", m.reason, since(8));
    }
    bool operator==(const JoinGroupRequest&) const = default;
};

/// A member as the leader sees it.
struct JoinGroupMember {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    Bytes metadata;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id, since(5));
        v.field("metadata", m.metadata);
    }
    bool operator==(const JoinGroupMember&) const = default;
};

/// The generation joined. kMemberIdRequired since version 4: come again with the member_id given (KIP-394).
struct JoinGroupResponse {
    static constexpr ApiKey kApi = ApiKey::kJoinGroup;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::int32_t generation_id = -1;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    std::string leader;
    bool skip_assignment = false;
    std::string member_id;
    std::vector<JoinGroupMember> members;  // told to the leader only

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(2));
        v.field("error_code", m.error_code);
        v.field("generation_id", m.generation_id);
        v.field("protocol_type", m.protocol_type, since(7));
        v.field("protocol_name", m.protocol_name, kAlways.nullable_since(7));
        v.field("leader", m.leader);
        v.field("skip_assignment", m.skip_assignment, since(9));
        v.field("member_id", m.member_id);
        v.field("members", m.members);
    }
    bool operator==(const JoinGroupResponse&) const = default;
};

// --- SyncGroup -----------------------------------------------------------------------------------------------

/// What the leader gives to a member.
struct SyncGroupAssignment {
    std::string member_id;
    Bytes assignment;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("member_id", m.member_id);
        v.field("assignment", m.assignment);
    }
    bool operator==(const SyncGroupAssignment&) const = default;
};

/// What am I assigned? Answered when the leader has sent the assignments.
struct SyncGroupRequest {
    static constexpr ApiKey kApi = ApiKey::kSyncGroup;
    static constexpr bool kIsRequest = true;

    std::string group_id;
    std::int32_t generation_id = -1;
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    std::vector<SyncGroupAssignment> assignments;  // sent by the leader only

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("generation_id", m.generation_id);
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id, since(3));
        v.field("protocol_type", m.protocol_type, since(5));
        v.field("protocol_name", m.protocol_name, since(5));
        v.field("assignments", m.assignments);
    }
    bool operator==(const SyncGroupRequest&) const = default;
};

/// What the member is assigned in this generation.
struct SyncGroupResponse {
    static constexpr ApiKey kApi = ApiKey::kSyncGroup;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    Bytes assignment;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("error_code", m.error_code);
        v.field("protocol_type", m.protocol_type, since(5));
        v.field("protocol_name", m.protocol_name, since(5));
        v.field("assignment", m.assignment);
    }
    bool operator==(const SyncGroupResponse&) const = default;
};

// --- Heartbeat -----------------------------------------------------------------------------------------------

/// I am alive.
struct HeartbeatRequest {
    static constexpr ApiKey kApi = ApiKey::kHeartbeat;
    static constexpr bool kIsRequest = true;

    std::string group_id;
    std::int32_t generation_id = -1;
    std::string member_id;
    std::optional<std::string> group_instance_id;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("generation_id", m.generation_id);
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id, since(3));
    }
    bool operator==(const HeartbeatRequest&) const = default;
};

/// kRebalanceInProgress: join again.
struct HeartbeatResponse {
    static constexpr ApiKey kApi = ApiKey::kHeartbeat;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("error_code", m.error_code);
    }
    bool operator==(const HeartbeatResponse&) const = default;
};

// --- LeaveGroup ----------------------------------------------------------------------------------------------

/// A member that leaves, by member_id, or by group_instance_id when static.
struct LeavingMember {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::optional<std::string> reason;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id);
        v.field("reason", m.reason, since(5));
    }
    bool operator==(const LeavingMember&) const = default;
};

/// One member up to version 2, several from 3 on.
struct LeaveGroupRequest {
    static constexpr ApiKey kApi = ApiKey::kLeaveGroup;
    static constexpr bool kIsRequest = true;

    std::string group_id;
    std::string member_id;
    std::vector<LeavingMember> members;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("member_id", m.member_id, until(2));
        v.field("members", m.members, since(3));
    }
    bool operator==(const LeaveGroupRequest&) const = default;
};

/// Whether the member has left.
struct LeavingMemberResult {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    ErrorCode error_code = ErrorCode::kNone;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id);
        v.field("error_code", m.error_code);
    }
    bool operator==(const LeavingMemberResult&) const = default;
};

/// Up to version 2 the top-level code is the member's.
struct LeaveGroupResponse {
    static constexpr ApiKey kApi = ApiKey::kLeaveGroup;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::vector<LeavingMemberResult> members;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("error_code", m.error_code);
        v.field("members", m.members, since(3));
    }
    bool operator==(const LeaveGroupResponse&) const = default;
};

}  // namespace tidelock::kafka
