// The mutant runner, on a tree whose core is one script: it tells bugs that are found from those that are not, do not
// apply or do not build, and leaves no bug behind for the next.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/tools/process.h"

using namespace tidelock::tests;
using Catch::Contains;

namespace {

// "Builds" the program by copying a script; the script runs the misbehaving program on the scenario that the core
// names.
constexpr const char* kCmake = R"(cmake_minimum_required(VERSION 3.25)
project(core LANGUAGES NONE)
add_custom_command(OUTPUT tidelock COMMAND sh -n ${CMAKE_SOURCE_DIR}/core.sh
  COMMAND cp ${CMAKE_SOURCE_DIR}/core.sh tidelock COMMAND chmod +x tidelock DEPENDS ${CMAKE_SOURCE_DIR}/core.sh)
add_custom_target(tidelock_program DEPENDS tidelock)
)";

std::string core() {
    return std::string(
               "#!/bin/sh\nscenario=clean\n# a comment\nif [ $1 = list ]; then echo clean; exit; fi\nshift\nexec ") +
           TIDELOCK_FAKE + " run $scenario \"$@\"\n";
}

std::string patch_of(const std::string& expect, const std::string& from, const std::string& to, int line) {
    const std::string at = std::to_string(line);
    return "# rule: X1\n# expect: " + expect + "\n--- a/core.sh\n+++ b/core.sh\n@@ -" + at + " +" + at + " @@\n-" +
           from + "\n+" + to + "\n";
}

void lay_tree(const ScratchDirectory& scratch) {
    std::filesystem::create_directories(scratch.file("tests/mutants"));
    std::filesystem::copy_file(std::string(TIDELOCK_SOURCE_DIR) + "/tests/mutants/run",
                               scratch.file("tests/mutants/run"));
    write_text(scratch.file("CMakeLists.txt"), kCmake);
    write_text(scratch.file(".gitignore"), "/build/\n");
    write_text(scratch.file("core.sh"), core());
    REQUIRE(run({"/usr/bin/git", "-C", scratch.path(), "init", "-q"}).status == 0);
}

void add_mutant(const ScratchDirectory& scratch, const std::string& name, const std::string& patch) {
    write_text(scratch.file("tests/mutants/" + name + ".patch"), patch);
}

Finished mutants(const ScratchDirectory& scratch, std::vector<std::string> words) {
    words.insert(words.begin(), {"/bin/bash", scratch.file("tests/mutants/run"), "--jobs", "1", "--limit", "30"});
    return run(words);
}

}  // namespace

TEST_CASE("mutants that are found make a clean exit, and each is gone before the next") {
    const ScratchDirectory scratch;
    lay_tree(scratch);
    add_mutant(scratch, "a-found", patch_of("log-matching, acked-survival", "scenario=clean", "scenario=violating", 2));
    add_mutant(scratch, "b-crashing", patch_of("acked-survival", "scenario=clean", "scenario=crashing", 2));
    const Finished finished = mutants(scratch, {"--check-clean"});
    INFO(finished.out << finished.err);
    REQUIRE(finished.status == 0);
    REQUIRE_THAT(finished.out, Contains("without a planted bug: clean, 30 schedules"));
    REQUIRE_THAT(finished.out, Contains("a-found") && Contains("violating 7"));
    REQUIRE_THAT(finished.out, Contains("found (*)") && Contains("crashing 13"));
    REQUIRE_THAT(finished.out, Contains("all 2 mutants found"));
    REQUIRE(content_of(scratch.file("core.sh")) == core());
}

TEST_CASE("mutants that stand, do not apply or do not build fail the run") {
    const ScratchDirectory scratch;
    lay_tree(scratch);
    add_mutant(scratch, "harmless", patch_of("any", "# a comment", "# another comment", 3));
    add_mutant(scratch, "outdated", patch_of("any", "scenario=gone", "scenario=violating", 2));
    add_mutant(scratch, "broken", patch_of("any", "# a comment", "if then fi (", 3));
    const Finished all = mutants(scratch, {});
    INFO(all.out << all.err);
    REQUIRE(all.status == 1);
    REQUIRE_THAT(all.out, Contains("NOT FOUND") && Contains("NOT APPLIED") && Contains("NOT BUILT"));
    REQUIRE_THAT(all.out, Contains("3 of 3 mutants stand"));
    const Finished one = mutants(scratch, {"harmless"});
    REQUIRE(one.status == 1);
    REQUIRE_THAT(one.out, Contains("1 of 1 mutants stand"));
    REQUIRE(mutants(scratch, {"nameless"}).status == 2);
}
