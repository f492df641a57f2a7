#include "checker/group_fencing.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

/// A static member may have come again under another id.
bool is_same_member(const GroupPeer& one, const GroupPeer& other) {
    return one.member == other.member || (one.instance && one.instance == other.instance);
}

bool holds(const std::vector<GroupPeer>& peers, const GroupPeer& wanted) {
    return std::ranges::any_of(peers, [&](const GroupPeer& peer) { return is_same_member(peer, wanted); });
}

}  // namespace

void GroupFencing::judge(const ClientCall& call, const JoinGroupCall& join, ViolationLog& log) {
    if (call.outcome != Outcome::kOk) return;
    Group& group = groups_[join.group];
    for (const Joined& before : group.joined) {
        if (before.membership.member != join.joined.member || before.returned_ns > call.invoked_ns) continue;
        if (before.membership.generation <= join.joined.generation || !log.wants(InvariantId::kGroupFencing)) continue;
        log.report(InvariantId::kGroupFencing, call.returned_ns,
                   fmt::format("client {} call {} joined generation {} of group {} as member {}, who was in generation "
                               "{} before: generations only rise (T4)",
                               call.client.value, call.call, join.joined.generation, join.group.value,
                               join.joined.member.value, before.membership.generation));
    }
    judge_id(call, join, log);
    if (!join.peers.empty()) judge_roster(call, join, group, log);
    group.joined.push_back({join.joined, join.instance, join.coordinator, call.invoked_ns, call.returned_ns});
}

void GroupFencing::judge_id(const ClientCall& call, const JoinGroupCall& join, ViolationLog& log) {
    const auto [owner, is_new] = owners_.try_emplace(join.joined.member, call.client);
    if (is_new || owner->second == call.client || !log.wants(InvariantId::kGroupFencing)) return;
    log.report(
        InvariantId::kGroupFencing, call.returned_ns,
        fmt::format("client {} call {} joined group {} as member {}, an id that client {} was given (T4)",
                    call.client.value, call.call, join.group.value, join.joined.member.value, owner->second.value));
}

/// A coordinator that leads anew counts anew: two rosters without a member in common are of different leaderships.
void GroupFencing::judge_roster(const ClientCall& call, const JoinGroupCall& join, Group& group, ViolationLog& log) {
    for (const Roster& known : group.rosters) {
        if (known.coordinator != join.coordinator || known.generation != join.joined.generation) continue;
        const auto is_common = [&](const GroupPeer& peer) {
            return std::ranges::any_of(known.peers, [&](const GroupPeer& k) { return k.member == peer.member; });
        };
        if (std::ranges::none_of(join.peers, is_common)) continue;
        const bool is_same =
            known.peers.size() == join.peers.size() &&
            std::ranges::all_of(join.peers, [&](const GroupPeer& peer) { return holds(known.peers, peer); });
        if (is_same || !log.wants(InvariantId::kGroupFencing)) continue;
        log.report(InvariantId::kGroupFencing, call.returned_ns,
                   fmt::format("client {} call {} was told {} members of generation {} of group {}, others than the {} "
                               "that it had before (T4)",
                               call.client.value, call.call, join.peers.size(), join.joined.generation,
                               join.group.value, known.peers.size()));
    }
    group.rosters.push_back({join.coordinator, join.joined.generation, join.peers});
}

/// `answered_by`: a coordinator that was deposed and does not know it yet may answer in good faith, so what rests on no
/// record counts against it only if it told of the later generation itself.
void GroupFencing::refuse_if_left_behind(const ClientCall& call, ClientGroup group_number, Membership as,
                                         std::string_view what, std::optional<BrokerId> answered_by,
                                         ViolationLog& log) const {
    const auto at = groups_.find(group_number);
    if (at == groups_.end() || !log.wants(InvariantId::kGroupFencing)) return;
    const std::vector<Joined>& joined = at->second.joined;
    const auto own = std::ranges::find(joined, as, &Joined::membership);
    if (own == joined.end()) return;  // its answer was lost: it cannot know its generation, and asks for nothing
    const auto leaves_behind = [&](const Joined& later) {
        const bool is_later = later.invoked_ns > own->returned_ns && later.returned_ns < call.invoked_ns &&
                              later.coordinator == own->coordinator;
        const bool takes_place =
            own->instance && later.instance == own->instance && later.membership.member != own->membership.member;
        return is_later && (later.membership.generation != as.generation || takes_place) &&
               (!answered_by || later.coordinator == *answered_by);
    };
    const auto later = std::ranges::find_if(joined, leaves_behind);
    if (later == joined.end()) return;
    log.report(
        InvariantId::kGroupFencing, call.returned_ns,
        fmt::format("client {} call {}: {} as member {} of generation {} of group {} was accepted, though broker "
                    "{} had told member {} of generation {} before it was asked (T4)",
                    call.client.value, call.call, what, as.member.value, as.generation, group_number.value,
                    later->coordinator.value, later->membership.member.value, later->membership.generation));
}

void GroupFencing::judge(const ClientCall& call, const OffsetCommitCall& commit, ViolationLog& log) {
    if (call.outcome != Outcome::kOk || !commit.as) return;
    refuse_if_left_behind(call, commit.group, *commit.as, "a commit", std::nullopt, log);
}

void GroupFencing::judge(const ClientCall& call, const HeartbeatCall& heartbeat, ViolationLog& log) {
    if (call.outcome != Outcome::kOk) return;
    refuse_if_left_behind(call, heartbeat.group, heartbeat.as, "a heartbeat", heartbeat.coordinator, log);
}

void GroupFencing::judge(const ClientCall& call, const SyncGroupCall& sync, ViolationLog& /*log*/) {
    Group& group = groups_[sync.group];
    for (const GroupShare& share : sync.given)
        group.given.push_back({{share.member, sync.as.generation}, share.instance, share.partitions});
    if (call.outcome == Outcome::kOk) group.told.push_back({sync.as, sync.instance, sync.told, call.call});
    std::erase_if(group.told, [&](const Told& told) { return is_explained(group, told); });
}

bool GroupFencing::is_explained(const Group& group, const Told& told) {
    // Old versions of the Kafka wire do not tell the leader who is static.
    const auto instance_of = [&](const Given& given) {
        const auto is_same = [&](const Joined& joined) { return joined.membership.member == given.to.member; };
        const auto joined = std::ranges::find_if(group.joined, is_same);
        return given.instance || joined == group.joined.end() ? given.instance : joined->instance;
    };
    // Nor does a member whose join was never answered: it may be the former life of whoever is told.
    const auto is_nobody_known = [&](const Given& given) {
        const auto is_same = [&](const Joined& joined) { return joined.membership.member == given.to.member; };
        return !given.instance && std::ranges::none_of(group.joined, is_same);
    };
    return std::ranges::any_of(group.given, [&](const Given& given) {
        const bool is_static_life = told.instance && (instance_of(given) == told.instance || is_nobody_known(given));
        const bool is_same = given.to.member == told.to.member || is_static_life;
        return is_same && given.to.generation == told.to.generation && given.partitions == told.partitions;
    });
}

void GroupFencing::judge_at_end(std::int64_t time_ns, ViolationLog& log) const {
    for (const auto& [number, group] : groups_)
        for (const Told& told : group.told) {
            if (is_explained(group, told) || !log.wants(InvariantId::kGroupFencing)) continue;
            log.report(
                InvariantId::kGroupFencing, time_ns,
                fmt::format("call {} told member {} of generation {} of group {} to read {} partitions that "
                            "nobody who leads that generation has given it (T4)",
                            told.call, told.to.member.value, told.to.generation, number.value, told.partitions.size()));
        }
}

}  // namespace tidelock::checker
