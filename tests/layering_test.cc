// Who may include whom: the table of the architecture, checked include by include.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <regex>
#include <string>
#include <vector>

#include "tests/source_tree.h"

using namespace tidelock::tests;

namespace {

using Names = std::vector<std::string>;

struct Layer {
    std::string folder;
    Names own;     // prefixes of project headers
    Names system;  // prefixes of other headers, the C++ standard library apart
};

const std::vector<Layer>& layers() {
    static const std::vector<Layer> list = {
        {"protocol",
         {"protocol/"},
         {"fmt/", "tl/expected.hpp", "boost/container/", "xxhash.h", "nmmintrin.h", "immintrin.h"}},
        {"sim", {"sim/", "protocol/base/"}, {"fmt/", "boost/context/", "sys/mman.h", "unistd.h", "sanitizer/"}},
        {"checker", {"checker/", "protocol/"}, {"fmt/", "tl/expected.hpp", "boost/container/", "xxhash.h"}},
        {"scenarios",
         {"scenarios/", "checker/", "sim/", "protocol/"},
         {"fmt/", "tl/expected.hpp", "boost/container/", "nlohmann/"}},
        {"reports", {"reports/"}, {"fmt/", "tl/expected.hpp", "nlohmann/"}},
        {"tools", {"tools/", "reports/", "scenarios/", "checker/", "sim/", "protocol/"}, {""}},
    };
    return list;
}

// Machines are never each other's business: the broker alone routes between them.
constexpr std::array kMachines = {"raft", "storage", "replication", "clients", "group", "kafka"};

struct Include {
    std::string place;
    std::string header;
    bool is_own;  // in quotes
};

std::vector<Include> includes_of(const SourceFile& file) {
    static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> includes;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::smatch match;
        if (!std::regex_search(file.lines[i], match, pattern)) continue;
        includes.push_back({file.path + ":" + std::to_string(i + 1), match[2], match[1] == "\""});
    }
    return includes;
}

bool starts_with_one_of(const std::string& header, const Names& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return header.starts_with(p); });
}

// C++ headers have neither folder nor ending; C's are used by their C++ names.
bool is_standard(const std::string& header) {
    return header.find_first_of("/.") == std::string::npos;
}

bool is_allowed(const Layer& layer, const Include& include) {
    if (include.is_own) return starts_with_one_of(include.header, layer.own);
    return is_standard(include.header) || starts_with_one_of(include.header, layer.system);
}

// The folder of protocol/ that a path lies in, or nothing.
std::string machine_of(const std::string& path) {
    for (const char* machine : kMachines) {
        if (path.starts_with(std::string("protocol/") + machine + "/")) return machine;
    }
    return {};
}

}  // namespace

TEST_CASE("every include obeys the table of layers") {
    for (const Layer& layer : layers()) {
        for (const SourceFile& file : source_files({layer.folder})) {
            for (const Include& include : includes_of(file)) {
                INFO(include.place << " includes " << include.header);
                REQUIRE(is_allowed(layer, include));
            }
        }
    }
}

TEST_CASE("no machine includes another, and none includes the broker") {
    for (const SourceFile& file : source_files({"protocol"})) {
        const std::string machine = machine_of(file.path);
        for (const Include& include : includes_of(file)) {
            INFO(include.place << " includes " << include.header);
            const std::string other = machine_of(include.header);
            const bool crosses = !machine.empty() && !other.empty() && other != machine;
            const bool climbs = !machine.empty() && include.header.starts_with("protocol/broker/");
            REQUIRE_FALSE(crosses);
            REQUIRE_FALSE(climbs);
            if (file.path.starts_with("protocol/base/"))
                REQUIRE((!include.is_own || include.header.starts_with("protocol/base/")));
        }
    }
}

TEST_CASE("the gateway knows the Kafka wire and the clients' requests alone, and no machine knows it") {
    const Names known{"protocol/base/", "protocol/clients/", "protocol/kafka/", "protocol/gateway/"};
    for (const SourceFile& file : source_files({"protocol"})) {
        const bool is_gateway = file.path.starts_with("protocol/gateway/");
        for (const Include& include : includes_of(file)) {
            INFO(include.place << " includes " << include.header);
            if (is_gateway) REQUIRE((!include.is_own || starts_with_one_of(include.header, known)));
            if (!is_gateway) REQUIRE_FALSE(include.header.starts_with("protocol/gateway/"));
        }
    }
}

TEST_CASE("headers of the core leave CHECK to their sources") {
    for (const SourceFile& file : source_files({"protocol", "sim", "checker", "scenarios"})) {
        if (!file.path.ends_with(".h")) continue;
        for (const Include& include : includes_of(file)) {
            INFO(include.place);
            REQUIRE(include.header != "protocol/base/check.h");
        }
    }
}

TEST_CASE("nothing includes tests") {
    for (const SourceFile& file : source_files({"protocol", "sim", "checker", "scenarios", "reports", "tools"})) {
        for (const Include& include : includes_of(file)) {
            INFO(include.place);
            REQUIRE_FALSE(include.header.starts_with("tests/"));
        }
    }
}
