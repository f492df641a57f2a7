// The data directory: one broker's, locked while it runs, in a format that this build reads.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "tools/tidelockd/data_directory.h"

namespace tidelock::tidelockd {
namespace {

struct Scratch {
    Scratch() {
        char name[] = "/tmp/tidelockd-test-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Scratch() { std::filesystem::remove_all(path); }
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
        std::ofstream(path + "/" + name) << text;
    }
    std::string path;
};

}  // namespace

TEST_CASE("an empty directory becomes a data directory, and is one the next time") {
    const Scratch scratch;
    const std::string path = scratch.path + "/made/for/it";
    {
        const auto opened = DataDirectory::open(path);
        REQUIRE(opened);
        CHECK(opened->read()->image.empty());
    }
    CHECK(DataDirectory::open(path));
}

TEST_CASE("a directory in use is refused while it is, and says by whom") {
    const Scratch scratch;
    {
        const auto first = DataDirectory::open(scratch.path);
        REQUIRE(first);
        const auto second = DataDirectory::open(scratch.path);
        REQUIRE_FALSE(second);
        CHECK(second.error().find("in use") != std::string::npos);
    }
    CHECK(DataDirectory::open(scratch.path));
}

TEST_CASE("somebody else's files, another format and a newer one are refused with what to do") {
    const Scratch scratch;
    scratch.write("thesis.tex", "x");
    CHECK(DataDirectory::open(scratch.path).error().find("holds files") != std::string::npos);
    scratch.write("format", "something\n");
    CHECK(DataDirectory::open(scratch.path).error().find("not what tidelockd writes") != std::string::npos);
    scratch.write("format", "tidelock data format 99\n");
    CHECK(DataDirectory::open(scratch.path).error().find("newer") != std::string::npos);
}

TEST_CASE("the image is the core's files, sorted, one level deep") {
    const Scratch scratch;
    const auto opened = DataDirectory::open(scratch.path);
    REQUIRE(opened);
    scratch.write("raft.0", "r");
    scratch.write("000000000000000a-0/00000000000000000000.log", "records");
    const storage::DirectoryImage image = opened->read()->image;
    REQUIRE(image.size() == 2);
    CHECK(image[0].name == storage::FileName("000000000000000a-0/00000000000000000000.log"));
    CHECK(image[0].content->text() == "records");
    CHECK(image[1].name == storage::FileName("raft.0"));
}

TEST_CASE("files in folders below that the core gives no such name are somebody else's: told, and left alone") {
    const Scratch scratch;
    const auto opened = DataDirectory::open(scratch.path);
    REQUIRE(opened);
    scratch.write("backup/00000000000000000000.log", "a copy");
    scratch.write("000000000000000a-0/00000000000000000000.log", "records");
    scratch.write("000000000000000a-0/notes.txt", "of an operator");
    const auto content = opened->read();
    REQUIRE(content);
    CHECK(content->image.size() == 1);
    CHECK(content->strangers ==
          std::vector<std::string>{"000000000000000a-0/notes.txt", "backup/00000000000000000000.log"});
}

TEST_CASE("what cannot be read for a reason that an operator can mend is not taken for lost") {
    const Scratch scratch;
    const auto opened = DataDirectory::open(scratch.path);
    REQUIRE(opened);
    std::filesystem::create_symlink("/dev/null", scratch.path + "/raft.a");  // ELOOP: no link is followed
    const auto content = opened->read();
    REQUIRE_FALSE(content);
    CHECK(content.error().find("raft.a") != std::string::npos);
}

TEST_CASE("data set aside is kept, the directory is an empty broker's, and that can be done again") {
    const Scratch scratch;
    const auto opened = DataDirectory::open(scratch.path);
    REQUIRE(opened);
    for (const char* content : {"first life", "second life"}) {
        scratch.write("identity.a", content);
        scratch.write("000000000000000a-0/00000000000000000000.log", content);
        const auto where = opened->set_aside();
        REQUIRE(where);
        CHECK(std::filesystem::file_size(*where + "/identity.a") == std::string(content).size());
        CHECK(std::filesystem::exists(*where + "/000000000000000a-0/00000000000000000000.log"));
        CHECK(opened->read()->image.empty());
        CHECK(opened->read()->strangers.empty());
        std::filesystem::rename(*where, scratch.path + "/set-aside/" + content);  // two in one millisecond
    }
    CHECK(std::filesystem::exists(scratch.path + "/set-aside/first life/identity.a"));
}

TEST_CASE("a path that cannot be a directory is refused") {
    CHECK_FALSE(DataDirectory::open("/dev/null/data"));
}

}  // namespace tidelock::tidelockd
