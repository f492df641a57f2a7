// The story of a member of a consumer group (T4): it joins, learns what it is assigned (or assigns, when it leads),
// reads from what is committed on, and commits in the name of its membership. It learns that others came or went by
// being refused, and joins again.
#include <algorithm>
#include <optional>
#include <utility>

#include "scenarios/client_stories.h"
#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

using clients::ErrorCode;

constexpr std::int64_t kFetchWaitMs = 20;
constexpr std::int32_t kFetchBytesMax = 1 << 16;
constexpr std::int64_t kHeartbeatsPerSession = 3;
constexpr std::int64_t kRoundsBetweenTopics = 16;
constexpr const char* kProtocolType = "consumer";
constexpr const char* kProtocol = "taking-turns";

using Assignment = std::vector<TopicPartition>;

Bytes encode(const Assignment& partitions) {
    ByteWriter out;
    for (const TopicPartition& each : partitions) {
        out.u64(each.topic.value);
        out.u32(static_cast<std::uint32_t>(each.partition.value));
    }
    return out.take();
}

Assignment decode(const Bytes& bytes) {
    Assignment partitions;
    ByteReader in(bytes);
    while (!in.at_end() && !in.failed()) {
        const TopicId topic(in.u64());
        const PartitionIndex partition(static_cast<std::int32_t>(in.u32()));
        if (in.failed()) break;
        partitions.push_back({topic, partition});
    }
    return partitions;
}

class Member {
  public:
    Member(Client& client, const MemberPlan& plan, ClientOrders& orders, GroupProgress& progress)
        : client_(client),
          orders_(orders),
          progress_(progress),
          group_("m" + std::to_string(plan.group)),
          name_("member-" + std::to_string(plan.id)),
          instance_(plan.is_static ? name_ : "") {}

    void run() {
        while (client_.host().is_alive()) {
            if (!await_orders()) return;
            const bool goes_on = generation_ < 0 ? await_membership() : former_ ? await_former_life() : await_round();
            if (!goes_on) return;
        }
    }

  private:
    struct Position {
        KnownTopic topic;
        PartitionIndex partition;
        Offset next;
        Offset committed;  // as far as it knows
    };
    /// A static member that was thought dead, and has something to say when another one has its name (KIP-345).
    struct FormerLife {
        std::string member;
        std::int32_t generation;
        Position position;
    };

    // --- what the nemesis orders ---

    bool await_orders() {
        Workload& workload = client_.workload();
        if (orders_.crash_count > 0) {
            --orders_.crash_count;
            ++workload.orders_taken[4];
            client_.drop_connection();
            if (!instance_.empty() && generation_ >= 0 && !positions_.empty())
                former_ = FormerLife{member_, generation_, positions_.front()};
            forget_membership();
            return client_.await_pause(session_timeout() / 2);
        }
        if (orders_.silent_until_ns > client_.true_now_ns()) {
            ++workload.orders_taken[5];
            // What it says next it says as the member that it was.
            return client_.host().await_sleep(Duration(orders_.silent_until_ns - client_.true_now_ns()));
        }
        if (orders_.leave_count > 0) {
            --orders_.leave_count;
            ++workload.orders_taken[6];
            return await_leave() && client_.await_pause(session_timeout());
        }
        return true;
    }

    bool await_leave() {
        const clients::LeaveGroupRequest request{group_, {{member_, instance_}}};
        const CallReply reply = client_.await_leader_call(request, client_.short_timeout());
        forget_membership();
        return reply.end != CallEnd::kHostDied;
    }

    // --- joining ---

    /// One try to get into a generation and to learn its assignment.
    bool await_membership() {
        if (!client_.await_topics(topics_) && topics_.empty()) return client_.await_pause(client_.retry_pause());
        clients::JoinGroupRequest join;
        join.group = group_;
        join.member = member_;
        join.instance = instance_;
        join.client_id = name_;
        join.session_timeout = session_timeout();
        join.rebalance_timeout = rebalance_timeout();
        join.protocol_type = kProtocolType;
        join.protocols = {{kProtocol, {}}};
        client_.begin_call(checker::JoinGroupCall{group_number(), instance_number(), {}, {}, {}});
        const CallReply reply = client_.await_leader_call(join, rebalance_timeout() * 2 + client_.call_timeout());
        const auto* answer = std::get_if<clients::JoinGroupAnswer>(&reply.answer.body);
        const bool has_joined = reply.is_ok() && answer != nullptr;
        if (has_joined) {
            auto& call = client_.calls().operation_of<checker::JoinGroupCall>(client_.id());
            call.joined = {client_.calls().member_number(answer->member), answer->generation};
            call.coordinator = client_.target();
            for (const clients::JoinedMember& each : answer->members)
                call.peers.push_back({client_.calls().member_number(each.member), instance_number_of(each.instance)});
        }
        client_.end_call(reply.outcome());
        if (reply.end == CallEnd::kHostDied) return false;
        if (!has_joined) return await_after_refusal(reply, answer);
        member_ = answer->member;
        return await_assignment(*answer);
    }

    bool await_after_refusal(const CallReply& reply, const clients::JoinGroupAnswer* answer) {
        if (reply.end != CallEnd::kAnswered) return client_.await_pause(client_.retry_pause());
        if (reply.error() == ErrorCode::kMemberIdRequired && answer != nullptr) {
            member_ = answer->member;
            return true;
        }
        take_refusal(reply.error());
        return client_.await_pause(client_.retry_pause());
    }

    bool await_assignment(const clients::JoinGroupAnswer& joined) {
        clients::SyncGroupRequest sync;
        sync.group = group_;
        sync.generation = joined.generation;
        sync.member = member_;
        sync.instance = instance_;
        const bool assigns = joined.leader == member_ && !joined.skip_assignment;
        leads_ = joined.leader == member_;
        checker::SyncGroupCall call{group_number(), membership(joined.generation), instance_number(), {}, {}};
        if (assigns) assign(joined.members, sync, call);
        client_.begin_call(std::move(call));
        const CallReply reply = client_.await_leader_call(sync, rebalance_timeout() + client_.call_timeout());
        const auto* answer = std::get_if<clients::SyncGroupAnswer>(&reply.answer.body);
        const bool is_told = reply.is_ok() && answer != nullptr;
        if (is_told) {
            positions_.clear();
            for (const TopicPartition& each : decode(answer->assignment)) add_position(each);
            client_.calls().operation_of<checker::SyncGroupCall>(client_.id()).told = decode(answer->assignment);
        }
        client_.end_call(reply.outcome());
        if (reply.end == CallEnd::kHostDied) return false;
        if (!is_told) {
            if (reply.end == CallEnd::kAnswered) take_refusal(reply.error());
            return client_.await_pause(client_.retry_pause());
        }
        // Whoever assigns may have heard of a topic first.
        if (positions_.size() < decode(answer->assignment).size()) return client_.await_pause(client_.retry_pause());
        generation_ = joined.generation;
        heard_at_ = client_.host().local_now();
        return await_committed();
    }

    /// All partitions in turn to all members.
    void assign(const std::vector<clients::JoinedMember>& members, clients::SyncGroupRequest& sync,
                checker::SyncGroupCall& call) {
        assigned_topics_ = topics_;
        std::vector<Assignment> shares(members.size());
        std::size_t turn = 0;
        for (const KnownTopic& topic : topics_)
            for (std::int32_t partition = 0; partition < topic.partition_count; ++partition)
                shares[turn++ % shares.size()].push_back({topic.id, PartitionIndex(partition)});
        for (std::size_t i = 0; i < members.size(); ++i) {
            sync.assignments.push_back({members[i].member, encode(shares[i])});
            call.given.push_back(
                {client_.calls().member_number(members[i].member), instance_number_of(members[i].instance), shares[i]});
        }
    }

    void add_position(TopicPartition partition) {
        const auto topic = std::ranges::find(topics_, partition.topic, &KnownTopic::id);
        if (topic != topics_.end()) positions_.push_back({*topic, partition.partition, Offset(0), Offset(0)});
    }

    bool await_committed() {
        for (Position& position : positions_) {
            const auto number = client_.calls().partition_number(position.topic.name, position.partition);
            client_.begin_call(checker::OffsetFetchCall{group_number(), number, std::nullopt});
            const clients::OffsetFetchRequest request{group_, name_of(position)};
            const CallReply reply = client_.await_leader_call(request, client_.short_timeout());
            const auto* answer = std::get_if<clients::OffsetFetchAnswer>(&reply.answer.body);
            const bool is_told = reply.is_ok() && answer != nullptr;
            if (is_told && answer->offset.value >= 0) {
                client_.calls().operation_of<checker::OffsetFetchCall>(client_.id()).offset = answer->offset;
                position.next = position.committed = answer->offset;
                note_committed(position, answer->offset);
            }
            client_.end_call(reply.outcome());
            if (reply.end == CallEnd::kHostDied) return false;
            if (is_told) continue;
            // Without it there is nowhere to read on from. Whoever is out of the group learns it by joining.
            generation_ = -1;
            return client_.await_pause(client_.retry_pause());
        }
        return true;
    }

    // --- reading ---

    bool await_round() {
        const Instant due = heard_at_ + session_timeout() / kHeartbeatsPerSession;
        if (client_.host().local_now() >= due && !await_heartbeat()) return false;
        if (generation_ < 0) return true;
        if (leads_ && ++rounds_ % kRoundsBetweenTopics == 0 && !await_look_at_topics()) return false;
        if (generation_ < 0) return true;
        if (positions_.empty()) return await_idle();
        turn_ = (turn_ + 1) % positions_.size();
        Position& position = positions_[turn_];
        if (!await_fetch(position)) return false;
        // A commit that nobody answered is made once more.
        return position.next == position.committed ? await_idle() : await_commit(position);
    }

    bool await_idle() {
        return client_.await_pause(milliseconds(client_.workload().plan->settings[Setting::kMemberIntervalMs]));
    }

    /// Somebody has to see that there are other partitions now: the one that assigns.
    bool await_look_at_topics() {
        std::vector<KnownTopic> now;
        if (!client_.await_leaders_topics(now)) return client_.host().is_alive();
        const auto same = [](const KnownTopic& one, const KnownTopic& other) {
            return one.id == other.id && one.partition_count == other.partition_count;
        };
        if (!std::ranges::equal(now, assigned_topics_, same)) generation_ = -1;
        return true;
    }

    bool await_fetch(Position& position) {
        const clients::FetchRequest request{name_of(position), position.next, kFetchBytesMax,
                                            milliseconds(kFetchWaitMs)};
        const auto number = client_.calls().partition_number(position.topic.name, position.partition);
        client_.begin_call(checker::FetchCall{number, position.next, false, {}, {}, {}});
        const CallReply reply =
            client_.await_leader_call(request, milliseconds(kFetchWaitMs) + client_.short_timeout());
        if (reply.end == CallEnd::kHostDied) {  // perhaps because the run is over, and its calls have ended
            client_.end_call(checker::Outcome::kUnknown);
            return false;
        }
        const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
        auto& call = client_.calls().operation_of<checker::FetchCall>(client_.id());
        Offset next = position.next;
        auto records = reply.is_ok() && answer != nullptr ? records_in(answer->batches, next, next) : std::nullopt;
        const bool was_read = records.has_value();
        if (was_read) {
            call.records = *std::move(records);
            call.high_watermark = answer->high_watermark;
            position.next = next;
        }
        const bool is_outside = reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kOffsetOutOfRange;
        if (is_outside && answer != nullptr) {
            call.refused_log_start = answer->log_start_offset;
            position.next = std::max(position.next, answer->log_start_offset);
        }
        const auto not_ok = reply.end == CallEnd::kAnswered ? checker::Outcome::kFailed : checker::Outcome::kUnknown;
        client_.end_call(was_read ? checker::Outcome::kOk : not_ok);
        return true;
    }

    bool await_former_life() {
        const FormerLife former = *std::exchange(former_, std::nullopt);
        const CallReply reply = await_commit_as(former.member, former.generation, former.position);
        return reply.end != CallEnd::kHostDied;
    }

    CallReply await_commit_as(const std::string& member, std::int32_t generation, const Position& position) {
        const auto number = client_.calls().partition_number(position.topic.name, position.partition);
        const checker::Membership as{client_.calls().member_number(member), generation};
        client_.begin_call(checker::OffsetCommitCall{group_number(), number, position.next, as});
        clients::OffsetCommitRequest request;
        request.group = group_;
        request.generation = generation;
        request.member = member;
        request.instance = instance_;
        request.partition = name_of(position);
        request.offset = position.next;
        CallReply reply = client_.await_leader_call(request, client_.call_timeout());
        client_.end_call(reply.outcome());
        return reply;
    }

    bool await_commit(Position& position) {
        const CallReply reply = await_commit_as(member_, generation_, position);
        if (reply.end == CallEnd::kHostDied) return false;
        if (reply.is_ok()) {
            position.committed = position.next;
            note_committed(position, position.next);
            heard_at_ = client_.host().local_now();
        } else if (reply.end == CallEnd::kAnswered) {
            take_refusal(reply.error());
        }
        return true;
    }

    bool await_heartbeat() {
        client_.begin_call(checker::HeartbeatCall{group_number(), membership(generation_), {}});
        const clients::HeartbeatRequest request{group_, generation_, member_, instance_};
        const CallReply reply = client_.await_leader_call(request, client_.short_timeout());
        if (reply.is_ok())
            client_.calls().operation_of<checker::HeartbeatCall>(client_.id()).coordinator = client_.target();
        client_.end_call(reply.outcome());
        if (reply.is_ok()) heard_at_ = client_.host().local_now();
        if (reply.end == CallEnd::kAnswered) take_refusal(reply.error());
        return reply.end != CallEnd::kHostDied;
    }

    // --- what it knows of itself ---

    /// Whoever is told that its membership is over joins again, under its id if that is still known.
    void take_refusal(ErrorCode error) {
        switch (error) {
            case ErrorCode::kUnknownMember:
            case ErrorCode::kFencedInstance:
                return forget_membership();
            case ErrorCode::kIllegalGeneration:
            case ErrorCode::kRebalanceInProgress:
                generation_ = -1;
                return;
            default:
                return;
        }
    }

    void forget_membership() {
        member_.clear();
        generation_ = -1;
        leads_ = false;
        assigned_topics_.clear();
        positions_.clear();
    }

    void note_committed(const Position& position, Offset offset) {
        Offset& known = progress_.committed[{position.topic.id, position.partition}];
        known = std::max(known, offset);
    }

    static clients::PartitionName name_of(const Position& position) {
        return {position.topic.name, position.topic.id, position.partition};
    }
    checker::ClientGroup group_number() { return client_.calls().group_number(group_); }
    std::optional<checker::GroupInstance> instance_number() { return instance_number_of(instance_); }
    std::optional<checker::GroupInstance> instance_number_of(const std::string& name) {
        return name.empty() ? std::nullopt : std::optional(client_.calls().instance_number(name));
    }
    checker::Membership membership(std::int32_t generation) {
        return {client_.calls().member_number(member_), generation};
    }
    [[nodiscard]] Duration session_timeout() const {
        return milliseconds(client_.workload().plan->settings[Setting::kSessionTimeoutMs]);
    }
    [[nodiscard]] Duration rebalance_timeout() const {
        return milliseconds(client_.workload().plan->settings[Setting::kRebalanceTimeoutMs]);
    }

    Client& client_;
    ClientOrders& orders_;
    GroupProgress& progress_;
    std::string group_;
    std::string name_;
    std::string instance_;  // empty: dynamic
    std::string member_;    // empty: not known to the coordinator
    std::int32_t generation_ = -1;
    bool leads_ = false;
    Instant heard_at_;  // the coordinator's last good word, by the own clock
    std::vector<KnownTopic> topics_;
    std::vector<KnownTopic> assigned_topics_;  // as it last assigned them; empty: a former life of it did
    std::vector<Position> positions_;          // what it is assigned
    std::optional<FormerLife> former_;
    std::size_t turn_ = 0;
    std::int64_t rounds_ = 0;
};

}  // namespace

void run_group_member(Client& client, const MemberPlan& plan, std::size_t position, GroupProgress& progress) {
    Member(client, plan, client.workload().member_orders[position], progress).run();
}

}  // namespace tidelock::scenarios
