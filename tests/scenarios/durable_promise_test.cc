// What a power loss now would take of what a broker has promised (R2, L2, I10). Each promise is looked at as it stands,
// and as it would be broken.
#include <catch2/catch.hpp>
#include <memory>

#include "protocol/storage/recovery.h"
#include "scenarios/durable_promise.h"
#include "tests/scenarios/settled_group.h"

using namespace tidelock;
using namespace tidelock::scenarios;
using Catch::Matchers::Contains;

namespace {

struct Settled : SettledGroup {
    const raft::PersistentState& own() { return broker().raft.persistent; }
    Term term() { return broker().raft.persistent.term; }
};

raft::Message granted(Term term) {
    return raft::VoteAnswer{term, Incarnation(1), Incarnation(2), true};
}

raft::Message accepted(Term term, LogIndex match_index) {
    raft::AppendAnswer answer;
    answer.term = term;
    answer.accepted = true;
    answer.match_index = match_index;
    return answer;
}

}  // namespace

TEST_CASE("who tells with whom the group formed has it on disk (R11)") {
    Settled group;
    raft::FormationStatement statement;
    statement.formed = true;
    statement.members = group.own().snapshot.formation;
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), statement, group.leader));
    statement.members.front().incarnation = Incarnation(12345);
    REQUIRE_THAT(broken_raft_promise(group.disk(), group.own(), statement, group.leader).value(),
                 Contains("with whom the group has formed"));
    statement.formed = false;
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), statement, group.leader));
}

TEST_CASE("a vote promises the term and the candidate (R2)") {
    Settled group;
    const BrokerId other(group.leader.value % 3 + 1);
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), granted(group.term()), group.leader));
    REQUIRE_THAT(broken_raft_promise(group.disk(), group.own(), granted(group.term()), other).value(),
                 Contains("its vote for broker " + std::to_string(other.value)));
    const Term next(group.term().value + 1);
    REQUIRE_THAT(broken_raft_promise(group.disk(), group.own(), granted(next), group.leader).value(),
                 Contains("Raft term"));
    // Refused, or told in a term that is over: nothing is promised.
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), raft::VoteAnswer{next, {}, {}, false}, group.leader));
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), granted(Term(group.term().value - 1)), other));
}

TEST_CASE("an accepted append promises the entries up to its match index (R2)") {
    Settled group;
    const LogIndex last = raft::last_index(group.broker().raft.persistent);
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), accepted(group.term(), last), BrokerId(2)));
    REQUIRE_THAT(
        broken_raft_promise(group.disk(), group.own(), accepted(group.term(), LogIndex(last.value + 1)), BrokerId(2))
            .value(),
        Contains("of which it would find those up to " + std::to_string(last.value)));
}

TEST_CASE("an entry of another term in that place is not the one that was accepted (R2)") {
    Settled group;
    const LogIndex last = raft::last_index(group.own());
    REQUIRE(last > group.own().snapshot.last_index);
    // In memory the newest entry was overwritten by one of the present term; the disk has the old one.
    raft::PersistentState overwritten = group.own();
    overwritten.entries.back().term = Term(group.term().value + 1);
    const raft::Message answer = accepted(group.term(), last);
    REQUIRE_FALSE(broken_raft_promise(group.disk(), group.own(), answer, BrokerId(2)));
    REQUIRE_THAT(broken_raft_promise(group.disk(), overwritten, answer, BrokerId(2)).value(),
                 Contains("where it would find one of term " + std::to_string(group.term().value)));
    // The entry before it is the same in both.
    const LogIndex before(last.value - 1);
    REQUIRE_FALSE(broken_raft_promise(group.disk(), overwritten, accepted(group.term(), before), BrokerId(2)));
    // A newer term than the answer's may have made another log of it, after the answer was promised.
    overwritten.term = Term(group.term().value + 1);
    REQUIRE_FALSE(broken_raft_promise(group.disk(), overwritten, answer, BrokerId(2)));
}

TEST_CASE("in a new term a match index below those of the one before is news") {
    Settled group;
    PromiseWatch watch;
    const LogIndex last = raft::last_index(group.own());
    const auto look = [&](Term term, std::int64_t past_the_log) {
        const broker::SendToPeer message{BrokerId(2), raft::Message(accepted(term, last + past_the_log))};
        return watch.look(group.disk(), group.broker(), message).size();
    };
    // One promise in eight is looked at: the first and the ninth.
    for (int told = 0; told < 8; ++told) REQUIRE(look(Term(group.term().value - 1), 100 + told) == 0);
    std::size_t broken = 0;
    for (int told = 1; told <= 9; ++told) broken += look(group.term(), told);
    REQUIRE(broken == 2);
}

TEST_CASE("a leader that commits by its own copy has that copy on its disk (R4)") {
    Settled group;
    raft::Node node = group.broker().raft;
    REQUIRE_FALSE(broken_leader_promise(group.disk(), node));
    SECTION("of that very entry") {
        for (auto& follower : std::get<raft::Leader>(node.role).followers) follower.match_index = LogIndex(0);
        REQUIRE_FALSE(broken_leader_promise(group.disk(), node));
        const auto at = static_cast<std::size_t>(node.commit_index - node.persistent.snapshot.last_index - 1);
        node.persistent.entries.at(at).term = Term(group.term().value + 1);
        REQUIRE_THAT(broken_leader_promise(group.disk(), node).value(), Contains("where it would find one of term"));
    }
    node.commit_index = LogIndex(raft::last_index(node.persistent).value + 1);
    REQUIRE_THAT(broken_leader_promise(group.disk(), node).value(), Contains("committed by its own copy"));
    for (auto& follower : std::get<raft::Leader>(node.role).followers) follower.match_index = node.commit_index;
    REQUIRE_FALSE(broken_leader_promise(group.disk(), node));  // a majority without it
}

TEST_CASE("what a broker takes for durable would be found: records, topics, identity (L2, F2, I10)") {
    Settled group;
    REQUIRE(broken_record_promises(group.disk(), group.broker()).empty());
    SECTION("another life of the data") {
        broker::Broker renewed = group.broker();
        renewed.identity.data_incarnation = Incarnation(99);
        REQUIRE_THAT(broken_record_promises(group.disk(), renewed).at(0).what, Contains("data incarnation 63"));
    }
    SECTION("the epoch that a static leader leads in") {
        broker::Broker commanded = group.broker();
        commanded.config.preset = broker::Preset::kStatic;
        REQUIRE_THAT(broken_record_promises(group.disk(), commanded).at(0).what, Contains("that it leads in epoch"));
    }
    SECTION("a topic more") {
        broker::Broker grown = group.broker();
        grown.topics.put(storage::TopicEntry{"more", TopicId(7), 1, {}});
        REQUIRE_THAT(broken_record_promises(group.disk(), grown).at(0).what, Contains("newest catalogue"));
    }
    SECTION("records that came later") {
        const storage::DirectoryImage before = image_after_power_loss(group.disk());
        const auto remembered = [&] {
            return storage::recover(before, group.broker().logs.config()).partitions.size();
        };
        REQUIRE(remembered() == group.broker().logs.logs().size());
        Settled later;
        later.cluster.world().run_until(sim::TimeNs(4'000'000'000));
        REQUIRE_THAT(broken_record_promises(group.disk(), later.broker()).at(0).what, Contains("would be found"));
    }
    SECTION("rot") {
        const auto& logs = group.broker().logs.logs();
        const auto held = std::find_if(logs.begin(), logs.end(), [](const storage::PartitionLog& log) {
            return !log.files.segments().empty() && log.files.segments().front().size_bytes > 0;
        });
        REQUIRE(held != logs.end());
        const storage::FileName name = storage::segment_file_name(held->tp, held->files.segments().front().base_offset);
        sim::Disk& disk = group.cluster.world().host(host_of(group.leader)).disk();
        REQUIRE(disk.rot_bit(name.text(), 70, 0));
        const std::vector<BrokenPromise> broken = broken_record_promises(group.disk(), group.broker());
        REQUIRE(broken.size() == 1);
        REQUIRE(broken[0].partition == held->tp);
        REQUIRE_THAT(broken[0].what, Contains("would be found damaged"));
    }
}
