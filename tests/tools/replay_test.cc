// `replay` as a real process: the timeline's end, the verdict, the trace files, and how the run compares with the one
// that a failure file tells of.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/process.h"

using namespace tidelock::tests;
using Catch::Contains;

namespace {

Finished fake(std::vector<std::string> words) {
    words.insert(words.begin(), TIDELOCK_FAKE);
    return run(words);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a seed replays to its verdict") {
    const Finished clean = fake({"replay", "clean", "5", "--last", "3"});
    REQUIRE(clean.status == 0);
    REQUIRE_THAT(clean.out,
                 Contains("... 97 earlier lines") && Contains("0.990000000  broker-1") && Contains("no violation"));
    const Finished violating = fake({"replay", "violating", "14"});
    REQUIRE(violating.status == 1);
    REQUIRE_THAT(violating.out, Contains("VIOLATION of acked-survival at 0.012500000 s"));
    REQUIRE(fake({"replay", "unsound", "2"}).status == 3);
}

TEST_CASE("a schedule that crashes shows its timeline until then and its last words") {
    const Finished finished = fake({"replay", "crashing", "13"});
    REQUIRE(finished.status == 1);
    REQUIRE_THAT(finished.out,
                 Contains("event 99") && Contains("CRASH") && Contains("signal 6") && Contains("the sky is up"));
}

TEST_CASE("Ctrl-C on a schedule that never ends shows its timeline") {
    RunningProcess process({TIDELOCK_FAKE, "replay", "hanging", "5"});
    ::usleep(500'000);
    process.signal(SIGINT);
    const Finished finished = process.wait();
    REQUIRE(finished.status == 128 + SIGINT);
    REQUIRE_THAT(finished.out, Contains("event 99") && Contains("\nthe schedule was interrupted"));
}

TEST_CASE("the trace is written as text and as JSON") {
    const ScratchDirectory scratch;
    REQUIRE(fake({"replay", "clean", "5", "--trace", scratch.file("t.txt")}).status == 0);
    const std::string text = content_of(scratch.file("t.txt"));
    REQUIRE(std::count(text.begin(), text.end(), '\n') == 100);
    REQUIRE(fake({"replay", "clean", "5", "--trace", scratch.file("t.json")}).status == 0);
    const nlohmann::json lines = nlohmann::json::parse(content_of(scratch.file("t.json")));
    REQUIRE(lines.size() == 100);
    REQUIRE(lines[3] ==
            nlohmann::json{{"time_ns", 30'000'000}, {"host", "broker-1"}, {"kind", "event"}, {"text", "event 3 0"}});
    REQUIRE(fake({"replay", "clean", "5", "--trace", "/dev/full"}).status == 2);
}

TEST_CASE("a story replays by its name or from its file, with its timeline") {
    const ScratchDirectory scratch;
    for (const char* story : {"a-told", "any/where.scn"}) {
        const Finished told = fake({"replay", story, "--last", "3", "--trace", scratch.file("t.txt")});
        REQUIRE(told.status == 0);
        REQUIRE_THAT(told.out, Contains("... 97 earlier lines") && Contains("\nthe story goes as told\n"));
        const std::string text = content_of(scratch.file("t.txt"));
        REQUIRE(std::count(text.begin(), text.end(), '\n') == 100);
    }
    REQUIRE_THAT(fake({"list", "stories"}).out, Contains("b-broken     does not\n"));
}

TEST_CASE("a story that does not go as told is a violation, one that ends as it tells is none") {
    const Finished broken = fake({"replay", "b-broken"});
    REQUIRE(broken.status == 1);
    REQUIRE_THAT(broken.out, Contains("VIOLATION of story at 0.005000000 s: b-broken.scn:3: nobody leads"));
    const Finished expecting = fake({"replay", "c-expecting"});
    REQUIRE(expecting.status == 0);
    REQUIRE_THAT(expecting.out, Contains("VIOLATION of acked-survival") &&
                                    Contains("\nthe story goes as told, violations included\n"));
}

TEST_CASE("a failure file replays, and says whether this is the run it tells of") {
    const ScratchDirectory scratch;
    REQUIRE(fake({"run", "violating", "--seeds", "7..7", "--out", scratch.path()}).status == 1);
    const std::string path = scratch.file("violating-7-acked-survival.json");
    const Finished same = fake({"replay", path});
    REQUIRE(same.status == 1);
    REQUIRE_THAT(same.out, Contains("it fails again") && Contains("event for event"));

    const std::string text = content_of(path);
    write_text(path, replaced(text, "\"digest\": \"0x", "\"digest\": \"0xf"));
    REQUIRE(fake({"replay", path}).status == 2);  // 17 digits
    const std::string other_run = replaced(text, text.substr(text.find("0x"), 18), "0x00000000000000ff");
    write_text(path, other_run);
    REQUIRE_THAT(fake({"replay", path}).out, Contains("another run") && Contains("the build is the same"));
    write_text(path, replaced(other_run, "\"build\": \"", "\"build\": \"other "));
    REQUIRE_THAT(fake({"replay", path}).out,
                 Contains("another run") && Contains("the build differs (the file's: other "));
    write_text(path, replaced(text, "\"seed\": 7\n", "\"seed\": 8\n"));
    const Finished fixed = fake({"replay", path});
    REQUIRE(fixed.status == 0);
    REQUIRE_THAT(fixed.out, Contains("does not fail in this run"));
    REQUIRE_THAT(fixed.out, Contains("the file was edited: it tells of seed 7, its plan is of seed 8"));
}
