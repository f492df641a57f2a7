// `run` as a real process: what it exits with, keeps and says when schedules fail, crash, hang or differ, however many
// workers there are.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "reports/failure.h"
#include "reports/results_json.h"
#include "tests/tools/process.h"

using namespace tidelock;
using namespace tidelock::tests;
using Catch::Contains;

namespace {

Finished fake(std::vector<std::string> words) {
    words.insert(words.begin(), TIDELOCK_FAKE);
    return run(words);
}

// Runs with --json and reads the results back.
reports::Results results_of(std::vector<std::string> words, const std::string& json_file) {
    words.insert(words.end(), {"--json", json_file});
    fake(words);
    const auto results = reports::results_from_json(content_of(json_file));
    INFO((results ? "" : results.error()));
    REQUIRE(results.has_value());
    return *results;
}

// Without what depends on the machine's speed.
reports::Results timeless(reports::Results results) {
    results.elapsed_ns = results.peak_worker_bytes = 0;
    results.jobs = 0;
    results.shard = results.shards = 1;
    for (reports::ScenarioRow& row : results.scenarios) row.wall_ns = row.cpu_ns = 0;
    return results;
}

std::vector<std::string> files_in(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("a campaign without findings exits 0 and sums everything up") {
    const ScratchDirectory scratch;
    const Finished finished = fake({"run", "clean", "--seeds", "1..50", "--jobs", "2"});
    REQUIRE(finished.status == 0);
    REQUIRE_THAT(finished.out, Contains("50 schedules of 1 scenario"));
    REQUIRE_THAT(finished.out, Contains("never-seen"));
    REQUIRE_THAT(finished.out, Contains("No violation"));
    REQUIRE_THAT(finished.out, Contains("replay clean 1"));

    const reports::Results results = results_of({"run", "clean", "--seeds", "1..50"}, scratch.file("r.json"));
    REQUIRE(results.complete);
    REQUIRE(results.scenarios.size() == 1);
    const reports::ScenarioRow& row = results.scenarios.front();
    REQUIRE(row.schedules == 50);
    REQUIRE(row.first_seed == 1);
    REQUIRE(row.last_seed == 50);
    REQUIRE(row.virtual_ns == 50'000'000'000);
    REQUIRE(row.faults ==
            std::map<std::string, std::int64_t>{{"disk.rot", 0}, {"network.loss", 51}, {"process.kill", 50}});
    REQUIRE(row.marks.at("never-seen") == 0);
}

TEST_CASE("a violation exits 1, is kept as a file and printed with the command that replays it") {
    const ScratchDirectory scratch;
    const Finished finished = fake({"run", "violating", "--seeds", "1..20", "--out", scratch.file("a/b")});
    REQUIRE(finished.status == 1);
    REQUIRE_THAT(finished.out, Contains("acked-survival did not hold, 2 time(s)"));
    REQUIRE_THAT(finished.out, Contains(std::string(TIDELOCK_FAKE) + " replay violating 14"));
    REQUIRE(files_in(scratch.file("a/b")) ==
            std::vector<std::string>{"violating-14-acked-survival.json", "violating-7-acked-survival.json"});
    const auto failure = reports::failure_from_json(content_of(scratch.file("a/b/violating-7-acked-survival.json")));
    REQUIRE(failure.has_value());
    REQUIRE(failure->seed == 7);
    REQUIRE(failure->digest != 0);
    REQUIRE(failure->plan_json == R"({"scenario":"violating","seed":7})");
}

TEST_CASE("an unsound run and an exception exit 3") {
    REQUIRE(fake({"run", "unsound", "--seeds", "1..5"}).status == 3);
    const Finished thrown = fake({"run", "throwing", "--seeds", "1..5"});
    REQUIRE(thrown.status == 3);
    REQUIRE_THAT(thrown.out, Contains("thrown on purpose"));
}

TEST_CASE("a crash is a result with its seed and last words, and every other schedule still runs") {
    const ScratchDirectory scratch;
    for (const char* jobs : {"1", "3"}) {
        const reports::Results results =
            results_of({"run", "crashing", "--seeds", "1..40", "--jobs", jobs, "--out", scratch.file("out")},
                       scratch.file("r.json"));
        const reports::ScenarioRow& row = results.scenarios.front();
        REQUIRE(row.schedules == 40);
        REQUIRE(row.violations.size() == 1);
        REQUIRE(row.violations.front().invariant == "crash");
        REQUIRE(row.violations.front().seed == 13);
        REQUIRE_THAT(row.violations.front().message, Contains("signal 6") && Contains("the sky is up"));
        const auto failure = reports::failure_from_json(content_of(scratch.file("out/crashing-13-crash.json")));
        REQUIRE(failure.has_value());
        REQUIRE(failure->plan_json == R"({"scenario":"crashing","seed":13})");
    }
}

TEST_CASE("a plan that cannot even be made is a crash too, kept without a plan") {
    const ScratchDirectory scratch;
    const Finished finished = fake({"run", "planless", "--seeds", "1..5", "--out", scratch.path()});
    REQUIRE(finished.status == 1);
    const auto failure = reports::failure_from_json(content_of(scratch.file("planless-2-crash.json")));
    REQUIRE(failure.has_value());
    REQUIRE(failure->plan_json.empty());
}

TEST_CASE("a hung schedule is killed after its wall-clock limit and reported") {
    const ScratchDirectory scratch;
    const reports::Results results = results_of(
        {"run", "hanging", "--seeds", "1..12", "--jobs", "2", "--schedule-limit", "300ms"}, scratch.file("r.json"));
    const reports::ScenarioRow& row = results.scenarios.front();
    REQUIRE(row.schedules == 12);
    REQUIRE(row.violations.size() == 1);
    REQUIRE(row.violations.front().seed == 5);
    REQUIRE(row.violations.front().invariant == "hang");
    REQUIRE_THAT(row.violations.front().message, Contains("no end after"));
}

TEST_CASE("a schedule that uses up the CPU time of a process is a hang, whichever limit ends it") {
    for (const std::string limit : {"ulimit -t 1", "ulimit -S -t 1"}) {
        const Finished finished =
            run({"/bin/bash", "-c", limit + "; " + TIDELOCK_FAKE + " run spinning --seeds 1..12 --jobs 1"});
        INFO(limit << "\n" << finished.out << finished.err);
        REQUIRE(finished.status == 1);
        REQUIRE_THAT(finished.out, Contains("12 schedules of 1 scenario(s)") &&
                                       Contains("hang did not hold, 1 time(s)") && Contains("used up its CPU time") &&
                                       Contains("replay spinning 5"));
    }
    const Finished replay =
        run({"/bin/bash", "-c", "ulimit -t 1; " + std::string(TIDELOCK_FAKE) + " replay spinning 5"});
    REQUIRE(replay.status == 1);
    REQUIRE_THAT(replay.out, Contains("HANG: the schedule used up its CPU time"));
}

TEST_CASE("CPU time that many schedules used up together is no schedule's fault: it is run again") {
    const ScratchDirectory scratch;
    for (const char* jobs : {"1", "2"}) {
        const Finished finished =
            run({"/bin/bash", "-c",
                 "ulimit -t 1; " + std::string(TIDELOCK_FAKE) + " run busy --seeds 1..60 --jobs " + jobs});
        INFO(finished.out << finished.err);
        REQUIRE(finished.status == 0);
        REQUIRE_THAT(finished.out, Contains("60 schedules of 1 scenario(s)") && Contains("No violation"));
    }
}

TEST_CASE("results on standard output stand there alone, and the summary on standard error") {
    const ScratchDirectory scratch;
    const Finished json =
        fake({"run", "violating", "--seeds", "1..7", "--json", "-", "--junit", scratch.file("r.xml")});
    REQUIRE(json.status == 1);
    const auto results = reports::results_from_json(json.out);
    REQUIRE(results.has_value());
    REQUIRE(reports::totals_of(*results).schedules == 7);
    REQUIRE_THAT(json.err, Contains("acked-survival did not hold, 1 time(s)"));
    REQUIRE_THAT(content_of(scratch.file("r.xml")), Contains("<testsuite"));
    REQUIRE_FALSE(std::filesystem::exists("-"));

    const Finished junit = fake({"run", "clean", "--seeds", "1..7", "--junit", "-", "--json", scratch.file("r.json")});
    REQUIRE(junit.status == 0);
    REQUIRE_THAT(junit.out, Catch::StartsWith("<?xml") && !Contains("schedules of"));
    REQUIRE_THAT(junit.err, Contains("7 schedules of 1 scenario(s)"));

    const Finished merged = fake({"merge", scratch.file("r.json"), "--json", "-"});
    REQUIRE(merged.status == 0);
    REQUIRE(reports::results_from_json(merged.out).has_value());
    REQUIRE_THAT(merged.err, Contains("7 schedules of 1 scenario(s)"));
}

TEST_CASE("--check-determinism names the first event in which two runs part") {
    REQUIRE(fake({"run", "clean", "--seeds", "1..5", "--check-determinism"}).status == 0);
    const Finished finished = fake({"run", "wavering", "--seeds", "1..5", "--check-determinism"});
    REQUIRE(finished.status == 3);
    REQUIRE_THAT(finished.out, Contains("event 42 of 100"));
    REQUIRE_THAT(finished.out, Contains("first run:") && Contains("event 41 ") && Contains("second run:"));
}

TEST_CASE("one worker and three give the same results") {
    const ScratchDirectory scratch;
    const std::vector<std::string> command = {"run", "clean", "violating", "crashing", "--seeds", "1..60", "--jobs"};
    std::vector<std::string> one = command;
    std::vector<std::string> three = command;
    one.emplace_back("1");
    three.emplace_back("3");
    three.emplace_back("--interleave");
    REQUIRE(timeless(results_of(one, scratch.file("1.json"))) == timeless(results_of(three, scratch.file("3.json"))));
}

TEST_CASE("the shards of a campaign are disjoint, and merged they equal the whole") {
    const ScratchDirectory scratch;
    const std::vector<std::string> command = {"run", "clean", "violating", "--seeds", "1..90"};
    const reports::Results whole = results_of(command, scratch.file("whole.json"));
    std::vector<std::string> merge = {"merge"};
    std::int64_t schedules = 0;
    for (const std::string shard : {"1/3", "2/3", "3/3"}) {
        std::vector<std::string> words = command;
        words.insert(words.end(), {"--shard", shard});
        merge.push_back(scratch.file(shard.substr(0, 1) + ".json"));
        const reports::Results part = results_of(words, merge.back());
        schedules += reports::totals_of(part).schedules;
        REQUIRE(reports::totals_of(part).schedules > 30);
    }
    REQUIRE(schedules == 180);
    REQUIRE(timeless(results_of(merge, scratch.file("merged.json"))) == timeless(whole));
    REQUIRE(fake(merge).status == 1);
}

TEST_CASE("merging files that hold the same seeds is refused") {
    const ScratchDirectory scratch;
    results_of({"run", "clean", "--seeds", "1..10"}, scratch.file("a.json"));
    results_of({"run", "clean", "--seeds", "10..20"}, scratch.file("b.json"));
    const Finished finished = fake({"merge", scratch.file("a.json"), scratch.file("b.json")});
    REQUIRE(finished.status == 2);
    REQUIRE_THAT(finished.err, Contains("a.json") && Contains("b.json") && Contains("count twice"));
}

TEST_CASE("--fail-fast and --max-failures stop early and say so") {
    const ScratchDirectory scratch;
    const reports::Results results =
        results_of({"run", "violating", "--seeds", "1..5000", "--jobs", "1", "--fail-fast"}, scratch.file("r.json"));
    REQUIRE_FALSE(results.complete);
    REQUIRE(reports::totals_of(results).schedules < 20);
    REQUIRE(results.scenarios.front().violations.front().seed == 7);
    const Finished two = fake({"run", "violating", "--seeds", "1..5000", "--jobs", "1", "--max-failures", "2"});
    REQUIRE(two.status == 1);
    REQUIRE_THAT(two.out, Contains("did not finish: 2 failing schedule(s)"));
}

TEST_CASE("--time ends a campaign by itself, over all scenarios in turn") {
    const ScratchDirectory scratch;
    const reports::Results results =
        results_of({"run", "clean", "slow", "--time", "500ms", "--jobs", "2"}, scratch.file("r.json"));
    REQUIRE(results.complete);
    REQUIRE(results.scenarios[0].schedules > 5);
    REQUIRE(results.scenarios[1].schedules > 5);
    REQUIRE(results.scenarios[0].last_seed - results.scenarios[1].last_seed <= 2);
    REQUIRE(results.elapsed_ns < 20'000'000'000);
}

TEST_CASE("Ctrl-C keeps and prints what was done, and tells by the exit status") {
    const ScratchDirectory scratch;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        RunningProcess process(
            {TIDELOCK_FAKE, "run", "slow", "--seeds", "1..1000000", "--json", scratch.file("r.json")});
        ::usleep(700'000);
        process.signal(signal);
        const Finished finished = process.wait();
        REQUIRE(finished.status == 128 + signal);
        REQUIRE_THAT(finished.out, Contains("did not finish"));
        const auto results = reports::results_from_json(content_of(scratch.file("r.json")));
        REQUIRE(results.has_value());
        REQUIRE_FALSE(results->complete);
        REQUIRE(results->scenarios.front().schedules > 3);
    }
}

TEST_CASE("Ctrl-C while a schedule hangs drops that schedule after a grace time") {
    RunningProcess process({TIDELOCK_FAKE, "run", "hanging", "--seeds", "5..5"});
    ::usleep(300'000);
    process.signal(SIGINT);
    const Finished finished = process.wait();
    REQUIRE(finished.status == 128 + SIGINT);
    REQUIRE_THAT(finished.out, Contains("0 schedules"));
}

TEST_CASE("a terminal that closes is told twice and still keeps what was done; nohup goes on") {
    RunningProcess process({TIDELOCK_FAKE, "run", "slow", "--seeds", "1..1000000"});
    ::usleep(500'000);
    process.signal(SIGHUP);
    process.signal(SIGHUP);
    const Finished finished = process.wait();
    REQUIRE(finished.status == 128 + SIGHUP);
    REQUIRE_THAT(finished.out, Contains("did not finish: SIGHUP"));

    RunningProcess ignoring(
        {"/bin/sh", "-c", "trap '' HUP; exec " + std::string(TIDELOCK_FAKE) + " run slow --seeds 1..50"});
    ::usleep(300'000);
    ignoring.signal(SIGHUP);
    REQUIRE(ignoring.wait().status == 0);
}

TEST_CASE("a worker that is killed, or stopped, from outside is a result with its seed") {
    for (const int signal : {SIGKILL, SIGSTOP}) {
        const Finished finished = run({"/bin/bash", "-c",
                                       std::string(TIDELOCK_FAKE) +
                                           " run slow --seeds 1..60 --jobs 1 --schedule-limit 1s & "
                                           "sleep 0.4; kill -" +
                                           std::to_string(signal) + " $(cat /proc/$!/task/$!/children); wait $!"});
        INFO(finished.err);
        REQUIRE(finished.status == 1);
        REQUIRE_THAT(finished.out, Contains("60 schedules of 1 scenario(s)") &&
                                       Contains(signal == SIGKILL ? "crash did not hold, 1 time(s)"
                                                                  : "hang did not hold, 1 time(s)") &&
                                       Contains(signal == SIGKILL ? "died of signal 9" : "no end after 1.0 s"));
    }
}

TEST_CASE("a campaign in which nothing was to be run says so") {
    const Finished finished = fake({"run", "clean", "--seeds", "1..3", "--shard", "1/1000000"});
    REQUIRE(finished.status == 0);
    REQUIRE_THAT(finished.out, Contains("No schedule was run, so nothing is known."));
}

TEST_CASE("a second Ctrl-C ends the program at once") {
    RunningProcess process({TIDELOCK_FAKE, "run", "hanging", "--seeds", "5..5"});
    ::usleep(300'000);
    process.signal(SIGINT);
    ::usleep(100'000);
    process.signal(SIGINT);
    REQUIRE(process.wait().status == 256 + SIGINT);
}
