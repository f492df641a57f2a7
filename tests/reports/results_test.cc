// Results and failure files: what is written reads back equal, and anything else is refused with the place of the
// fault.
#include <fmt/core.h>
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reports/failure.h"
#include "reports/junit.h"
#include "reports/results_json.h"
#include "reports/summary.h"

using namespace tidelock::reports;
using Catch::Contains;
using nlohmann::json;

namespace {

ScenarioRow sample_row(const std::string& name) {
    ScenarioRow row;
    row.scenario = name;
    row.replay_prefix = "tidelock replay ./" + name + ".json";
    row.first_seed = 1;
    row.last_seed = UINT64_MAX;
    row.schedules = 12;
    row.violations = {{7, "acked-survival", 12'500'000, "record <7> & \"more\"\nis gone\x01", "tidelock replay x 7"}};
    row.unsound = {{9, "not deterministic", "tidelock replay x 9"}};
    row.events = 100'000;
    row.virtual_ns = 360'123'456'789;
    row.wall_ns = 2'000'000'000;
    row.cpu_ns = 1'500'000'001;
    row.acked_records = 2'400;
    row.read_records = 2'300;
    row.skipped_elements = 1;
    row.peak_memory_bytes = 1 << 24;
    row.faults = {{"disk.rot", 0}, {"process.kill", 31}};
    row.marks = {{"elected", 12}, {"never-seen", 0}};
    row.digest = 0xFEDC'BA98'7654'3210;
    return row;
}

Results sample() {
    Results results;
    results.builds = {"0.1.0 g++ 12.2.0 abc"};
    results.complete = false;
    results.stopped_by = "SIGINT";
    results.jobs = 2;
    results.shard = 2;
    results.shards = 3;
    results.elapsed_ns = 4'250'000'000;
    results.peak_worker_bytes = 30 << 20;
    results.scenarios = {sample_row("group-failover"), sample_row("raft-only")};
    return results;
}

Failure sample_failure() {
    Failure failure;
    failure.scenario = "group-failover";
    failure.seed = 42;
    failure.violations = {{42, "acked-survival", 5, "gone", ""}, {42, "log-matching", 6, "differs", ""}};
    failure.digest = 77;
    failure.build = "0.1.0";
    failure.plan_json = R"({"faults":[1,2],"seed":42})";
    return failure;
}

std::string error_after(void (*change)(json&)) {
    json object = json::parse(results_to_json(sample()));
    change(object);
    const auto results = results_from_json(object.dump());
    return results ? "accepted" : results.error();
}

}  // namespace

TEST_CASE("results read back equal") {
    const auto read = results_from_json(results_to_json(sample()));
    REQUIRE(read.has_value());
    Results expected = sample();
    for (ScenarioRow& row : expected.scenarios) row.violations[0].message = "record <7> & \"more\"\nis gone\x01";
    REQUIRE(*read == expected);
}

TEST_CASE("results hold the keys of the contract") {
    const json row = json::parse(results_to_json(sample()))["scenarios"][0];
    for (const char* key :
         {"scenario", "first_seed", "last_seed", "schedules", "violations", "events", "virtual_seconds", "wall_seconds",
          "cpu_seconds", "acked_records", "faults", "marks", "digest"}) {
        INFO(key);
        REQUIRE(row.contains(key));
    }
    for (const char* key : {"seed", "invariant", "time_ns", "message", "replay"}) {
        INFO(key);
        REQUIRE(row["violations"][0].contains(key));
    }
}

TEST_CASE("a wrong value is refused with the path of its key") {
    REQUIRE(error_after([](json& o) { o["scenarios"][1].erase("events"); }) == "scenarios[1].events: is missing");
    REQUIRE_THAT(error_after([](json& o) { o["scenarios"][0]["faults"]["process.kill"] = -1; }),
                 Contains("scenarios[0].faults.process.kill"));
    REQUIRE_THAT(error_after([](json& o) { o["scenarios"][0]["violations"][0]["seed"] = "7"; }),
                 Contains("scenarios[0].violations[0].seed"));
    REQUIRE_THAT(error_after([](json& o) { o["scenarios"][0]["digest"] = "0x12"; }), Contains("digest"));
    REQUIRE_THAT(error_after([](json& o) { o["scenarios"][0]["virtual_seconds"] = 1e300; }),
                 Contains("virtual_seconds"));
    REQUIRE_THAT(error_after([](json& o) { o["scenarios"] = 3; }), Contains("scenarios: a list"));
    REQUIRE_THAT(error_after([](json& o) { o["shard"] = 9; }), Contains("shard: must be between"));
    REQUIRE_THAT(error_after([](json& o) { o["version"] = 2; }), Contains("version"));
    REQUIRE_THAT(error_after([](json& o) { o["scenarios"][0]["schedules"] = UINT64_MAX; }), Contains("schedules"));
    REQUIRE_THAT(error_after([](json& o) { o = json::array(); }), Contains("top level: an object"));
    REQUIRE(error_after([](json& o) { o["scenarios"][1] = o["scenarios"][0]; }) ==
            "scenarios[1].scenario: is there twice: it would count twice");
    REQUIRE(results_from_json(results_to_json(sample()) + '\0').error() ==
            fmt::format("is no JSON text: a zero byte stands at byte {}", results_to_json(sample()).size() + 1));
    REQUIRE_THAT(results_from_json("").error(), Contains("at byte"));
    REQUIRE_THAT(results_from_json(std::string(100'000, '[')).error(), Contains("nests deeper"));
}

TEST_CASE("every prefix of a file is refused") {
    const std::string results = results_to_json(sample());
    for (std::size_t size = 0; size + 2 < results.size(); ++size) {
        REQUIRE_FALSE(results_from_json(results.substr(0, size)).has_value());
    }
    const std::string failure = failure_to_json(sample_failure());
    for (std::size_t size = 0; size + 2 < failure.size(); ++size) {
        REQUIRE_FALSE(failure_from_json(failure.substr(0, size)).has_value());
    }
}

TEST_CASE("a failure file reads back equal, with and without a plan") {
    Failure failure = sample_failure();
    REQUIRE(failure_from_json(failure_to_json(failure)).value() == failure);
    failure.plan_json.clear();
    REQUIRE(failure_from_json(failure_to_json(failure)).value() == failure);
    REQUIRE(failure_file_name(failure) == "group-failover-42-acked-survival.json");
    failure.scenario = "../../etc/x y";
    REQUIRE(failure_file_name(failure) == "------etc-x-y-42-acked-survival.json");
}

TEST_CASE("failure files that tell of nothing, or hold no plan at all, are refused") {
    json object = json::parse(failure_to_json(sample_failure()));
    object["violations"] = json::array();
    REQUIRE_THAT(failure_from_json(object.dump()).error(), Contains("violations: at least one"));
    object = json::parse(failure_to_json(sample_failure()));
    object["plan"] = 3;
    REQUIRE_THAT(failure_from_json(object.dump()).error(), Contains("plan: an object"));
    object.erase("plan");
    REQUIRE_THAT(failure_from_json(object.dump()).error(), Contains("plan: is missing"));
}

TEST_CASE("joining is independent of the order of the parts") {
    REQUIRE(rc::check([] {
        std::vector<Results> parts;
        const int count = *rc::gen::inRange(2, 5);
        for (int i = 0; i < count; ++i) {
            Results part = sample();
            part.complete = true;
            part.stopped_by.clear();
            part.scenarios.resize(1);
            ScenarioRow& row = part.scenarios[0];
            row.schedules = *rc::gen::inRange(0, 5);
            row.first_seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
            row.last_seed = row.first_seed + 3;
            row.digest = *rc::gen::arbitrary<std::uint64_t>();
            row.violations[0].seed = row.first_seed;
            parts.push_back(part);
        }
        const Results forward = join(parts);
        std::reverse(parts.begin(), parts.end());
        RC_ASSERT(forward == join(parts));
    }));
}

TEST_CASE("two schedules that swap their digests change the row's digest") {
    REQUIRE(digest_share(1, 10) + digest_share(2, 20) != digest_share(1, 20) + digest_share(2, 10));
    REQUIRE(digest_share(0, 0) + digest_share(0, 1) == digest_share(0, 1) + digest_share(0, 0));
}

TEST_CASE("JUnit counts every finding and holds no character that XML forbids") {
    const std::string xml = results_to_junit(sample());
    REQUIRE_THAT(xml, Contains("<testsuites name=\"tidelock\" tests=\"7\" failures=\"2\" errors=\"2\""));
    REQUIRE_THAT(xml, Contains("record &lt;7&gt; &amp; &quot;more&quot;&#10;is gone\xEF\xBF\xBD"));
    REQUIRE_THAT(xml, Contains("<skipped message=\"stopped by SIGINT\"/>"));
    REQUIRE(xml_escaped("a\xff\xc3z\xc3\xa9\xed\xa0\x80") ==
            "a\xEF\xBF\xBD\xEF\xBF\xBDz\xc3\xa9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("the summary names what a newcomer looks for") {
    const std::string text = summary_text(sample(), "build/release/tidelock");
    for (const char* words :
         {"24 schedules of 2 scenario(s)", "process.kill 62", "disk.rot", "never-seen",
          "4,800 acknowledged to producers", "acked-survival did not hold, 2 time(s)",
          "replay: build/release/tidelock replay x 7", "did not finish: SIGINT", "2 violation(s), 2 unsound run(s)"}) {
        INFO(words);
        REQUIRE_THAT(text, Contains(words));
    }
    Results clean = sample();
    for (ScenarioRow& row : clean.scenarios) {
        row.violations.clear();
        row.unsound.clear();
    }
    REQUIRE_THAT(summary_text(clean, "bin/tidelock"),
                 Contains("No violation") && Contains("bin/tidelock replay ./group-failover.json 1\n"));
    for (ScenarioRow& row : clean.scenarios) row.schedules = 0;
    REQUIRE_THAT(summary_text(clean, "tidelock"),
                 Contains("No schedule was run, so nothing is known.") && !Contains("No violation"));
}

TEST_CASE("sums of any files stay within what is read back") {
    Results part = sample();
    part.jobs = 1'000'000;
    for (ScenarioRow& row : part.scenarios) row.schedules = row.virtual_ns = row.faults["process.kill"] = kSumMax;
    const Results whole = join({part, part, part});
    REQUIRE(whole.scenarios[0].schedules == kSumMax);
    REQUIRE(totals_of(whole).virtual_ns == kSumMax);
    REQUIRE(results_from_json(results_to_json(whole)).has_value());
    REQUIRE_THAT(summary_text(whole, "tidelock"), !Contains("-9") && Contains("process.kill 9,200,"));
}

TEST_CASE("a program that did not write how to replay a scenario meant its name") {
    json object = json::parse(results_to_json(sample()));
    for (json& row : object["scenarios"]) row.erase("replay_prefix");
    REQUIRE(results_from_json(object.dump())->scenarios[1].replay_prefix == "tidelock replay raft-only");
}
