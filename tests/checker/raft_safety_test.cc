// V8: elections, votes, terms, entries and commits.
#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

struct RaftStory : Story {
    using Story::Story;
    RaftStory& vote(int broker, int term, int candidate, unsigned incarnation = 0) {
        const unsigned named = incarnation != 0 ? incarnation : static_cast<unsigned>(broker);
        see(broker, broker::VoteGranted{Term(term), BrokerId(candidate), Incarnation(named)});
        return *this;
    }
    /// Elected by voters of its own (4 to 9) with empty logs, who say nothing else.
    RaftStory& elect(int broker, int term) {
        for (const int voter : {2 + 2 * broker, 3 + 2 * broker}) vote(voter, term, broker);
        return win(broker, term);
    }
    RaftStory& win(int broker, int term) {
        see(broker, broker::RaftLeaderElected{Term(term), false});
        return *this;
    }
    RaftStory& admit(int at, int index, int broker, unsigned incarnation = 99) {
        see(at, broker::RaftReplicaAdmitted{LogIndex(index), BrokerId(broker), Incarnation(incarnation)});
        return *this;
    }
    RaftStory& count_by(int broker, int index) {
        see(broker, broker::RaftVoterChanged{true, LogIndex(index)});
        return *this;
    }
    RaftStory& enter(int broker, int index, int term, std::uint64_t content = 0) {
        see(broker, broker::RaftEntryAppended{LogIndex(index), Term(term), content});
        return *this;
    }
    RaftStory& commit(int broker, int index, int term, std::uint64_t content = 0, int learned_in = 0) {
        see(broker, broker::RaftEntryCommitted{LogIndex(index), Term(term), content,
                                               Term(learned_in != 0 ? learned_in : term)});
        return *this;
    }
    RaftStory& remove_from(int broker, int index, int term = 99) {
        see(broker, broker::RaftEntriesTruncated{LogIndex(index), Term(term)});
        return *this;
    }
    RaftStory& install(int broker, int index, int term, std::uint64_t content = 0) {
        see(broker, broker::RaftSnapshotInstalled{LogIndex(index), Term(term), content});
        return *this;
    }
    RaftStory& enter_on(std::initializer_list<int> brokers, int index, int term) {
        for (const int broker : brokers) enter(broker, index, term);
        return *this;
    }
    RaftStory& ask_round(int broker, int term, int round) {
        see(broker, broker::ReadRoundAsked{Term(term), ReadRound(round)});
        return *this;
    }
    RaftStory& confirm_round(int broker, int term, int round) {
        see(broker, broker::ReadRoundConfirmed{Term(term), ReadRound(round)});
        return *this;
    }
    [[nodiscard]] bool is_unsafe() const { return breaks("raft-safety"); }
};

TEST_CASE("V8: a leader that had a successor when it asked is not confirmed") {
    RaftStory story;
    story.elect(1, 1).ask_round(1, 1, 1);
    SECTION("answered before anybody else led") {
        story.confirm_round(1, 1, 1).elect(2, 2);
    }
    SECTION("answered late, asked in time") {
        story.elect(2, 2).confirm_round(1, 1, 1);
    }
    SECTION("asked again, and only the first answered") {
        story.elect(2, 2).ask_round(1, 1, 2).confirm_round(1, 1, 1);
    }
    SECTION("asked too late") {
        story.elect(2, 2).ask_round(1, 1, 2);
        REQUIRE_FALSE(story.is_unsafe());
        story.confirm_round(1, 1, 2);
        REQUIRE(story.is_unsafe());
        return;
    }
    REQUIRE_FALSE(story.is_unsafe());
}

TEST_CASE("V8: one vote a term, over restarts and incarnations") {
    RaftStory story;
    story.vote(1, 1, 1).vote(2, 1, 1);
    SECTION("repeated") {
        story.vote(2, 1, 1).vote(2, 2, 3);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("another candidate") {
        story.vote(2, 1, 3);
        REQUIRE_THAT(story.message("raft-safety"), Contains("broker 2 voted for broker 3 in term 1") &&
                                                       Contains("after it had voted for broker 1 in that term"));
    }
    SECTION("another candidate after a restart") {
        story.kill(2).boot(2);
        story.vote(2, 1, 3);
        REQUIRE(story.is_unsafe());
    }
    SECTION("another candidate after the disk was lost") {
        story.kill(2).empty_disk(2).boot(2, 22);
        story.vote(2, 1, 3, 22);
        REQUIRE(story.is_unsafe());
    }
    SECTION("in a life that was admitted since: the former life's vote elects nobody any more") {
        story.kill(2).empty_disk(2).boot(2, 22);
        story.see(2, broker::RaftVoterChanged{true, LogIndex(0)})
            .see(2, broker::VoteGranted{Term(1), BrokerId(3), Incarnation(22)});
        REQUIRE(story.broken() == kNothing);
        story.see(1, broker::RaftLeaderElected{Term(1), false});
        REQUIRE_THAT(story.message("raft-safety"), Contains("was elected in term 1 with 1 votes of 3 brokers"));
    }
    SECTION("its former self was the candidate, which is gone") {
        story.kill(1).empty_disk(1).boot(1, 11);
        story.count_by(1, 0).vote(1, 1, 3, 11);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V8: a term never falls while the disk is kept") {
    for (const bool lost : {false, true}) {
        RaftStory story;
        story.vote(2, 5, 1).kill(2);
        if (lost) story.empty_disk(2);
        story.boot(2, lost ? 22 : 2);
        story.count_by(2, 0).vote(2, 4, 3, lost ? 22 : 2);
        REQUIRE(story.is_unsafe() == !lost);
    }
}

TEST_CASE("V8: one leader a term") {
    RaftStory story;
    story.elect(1, 1);
    SECTION("two brokers") {
        story.elect(2, 1);
        REQUIRE_THAT(story.message("raft-safety"), Contains("election safety"));
    }
    SECTION("one broker in two lives") {
        story.kill(1).boot(1);
        story.elect(1, 1);
        REQUIRE(story.is_unsafe());
    }
    SECTION("a caretaker that becomes eligible is told twice") {
        story.elect(1, 1).elect(2, 2);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V8: a log that a snapshot of the vote's own term took in is not compared any more") {
    RaftStory story;
    story.vote(1, 2, 1).enter(2, 1, 2).install(2, 1, 2);
    story.vote(2, 2, 1);
    REQUIRE(story.broken() == kNothing);
}

TEST_CASE("V8: a life is admitted by the others, and counts when that is committed") {
    RaftStory story;
    story.elect(1, 1).enter_on({1, 3}, 1, 1);
    SECTION("by the others") {
        story.enter(2, 1, 1).commit(1, 1, 1).admit(1, 1, 3).count_by(3, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("with its own help") {
        story.commit(1, 1, 1).admit(1, 1, 3);
        REQUIRE_THAT(story.message("raft-safety"), Contains("committed while 1 of the others hold it, 2 are needed"));
    }
    SECTION("again, with its own help, for it is admitted already") {
        story.enter(2, 1, 1).commit(1, 1, 1).admit(1, 1, 3);
        story.enter_on({1, 3}, 2, 1).commit(1, 2, 1).admit(1, 2, 3);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it counts too early") {
        story.count_by(3, 1);
        REQUIRE_THAT(story.message("raft-safety"), Contains("broker 3 counts from now on by entry 1"));
    }
    SECTION("the group formed with it") {
        story.count_by(3, 0);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V8: who does not count does not vote (R11)") {
    SECTION("a life that was not admitted yet") {
        for (const bool admitted : {true, false}) {
            RaftStory story;
            story.elect(1, 1).enter_on({1, 2}, 1, 1).commit(1, 1, 1).admit(1, 1, 3, 33);
            story.kill(3).empty_disk(3).boot(3, 33);
            if (admitted) story.count_by(3, 1);
            story.vote(3, 2, 1, 33);
            REQUIRE(story.is_unsafe() == !admitted);
        }
    }
    SECTION("an empty replica before the group formed") {
        for (const bool formed : {true, false}) {
            RaftStory story;
            story.see(1, broker::RaftRecovered{Incarnation(1), Term(0), BrokerId(0), LogIndex(0), {}});
            if (formed) story.count_by(1, 0);
            story.kill(1).boot(1).see(1, broker::RaftRecovered{Incarnation(1), Term(0), BrokerId(0), LogIndex(0), {}});
            story.vote(1, 1, 1);
            REQUIRE(story.is_unsafe() == !formed);
        }
    }
    SECTION("a vote given while it counted leaves later") {
        RaftStory story;
        story.count_by(3, 0).see(3, broker::RaftVoterChanged{false, LogIndex(1)});
        story.vote(3, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V8: the vote of a life whose successor was admitted before the term elects nobody (R11)") {
    struct Case {
        int admitted_in;
        unsigned admitted_last;
        bool is_unsafe;
    };
    for (const Case& each : {Case{2, 33, true}, Case{3, 33, false}, Case{2, 3, false}}) {
        RaftStory story;
        story.elect(1, 1).enter_on({1, 2}, 1, 1).enter_on({1, 2}, 2, 1);
        story.commit(1, 1, 1, 0, each.admitted_in).admit(1, 1, 3, 33);
        story.commit(1, 2, 1, 0, each.admitted_in).admit(1, 2, 3, each.admitted_last);
        story.enter_on({3}, 1, 1).enter(3, 2, 1).vote(3, 3, 1, 3).vote(1, 3, 1).win(1, 3);
        REQUIRE(story.is_unsafe() == each.is_unsafe);
    }
}

TEST_CASE("V8: a vote that the admitted life gives again counts (R11)") {
    for (const bool again : {true, false}) {
        RaftStory story;
        story.vote(3, 3, 3).elect(1, 2).enter_on({1, 2, 3}, 1, 2).commit(1, 1, 2).admit(1, 1, 3, 33).count_by(3, 1);
        if (again) story.vote(3, 3, 3, 33);
        story.vote(1, 3, 3).win(3, 3);
        REQUIRE(story.is_unsafe() == !again);
    }
}

TEST_CASE("V8: of four members three have to hold what is committed, and admit the fourth") {
    for (const bool three : {true, false}) {
        Settings settings;
        for (int broker = 1; broker <= 4; ++broker) settings.members.emplace_back(broker);
        RaftStory story(settings);
        for (const int voter : {4, 5, 6}) story.vote(voter, 1, 1);
        story.win(1, 1).enter_on({1, 2}, 1, 1);
        if (three) story.enter(3, 1, 1);
        story.commit(1, 1, 1);
        REQUIRE(story.is_unsafe() == !three);
        story.admit(1, 1, 3);
        REQUIRE_THAT(story.message("raft-safety"),
                     three ? Contains("committed while 2 of the others hold it, 3 are needed")
                           : Contains("was committed while 2 of 4 brokers hold it"));
    }
}

TEST_CASE("V8: entries match") {
    RaftStory story;
    story.enter(1, 1, 1, 10).enter(1, 2, 1, 11);
    SECTION("equal") {
        story.enter(2, 1, 1, 10).enter(2, 2, 1, 11);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("another command") {
        story.enter(2, 1, 1, 10).enter(2, 2, 1, 12);
        REQUIRE_THAT(story.message("raft-safety"), Contains("same index and term, same command"));
    }
    SECTION("another predecessor") {
        story.enter(3, 1, 2, 9).enter(3, 2, 3, 8).enter(2, 1, 1, 10).enter(2, 2, 3, 8);
        REQUIRE_THAT(story.message("raft-safety"), Contains("log matching"));
    }
    SECTION("a gap") {
        story.enter(2, 1, 1, 10).enter(2, 3, 1, 11);
        REQUIRE(story.is_unsafe());
    }
    SECTION("unsynced entries may be gone after a restart") {
        story.kill(1).boot(1).see(
            1, broker::RaftRecovered{Incarnation(1), Term(1), BrokerId(0), LogIndex(0), {{Term(1), 10}}});
        story.enter(1, 2, 2, 7);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("but not without one") {
        story.enter(1, 2, 2, 7);
        REQUIRE(story.is_unsafe());
    }
}

TEST_CASE("V8: committed entries are on a majority, in order, and never change") {
    RaftStory story;
    story.elect(1, 1).enter_on({1, 2}, 1, 1);
    SECTION("on a majority") {
        story.commit(1, 1, 1).commit(2, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("on the leader alone") {
        story.enter(1, 2, 1).commit(1, 1, 1).commit(1, 2, 1);
        REQUIRE_THAT(story.message("raft-safety"),
                     Contains("entry 2 of term 1 was committed while 1 of 3 brokers hold it"));
    }
    SECTION("held by a disk that was lost since") {
        story.kill(2).empty_disk(2);
        story.commit(1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("changed") {
        story.commit(1, 1, 1).enter(3, 1, 2, 4).commit(3, 1, 2, 4);
        REQUIRE_THAT(story.message("raft-safety"), Contains("where the entry of term 1 is committed"));
    }
    SECTION("other than in its own log") {
        story.commit(1, 1, 1, 99);
        REQUIRE(story.is_unsafe());
    }
    SECTION("twice in a life") {
        story.commit(1, 1, 1).commit(1, 1, 1);
        REQUIRE_THAT(story.message("raft-safety"), Contains("each once, in order"));
    }
    SECTION("again in the next life") {
        story.commit(1, 1, 1).kill(1).boot(1);
        story.commit(1, 1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V8: a disk that was lost counts for the entries it held, of their terms") {
    RaftStory story;
    story.elect(1, 1).enter_on({1, 2, 3}, 1, 1).commit(1, 1, 1).enter_on({1, 3}, 2, 1).enter_on({1, 3}, 3, 1);
    SECTION("its answer was under way when the disk went") {
        story.kill(3).empty_disk(3);
        story.commit(1, 2, 1).commit(1, 3, 1);
        REQUIRE_FALSE(story.is_unsafe());
    }
    SECTION("it is lost a second time, and what it held the first time still counts") {
        story.kill(3).empty_disk(3);
        story.boot(3, 33);
        story.enter(3, 1, 1).kill(3).empty_disk(3);
        story.commit(1, 2, 1);
        REQUIRE_FALSE(story.is_unsafe());
    }
    SECTION("an entry of a later term in that place it never held") {
        story.kill(3).empty_disk(3);
        story.remove_from(1, 2).elect(1, 2).enter(1, 2, 2).commit(1, 2, 2);
        REQUIRE_THAT(story.message("raft-safety"), Contains("entry 2 of term 2 was committed while 1 of 3 brokers"));
    }
    SECTION("nor one past its end") {
        story.enter(1, 4, 1).kill(3).empty_disk(3);
        story.commit(1, 2, 1).commit(1, 3, 1).commit(1, 4, 1);
        REQUIRE_THAT(story.message("raft-safety"), Contains("entry 4 of term 1 was committed while 1 of 3 brokers"));
    }
    SECTION("what a snapshot had taken in was committed") {
        story.install(3, 3, 1).kill(3).empty_disk(3);
        story.commit(1, 2, 1);
        REQUIRE_FALSE(story.is_unsafe());
    }
}

TEST_CASE("V8: committed entries are not removed") {
    RaftStory story;
    story.elect(1, 1).enter_on({1, 2}, 1, 1).enter_on({1, 2}, 2, 1).commit(1, 1, 1);
    SECTION("the tail may go") {
        story.remove_from(2, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("the committed one may not") {
        story.remove_from(2, 1).enter(2, 1, 1);
        REQUIRE_THAT(story.message("raft-safety"),
                     Contains("its entry 1 (term 1) is committed, and no snapshot took its place"));
    }
    SECTION("the committed one may when a snapshot takes its place") {
        story.remove_from(2, 1).install(2, 1, 1).enter(2, 2, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("who was not counted may obey a leader of a term before it was committed") {
        for (const int term : {2, 3}) {
            RaftStory late;
            late.elect(1, 1).enter_on({1, 3}, 1, 1).elect(1, 3).enter(2, 1, 1).enter_on({1, 2}, 2, 3);
            late.commit(1, 1, 1, 0, 3).remove_from(3, 1, term).enter(3, 1, 2);
            REQUIRE(late.broken() == (term == 2 ? kNothing : std::vector<std::string>{"raft-safety"}));
        }
    }
    SECTION("a conflicting one at that index may") {
        RaftStory other;
        other.enter(3, 1, 1, 5).elect(1, 2).enter_on({1, 2}, 1, 2).commit(1, 1, 2).remove_from(3, 1).enter(3, 1, 2);
        REQUIRE(other.broken() == kNothing);
    }
}

TEST_CASE("V8: an elected leader holds what was committed before") {
    RaftStory story;
    story.elect(1, 1).enter_on({1, 2}, 1, 1).commit(1, 1, 1).kill(1);
    SECTION("it does") {
        story.elect(2, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("it does not") {
        story.elect(3, 2);
        REQUIRE_THAT(story.message("raft-safety"),
                     Contains("broker 3 was elected in term 2 without the committed entry 1"));
    }
    SECTION("it has a snapshot that covers it") {
        story.install(3, 1, 1).elect(3, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("late news of an election that came before") {
        story.elect(2, 4).enter_on({2, 1}, 2, 4).commit(2, 2, 4).elect(3, 1);
        REQUIRE_FALSE(story.message("raft-safety").find("without the committed entry") != std::string::npos);
    }
}

TEST_CASE("V8: a majority elects") {
    RaftStory story;
    SECTION("two of three") {
        story.vote(1, 1, 1).vote(2, 1, 1).win(1, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("its own vote and a refusal") {
        story.vote(1, 1, 1).vote(2, 1, 3).win(1, 1);
        REQUIRE_THAT(story.message("raft-safety"), Contains("was elected in term 1 with 1 votes of 3 brokers"));
    }
    SECTION("a vote of another term") {
        story.vote(2, 1, 1).vote(1, 2, 1).win(1, 2);
        REQUIRE(story.is_unsafe());
    }
    SECTION("a voter twice") {
        story.vote(2, 1, 1).vote(2, 1, 1).win(1, 1);
        REQUIRE(story.is_unsafe());
    }
    SECTION("a vote of a disk that was lost since") {
        story.vote(1, 1, 1).vote(2, 1, 1).kill(2).empty_disk(2);
        story.win(1, 1);
        REQUIRE(story.broken() == kNothing);
    }
}

TEST_CASE("V8: a leader commits by an entry of its own term") {
    for (const bool own_on_majority : {true, false}) {
        RaftStory story;
        story.elect(1, 1).enter(1, 1, 1).elect(2, 2).elect(1, 3).enter_on({2, 3}, 1, 1).enter(1, 2, 3);
        if (own_on_majority) story.enter(2, 2, 3);
        story.commit(1, 1, 1, 0, 3);
        REQUIRE(story.is_unsafe() == !own_on_majority);
    }
    RaftStory follower;
    follower.elect(1, 1).enter_on({1, 2}, 1, 1).elect(1, 3).enter_on({1, 3}, 2, 3).commit(2, 1, 1, 0, 3);
    REQUIRE_FALSE(follower.message("raft-safety").find("its own term") != std::string::npos);
}

TEST_CASE("V8: an entry of an older term is committed when a newer leader's is") {
    // Broker 1 has an entry of term 1, broker 3 is elected in term 2 without it, broker 1 in term 3 with it.
    RaftStory other;
    other.elect(1, 1).enter(1, 1, 1).elect(3, 2).elect(1, 3).enter(2, 1, 1).enter_on({1, 2}, 2, 3);
    SECTION("the leader in between wakes up and writes there") {
        other.commit(1, 1, 1, 0, 3).commit(1, 2, 3).enter(3, 1, 2);
        REQUIRE(other.broken() == kNothing);
    }
    SECTION("but not where it was committed before that one was elected") {
        other.commit(2, 1, 1, 0, 1).enter(3, 1, 2);
        REQUIRE_THAT(other.message("raft-safety"), Contains("broker 3 leads term 2 without the entry 1 of term 1"));
        REQUIRE(other.is_unsafe());
    }
    SECTION("a newer leader elected meanwhile hides nothing") {
        RaftStory hidden;
        hidden.elect(1, 1).enter_on({1, 2}, 1, 1).elect(2, 5).commit(1, 1, 1, 0, 1).enter(3, 1, 3);
        REQUIRE_THAT(hidden.message("raft-safety"), Contains("appended entry 1 of term 3 where the entry of term 1"));
    }
}

TEST_CASE("V8: leader completeness is judged when the commit becomes known, too") {
    for (const bool complete : {true, false}) {
        RaftStory story;
        story.elect(1, 1).enter_on({1, 2}, 1, 1).elect(complete ? 2 : 3, 2).commit(1, 1, 1);
        REQUIRE(story.is_unsafe() == !complete);
    }
}

TEST_CASE("V8: a vote is for a log that is no older than the voter's") {
    RaftStory story;
    story.enter_on({1, 2}, 1, 1).enter(3, 1, 1).enter(1, 2, 1).enter(2, 2, 2);
    SECTION("equal logs") {
        RaftStory equal;
        equal.enter_on({1, 2}, 1, 1).vote(1, 3, 1).vote(2, 3, 1);
        REQUIRE(equal.broken() == kNothing);
    }
    SECTION("a shorter log of the same term") {
        story.vote(3, 3, 3).vote(1, 3, 3);
        REQUIRE_THAT(story.message("raft-safety"),
                     Contains("broker 1 voted for broker 3 in term 3, whose log ends at entry 1 of term 1"));
    }
    SECTION("a log of an older term, as long") {
        story.vote(1, 3, 1).vote(2, 3, 1);
        REQUIRE(story.is_unsafe());
    }
    SECTION("a log of a newer term") {
        story.vote(2, 3, 2).vote(1, 3, 2).vote(3, 3, 2);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("told after the term has a leader, whose entries the voter has taken meanwhile") {
        RaftStory late;
        late.enter_on({1, 2, 3}, 1, 1).vote(3, 3, 3).elect(2, 3).enter(1, 2, 1).enter(1, 3, 3).vote(1, 3, 3);
        REQUIRE(late.broken() == kNothing);
    }
    SECTION("what it wrote later does not count") {
        story.vote(3, 3, 3).enter(3, 2, 3).vote(1, 3, 3);
        REQUIRE(story.is_unsafe());
    }
}

TEST_CASE("V8: snapshots of one index are equal and agree with what was committed") {
    RaftStory story;
    story.elect(1, 1).enter_on({1, 2}, 1, 1).enter_on({1, 2}, 2, 1).commit(1, 1, 1);
    SECTION("equal") {
        story.install(3, 1, 1, 6).install(2, 1, 1, 6).enter(3, 2, 1).enter(2, 3, 1);
        REQUIRE(story.broken() == kNothing);
    }
    SECTION("two contents") {
        story.install(3, 1, 1, 6).install(2, 1, 1, 7);
        REQUIRE(story.is_unsafe());
    }
    SECTION("entries past it stay only when they follow it") {
        RaftStory other;
        other.enter(3, 1, 1, 5).enter(3, 2, 1, 6).install(3, 1, 2);
        REQUIRE_THAT(other.message("raft-safety"), Contains("kept entries past it that follow one of term 1"));
    }
    SECTION("another term") {
        story.install(3, 1, 2);
        REQUIRE_THAT(story.message("raft-safety"), Contains("committed is term 1"));
    }
}

}  // namespace
}  // namespace tidelock::checker
