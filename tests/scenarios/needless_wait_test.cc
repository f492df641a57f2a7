// Nobody waits for what is there already (I7, A5, F1).
#include <catch2/catch.hpp>

#include "scenarios/needless_wait.h"
#include "tests/scenarios/settled_group.h"

using namespace tidelock;
using namespace tidelock::scenarios;
using Catch::Matchers::Contains;

namespace {

const Instant kLater = Instant(0) + seconds(100'000);

/// Its leader, and one of the partitions that has records.
struct Leading {
    Leading() {
        for (const auto& [each, partition] : leader->partitions)
            if (partition.high_watermark.value() > Offset(0)) tp = each;
        high_watermark = leader->partitions.at(tp).high_watermark.value();
        REQUIRE(high_watermark > Offset(0));
    }
    void park_fetch_at(Offset offset) {
        replication::FetchRequest request;
        request.header.follower.broker = BrokerId(9);
        request.wait_max = seconds(1);
        request.partitions.push_back({});
        request.partitions.back().partition = tp;
        request.partitions.back().fetch_offset = offset;
        REQUIRE(leader->leading->parked.park(request, false, seconds(1), kLater));
    }

    SettledGroup group;
    std::optional<broker::Broker> leader = group.broker();
    TopicPartition tp;
    Offset high_watermark;
};

TEST_CASE("in a group in good order nobody waits without need") {
    REQUIRE_FALSE(needless_wait(*Leading().leader).has_value());
}

TEST_CASE("a reader waits at the high watermark, not below it") {
    Leading group;
    auto& readers = group.leader->leading->consumers;
    readers.push_back({{}, group.tp, group.high_watermark, 1, kLater});
    REQUIRE_FALSE(needless_wait(*group.leader).has_value());
    readers.push_back({{}, group.tp, group.high_watermark - 1, 1, kLater});
    REQUIRE_THAT(needless_wait(*group.leader).value_or(""), Contains("a reader waits"));
}

TEST_CASE("a producer waits for the high watermark to pass, a repeated batch for the members too") {
    Leading group;
    broker::WaitingProduce produce{{}, group.tp, group.high_watermark - 1, group.high_watermark - 1, LeaderEpoch(1)};
    produce.is_duplicate = true;
    auto& waiting = group.leader->waiting_produces;
    waiting.clear();
    waiting.emplace(replication::WaiterId(1), produce);
    REQUIRE_FALSE(needless_wait(*group.leader).has_value());
    waiting.begin()->second.is_duplicate = false;
    REQUIRE_THAT(needless_wait(*group.leader).value_or(""), Contains("a producer waits"));
    waiting.begin()->second.last_offset = group.high_watermark;
    REQUIRE_FALSE(needless_wait(*group.leader).has_value());
}

TEST_CASE("a follower's fetch waits at the log end, not short of it") {
    const auto waits_at = [](std::int64_t short_of_end) {
        Leading group;
        group.park_fetch_at(group.leader->logs.view(group.tp)->log_end_offset - short_of_end);
        return needless_wait(*group.leader);
    };
    REQUIRE_FALSE(waits_at(0).has_value());
    REQUIRE_THAT(waits_at(1).value_or(""), Contains("the fetch of broker 9 waits"));
}

TEST_CASE("a leader is woken no later than the time of the next who waits is over") {
    Leading group;
    clients::JoinGroupRequest join;
    join.group = "g";
    join.session_timeout = join.rebalance_timeout = seconds(10);
    join.protocol_type = "consumer";
    join.protocols = {{"range", {}}};
    clients::GroupEffects effects;
    group.leader->leading->parked = replication::ParkedFetches();
    group.leader->leading->consumers.clear();
    group.leader->leading->groups.join(Instant(0), {}, join, effects);
    const Instant due = *group.leader->leading->groups.next_deadline();
    group.leader->deadline_timer_at = due;
    REQUIRE_FALSE(needless_wait(*group.leader).has_value());
    group.leader->deadline_timer_at = due + milliseconds(1);
    REQUIRE_THAT(needless_wait(*group.leader).value_or(""), Contains("a member of a group waits"));
    group.leader->deadline_timer_at.reset();
    REQUIRE(needless_wait(*group.leader).has_value());
}

TEST_CASE("of several who wait for a producer id each is told in time") {
    Leading group;
    const Instant due(0);
    group.leader->deadline_timer_at.reset();
    group.leader->leading->waiting_for_producer_id.push_back({{}, due});
    REQUIRE_THAT(needless_wait(*group.leader).value_or(""), Contains("a new producer waits"));
    group.leader->deadline_timer_at = due;
    REQUIRE_FALSE(needless_wait(*group.leader).has_value());
}

TEST_CASE("a leader is always to look who keeps up with it") {
    Leading group;
    REQUIRE(group.leader->leading->in_sync_look_at.has_value());
    group.leader->leading->in_sync_look_at.reset();
    REQUIRE_THAT(needless_wait(*group.leader).value_or(""), Contains("nothing wakes the leader"));
}

TEST_CASE("who does not serve owes nobody anything") {
    Leading group;
    group.park_fetch_at(Offset(0));
    group.leader->leading->stage = broker::LeadingStage::kRebuilding;
    REQUIRE_FALSE(needless_wait(*group.leader).has_value());
}

}  // namespace
