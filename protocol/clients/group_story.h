/// The inside of `groups.h`: one group, one call. Included by its own sources only.
#pragma once

#include "protocol/clients/groups.h"

namespace tidelock::clients {

struct GroupCoordinator::Story {
    GroupCoordinator& coordinator;
    Instant now;
    const std::string& name;
    Group& group;
    GroupEffects& effects;

    // group_joining.cc
    void join_new(const ClientRef& client, const JoinGroupRequest& request);
    void join_static(const ClientRef& client, const JoinGroupRequest& request);
    void join_again(GroupMember& member, const ClientRef& client, const JoinGroupRequest& request);
    void add_member(std::string id, const ClientRef& client, const JoinGroupRequest& request);
    void replace_instance(GroupMember& old, const ClientRef& client, const JoinGroupRequest& request);
    void refuse_join(const ClientRef& client, ErrorCode error, std::string member = {});
    void answer_join(GroupMember& member, const std::string& in_place_of = {});

    // group_rebalance.cc
    void begin_rebalance();
    /// Everybody is there, or nobody else is waited for.
    void complete_join_if_ready();
    void complete_join();
    void prolong_first_wait();
    void remove_late_members();
    /// Takes the member out; whoever waits in its name has been answered. The caller sees to the rebalance.
    void remove_member(const std::string& id, GroupChange why);
    /// After members went: a new generation without them, or none at all.
    void go_on_without();
    void become_empty();
    void expire();
    /// The next thing due in this group.
    void note_deadlines() const;

    // groups.cc
    void answer_sync(GroupMember& member);
    void refuse_sync(GroupMember& member, ErrorCode error);
    void live_on(GroupMember& member) const;
    void tell(GroupChange change, const std::string& member = {}) const;
    /// kNone: the caller is a member of this group, and of no older life of its instance.
    [[nodiscard]] ErrorCode check_member(const std::string& member, const std::string& instance) const;
};

}  // namespace tidelock::clients
