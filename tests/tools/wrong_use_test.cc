// What a user can get wrong, and what the disk can: the message names flag or key and file, the exit status tells which
// kind it is, and no finding is lost over it.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/tools/process.h"
#include "tools/tidelock/file_io.h"

using namespace tidelock::tests;
using Catch::Contains;

namespace {

Finished fake(std::vector<std::string> words) {
    words.insert(words.begin(), TIDELOCK_FAKE);
    return run(words);
}

std::string fake_command(const std::string& words) {
    return std::string(TIDELOCK_FAKE) + " " + words;
}

Finished shell(const std::string& command) {
    return run({"/bin/bash", "-c", command});
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
    require_refused({"run", "--shard", "1/1000001"}, "--shard: '1/1000001' is no shard: there are at most 1000000");
    require_refused({"run", "--seeds", "5.."}, "--seeds: '5..' is no range of seeds");
    require_refused({"run", "--seeds", "1..2", "--seeds", "3..4"}, "--seeds: is given more than once");
    require_refused({"run", "--time", "0"}, "--time: '0' leaves no time at all");
    require_refused({"run", "--schedule-limit", "0.0s"}, "--schedule-limit: '0.0s' leaves no time at all");
    require_refused({"run", "--jobs", "0"}, "--jobs");
    require_refused({"run", "--max-failures", "-1"}, "--max-failures: Value -1 not in range 0 to 1000000000");
    require_refused({"run", "--max-failures", "99999999999999999999"}, "--max-failures");
    require_refused({"run", "clean", "--json", ""}, "--json: the name is empty");
    require_refused({"run", "clean", "--out", ""}, "--out: the name is empty");
    require_refused({"replay", "clean", "1", "--trace", ""}, "--trace: the name is empty");
    require_refused({"run", "nowhere"}, "no scenario is called 'nowhere'");
    require_refused({"run", "clean", "clean"}, "'clean' is named twice");
    require_refused({"list", "clouds"}, "clouds");
    require_refused({"replay"}, "WHAT");
    require_refused({"replay", "a-told", "5"}, "replay: 'a-told' is a story");
    require_refused({"replay", "a-told", "--until", "3s"}, "--until: a story runs to its last line");
    require_refused({"replay", "some/wrong.scn"}, "some/wrong.scn:2: \"cluser\" is no verb");
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

TEST_CASE("a named pipe that nobody writes to and a file without end are refused, not waited for") {
    const ScratchDirectory scratch;
    REQUIRE(::mkfifo(scratch.file("pipe").c_str(), 0666) == 0);
    require_refused({"merge", scratch.file("pipe")}, "it is a pipe that nobody writes to");
    require_refused({"replay", scratch.file("pipe")}, "it is a pipe that nobody writes to");
    require_refused({"merge", "/dev/zero"}, "cannot read '/dev/zero': it is larger than 256 MiB");
}

TEST_CASE("a failure without a plan whose scenario was a file says how to go on") {
    const ScratchDirectory scratch;
    REQUIRE(fake({"run", "planless", "--seeds", "2", "--out", scratch.path()}).status == 1);
    std::string text = content_of(scratch.file("planless-2-crash.json"));
    text.replace(text.find("planless"), 8, "my-own");
    write_text(scratch.file("f.json"), text);
    require_refused({"replay", scratch.file("f.json")},
                    "f.json: holds no plan, and no scenario 'my-own' comes with this program: replay that scenario's "
                    "file with seed 2");
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
    require_refused({"run", "clean", "--json", scratch.file("r"), "--junit", scratch.path() + "/./r"},
                    "is the file of --json: one would overwrite the other");
}

TEST_CASE("two results on one standard output are refused, and one that nobody can write is told") {
    require_refused({"run", "clean", "--json", "-", "--junit", "-"}, "--junit: standard output is taken by --json");
    const Finished full = shell(fake_command("run clean --seeds 1..3 --json - > /dev/full"));
    REQUIRE(full.status == 3);
    REQUIRE_THAT(full.err, Contains("cannot write to standard output") && Contains("3 schedules of 1 scenario(s)"));
}

TEST_CASE("results may lie in the directory that --out makes") {
    const ScratchDirectory scratch;
    REQUIRE(
        fake({"run", "clean", "--seeds", "1..3", "--out", scratch.file("new"), "--json", scratch.file("new/r.json")})
            .status == 0);
    REQUIRE_FALSE(content_of(scratch.file("new/r.json")).empty());
}

TEST_CASE("a link is written through, and a descriptor's name stays what it is") {
    const ScratchDirectory scratch;
    REQUIRE(::symlink("target", scratch.file("link").c_str()) == 0);
    REQUIRE(fake({"run", "clean", "--seeds", "1..3", "--json", scratch.file("link")}).status == 0);
    struct stat status {};
    REQUIRE(::lstat(scratch.file("link").c_str(), &status) == 0);
    REQUIRE(S_ISLNK(status.st_mode));
    REQUIRE_THAT(content_of(scratch.file("target")), Contains("tidelock-results"));

    const std::string command = std::string(TIDELOCK_FAKE) + " run clean --seeds 1..3 --json /dev/fd/3 3> ";
    REQUIRE(run({"/bin/sh", "-c", command + scratch.file("three")}).status == 0);
    REQUIRE_THAT(content_of(scratch.file("three")), Contains("tidelock-results"));
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

TEST_CASE("standard output that cannot be written is no success, but costs nothing else") {
    const ScratchDirectory scratch;
    for (const std::string lost : {"> /dev/full", ">&-", "| false"}) {
        const std::string command = "run clean --seeds 1..3 --json " + scratch.file("r.json");
        // The reader of the pipe has to be gone by then: what it never reads fits into the pipe.
        const Finished finished = shell("(sleep 0.5; " + fake_command(command) + "; echo $? >&2) " + lost);
        INFO(lost << finished.err);
        REQUIRE_THAT(finished.err, Contains("cannot write to standard output") && Contains("\n3\n"));
        REQUIRE_THAT(content_of(scratch.file("r.json")), Contains("tidelock-results"));
        ::unlink(scratch.file("r.json").c_str());
    }
    REQUIRE(shell(fake_command("--help") + " > /dev/full").status == 3);
}

TEST_CASE("standard error that is closed, full or a broken pipe costs no result") {
    const ScratchDirectory scratch;
    for (const std::string lost : {"2> /dev/full", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
        const std::string command = "run violating --seeds 1..20 --json " + scratch.file("r.json");
        INFO(lost);
        REQUIRE(shell(fake_command(command) + " " + lost).status == 1);
        REQUIRE_THAT(content_of(scratch.file("r.json")), Contains("acked-survival"));
        ::unlink(scratch.file("r.json").c_str());
        REQUIRE(shell(fake_command("run nowhere") + " " + lost).status == 2);
    }
    const Finished piped = shell("{ " + fake_command("run violating --seeds 1..20") + " 2>&1 >&3 | false; } 3>&1");
    REQUIRE_THAT(piped.out, Contains("acked-survival did not hold, 2 time(s)"));
}

TEST_CASE("a stream that somebody made non-blocking is waited for") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_NONBLOCK) == 0);
    if (::fork() == 0) {
        ::close(ends[1]);
        char block[4096];
        ssize_t count = 0;
        while ((count = ::read(ends[0], block, sizeof block)) != 0) {
            if (count < 0) ::usleep(1'000);
        }
        ::_exit(0);
    }
    ::close(ends[0]);
    REQUIRE(tidelock::tools::write_all(ends[1], std::string(1 << 20, 'x')));
    ::close(ends[1]);
    REQUIRE(::wait(nullptr) > 0);
}

TEST_CASE("a system that lets no schedule run is named, and no schedule is blamed") {
    for (const std::string words : {"run clean --seeds 1..3", "replay clean 1"}) {
        const Finished finished = shell("ulimit -v 3000000; " + fake_command(words));
        REQUIRE(finished.status == 3);
        REQUIRE(finished.out.empty());
        REQUIRE_THAT(finished.err, Contains("tidelock: the address space is limited"));
    }
}

TEST_CASE("limits of the system cost what they must and nothing more") {
    const ScratchDirectory scratch;
    const std::string results = scratch.file("r.json");
    const Finished small_files =
        shell("ulimit -f 1; " + fake_command("run violating --seeds 1..300 --json " + results));
    REQUIRE(small_files.status == 1);
    REQUIRE_THAT(small_files.err, Contains("--json: cannot write '" + results + "': File too large"));
    REQUIRE_THAT(small_files.out, Contains("300 schedules of 1 scenario(s)"));
    REQUIRE(::access(results.c_str(), F_OK) != 0);

    const Finished fewer =
        shell("ulimit -n 20; " + fake_command("run clean --seeds 1..50 --jobs 30 --json " + results));
    REQUIRE(fewer.status == 0);
    REQUIRE_THAT(fewer.err, Contains("Too many open files: going on with "));
    REQUIRE_THAT(fewer.out, Contains("50 schedules of 1 scenario(s)"));

    const Finished none = shell("ulimit -n 6; " + fake_command("run clean --seeds 1..50"));
    REQUIRE(none.status == 3);
    REQUIRE_THAT(none.err, Contains("no schedule can run (ulimit -n, ulimit -u)"));
    REQUIRE_THAT(none.out, Contains("No schedule was run, so nothing is known."));
    const Finished replay = shell("ulimit -n 6; " + fake_command("replay clean 1"));
    REQUIRE(replay.status == 3);
    REQUIRE_THAT(replay.err, Contains("tidelock: cannot make a pipe to a worker process: Too many open files"));
}

TEST_CASE("help and version are no errors, and help names the exit statuses") {
    const Finished help = fake({"--help"});
    REQUIRE(help.status == 0);
    REQUIRE_THAT(help.out, Contains("Exit status: 0 nothing found"));
    REQUIRE(fake({"run", "--help"}).status == 0);
    REQUIRE_THAT(fake({"--version"}).out, Contains("0.1.0"));
}

TEST_CASE("the dev script refuses what it does not know before it builds or installs anything") {
    const std::string script = std::string(TIDELOCK_SOURCE_DIR) + "/tools/dev ";
    const auto require_named = [&](const std::string& words, const std::string& named) {
        const Finished finished = shell(script + words);
        INFO(words << "\n" << finished.err);
        REQUIRE(finished.status == 2);
        REQUIRE_THAT(finished.err, Contains(named));
    };
    require_named("walk", "tools/dev: no such command: walk");
    require_named("fuzz soon", "fuzz: 'soon' is no number of seconds");
    require_named("fuzz 1 nowhere", "fuzz: no target 'nowhere'; there are ");
    require_named("fuzz 1 '' more", "fuzz: what is 'more'?");
    require_named("digests 0", "digests: '0' is no number of seeds");
    require_named("digests 10 everything more", "digests: what is 'more'?");
    require_named("lint --bogus", "lint: what is '--bogus'?");
    require_named("format more", "format: what is 'more'?");
}

TEST_CASE("a printed command works from a directory with a space in its name") {
    const ScratchDirectory scratch;
    const std::string program = scratch.file("a b");
    REQUIRE(::symlink(TIDELOCK_FAKE, program.c_str()) == 0);
    REQUIRE_THAT(run({program, "run", "clean", "--seeds", "1..3"}).out, Contains("'" + program + "' replay clean 1\n"));
}

TEST_CASE("without dpkg and the build tools the dev script names what is missing") {
    const ScratchDirectory scratch;
    const std::string links =
        "for tool in bash env dirname nproc; do ln -s $(command -v $tool) " + scratch.path() + "; done; ";
    const Finished finished =
        shell(links + "PATH=" + scratch.path() + " " + TIDELOCK_SOURCE_DIR + "/tools/dev simulate");
    REQUIRE(finished.status == 2);
    REQUIRE_THAT(finished.err, Contains("this is no Debian system") && Contains("cmake is not here: install it"));
}
