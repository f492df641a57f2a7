// The core that is checked is the core that is deployed: both programs link one archive.
#include <catch2/catch.hpp>

#include <fstream>
#include <string>

namespace {

/// What the build links into a program, as the build's own rules say.
std::string libraries_of(const std::string& program) {
    std::ifstream rules(TIDELOCK_BUILD_DIR "/build.ninja");
    const std::string head = "build " + program + ":";
    bool is_in = false;
    for (std::string line; std::getline(rules, line);) {
        if (line.starts_with("build ")) is_in = line.starts_with(head);
        const std::size_t at = line.find("LINK_LIBRARIES = ");
        if (is_in && at != std::string::npos) return line.substr(at);
    }
    return {};
}

}  // namespace

TEST_CASE("tidelockd and the simulator link the same archive of the core, and no other") {
    for (const char* program : {"tidelock", "tidelockd"}) {
        INFO(program);
        const std::string libraries = libraries_of(program);
        CHECK(libraries.find(" protocol/libtidelock_protocol.a") != std::string::npos);
        CHECK(libraries.find("protocol/", libraries.find(" protocol/libtidelock_protocol.a") + 10) ==
              std::string::npos);
    }
}
