// What a user can get wrong, and what the disk can: the message names flag or key and file, the exit status tells which
// kind it is, and no finding is lost over it.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/tools/process.h"

using namespace tidelock::tests;
using Catch::Contains;

namespace {

Finished fake(std::vector<std::string> words) {
    words.insert(words.begin(), TIDELOCK_FAKE);
    return run(words);
}

void require_refused(const std::vector<std::string>& words, const std::string& named) {
    const Finished finished = fake(words);
    INFO(named << "\n" << finished.err);
    REQUIRE(finished.status == 2);
    REQUIRE(finished.out.empty());
    REQUIRE_THAT(finished.err, Contains(named));
}

// A file system of one page, gone at the end. Not there without the rights to mount.
class TinyDisk {
  public:
    explicit TinyDisk(const std::string& path) : path_(path) {
        ::mkdir(path_.c_str(), 0777);
        mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=4096,nr_inodes=4") == 0;
    }
    ~TinyDisk() {
        if (mounted_) ::umount(path_.c_str());
    }
    TinyDisk(const TinyDisk&) = delete;
    TinyDisk& operator=(const TinyDisk&) = delete;
    [[nodiscard]] bool is_mounted() const { return mounted_; }

  private:
    std::string path_;
    bool mounted_;
};

}  // namespace

TEST_CASE("wrong flags are refused by name") {
    require_refused({}, "subcommand");
    require_refused({"walk"}, "no such command: 'walk'");
    require_refused({"run", "--bogus"}, "--bogus");
    require_refused({"run", "--seeds", "9..3"}, "--seeds: '9..3' is empty");
    require_refused({"run", "--seeds", "1..x"}, "--seeds: 'x' is no seed");
    require_refused({"run", "--seeds", "1..99999999999999999999"}, "--seeds");
    require_refused({"run", "--shard", "4/3"}, "--shard: '4/3' is no shard");
    require_refused({"run", "--shard", "0/3"}, "--shard");
    require_refused({"run", "--time", "soon"}, "--time: 'soon' is no duration");
    require_refused({"run", "--jobs", "0"}, "--jobs");
    require_refused({"run", "--max-failures", "-1"}, "--max-failures");
    require_refused({"run", "nowhere"}, "no scenario is called 'nowhere'");
    require_refused({"run", "clean", "clean"}, "'clean' is named twice");
    require_refused({"list", "clouds"}, "clouds");
    require_refused({"replay"}, "WHAT");
    require_refused({"replay", "clean", "many"}, "'many' is no seed");
    require_refused({"replay", "clean", "1", "--trace", "t.html"}, "--trace: 't.html' must end in .txt or .json");
    require_refused({"replay", "clean", "1", "--until", "-3s"}, "--until");
}

TEST_CASE("files that are not there, cut off or something else are refused by name and place") {
    const ScratchDirectory scratch;
    REQUIRE(fake({"run", "violating", "--seeds", "7..7", "--out", scratch.path(), "--json", scratch.file("r.json")})
                .status == 1);
    const std::string failure = content_of(scratch.file("violating-7-acked-survival.json"));
    const std::string results = content_of(scratch.file("r.json"));

    require_refused({"replay", scratch.file("none.json")}, "none.json");
    require_refused({"merge", scratch.file("none.json")}, "none.json");
    require_refused({"merge", scratch.path()}, scratch.path());
    write_text(scratch.file("cut.json"), failure.substr(0, failure.size() / 2));
    require_refused({"replay", scratch.file("cut.json")},
                    "cut.json: is no whole JSON text: breaks off or goes wrong at byte");
    write_text(scratch.file("cut.json"), results.substr(0, results.size() - 20));
    require_refused({"merge", scratch.file("cut.json")}, "cut.json: is no whole JSON text");
    require_refused({"replay", scratch.file("r.json")}, "r.json: format: is not \"tidelock-failure\"");
    require_refused({"merge", scratch.file("violating-7-acked-survival.json")}, "format: is not \"tidelock-results\"");
    write_text(scratch.file("planless.json"), failure.substr(0, failure.find("\"plan\"")) + "\"plan\": {}}");
    require_refused({"replay", scratch.file("planless.json")}, "planless.json: plan.seed");
}

TEST_CASE("output that could not be written is refused before the campaign starts") {
    const ScratchDirectory scratch;
    write_text(scratch.file("file"), "");
    require_refused({"run", "clean", "--json", scratch.file("no/such/r.json")}, "--json: cannot write");
    require_refused({"run", "clean", "--junit", scratch.path()}, "--junit: cannot write");
    require_refused({"run", "clean", "--out", scratch.file("file/under")}, "--out: cannot create directory");
    require_refused({"run", "clean", "--out", "/proc"}, "--out: cannot write into '/proc'");
    require_refused({"merge", scratch.file("none"), "--json", "/proc/r.json"}, "none");
    require_refused({"replay", "clean", "1", "--trace", "/proc/t.txt"}, "--trace: cannot write");
}

TEST_CASE("a disk that fills up while a campaign runs costs the files, not the results") {
    const ScratchDirectory scratch;
    const Finished full = fake({"run", "clean", "--seeds", "1..5", "--json", "/dev/full"});
    REQUIRE(full.status == 3);
    REQUIRE_THAT(full.err, Contains("--json: cannot write '/dev/full': No space left on device"));
    REQUIRE_THAT(full.out, Contains("5 schedules"));
    REQUIRE(fake({"run", "violating", "--seeds", "1..7", "--json", "/dev/full"}).status == 1);

    const TinyDisk disk(scratch.file("tiny"));
    if (!disk.is_mounted()) return;
    const Finished kept = fake({"run", "violating", "--seeds", "1..200", "--out", scratch.file("tiny")});
    REQUIRE(kept.status == 1);
    REQUIRE_THAT(kept.err, Contains("--out: not every failure could be kept") && Contains("No space left on device"));
    REQUIRE_THAT(kept.out, Contains("acked-survival did not hold, 28 time(s)"));
}

TEST_CASE("standard output that cannot be written is no success") {
    const Finished finished =
        run({"/bin/sh", "-c", std::string(TIDELOCK_FAKE) + " run clean --seeds 1..3 > /dev/full"});
    REQUIRE(finished.status == 3);
    REQUIRE_THAT(finished.err, Contains("cannot write to standard output"));
}

TEST_CASE("help and version are no errors, and help names the exit statuses") {
    const Finished help = fake({"--help"});
    REQUIRE(help.status == 0);
    REQUIRE_THAT(help.out, Contains("Exit status: 0 nothing found"));
    REQUIRE(fake({"run", "--help"}).status == 0);
    REQUIRE_THAT(fake({"--version"}).out, Contains("0.1.0"));
}
