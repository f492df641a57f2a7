/// Looking at groups from outside: DescribeGroups and ListGroups (T5).
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- DescribeGroups ------------------------------------------------------------------------------------------

/// What about these groups? Asked of their coordinator.
struct DescribeGroupsRequest {
    static constexpr ApiKey kApi = ApiKey::kDescribeGroups;
    static constexpr bool kIsRequest = true;

    std::vector<std::string> groups;
    bool include_authorized_operations = false;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("groups", m.groups);
        v.field("include_authorized_operations", m.include_authorized_operations, since(3));
    }
    bool operator==(const DescribeGroupsRequest&) const = default;
};

/// A member, whence it comes, what it said and what it was assigned.
struct DescribedMember {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::string client_id;
    std::string client_host;
    Bytes member_metadata;
    Bytes member_assignment;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("member_id", m.member_id);
        v.field("group_instance_id", m.group_instance_id, since(4));
        v.field("client_id", m.client_id);
        v.field("client_host", m.client_host);
        v.field("member_metadata", m.member_metadata);
        v.field("member_assignment", m.member_assignment);
    }
    bool operator==(const DescribedMember&) const = default;
};

/// A group; Dead when there is none of that name.
struct DescribedGroup {
    ErrorCode error_code = ErrorCode::kNone;
    std::string group_id;
    std::string group_state;  // Empty, PreparingRebalance, CompletingRebalance, Stable, Dead
    std::string protocol_type;
    std::string protocol_data;  // the way of assigning that was chosen
    std::vector<DescribedMember> members;
    std::int32_t authorized_operations = kOperationsOmitted;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("error_code", m.error_code);
        v.field("group_id", m.group_id);
        v.field("group_state", m.group_state);
        v.field("protocol_type", m.protocol_type);
        v.field("protocol_data", m.protocol_data);
        v.field("members", m.members);
        v.field("authorized_operations", m.authorized_operations, since(3));
    }
    bool operator==(const DescribedGroup&) const = default;
};

/// The groups in the order asked.
struct DescribeGroupsResponse {
    static constexpr ApiKey kApi = ApiKey::kDescribeGroups;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    std::vector<DescribedGroup> groups;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("groups", m.groups);
    }
    bool operator==(const DescribeGroupsResponse&) const = default;
};

// --- ListGroups ----------------------------------------------------------------------------------------------

/// Which groups does this broker coordinate?
struct ListGroupsRequest {
    static constexpr ApiKey kApi = ApiKey::kListGroups;
    static constexpr bool kIsRequest = true;

    std::vector<std::string> states_filter;  // empty: groups in any state

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("states_filter", m.states_filter, since(4));
    }
    bool operator==(const ListGroupsRequest&) const = default;
};

/// A group and what kind of protocol its members speak.
struct ListedGroup {
    std::string group_id;
    std::string protocol_type;
    std::string group_state;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("group_id", m.group_id);
        v.field("protocol_type", m.protocol_type);
        v.field("group_state", m.group_state, since(4));
    }
    bool operator==(const ListedGroup&) const = default;
};

/// The groups that this broker coordinates.
struct ListGroupsResponse {
    static constexpr ApiKey kApi = ApiKey::kListGroups;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    std::vector<ListedGroup> groups;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.field("error_code", m.error_code);
        v.field("groups", m.groups);
    }
    bool operator==(const ListGroupsResponse&) const = default;
};

}  // namespace tidelock::kafka
