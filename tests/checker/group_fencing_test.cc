// T4 as the clients of consumer groups see it: whoever was left behind is refused.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

constexpr TopicPartition kFirst{TopicId(7), PartitionIndex(0)};
constexpr TopicPartition kSecond{TopicId(7), PartitionIndex(1)};

/// Calls of members of one group, one after the other; a call may have been under way since an earlier time.
struct GroupStory {
    Checker checker{Story::group_of_three()};
    std::int64_t now = 0;
    std::int64_t calls = 0;
    BrokerId coordinator{1};
    std::int32_t client = 1;
    std::vector<GroupPeer> peers;  // told with the next joins

    template <typename Operation>
    GroupStory& call(Operation operation, std::int64_t invoked_ns = -1, Outcome outcome = Outcome::kOk) {
        const std::int64_t invoked = invoked_ns >= 0 ? invoked_ns : ++now;
        checker.on_call(ClientCall{ClientId(client), ++calls, invoked, ++now, outcome, std::move(operation)});
        return *this;
    }
    GroupStory& join(std::int32_t member, std::int32_t generation, std::int32_t instance = 0,
                     std::int64_t invoked_ns = -1) {
        const auto name = instance == 0 ? std::nullopt : std::optional(GroupInstance(instance));
        return call(JoinGroupCall{ClientGroup(1), name, {GroupMember(member), generation}, coordinator, peers},
                    invoked_ns);
    }
    GroupStory& commit(std::int32_t member, std::int32_t generation, std::int64_t invoked_ns = -1) {
        OffsetCommitCall commit{ClientGroup(1), kClientX0, Offset(5), Membership{GroupMember(member), generation}};
        return call(commit, invoked_ns);
    }
    GroupStory& heartbeat(std::int32_t member, std::int32_t generation, std::int64_t invoked_ns = -1) {
        return call(HeartbeatCall{ClientGroup(1), {GroupMember(member), generation}, coordinator}, invoked_ns);
    }
    GroupStory& sync(std::int32_t member, std::int32_t generation, std::vector<TopicPartition> told,
                     std::vector<GroupShare> given = {}, std::int32_t instance = 0) {
        const auto name = instance == 0 ? std::nullopt : std::optional(GroupInstance(instance));
        return call(
            SyncGroupCall{ClientGroup(1), {GroupMember(member), generation}, name, std::move(given), std::move(told)});
    }
    GroupStory& end() {
        FinalView view;
        view.judge_progress = false;
        checker.at_end(++now, view);
        return *this;
    }
    [[nodiscard]] std::string message() const {
        return checker.violations().empty() ? std::string() : checker.violations().front().message;
    }
    [[nodiscard]] bool is_clean() const { return checker.violations().empty(); }
};

TEST_CASE("T4: nothing is committed in the name of a generation that another one has followed") {
    GroupStory story;
    story.join(1, 1).join(2, 2);
    SECTION("by the member that was left behind") {
        REQUIRE_THAT(story.commit(1, 1).message(), Contains("a commit as member 1 of generation 1"));
    }
    SECTION("a commit that was under way may have come first") {
        const std::int64_t before = story.now - 1;
        REQUIRE(story.commit(1, 1, before).is_clean());
    }
    SECTION("by a member that has come along") {
        REQUIRE(story.join(1, 2).commit(1, 2).is_clean());
    }
    SECTION("a refusal is right") {
        OffsetCommitCall commit{ClientGroup(1), kClientX0, Offset(5), Membership{GroupMember(1), 1}};
        REQUIRE(story.call(commit, -1, Outcome::kFailed).is_clean());
    }
}

TEST_CASE("T4: a join that was answered late says nothing of what came first") {
    GroupStory story;
    const std::int64_t early = story.now;
    story.join(1, 1);
    REQUIRE(story.join(2, 0, 0, early).commit(1, 1).is_clean());
}

TEST_CASE("T4: another coordinator counts its generations anew") {
    GroupStory story;
    story.join(1, 5);
    story.coordinator = BrokerId(2);
    // The first may have been deposed before it took this one, or the second, without knowing.
    REQUIRE(story.join(2, 1).commit(1, 5).is_clean());
}

TEST_CASE("T4: a heartbeat in an old generation is refused by whoever told of a later one") {
    GroupStory story;
    story.join(1, 1).join(2, 2);
    REQUIRE_THAT(story.heartbeat(1, 1).message(), Contains("a heartbeat as member 1 of generation 1"));
}

TEST_CASE("T4: a static member's former life is fenced in its own generation") {
    GroupStory story;
    story.join(1, 1, 9).join(2, 1, 9);
    SECTION("the former life") {
        REQUIRE_THAT(story.commit(1, 1).message(), Contains("a commit as member 1"));
    }
    SECTION("the new one") {
        REQUIRE(story.commit(2, 1).is_clean());
    }
    SECTION("another member of the same generation leaves nobody behind") {
        REQUIRE(GroupStory().join(1, 1, 9).join(2, 1, 8).commit(1, 1).is_clean());
    }
}

TEST_CASE("T4: a member's generation never falls") {
    REQUIRE(GroupStory().join(1, 2).join(1, 2).join(1, 3).is_clean());
    REQUIRE_THAT(GroupStory().join(1, 3).join(1, 2).message(), Contains("generations only rise"));
}

TEST_CASE("T4: members are told what the leader of their generation gave them") {
    GroupStory story;
    const std::vector<GroupShare> given{{GroupMember(1), std::nullopt, {kFirst}},
                                        {GroupMember(2), GroupInstance(9), {kSecond}}};
    SECTION("in whatever order the calls return") {
        REQUIRE(story.sync(2, 1, {kSecond}).sync(1, 1, {kFirst}, given).end().is_clean());
    }
    SECTION("not what another one was given") {
        REQUIRE_THAT(story.sync(2, 1, {kFirst}).sync(1, 1, {kFirst}, given).end().message(),
                     Contains("told member 2 of generation 1"));
    }
    SECTION("not what was given in another generation") {
        REQUIRE_FALSE(story.sync(2, 2, {kSecond}).sync(1, 1, {kFirst}, given).end().is_clean());
    }
    SECTION("a static member's new life goes on with what the former one was given") {
        REQUIRE(story.sync(1, 1, {kFirst}, given).sync(3, 1, {kSecond}, {}, 9).end().is_clean());
    }
}

TEST_CASE("T4: a leader that is not told who is static gives to a life whose join was never answered") {
    GroupStory story;
    story.join(1, 1);
    // Member 12 is the former life of instance 5, whose client never heard that it had joined.
    story.sync(1, 1, {kFirst}, {{GroupMember(1), {}, {kFirst}}, {GroupMember(12), {}, {kSecond}}});
    story.join(13, 1, 5);
    SECTION("which its next life is told of") {
        REQUIRE(story.sync(13, 1, {kSecond}, {}, 5).end().is_clean());
    }
    SECTION("and nothing else") {
        REQUIRE_THAT(story.sync(13, 1, {kFirst, kSecond}, {}, 5).end().message(), Contains("nobody who leads"));
    }
    SECTION("nor what somebody else got") {
        REQUIRE_THAT(story.sync(13, 1, {kFirst}, {}, 5).end().message(), Contains("nobody who leads"));
    }
    SECTION("and it is nobody else's") {
        story.join(14, 1);
        REQUIRE_THAT(story.sync(14, 1, {kSecond}).end().message(), Contains("nobody who leads"));
    }
}

TEST_CASE("T4: a generation has the same members for whoever is told of them") {
    GroupStory story;
    story.peers = {{GroupMember(1), std::nullopt}, {GroupMember(2), GroupInstance(9)}};
    story.join(1, 1);
    SECTION("the same") {
        REQUIRE(story.join(1, 1).is_clean());
    }
    SECTION("a static member under another id") {
        story.peers[1].member = GroupMember(3);
        REQUIRE(story.join(1, 1).is_clean());
    }
    SECTION("one more") {
        story.peers.push_back({GroupMember(3), std::nullopt});
        REQUIRE_THAT(story.join(1, 1).message(), Contains("was told 3 members of generation 1"));
    }
    SECTION("a coordinator that has led anew knows nobody of before") {
        story.peers = {{GroupMember(4), std::nullopt}};
        REQUIRE(story.join(4, 1).is_clean());
    }
}

TEST_CASE("T4: no two clients have the same id of a member") {
    GroupStory story;
    story.join(1, 1);
    story.client = 2;
    REQUIRE_THAT(story.join(1, 2).message(), Contains("an id that client 1 was given"));
}

}  // namespace
}  // namespace tidelock::checker
