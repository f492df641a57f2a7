// V4, V5, V7 and V20: what logs may look like, what stays in them, and what may be cut.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using broker::CutReason;
using broker::ResetReason;
using Catch::Matchers::Contains;

// --- V4 log-matching ----------------------------------------------------------------------------------------------

TEST_CASE("V4: one epoch and offset, one content") {
    Story story;
    story.lead(1, 1).append(1, {0});
    SECTION("a follower copies the very batch") {
        story.copy(2, {0});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a follower has other bytes") {
        BatchSpec other{0};
        other.content = 77;
        story.copy(2, other);
        REQUIRE_THAT(story.message("log-matching"),
                     Contains("x-0: broker 2 copied offsets 0..0 (epoch 1, crc 0000004d)") &&
                         Contains("that epoch's batch at that offset is offsets 0..0 (epoch 1, crc 000003e8)"));
    }
    SECTION("a follower has a longer batch") {
        story.copy(2, {0, 1, 2, 1000});
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("a follower has what nobody appended") {
        story.copy(2, {0}).copy(2, {1});
        REQUIRE_THAT(story.message("log-matching"), Contains("which no leader ever appended"));
    }
}

TEST_CASE("V4: the same batch follows the same batch") {
    Story story;
    story.lead(1, 1).append(1, {0}).append(1, {1});
    story.step_down(1, 1).lead(2, 2).copy(2, {0}).append(2, {1, 2}).append(2, {2, 2});
    SECTION("broker 3 copies both epochs in order") {
        story.copy(3, {0}).copy(3, {1, 2}).copy(3, {2, 2});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("broker 1 keeps its own offset 1 under broker 2's offset 2") {
        story.copy(1, {2, 2});
        REQUIRE_THAT(story.message("log-matching"),
                     Contains("after offsets 1..1 (epoch 1") &&
                         Contains("elsewhere the same batch follows offsets 1..1 (epoch 2"));
    }
}

TEST_CASE("V4: damage is found only where a fault did some") {
    Story story;
    story.lead(1, 1).append(1, {0}).durable(1, 1);
    SECTION("on a disk that no fault hit") {
        story.see(1, broker::DamageFound{kX0, Offset(0)});
        REQUIRE_THAT(story.message("log-matching"), Contains("damaged at offset 0, though no fault hit it"));
    }
    SECTION("in a copy that a fault hit") {
        story.damage_disk(1).see(1, broker::DamageFound{kX0, Offset(0)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("where a fault hit a file that all copies hang on") {
        story.fact(DiskDamaged{BrokerId(1), DiskDamage::kBitRot, std::nullopt, "checkpoint.1"});
        story.see(1, broker::DamageFound{kX0, Offset(0)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("where a fault hit Raft's state only") {
        story.fact(DiskDamaged{BrokerId(1), DiskDamage::kBitRot, std::nullopt, "raft.a"});
        story.see(1, broker::DamageFound{kX0, Offset(0)});
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("where a fault hit another copy only") {
        story.see(1, broker::TopicCreated{TopicId(8), "y", 1});
        story.fact(DiskDamaged{BrokerId(1), DiskDamage::kBitRot, TopicPartition{TopicId(8), {}}, "a segment"});
        story.see(1, broker::DamageFound{kX0, Offset(0)});
        REQUIRE(story.breaks("log-matching"));
    }
}

TEST_CASE("V4: a copy that lost what it had promised says so, or comes back as another") {
    Story story;
    story.lead(1, 1).append(1, {0}).append(1, {1}).durable(1, 2).damage_disk(1).kill(1);
    story.fact(BrokerBooted{BrokerId(1), ++story.life[1]});
    SECTION("it says so") {
        story.recover(1, {{0}}, true).see(1, broker::Started{Incarnation(1), Incarnation(1)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it is another") {
        story.recover(1, {{0}}).see(1, broker::Started{Incarnation(1), Incarnation(77)});
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it hushes it up") {
        story.recover(1, {{0}}).see(1, broker::Started{Incarnation(1), Incarnation(1)});
        REQUIRE_THAT(story.message("log-matching"), Contains("nor does it take a new data incarnation"));
    }
}

TEST_CASE("V4: no gap, no overlap, no epoch that goes down") {
    Story story;
    story.lead(1, 1).append(1, {0}).append(1, {1});
    story.lead(2, 2).copy(2, {0});
    SECTION("gap") {
        story.append(2, {5, 2});
        REQUIRE_THAT(story.message("log-matching"), Contains("while its log ends at 1"));
    }
    SECTION("overlap") {
        story.append(2, {0, 2});
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("epoch") {
        story.append(2, {1, 2}).cut(1, 1).copy(1, {1, 2}).append(1, {2, 1});
        REQUIRE_THAT(story.message("log-matching"), Contains("epochs in a log never go down"));
    }
    SECTION("in order") {
        story.append(2, {1, 2});
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V4: recovery finds what was durable") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).append(1, {1}).copy(2, {1}).kill(2);
    SECTION("all of it, and the tail that was not") {
        story.boot(2).recover(2, {{0}, {1}}).follow(2, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("all that was durable") {
        story.boot(2).recover(2, {{0}}).follow(2, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("not all that was durable") {
        story.boot(2).recover(2, {});
        REQUIRE_THAT(story.message("log-matching"), Contains("broker 2 had offsets 0..0 (epoch 1, crc 000003e8) "
                                                             "durable (durable end 1), recovered nothing instead"));
    }
    SECTION("other bytes") {
        story.boot(2).recover(2, {{0, 1, 1, 99}});
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("no log at all") {
        story.boot(2).follow(2, 1, 1);
        REQUIRE_THAT(story.message("log-matching"), Contains("acts in life 2 without having recovered its copy"));
    }
    SECTION("less, but a fault hit the disk") {
        story.damage_disk(2).boot(2, 22).recover(2, {}, true).follow(2, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("less, and it says that the copy is damaged, though no fault hit it") {
        story.boot(2, 22).recover(2, {}, true);
        REQUIRE_THAT(story.message("log-matching"), Contains("calls its copy, durable up to 1, damaged"));
    }
    SECTION("the same damage again, for it fell before the copy made anew was durable") {
        story.damage_disk(2).boot(2, 22).recover(2, {}, true);
        story.see(2, broker::LogReset{kX0, Offset(0), broker::ResetReason::kDamaged}).kill(2);
        story.boot(2, 22).recover(2, {}, true);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("damage in a copy that was made anew, durably, after the fault") {
        story.damage_disk(2).boot(2, 22).recover(2, {}, true);
        story.see(2, broker::LogReset{kX0, Offset(0), broker::ResetReason::kDamaged}).copy(2, {0}).durable(2, 1);
        story.kill(2).boot(2, 22).recover(2, {}, true);
        REQUIRE_THAT(story.message("log-matching"), Contains("damaged, though no fault hit it"));
    }
    SECTION("something that was never appended") {
        story.damage_disk(2).boot(2).recover(2, {{0}, {1, 1, 1, 99}});
        REQUIRE(story.breaks("log-matching"));
    }
}

TEST_CASE("V4: a cut does not split a batch") {
    for (const std::int64_t to : {1, 2}) {
        Story story;
        story.lead(1, 1).append(1, {0, 1, 2}).cut(1, to, CutReason::kFailedSync);
        REQUIRE(story.breaks("log-matching") == (to == 1));
    }
}

TEST_CASE("static: without epochs a leader may write another record where an unsynced one was lost") {
    Settings settings = Story::group_of_three();
    settings.preset = broker::Preset::kStatic;
    Story story(settings);
    story.see(1, broker::LeaderServing{LeaderEpoch(0)})
        .append(1, {0, 0})
        .durable(1, 1)
        .append(1, {1, 0})
        .copy(2, {0, 0});
    story.kill(1).boot(1).recover(1, {{0, 0}}).append(1, {1, 0, 1, 55}).append(1, {2, 0});
    REQUIRE(story.broken() == kNothing);
    SECTION("a follower that kept the lost one must not go on after it") {
        story.copy(2, {1, 0}).copy(2, {2, 0});
        REQUIRE(story.breaks("log-matching"));
    }
    SECTION("a follower that took the new one may") {
        story.copy(2, {1, 0, 1, 55}).copy(2, {2, 0});
        REQUIRE(story.broken() == kNothing);
    }
}

// --- V5 committed-stable ------------------------------------------------------------------------------------------

TEST_CASE("V5: the high watermark of a leadership never falls and stays in the log") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2, 3}, {1});
    SECTION("falls") {
        story.high_watermark(1, 1, 1);
        REQUIRE_THAT(story.message("committed-stable"),
                     Contains("moved its high watermark back from 2 to 1 under epoch 1"));
    }
    SECTION("past the log end") {
        story.high_watermark(1, 1, 3);
        REQUIRE(story.breaks("committed-stable"));
    }
    SECTION("another leader starts from what it knew") {
        story.lead(2, 2).high_watermark(2, 2, 1).high_watermark(2, 2, 2);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V5: consumers are served below the high watermark, and told one that never falls") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2, 3}, {1}).append(1, {2});
    SECTION("below") {
        story.serve(1, 1, 0, 2, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("past it") {
        story.serve(1, 1, 0, 3, 2);
        REQUIRE(story.broken() == std::vector<std::string>{"committed-stable"});
    }
    SECTION("past the true one, with a false one told") {
        story.serve(1, 1, 0, 3, 3);
        REQUIRE(story.breaks("committed-stable"));
    }
    SECTION("told less than before") {
        story.serve(1, 1, 0, 2, 2).serve(1, 1, 0, 1, 1);
        REQUIRE_THAT(story.message("committed-stable"), Contains("told a consumer the high watermark 1 after 2"));
    }
}

TEST_CASE("V5: what was served stays") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).append(1, {1}).durable(1, 2).copy(2, {1}).durable(2, 2);
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    story.high_watermark(1, 1, 2).serve(1, 1, 0, 2, 2).kill(1);
    SECTION("the next leader has it") {
        story.lead(2, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("the next leader lacks it, though nobody was told that it is acknowledged") {
        story.lead(3, 2);
        REQUIRE(story.broken() == std::vector<std::string>{"committed-stable"});
        REQUIRE_THAT(story.message("committed-stable"),
                     Contains("records that consumers were served (up to 2) are gone"));
    }
    SECTION("the next leader serves something else there") {
        story.lead(3, 2).append(3, {1, 2}).serve(3, 2, 1, 2, 2);
        REQUIRE(story.breaks("committed-stable"));
    }
    SECTION("every disk that had it is lost") {
        story.empty_disk(1).kill(2).empty_disk(2).lead(3, 2);
        REQUIRE(story.broken() == kNothing);
    }
}

// --- V7 isr-complete ----------------------------------------------------------------------------------------------

TEST_CASE("V7: the high watermark rests on durable records of every member") {
    Story story;
    story.lead(1, 1).append(1, {0}).durable(1, 1).copy(2, {0}).durable(2, 1).copy(3, {0});
    SECTION("broker 3 has not synced") {
        story.high_watermark(1, 1, 1);
        REQUIRE_THAT(
            story.message("isr-complete"),
            Contains("moved its high watermark to 1 under epoch 1, but broker 3") && Contains("durably holds [0, 0)"));
    }
    SECTION("broker 3 has synced") {
        story.durable(3, 1).high_watermark(1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("broker 3 has something else there") {
        story.cut(3, 0).copy(3, {0, 1, 1, 99}).durable(3, 1).high_watermark(1, 1, 1);
        REQUIRE(story.breaks("isr-complete"));
    }
    SECTION("broker 3 is a member no more") {
        story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
        story.high_watermark(1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("broker 3 lost it after it had told its position") {
        story.durable(3, 1).kill(3).empty_disk(3).high_watermark(1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V7: the acknowledgement set is the larger one while a change is pending (I4)") {
    Story story;
    story.lead(1, 1);
    for (const int broker : {1, 2, 3})
        broker == 1 ? story.append(1, {0}).durable(1, 1) : story.copy(broker, {0}).durable(broker, 1);
    SECTION("a removal counts only when committed") {
        story.propose_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2})).high_watermark(1, 1, 1);
        REQUIRE_THAT(story.message("isr-complete"), Contains("without broker 3 of its committed set {1, 2, 3}"));
    }
    SECTION("an addition counts from before the proposal") {
        story.propose_set(1, 1, replicas({1, 2}))
            .commit_set(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2}))
            .propose_set(1, 1, replicas({1, 2, 3}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("before broker 3 was in its acknowledgement set {1, 2}"));
    }
    SECTION("the right order") {
        story.propose_set(1, 1, replicas({1, 2}))
            .commit_set(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2, 3}));
        story.propose_set(1, 1, replicas({1, 2, 3})).high_watermark(1, 1, 1).commit_set(1, 1, replicas({1, 2, 3}));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a pending addition may not be given up") {
        story.propose_set(1, 1, replicas({1, 2}))
            .commit_set(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2, 3}));
        story.propose_set(1, 1, replicas({1, 2, 3})).wait_for(1, 1, replicas({1, 2})).high_watermark(1, 1, 1);
        REQUIRE(story.breaks("isr-complete"));
    }
    SECTION("unless Raft refused it") {
        story.propose_set(1, 1, replicas({1, 2}))
            .commit_set(1, 1, replicas({1, 2}))
            .wait_for(1, 1, replicas({1, 2, 3}));
        story.see(1, broker::InSyncSetProposed{LeaderEpoch(1), replicas({1, 2, 3})});
        story.wait_for(1, 1, replicas({1, 2})).high_watermark(1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("two changes at once") {
        story.propose_set(1, 1, replicas({1, 2})).propose_set(1, 1, replicas({1, 3}));
        REQUIRE_THAT(story.message("isr-complete"), Contains("while {1, 2} is still pending (I3)"));
    }
    SECTION("a change that Raft refused is not pending, whatever enters the log next") {
        story.see(1, broker::InSyncSetProposed{LeaderEpoch(1), replicas({1, 2}), 5});
        story.see(1, broker::RaftEntryAppended{LogIndex(++story.raft_index), Term(1), 7})
            .propose_set(1, 1, replicas({1, 3}));
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("the leader counts itself") {
        story.propose_set(1, 1, replicas({2, 3}))
            .commit_set(1, 1, replicas({2, 3}))
            .wait_for(1, 1, replicas({2, 3}))
            .high_watermark(1, 1, 1);
        REQUIRE_THAT(story.message("isr-complete"), Contains("is not in its own acknowledgement set"));
    }
}

TEST_CASE("V7: data is dropped only under a renewed incarnation (I10)") {
    for (const bool renewed : {false, true}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).damage_disk(2).see(2, broker::DamageFound{kX0, Offset(0)});
        if (renewed) story.see(2, broker::DataIncarnationRenewed{Incarnation(22)});
        story.reset(2, 0, ResetReason::kDamaged);
        REQUIRE(story.broken() == (renewed ? kNothing : std::vector<std::string>{"isr-complete"}));
    }
}

// --- V20 cut-safe -------------------------------------------------------------------------------------------------

TEST_CASE("V20: confirmed records go with a topic only when its deletion was asked for or their life has ended") {
    const broker::TopicDropped dropped{kX0.topic};
    const broker::TopicShrunk shrunk{kX0.topic, 0};
    const auto holding = [] {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0});
        return story;
    };
    SECTION("dropped") {
        REQUIRE_THAT(holding().see(2, dropped).message("cut-safe"), Contains("dropped its copy"));
    }
    SECTION("shrunk") {
        REQUIRE(holding().see(2, shrunk).breaks("cut-safe"));
    }
    SECTION("another partition") {
        REQUIRE(holding().see(2, broker::TopicShrunk{kX0.topic, 1}).broken() == kNothing);
    }
    SECTION("deletion asked for") {
        REQUIRE(holding().fact(TopicDeletionAsked{"x"}).see(2, dropped).broken() == kNothing);
    }
    SECTION("in another life of the data") {
        REQUIRE(holding().see(2, broker::DataIncarnationRenewed{Incarnation(77)}).see(2, dropped).broken() == kNothing);
    }
    SECTION("never confirmed") {
        Story story;
        story.lead(1, 1).append(1, {0}).copy(2, {0}).durable(2, 1);
        REQUIRE(story.see(2, shrunk).broken() == kNothing);
    }
}

TEST_CASE("V20: no cut below the own high watermark or below confirmed records held") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).hear_high_watermark(2, 1, 1);
    story.propose_set(1, 1, replicas({1, 2})).commit_set(1, 1, replicas({1, 2})).wait_for(1, 1, replicas({1, 2}));
    story.append(1, {1}).durable(1, 2).copy(2, {1}).durable(2, 2).high_watermark(1, 1, 2).append(1, {2}).copy(2, {2});
    SECTION("an unconfirmed tail") {
        story.cut(2, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("what it knows to be below the high watermark") {
        story.cut(2, 0);
        REQUIRE_THAT(story.message("cut-safe"),
                     Contains("cut its log from 3 to 0, below its own high watermark 1 (L8)"));
    }
    SECTION("what it does not know yet, nobody being told either") {
        story.cut(2, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("what it does not know yet, but a producer was told") {
        story.acknowledge(1, 1, 1, 1).cut(2, 1);
        REQUIRE_THAT(story.message("cut-safe"), Contains("cut its log from 3 to 1 though it held offsets 1..1"));
    }
    SECTION("a failed sync takes the tail that was not durable") {
        story.cut(2, 2, CutReason::kFailedSync);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("a failed sync takes more") {
        story.cut(2, 1, CutReason::kFailedSync);
        REQUIRE_THAT(story.message("cut-safe"), Contains("after a failed sync, below its durable end 2"));
    }
}

TEST_CASE("V20: a diverged tail may be cut though its offsets are confirmed elsewhere") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).append(1, {1}).step_down(1, 1);
    story.lead(2, 2)
        .propose_set(2, 2, replicas({2, 3}))
        .commit_set(2, 2, replicas({2, 3}))
        .wait_for(2, 2, replicas({2, 3}));
    story.confirm(2, {3}, {1, 2}).cut(1, 1);
    REQUIRE(story.broken() == kNothing);
}

TEST_CASE("V20: a whole log is dropped for good reasons only") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0});
    SECTION("healthy") {
        story.see(2, broker::DataIncarnationRenewed{Incarnation(22)}).reset(2, 0, ResetReason::kDamaged);
        REQUIRE_THAT(story.message("cut-safe"), Contains("it had found no damage"));
    }
    SECTION("with epochs") {
        story.see(2, broker::DataIncarnationRenewed{Incarnation(22)}).reset(2, 0, ResetReason::kForeign);
        REQUIRE_THAT(story.message("cut-safe"), Contains("its records have leader epochs"));
    }
    SECTION("behind no log start") {
        story.reset(2, 5, ResetReason::kBehindLogStart);
        REQUIRE_THAT(story.message("cut-safe"), Contains("no leader's log starts there"));
    }
    SECTION("behind a log start") {
        story.propose_set(1, 1, replicas({1, 3})).commit_set(1, 1, replicas({1, 3})).wait_for(1, 1, replicas({1, 3}));
        story.confirm(1, {3}, {1}).confirm(1, {3}, {2}).see(1, broker::LogStartAdvanced{kX0, Offset(2)});
        story.reset(2, 2, ResetReason::kBehindLogStart).copy(2, {2});
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V20: the log start moves forward, never past the high watermark") {
    for (const std::int64_t start : {1, 2}) {
        Story story;
        story.lead(1, 1).confirm(1, {2, 3}, {0}).append(1, {1}).see(1, broker::LogStartAdvanced{kX0, Offset(start)});
        REQUIRE(story.breaks("cut-safe") == (start == 2));
    }
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).see(1, broker::LogStartAdvanced{kX0, Offset(1)});
    story.see(1, broker::LogStartAdvanced{kX0, Offset(0)});
    REQUIRE(story.breaks("cut-safe"));
}

TEST_CASE("V20: whoever asks for what the protocol forbids is reported") {
    Story story;
    story.see(2, broker::ProtocolViolationRefused{"L8", "a cut to 0 below 1"});
    REQUIRE_THAT(story.message("cut-safe"), Contains("L8") && Contains("a cut to 0 below 1"));
}

TEST_CASE("V5: a consumer is told no more than the leader knows, and never less than before (I6, L7)") {
    Story story;
    story.lead(1, 1).confirm(1, {2, 3}, {0}).confirm(1, {2, 3}, {1});
    SECTION("what it knows, again and again") {
        story.tell_bounds(1, 1, 0, 2).tell_bounds(1, 1, std::nullopt, 2).tell_bounds(1, 1, 0, std::nullopt);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("past its high watermark") {
        REQUIRE(story.tell_bounds(1, 1, 0, 3).breaks("committed-stable"));
    }
    SECTION("less than it told before") {
        REQUIRE(story.tell_bounds(1, 1, 0, 2).tell_bounds(1, 1, 0, 1).breaks("committed-stable"));
    }
    SECTION("a log start that is not its own") {
        REQUIRE(story.tell_bounds(1, 1, 1, std::nullopt).breaks("committed-stable"));
    }
    SECTION("under an epoch that is not its own") {
        REQUIRE(story.step_down(1, 1).tell_bounds(1, 1, 0, 2).breaks("no-stale-ack"));
    }
}

}  // namespace
}  // namespace tidelock::checker
