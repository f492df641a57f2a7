// Consumer groups (T4): who is in, in which generation, and what of it may be said in whose name.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <limits>

#include "protocol/clients/groups.h"
#include "tests/law.h"

namespace tidelock::clients {
namespace {

Instant at(std::int64_t ms) {
    return Instant(0) + milliseconds(ms);
}

/// A coordinator, a clock, and what it has answered to whom. Each caller is a connection of its own.
struct Desk {
    explicit Desk(Duration first_delay = milliseconds(0)) : coordinator(7, limits_of(first_delay)) {}

    static GroupLimits limits_of(Duration first_delay) {
        GroupLimits limits;
        limits.first_rebalance_delay = first_delay;
        limits.members_max = 4;
        return limits;
    }

    template <typename Body>
    std::optional<Body> answer_to(std::uint64_t connection) {
        for (auto each = effects.answers.begin(); each != effects.answers.end(); ++each) {
            const auto* body = std::get_if<Body>(&each->body);
            if (each->client.connection.value != connection || body == nullptr) continue;
            const Body found = *body;
            effects.answers.erase(each);
            return found;
        }
        return std::nullopt;
    }
    ClientRef client(std::uint64_t connection) { return {ConnectionId(connection), CorrelationId(++correlation)}; }

    static JoinGroupRequest request(const std::string& member = {}, const std::string& instance = {}) {
        JoinGroupRequest join;
        join.group = "g";
        join.member = member;
        join.instance = instance;
        join.client_id = "c";
        join.session_timeout = milliseconds(10'000);
        join.rebalance_timeout = milliseconds(30'000);
        join.protocol_type = "consumer";
        join.protocols = {{"range", Bytes::copy_of(std::string_view("m"))}};
        join.wants_member_first = false;
        return join;
    }
    void join(std::uint64_t connection, const JoinGroupRequest& join) {
        coordinator.join(now, client(connection), join, effects);
    }
    void sync(std::uint64_t connection, std::int32_t at_generation, const std::string& member,
              std::vector<GroupAssignment> assignments = {}) {
        SyncGroupRequest request;
        request.group = "g";
        request.generation = at_generation;
        request.member = member;
        request.assignments = std::move(assignments);
        coordinator.sync(now, client(connection), request, effects);
    }
    ErrorCode heartbeat(std::int32_t at_generation, const std::string& member, const std::string& instance = {}) {
        return coordinator.heartbeat(now, {"g", at_generation, member, instance});
    }
    ErrorCode commit(std::int32_t at_generation, const std::string& member) {
        return coordinator.admit_commit(now, {"g", at_generation, member, {}});
    }
    void pass(std::int64_t ms) {
        now = now + milliseconds(ms);
        coordinator.expire(now, effects);
    }
    /// Two members, 1 and 2, assigned "a1" and "a2"; 1 leads.
    void settle_two() {
        join(1, request());
        first = answer_to<JoinGroupAnswer>(1)->member;
        join(2, request());
        join(1, request(first));
        second = answer_to<JoinGroupAnswer>(2)->member;
        generation = answer_to<JoinGroupAnswer>(1)->generation;
        sync(2, generation, second);
        sync(1, generation, first,
             {{first, Bytes::copy_of(std::string_view("a1"))}, {second, Bytes::copy_of(std::string_view("a2"))}});
        REQUIRE(answer_to<SyncGroupAnswer>(1)->assignment.text() == "a1");
        REQUIRE(answer_to<SyncGroupAnswer>(2)->assignment.text() == "a2");
        effects = {};
    }

    GroupCoordinator coordinator;
    GroupEffects effects;
    Instant now = at(0);
    std::int64_t correlation = 0;
    std::string first;
    std::string second;
    std::int32_t generation = 0;
};

}  // namespace

TEST_CASE("T4: members of a new group wait for each other, then one of them leads the first generation") {
    Desk desk(milliseconds(3'000));
    desk.join(1, Desk::request());
    desk.pass(2'000);
    desk.join(2, Desk::request());
    desk.pass(1'000);  // the second drew the wait out
    CHECK(desk.effects.answers.empty());
    desk.pass(3'000);
    const auto one = desk.answer_to<JoinGroupAnswer>(1);
    const auto two = desk.answer_to<JoinGroupAnswer>(2);
    REQUIRE((one && two));
    CHECK(one->generation == 1);
    CHECK(one->leader == one->member);
    CHECK(one->members.size() == 2);
    CHECK(two->leader == one->member);
    CHECK(two->members.empty());
    CHECK(two->protocol == "range");
}

TEST_CASE("T4: a new group does not wait for more than the rebalance timeout, however many come") {
    Desk desk(milliseconds(3'000));
    auto request = Desk::request();
    request.rebalance_timeout = milliseconds(5'000);
    desk.join(1, request);
    desk.pass(2'500);
    desk.join(2, request);
    desk.pass(2'400);
    desk.join(3, request);
    desk.pass(100);
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->members.size() == 3);
}

TEST_CASE("T4: a member that would have the others wait for ever is waited for as long as Kafka's wire can say") {
    Desk desk;
    JoinGroupRequest patient = Desk::request();
    patient.rebalance_timeout = Duration(std::numeric_limits<std::int64_t>::max());
    desk.join(1, patient);
    REQUIRE(desk.answer_to<JoinGroupAnswer>(1)->error == ErrorCode::kNone);
    const Group& group = desk.coordinator.groups().at("g");
    REQUIRE(group.members.begin()->second.rebalance_timeout == GroupLimits{}.rebalance_timeout_max);
    desk.pass(1);
    REQUIRE(desk.coordinator.groups().at("g").members.size() == 1);
}

TEST_CASE("T4: assignments are the leader's, and each member is told its own when they have come") {
    Desk desk;
    desk.settle_two();
    desk.sync(2, desk.generation, desk.second);
    CHECK(desk.answer_to<SyncGroupAnswer>(2)->assignment.text() == "a2");
    CHECK(desk.heartbeat(desk.generation, desk.second) == ErrorCode::kNone);
}

TEST_CASE("KIP-394: a dynamic member is given an id first, and takes no place that it never takes up") {
    Desk desk;
    auto request = Desk::request();
    request.wants_member_first = true;
    desk.join(1, request);
    const auto invited = desk.answer_to<JoinGroupAnswer>(1);
    CHECK(invited->error == ErrorCode::kMemberIdRequired);
    REQUIRE(!invited->member.empty());
    CHECK(desk.coordinator.groups().at("g").members.empty());
    request.member = invited->member;
    desk.join(1, request);
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->generation == 1);

    desk.join(2, Desk::request("c-nobody"));
    CHECK(desk.answer_to<JoinGroupAnswer>(2)->error == ErrorCode::kUnknownMember);
}

TEST_CASE("KIP-394: an id that nobody comes with is forgotten after the session timeout, and the group with it") {
    Desk desk;
    auto request = Desk::request();
    request.wants_member_first = true;
    desk.join(1, request);
    desk.pass(9'999);
    CHECK(desk.coordinator.groups().contains("g"));
    desk.pass(1);
    CHECK(desk.coordinator.groups().empty());
    CHECK_FALSE(desk.coordinator.next_deadline());
}

TEST_CASE("KIP-394: one that leaves before it has joined costs the others no generation") {
    Desk desk;
    desk.settle_two();
    auto request = Desk::request();
    request.wants_member_first = true;
    desk.join(3, request);
    const auto invited = desk.answer_to<JoinGroupAnswer>(3);
    desk.coordinator.leave(desk.now, desk.client(3), {"g", {{invited->member, {}}}}, desk.effects);
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kNone);
    CHECK(desk.coordinator.groups().at("g").state == GroupState::kStable);
}

TEST_CASE("T4: what an older generation says is refused, heartbeat and commit alike") {
    Desk desk;
    desk.settle_two();
    CHECK(desk.commit(desk.generation, desk.first) == ErrorCode::kNone);
    CHECK(desk.commit(desk.generation - 1, desk.first) == ErrorCode::kIllegalGeneration);
    CHECK(desk.commit(desk.generation + 1, desk.first) == ErrorCode::kIllegalGeneration);
    CHECK(desk.commit(desk.generation, "c-nobody") == ErrorCode::kUnknownMember);
    CHECK(desk.commit(-1, "") == ErrorCode::kUnknownMember);
    CHECK(desk.heartbeat(desk.generation - 1, desk.first) == ErrorCode::kIllegalGeneration);
    desk.sync(1, desk.generation - 1, desk.first);
    CHECK(desk.answer_to<SyncGroupAnswer>(1)->error == ErrorCode::kIllegalGeneration);
}

TEST_CASE("T4: a consumer that assigns to itself commits while the group has no members; a member of none does not") {
    Desk desk;
    CHECK(desk.commit(-1, "") == ErrorCode::kNone);
    CHECK(desk.commit(-1, "c-1") == ErrorCode::kNone);  // some send a name that they never joined under
    CHECK(desk.commit(3, "c-1") == ErrorCode::kIllegalGeneration);
}

TEST_CASE("T4: during a rebalance members are told to join again, and may commit until they do") {
    Desk desk;
    desk.settle_two();
    desk.join(3, Desk::request());
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kRebalanceInProgress);
    CHECK(desk.commit(desk.generation, desk.first) == ErrorCode::kNone);
    desk.sync(1, desk.generation, desk.first);
    CHECK(desk.answer_to<SyncGroupAnswer>(1)->error == ErrorCode::kRebalanceInProgress);
    desk.join(1, Desk::request(desk.first));
    desk.join(2, Desk::request(desk.second));
    const auto joined = desk.answer_to<JoinGroupAnswer>(1);
    REQUIRE(joined);
    CHECK(joined->generation == desk.generation + 1);
    CHECK(joined->members.size() == 3);
    CHECK(desk.commit(joined->generation, desk.first) == ErrorCode::kRebalanceInProgress);  // nothing assigned yet
}

TEST_CASE("T4: who does not join in the time of the rebalance is out, and the others go on") {
    Desk desk;
    desk.settle_two();
    desk.join(3, Desk::request());
    desk.join(2, Desk::request(desk.second));
    for (int beat = 0; beat < 6; ++beat) {  // the first is alive, and does not come
        desk.pass(5'000);
        if (beat < 5) CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kRebalanceInProgress);
    }
    const auto joined = desk.answer_to<JoinGroupAnswer>(2);
    REQUIRE(joined);
    CHECK(joined->generation == desk.generation + 1);
    CHECK(joined->leader != desk.first);
    CHECK(desk.heartbeat(joined->generation, desk.first) == ErrorCode::kUnknownMember);
}

TEST_CASE("T4: who joins and does not sync in the time of the rebalance is out") {
    Desk desk;
    desk.settle_two();
    desk.join(1, Desk::request(desk.first));  // the leader wants another generation
    desk.join(2, Desk::request(desk.second));
    desk.sync(1, desk.generation + 1, desk.first);
    for (int beat = 0; beat < 6; ++beat) {
        desk.pass(5'000);
        CHECK(desk.heartbeat(desk.generation + 1, desk.first) ==
              (beat < 5 ? ErrorCode::kNone : ErrorCode::kRebalanceInProgress));
        if (beat < 5) CHECK(desk.heartbeat(desk.generation + 1, desk.second) == ErrorCode::kNone);
    }
    CHECK(desk.heartbeat(desk.generation + 1, desk.second) == ErrorCode::kUnknownMember);
}

TEST_CASE("T4: a silent member is out after its session, and its partitions go to the others") {
    Desk desk;
    desk.settle_two();
    desk.pass(6'000);
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kNone);
    desk.pass(4'000);
    CHECK(desk.heartbeat(desk.generation, desk.second) == ErrorCode::kUnknownMember);
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kRebalanceInProgress);
    desk.join(1, Desk::request(desk.first));
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->members.size() == 1);
}

TEST_CASE("T4: a commit is a sign of life") {
    Desk desk;
    desk.settle_two();
    desk.pass(6'000);
    CHECK(desk.commit(desk.generation, desk.first) == ErrorCode::kNone);
    CHECK(desk.commit(desk.generation, desk.second) == ErrorCode::kNone);
    desk.pass(6'000);
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kNone);
}

TEST_CASE("T4: a member that leaves is out at once; the last one takes the group with it") {
    Desk desk;
    desk.settle_two();
    desk.coordinator.leave(desk.now, desk.client(2), {"g", {{desk.second, {}}, {"c-nobody", {}}}}, desk.effects);
    const auto left = desk.answer_to<LeaveGroupAnswer>(2);
    CHECK(left->error == ErrorCode::kNone);
    CHECK(left->members == std::vector<ErrorCode>{ErrorCode::kNone, ErrorCode::kUnknownMember});
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kRebalanceInProgress);
    desk.coordinator.leave(desk.now, desk.client(1), {"g", {{desk.first, {}}}}, desk.effects);
    CHECK(desk.coordinator.groups().empty());
}

TEST_CASE("T4: a follower that comes again with nothing new costs nobody a generation; the leader may ask for one") {
    Desk desk;
    desk.settle_two();
    desk.join(2, Desk::request(desk.second));
    CHECK(desk.answer_to<JoinGroupAnswer>(2)->generation == desk.generation);
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kNone);
    auto news = Desk::request(desk.second);
    news.protocols[0].metadata = Bytes::copy_of(std::string_view("other topics"));
    desk.join(2, news);
    CHECK(desk.heartbeat(desk.generation, desk.first) == ErrorCode::kRebalanceInProgress);
    desk.join(1, Desk::request(desk.first));
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->generation == desk.generation + 1);
    desk.join(1, Desk::request(desk.first));  // its answer was lost: the generation stands, assignments are not there
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->generation == desk.generation + 1);
}

TEST_CASE("T4: members need a protocol in common; the one that most like best is chosen") {
    Desk desk;
    auto both = Desk::request();
    both.protocols = {{"sticky", {}}, {"range", {}}};
    desk.join(1, both);
    const std::string first = desk.answer_to<JoinGroupAnswer>(1)->member;
    auto stranger = Desk::request();
    stranger.protocols = {{"cooperative", {}}};
    desk.join(2, stranger);
    CHECK(desk.answer_to<JoinGroupAnswer>(2)->error == ErrorCode::kInconsistentGroupProtocol);
    stranger = Desk::request();
    stranger.protocol_type = "connect";
    desk.join(2, stranger);
    CHECK(desk.answer_to<JoinGroupAnswer>(2)->error == ErrorCode::kInconsistentGroupProtocol);
    desk.join(2, Desk::request());  // range only
    both.member = first;
    desk.join(1, both);
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->protocol == "range");
}

TEST_CASE(
    "KIP-345: a static member that comes again takes its own place without a rebalance, and fences its old life") {
    Desk desk;
    desk.join(1, Desk::request({}, "one"));
    const auto first = desk.answer_to<JoinGroupAnswer>(1);
    SyncGroupRequest sync{"g", first->generation, first->member, "one", {}, {}, {}};
    sync.assignments = {{first->member, Bytes::copy_of(std::string_view("all"))}};
    desk.coordinator.sync(desk.now, desk.client(1), sync, desk.effects);

    desk.effects = {};
    desk.join(2, Desk::request({}, "one"));
    const auto again = desk.answer_to<JoinGroupAnswer>(2);
    REQUIRE(again);
    CHECK(again->generation == first->generation);
    CHECK(again->skip_assignment);
    CHECK(again->member != first->member);
    CHECK(desk.heartbeat(first->generation, first->member, "one") == ErrorCode::kFencedInstance);
    CHECK(desk.heartbeat(first->generation, again->member, "one") == ErrorCode::kNone);
    sync.member = again->member;
    sync.assignments.clear();
    desk.coordinator.sync(desk.now, desk.client(2), sync, desk.effects);
    CHECK(desk.answer_to<SyncGroupAnswer>(2)->assignment.text() == "all");
}

TEST_CASE("KIP-814: a returning static leader that cannot skip the assignment is told that another leads") {
    Desk desk;
    desk.join(1, Desk::request({}, "one"));
    const auto first = desk.answer_to<JoinGroupAnswer>(1);
    SyncGroupRequest sync{"g", first->generation, first->member, "one", {}, {}, {}};
    desk.coordinator.sync(desk.now, desk.client(1), sync, desk.effects);
    auto old = Desk::request({}, "one");
    old.may_skip_assignment = false;
    desk.join(2, old);
    const auto again = desk.answer_to<JoinGroupAnswer>(2);
    CHECK_FALSE(again->skip_assignment);
    CHECK(again->leader == first->member);
    CHECK(again->members.empty());
}

TEST_CASE("KIP-345: a static member that is away keeps its place through a rebalance until its session is over") {
    Desk desk;
    auto away = Desk::request({}, "one");
    away.session_timeout = milliseconds(60'000);
    desk.join(1, away);
    const std::string one = desk.answer_to<JoinGroupAnswer>(1)->member;
    desk.join(2, Desk::request());
    desk.pass(30'000);
    const auto two = desk.answer_to<JoinGroupAnswer>(2);
    REQUIRE(two);
    CHECK(two->leader == two->member);
    CHECK(two->members.size() == 2);
    SyncGroupRequest sync{"g", two->generation, two->member, {}, {}, {}, {}};
    desk.coordinator.sync(desk.now, desk.client(2), sync, desk.effects);
    for (int beat = 0; beat < 6; ++beat) {
        desk.pass(5'000);
        (void)desk.heartbeat(two->generation, two->member);
    }
    CHECK_FALSE(desk.coordinator.groups().at("g").members.contains(one));
    CHECK(desk.heartbeat(two->generation, two->member) == ErrorCode::kRebalanceInProgress);
}

TEST_CASE("T4: a new member whose connection ends before it knows its id is not waited for") {
    Desk desk;
    desk.settle_two();
    desk.join(3, Desk::request());
    desk.coordinator.disconnect(desk.now, ConnectionId(3), desk.effects);
    desk.join(1, Desk::request(desk.first));
    desk.join(2, Desk::request(desk.second));
    CHECK(desk.answer_to<JoinGroupAnswer>(1)->members.size() == 2);
}

TEST_CASE("T4: limits are told: members of a group, sessions, names, what a member may say") {
    Desk desk(milliseconds(3'000));
    for (std::uint64_t member = 1; member <= 4; ++member) desk.join(member, Desk::request());
    desk.join(5, Desk::request());
    CHECK(desk.answer_to<JoinGroupAnswer>(5)->error == ErrorCode::kGroupFull);
    auto request = Desk::request();
    request.session_timeout = milliseconds(5'999);
    desk.join(6, request);
    CHECK(desk.answer_to<JoinGroupAnswer>(6)->error == ErrorCode::kInvalidSessionTimeout);
    request = Desk::request();
    request.group.clear();
    desk.join(6, request);
    CHECK(desk.answer_to<JoinGroupAnswer>(6)->error == ErrorCode::kInvalidGroup);
    request = Desk::request();
    request.protocols[0].metadata = Bytes::copy_of(std::string(2 << 20, 'x'));
    desk.join(6, request);
    CHECK(desk.answer_to<JoinGroupAnswer>(6)->error == ErrorCode::kMessageTooLarge);
    request = Desk::request();
    request.protocols.clear();
    desk.join(6, request);
    CHECK(desk.answer_to<JoinGroupAnswer>(6)->error == ErrorCode::kInconsistentGroupProtocol);
}

namespace {

/// Members that do what comes to mind: the laws of the machine hold whatever they do.
struct Crowd {
    struct Waiting {
        ClientRef client;
        bool operator==(const Waiting&) const = default;
    };
    Desk desk{milliseconds(*rc::gen::element(0, 3'000))};
    std::vector<ClientRef> unanswered;
    std::vector<std::string> ids{""};
    std::int32_t generation_told = 0;

    std::string any_id() { return *rc::gen::elementOf(ids); }

    void settle() {
        for (const GroupAnswer& each : desk.effects.answers) {
            const auto waiting = std::find(unanswered.begin(), unanswered.end(), each.client);
            RC_ASSERT(waiting != unanswered.end());  // answered once, and only who has asked
            unanswered.erase(waiting);
            if (const auto* join = std::get_if<JoinGroupAnswer>(&each.body)) {
                if (!join->member.empty() && ids.size() < 12) ids.push_back(join->member);
                if (join->error != ErrorCode::kNone) continue;
                const auto group = desk.coordinator.groups().find("g");
                if (group != desk.coordinator.groups().end()) RC_ASSERT(join->generation <= group->second.generation);
                generation_told = std::max(generation_told, join->generation);
            }
        }
        desk.effects = {};
        const auto& groups = desk.coordinator.groups();
        if (!groups.contains("g")) {
            generation_told = 0;
            RC_ASSERT(unanswered.empty());
            return;
        }
        const Group& group = groups.at("g");
        RC_ASSERT(group.generation >= generation_told);
        RC_ASSERT(group.members.size() + group.invited.size() <= 4U);
        RC_ASSERT(group.members.empty() == (group.state == GroupState::kEmpty));
        if (!group.members.empty()) RC_ASSERT(group.members.contains(group.leader));
        std::size_t waiting = 0;
        for (const auto& [id, member] : group.members) {
            waiting += (member.joining ? 1U : 0U) + (member.syncing ? 1U : 0U);
            if (member.joining) RC_ASSERT(group.state == GroupState::kPreparingRebalance);
            if (member.syncing) RC_ASSERT(group.state == GroupState::kCompletingRebalance);
            if (member.is_static()) RC_ASSERT(group.instances.at(member.instance) == id);
        }
        RC_ASSERT(waiting == unanswered.size());  // nobody is lost
        if (group.state == GroupState::kCompletingRebalance || group.state == GroupState::kStable)
            RC_ASSERT(!group.protocol.empty());
        if (waiting > 0) RC_ASSERT(desk.coordinator.next_deadline().has_value());
    }
};

ClientRef asking(Crowd& crowd) {
    crowd.unanswered.push_back(crowd.desk.client(*rc::gen::inRange<std::uint64_t>(1, 6)));
    return crowd.unanswered.back();
}

void act(Crowd& crowd) {
    Desk& desk = crowd.desk;
    const std::string instance = *rc::gen::element<std::string>("", "", "s1", "s2");
    switch (*rc::gen::inRange(0, 8)) {
        case 0:
        case 1:
        case 2: {
            auto request = Desk::request(crowd.any_id(), instance);
            request.wants_member_first = *rc::gen::arbitrary<bool>();
            request.may_skip_assignment = *rc::gen::arbitrary<bool>();
            request.protocols[0].metadata = Bytes::copy_of(std::string(1, *rc::gen::element('m', 'n')));
            const ClientRef client = asking(crowd);
            return desk.coordinator.join(desk.now, client, request, desk.effects);
        }
        case 3:
        case 4: {
            SyncGroupRequest request{"g", crowd.generation_told, crowd.any_id(), instance, {}, {}, {}};
            request.assignments = {{crowd.any_id(), Bytes::copy_of(std::string_view("x"))}};
            const ClientRef client = asking(crowd);
            return desk.coordinator.sync(desk.now, client, request, desk.effects);
        }
        case 5: {
            const ClientRef client = asking(crowd);
            return desk.coordinator.leave(desk.now, client, {"g", {{crowd.any_id(), instance}}}, desk.effects);
        }
        case 6: {
            const ConnectionId gone(*rc::gen::inRange<std::uint64_t>(1, 6));
            std::erase_if(crowd.unanswered, [&](const ClientRef& each) { return each.connection == gone; });
            return desk.coordinator.disconnect(desk.now, gone, desk.effects);
        }
        default:
            if (*rc::gen::arbitrary<bool>()) (void)desk.heartbeat(crowd.generation_told, crowd.any_id(), instance);
            return desk.pass(*rc::gen::element(10, 3'000, 9'000, 30'000));
    }
}

}  // namespace

TEST_CASE("law: whatever members do, everybody who asks is answered once, and generations only rise") {
    check_law([] {
        Crowd crowd;
        for (int left = *rc::gen::inRange(1, 60); left > 0; --left) {
            act(crowd);
            crowd.settle();
        }
    });
}

TEST_CASE("law: members that only wait are all answered in a bounded time") {
    check_law([] {
        Crowd crowd;
        for (int left = *rc::gen::inRange(1, 30); left > 0; --left) {
            act(crowd);
            crowd.settle();
        }
        for (int round = 0; round < 12; ++round) {
            crowd.desk.pass(30'000);
            crowd.settle();
        }
        RC_ASSERT(crowd.unanswered.empty());
        RC_ASSERT(crowd.desk.coordinator.groups().empty());  // nobody gave a sign of life
    });
}

}  // namespace tidelock::clients
