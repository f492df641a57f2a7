// The script language: what a line may say, and that errors name file and line. And every story holds as told.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "scenarios/embedded.h"
#include "scenarios/script.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

std::string error_of(std::string_view text) {
    const auto script = parse_script(text, "x", "x.scn");
    return script ? "accepted" : script.error().text;
}

}  // namespace

TEST_CASE("a script is parsed into its lines, comments and blank lines left out") {
    const auto script = parse_script(
        "# a story\n\nset isr_lag_ms 500 # short\ncluster 3\nstart all\nawait leader within 2s\n", "x", "x.scn");
    REQUIRE(script.has_value());
    REQUIRE(script->lines.size() == 4);
    REQUIRE(script->lines[0].name == "broker.isr_lag_ms");
    REQUIRE(script->lines[0].amount == 500);
    REQUIRE(script->lines[3].number == 6);
    REQUIRE(script->lines[3].within == seconds(2));
    REQUIRE(script->expected_violation.empty());
}

TEST_CASE("lines are read with all their parts") {
    const auto script = parse_script(
        "cluster 3\nsend 1 2 to a-b-7 acks leader via leader\ncut 1 2 -> 3\nlose fetch-answer 1 -> 2 3\n"
        "kill 1 at in-sync-set-proposed\nawait not high-watermark t-0 5 on 1 2\nexpect violation acked-survival\n",
        "x", "x.scn");
    REQUIRE(script.has_value());
    const ScriptLine& send = script->lines[1];
    REQUIRE(send.values == std::vector<std::uint64_t>{1, 2});
    REQUIRE(send.name == "a-b");
    REQUIRE(send.partition == 7);
    REQUIRE(send.acks == 1);
    REQUIRE(send.other_brokers == std::vector<std::string>{"leader"});
    REQUIRE(script->lines[2].verb == Verb::kCutOneWay);
    REQUIRE(script->lines[3].other_brokers == std::vector<std::string>{"2", "3"});
    REQUIRE(script->lines[4].verb == Verb::kKillAt);
    REQUIRE(observation_names()[static_cast<std::size_t>(script->lines[4].amount)] == "in-sync-set-proposed");
    REQUIRE(script->lines[5].is_negated);
    REQUIRE(script->lines[5].brokers == std::vector<std::string>{"1", "2"});
    REQUIRE(script->expected_violation == "acked-survival");
}

TEST_CASE("errors name file, line and what was expected") {
    struct Row {
        std::string_view text;
        std::string_view error;
    };
    const std::vector<Row> rows{
        {"", "x.scn: no line in it"},
        {"# nothing\n\n", "x.scn: no line in it"},
        {"\ncluser 3", "x.scn:2: \"cluser\" is no verb"},
        {"cluster", "x.scn:1: expected brokers at the end of the line"},
        {"cluster three", "x.scn:1: expected brokers, not \"three\""},
        {"cluster 12", "x.scn:1: brokers 12 is not between 1 and 9"},
        {"cluster 3 4", "x.scn:1: \"4\" is a word too many"},
        {"start all", "x.scn:1: there is no cluster yet"},
        {"cluster 3\ncluster 3", "x.scn:2: there is a cluster already"},
        {"cluster 3\nset isr_lag_ms 5", "x.scn:2: broker.isr_lag_ms 5 is not between 50 and 600000"},
        {"cluster 3\nset isr_lag_ms 500", "x.scn:2: settings stand before the cluster"},
        {"set isr_lag 500", "x.scn:1: \"isr_lag\" is no setting"},
        {"set preset raft", "x.scn:1: \"raft\" is none of group, static"},
        {"set no_pre_vote yes", "x.scn:1: broker.seed_rules.no_pre_vote is on or off, not \"yes\""},
        {"cluster 3\nproduce to t-0 expect ok", "x.scn:2: expected values"},
        {"cluster 3\nproduce 1 to t expect ok", "x.scn:2: expected a partition as t-0, not \"t\""},
        {"cluster 3\nproduce 1 to t-0", "x.scn:2: expected \"expect\" at the end of the line"},
        {"cluster 3\nproduce 1 to t-0 acks some expect ok", "x.scn:2: \"some\" is none of none, leader, all"},
        {"cluster 3\nproduce 1 to t-0 expect fine", "x.scn:2: \"fine\" is none of ok, refused, unknown"},
        {"cluster 3\ncut 1 2", "x.scn:2: expected \"|\" at the end of the line"},
        {"cluster 3\nkill", "x.scn:2: expected brokers at the end of the line"},
        {"cluster 3\nkill 1 at noon", "x.scn:2: \"noon\" is none of started"},
        {"cluster 3\nlose rain", "x.scn:2: \"rain\" is none of nothing, pre-vote-request"},
        {"cluster 3\nwait 5", "x.scn:2: expected a duration as 500ms or 2s, not \"5\""},
        {"cluster 3\nexpect leader within 2s", "x.scn:2: \"expect\" looks at once; waiting is \"await\""},
        {"cluster 3\nawait mark rain", "x.scn:2: \"rain\" is no mark"},
        {"cluster 3\nawait rain", "x.scn:2: \"rain\" is none of leader"},
        {"cluster 3\nexpect violation rain", "x.scn:2: \"rain\" is no invariant"},
        {"cluster 3\nexpect violation progress\nexpect violation progress", "x.scn:3: a story expects one violation"},
        {"cluster 3\ndisk 1 melt", "x.scn:2: expected slow, stall, release, full, free or rot, not \"melt\""},
        {"cluster 3\nlet 1 = leader", "x.scn:2: an alias cannot be a number"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        REQUIRE(error_of(row.text).starts_with(row.error));
    }
}

TEST_CASE("what a line finds at run time is told with file and line") {
    const auto run = [](std::string_view text) {
        return run_script(*parse_script(text, "x", "x.scn"), nullptr).failure;
    };
    REQUIRE(run("cluster 3\nstart 4") == "x.scn:2: there is no broker \"4\"");
    REQUIRE(run("cluster 3\nkill leader") == "x.scn:2: nobody leads");
    REQUIRE(run("cluster 3\nstart all\nwait 100ms\nstart 1").starts_with("x.scn:4: broker 1 is running"));
    REQUIRE(run("cluster 3\nstart all\nawait leader\nexpect not leader").starts_with("x.scn:4: it is not so: leader "));
}

TEST_CASE("every story holds as told, and the same each time") {
    for (const EmbeddedFile& file : embedded_stories()) {
        const auto script = parse_script(file.text, file.name, "scenarios/stories/" + std::string(file.name) + ".scn");
        INFO(file.name << " " << (script ? "" : script.error().text));
        REQUIRE(script.has_value());
        const StoryResult first = run_script(*script, nullptr);
        INFO(first.failure);
        REQUIRE(first.passed);
        REQUIRE(run_script(*script, nullptr).digest == first.digest);
    }
}
