/// T4: who was left behind in a consumer group is refused, judged from client calls. A membership is a member's id and
/// the generation it was told when it joined. Once somebody has joined a later generation of the same coordinator, or
/// taken a static member's place, nothing is done any more in the name of an older membership; a member's generation
/// never falls, and it has its id for itself; a generation has the same members for whoever asks; and what a member is
/// told to read is what the leader of its generation gave it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history.h"
#include "checker/violation.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class GroupFencing {
  public:
    void judge(const ClientCall& call, const JoinGroupCall& join, ViolationLog& log);
    void judge(const ClientCall& call, const SyncGroupCall& sync, ViolationLog& log);
    void judge(const ClientCall& call, const HeartbeatCall& heartbeat, ViolationLog& log);
    void judge(const ClientCall& call, const OffsetCommitCall& commit, ViolationLog& log);
    /// Reports assignments that no leader's call, however late it returned, has explained.
    void judge_at_end(std::int64_t time_ns, ViolationLog& log) const;

  private:
    /// An answer that told of a generation.
    struct Joined {
        Membership membership;
        std::optional<GroupInstance> instance;
        BrokerId coordinator;
        std::int64_t invoked_ns;
        std::int64_t returned_ns;
    };
    /// What was given to a member of a generation, or to the static member that it is.
    struct Given {
        Membership to;
        std::optional<GroupInstance> instance;
        std::vector<TopicPartition> partitions;
    };
    struct Told {
        Membership to;
        std::optional<GroupInstance> instance;
        std::vector<TopicPartition> partitions;
        std::int64_t call;
    };
    /// The members of a generation.
    struct Roster {
        BrokerId coordinator;
        std::int32_t generation;
        std::vector<GroupPeer> peers;
    };
    struct Group {
        std::vector<Joined> joined;  // in order of return
        std::vector<Roster> rosters;
        std::vector<Given> given;
        std::vector<Told> told;  // not explained yet
    };
    void refuse_if_left_behind(const ClientCall& call, ClientGroup group, Membership as, std::string_view what,
                               std::optional<BrokerId> answered_by, ViolationLog& log) const;
    void judge_id(const ClientCall& call, const JoinGroupCall& join, ViolationLog& log);
    static void judge_roster(const ClientCall& call, const JoinGroupCall& join, Group& group, ViolationLog& log);
    static bool is_explained(const Group& group, const Told& told);

    FlatMap<ClientGroup, Group> groups_;
    FlatMap<GroupMember, ClientId> owners_;  // of members' ids
};

}  // namespace tidelock::checker
