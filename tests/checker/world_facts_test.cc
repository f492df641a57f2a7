// What only the host can tell: whether a leader hears a majority (R5), and whether promises would survive a power loss.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kMs = 1'000'000;

/// Broker 1 leads term 1 and looks every 100 ms whether a majority has answered within 600 ms.
struct QuorumStory : Story {
    using Story::Story;
    std::int64_t local_ms = 0;

    QuorumStory& act(Term term = Term(1)) {
        fact(LeaderActed{BrokerId(1), term, local_ms * kMs, 600 * kMs, 100 * kMs});
        return *this;
    }
    QuorumStory& hear(int peer) {
        fact(PeerAnswered{BrokerId(1), BrokerId(peer), local_ms * kMs});
        return *this;
    }
    /// Heartbeats until `until_ms`, answered by `peers`.
    QuorumStory& lead_until(std::int64_t until_ms, std::initializer_list<int> peers) {
        for (; local_ms <= until_ms; local_ms += 100) {
            for (const int peer : peers) hear(peer);
            act();
        }
        return *this;
    }
};

TEST_CASE("R5: a leader that no majority answers steps down") {
    QuorumStory story;
    SECTION("one of two others is enough") {
        story.lead_until(5000, {2});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("nobody answers") {
        story.lead_until(1000, {2}).lead_until(5000, {});
        REQUIRE_THAT(story.message("raft-safety"), Contains("broker 1 still leads term 1") && Contains("(R5)"));
    }
    SECTION("nobody ever answered") {
        story.lead_until(5000, {});
        REQUIRE(story.breaks("raft-safety"));
    }
    SECTION("it steps down as soon as it looks") {
        story.lead_until(1000, {2}).lead_until(1700, {});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("in a later term it starts anew") {
        story.lead_until(1000, {2}).lead_until(1900, {}).act(Term(2));
        story.local_ms += 500;
        story.act(Term(2));
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("R5: a machine that stood still gets the time to notice") {
    QuorumStory story;
    story.lead_until(1000, {2});
    for (int pause = 0; pause < 3; ++pause) {
        story.local_ms += 10'000;
        story.act();
    }
    REQUIRE(story.broken() == kNothing);
    story.lead_until(story.local_ms + 500, {});
    REQUIRE(story.breaks("raft-safety"));
}

TEST_CASE("R5: of five brokers two others have to answer") {
    for (const bool both : {true, false}) {
        Settings settings;
        for (int broker = 1; broker <= 5; ++broker) settings.members.emplace_back(broker);
        QuorumStory story(settings);
        both ? story.lead_until(5000, {2, 3}) : story.lead_until(5000, {2});
        REQUIRE(story.breaks("raft-safety") == !both);
    }
}

DiskDamaged rot_in(const std::string& file, std::optional<TopicPartition> partition = std::nullopt) {
    return DiskDamaged{BrokerId(2), DiskDamage::kBitRot, partition, file};
}

TEST_CASE("a promise that a power loss would take is broken unless a fault hit what it rests on") {
    constexpr TopicPartition kY0{TopicId(8), PartitionIndex(0)};
    const PromiseNotDurable vote{BrokerId(2), Promise::kRaftState, "its vote"};
    const PromiseNotDurable records{BrokerId(2), Promise::kRecords, "its records", kX0};
    const PromiseNotDurable topics{BrokerId(2), Promise::kRecords, "its topics"};
    const PromiseNotDurable producers{BrokerId(2), Promise::kProducers, "its producers", kX0};
    const DiskDamaged raft = rot_in("raft.a");
    const DiskDamaged journal = rot_in("checkpoint.1");
    const DiskDamaged own = rot_in("a segment", kX0);
    const DiskDamaged other = rot_in("a segment", kY0);
    struct Case {
        PromiseNotDurable promise;
        const char* invariant;
        std::vector<DiskDamaged> excuses;
        std::vector<DiskDamaged> no_excuses;
    };
    const std::vector<Case> cases{
        {vote, "raft-safety", {raft}, {journal, own, other}},
        {records, "log-matching", {journal, own}, {raft, other}},
        {topics, "log-matching", {journal}, {raft, own, other}},
        {producers, "producer-order", {journal, own}, {raft, other}},
    };
    const auto hit_by = [](const DiskDamaged& fault) {
        Story story;
        story.see(2, broker::TopicCreated{TopicId(8), "y", 1}).fact(fault);
        return story;
    };
    for (const Case& each : cases) {
        Story story;
        story.fact(each.promise);
        REQUIRE_THAT(story.message(each.invariant),
                     Contains("broker 2 promised what a power loss would take: " + each.promise.what));
        for (const DiskDamaged& fault : each.no_excuses)
            REQUIRE(hit_by(fault).fact(each.promise).breaks(each.invariant));
        for (const DiskDamaged& fault : each.excuses) {
            REQUIRE(hit_by(fault).fact(each.promise).broken() == kNothing);
            REQUIRE(hit_by(fault).disk_is_sound(2).fact(each.promise).breaks(each.invariant));
            REQUIRE(hit_by(fault).kill(2).empty_disk(2).boot(2, 22).fact(each.promise).breaks(each.invariant));
        }
    }
}

TEST_CASE("R9, R11: what a leader counts a follower for, that one holds, unless a fault took it") {
    const MatchNotHeld match{BrokerId(1), BrokerId(2), "entries up to 3"};
    Story story;
    story.fact(match);
    REQUIRE_THAT(story.message("raft-safety"), Contains("broker 1 leads and counts broker 2 for entries up to 3"));
    Story damaged;
    damaged.fact(rot_in("raft.a")).fact(match);
    REQUIRE(damaged.broken() == kNothing);
    Story elsewhere;
    elsewhere.fact(rot_in("a segment", kX0)).fact(match);
    REQUIRE(elsewhere.breaks("raft-safety"));
}

TEST_CASE("R11: a group forms once, with the same lives at everybody whose disk still tells of it") {
    const GroupFormationTold first{BrokerId(1), "1:a 2:b 3:c"};
    const GroupFormationTold same{BrokerId(2), "1:a 2:b 3:c"};
    const GroupFormationTold other{BrokerId(3), "1:a 2:b2 3:c"};
    Story story;
    story.fact(first).fact(same);
    REQUIRE(story.broken() == kNothing);
    story.fact(other);
    REQUIRE_THAT(story.message("raft-safety"), Contains("broker 3 formed the group with 1:a 2:b2 3:c, broker 1 with"));
    Story begun_anew;
    begun_anew.fact(first).fact(DiskEmptied{BrokerId(1)}).fact(other);
    REQUIRE(begun_anew.broken() == kNothing);
}

TEST_CASE("L7: whoever opens before it has made the deletions it knows of breaks leader-completeness") {
    Story story;
    story.fact(OpenedBeforeDeletion{BrokerId(2), "the deletion up to 9 in t0-1: its log starts at 4"});
    REQUIRE_THAT(story.message("leader-completeness"), Contains("broker 2 serves, and has not made the deletion"));
}

TEST_CASE("L2: a leader that counts what a follower does not hold breaks isr-complete, unless a fault took it") {
    const PositionNotHeld unheld{BrokerId(1), BrokerId(3), kX0, "records up to 7 in epoch 2, of which it holds none"};
    Story story;
    story.lead(1, 1).fact(unheld);
    REQUIRE_THAT(story.message("isr-complete"), Contains("broker 1 leads and counts broker 3 for records up to 7"));
    Story hurt;
    hurt.lead(1, 1).fact(rot_in("a segment", kX0)).fact(unheld);
    REQUIRE(hurt.breaks("isr-complete"));  // that was broker 2's
    Story excused;
    DiskDamaged damage = rot_in("a segment", kX0);
    damage.broker = BrokerId(3);
    excused.lead(1, 1).fact(damage).fact(unheld);
    REQUIRE_FALSE(excused.breaks("isr-complete"));
}

TEST_CASE("R4: who leads a term, may lead the data and does not claim it breaks progress") {
    Story story;
    story.fact(ClaimNotMade{BrokerId(2), Term(4)});
    REQUIRE_THAT(story.message("progress"), Contains("broker 2 leads term 4, may lead the data, and does not claim"));
}

TEST_CASE("A5: a request left without an answer beyond its time breaks progress, at any time") {
    Story story;
    story.fact(RequestOverdue{BrokerId(1), "beyond its time: produce #3"});
    REQUIRE_THAT(story.message("progress"), Contains("broker 1 lets somebody wait beyond its time: produce #3"));
}

TEST_CASE("I10: whoever takes a copy for whole that it had found damaged breaks isr-complete, rot or not") {
    const DamageForgotten forgotten{BrokerId(2), "partition 0 of topic 7 is whole"};
    Story story;
    story.fact(rot_in("a segment", kX0)).fact(forgotten);
    REQUIRE_THAT(story.message("isr-complete"),
                 Contains("broker 2 has found damage, and forgets it: partition 0 of topic 7 is whole"));
}

/// Broker 2 dies and boots, its journal damaged.
Story& boot_with_bad_journal(Story& story) {
    return story.kill(2)
        .fact(BrokerBooted{BrokerId(2), ++story.life[2]})
        .fact(JournalFoundBad{BrokerId(2), "commit 3 of checkpoint.1"});
}

TEST_CASE("I10: a journal that is bad where it was durable ends the life of the data") {
    SECTION("the incarnation is renewed before it starts") {
        Story story;
        boot_with_bad_journal(story)
            .see(2, broker::DataIncarnationRenewed{Incarnation(22)})
            .see(2, broker::Started{Incarnation(2), Incarnation(22)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it goes on as if nothing was") {
        Story story;
        boot_with_bad_journal(story).see(2, broker::Started{Incarnation(2), Incarnation(2)});
        REQUIRE_THAT(story.message("isr-complete"), Contains("its journal is damaged: commit 3 of checkpoint.1"));
    }
    SECTION("it dies before it starts, and the next life reads a good one") {
        Story story;
        boot_with_bad_journal(story).kill(2).boot(2);
        REQUIRE(story.broken() == kNothing);
    }
}

}  // namespace
}  // namespace tidelock::checker
