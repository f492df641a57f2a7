/// The coordinator of consumer groups (T4), a pure machine. Members join; when all are there, or the time for it is
/// over, they form the next generation; one of them, the leader, is told of all and sends the assignments; each is told
/// its own. Who is silent for its session is out, and the others form a new generation.
///
/// Laws: a group's generation only rises; a member is told an assignment of the generation it has joined only; what a
/// member of an older generation, a removed member or a fenced instance asks for is refused; every request is answered,
/// or its connection has ended. Membership does not survive a leadership (T5): a new leader knows nobody, and members
/// come again.
///
/// Times are the leader's own clock. Nothing here waits: what is due is done by `expire`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/clients/group_news.h"
#include "protocol/clients/group_state.h"

namespace tidelock::clients {

struct GroupLimits {
    Duration session_timeout_min = milliseconds(6'000);  // kInvalidSessionTimeout outside, as in Kafka
    Duration session_timeout_max = milliseconds(1'800'000);
    Duration rebalance_timeout_max = milliseconds(2'147'483'647);  // what Kafka's wire can say; longer ones are cut
    Duration first_rebalance_delay = milliseconds(3'000);          // how long an empty group waits for more members
    std::int32_t groups_max = 10'000;                              // with members; kThrottled beyond
    std::int32_t members_max = 1'000;                              // a group, invited ones included; kGroupFull beyond
    std::int32_t member_bytes_max = 1 << 20;                       // what a member says of itself, or is assigned
    bool operator==(const GroupLimits&) const = default;
};

using GroupAnswerBody = std::variant<JoinGroupAnswer, SyncGroupAnswer, HeartbeatAnswer, LeaveGroupAnswer>;
struct GroupAnswer {
    ClientRef client;
    GroupAnswerBody body;
    bool operator==(const GroupAnswer&) const = default;
};

struct GroupEffects {
    std::vector<GroupAnswer> answers;
    std::vector<GroupNews> news;
};

class GroupCoordinator {
  public:
    /// `entropy` is fresh for each leadership: no id of a member is ever given twice.
    explicit GroupCoordinator(std::uint64_t entropy = 0, const GroupLimits& limits = {})
        : limits_(limits), entropy_(entropy) {}

    void join(Instant now, const ClientRef& client, const JoinGroupRequest& request, GroupEffects& effects);
    void sync(Instant now, const ClientRef& client, const SyncGroupRequest& request, GroupEffects& effects);
    void leave(Instant now, const ClientRef& client, const LeaveGroupRequest& request, GroupEffects& effects);
    [[nodiscard]] ErrorCode heartbeat(Instant now, const HeartbeatRequest& request);
    /// Whether an offset may be committed in the name of this member, and a sign of life of it. A generation below 0
    /// without a member is a consumer that assigns to itself, allowed while the group has no members.
    [[nodiscard]] ErrorCode admit_commit(Instant now, const HeartbeatRequest& committer);
    /// The connection has ended: nobody is there to be answered.
    void disconnect(Instant now, ConnectionId connection, GroupEffects& effects);
    /// Does what is due at `now`.
    void expire(Instant now, GroupEffects& effects);
    /// When to call `expire` next; it may find nothing to do. Empty: nothing will be due.
    [[nodiscard]] std::optional<Instant> next_deadline() const { return next_deadline_; }

    /// Groups with members, by name.
    [[nodiscard]] const std::map<std::string, Group>& groups() const { return groups_; }
    bool operator==(const GroupCoordinator&) const = default;

  private:
    struct Story;  // one call under way

    [[nodiscard]] std::string new_member_id(const std::string& client_id);
    void note_deadline(Instant deadline);

    GroupLimits limits_;
    std::map<std::string, Group> groups_;
    std::uint64_t entropy_ = 0;
    std::uint64_t ids_given_ = 0;
    std::optional<Instant> next_deadline_;  // no later than the first thing due
};

}  // namespace tidelock::clients
