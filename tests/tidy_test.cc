// House rules that a program can check: words that break determinism, sizes that are an alarm, names that say nothing,
// traces of somebody's machine.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>

#include "tests/source_tree.h"

using namespace tidelock::tests;

namespace {

struct Ban {
    const char* pattern;
    const char* why;
    std::vector<std::string> folders;
};

const std::vector<std::string> kCore = {"protocol", "sim", "checker"};
const std::vector<std::string> kSimulated = {"protocol", "sim", "checker", "scenarios"};
const std::vector<std::string> kAllButTools = {"protocol", "sim", "checker", "scenarios", "reports"};

const std::vector<Ban>& bans() {
    static const std::vector<Ban> list = {
        {R"(\bunordered_(map|set|multimap|multiset)\b)", "its order differs between libraries and runs", kAllButTools},
        {R"(\bstd::hash\b)", "its values differ between libraries", kAllButTools},
        {R"(<(thread|mutex|atomic|future|condition_variable|shared_mutex)>)", "nothing here has threads", kAllButTools},
        {R"(\bthread_local\b)", "nothing here has threads", kAllButTools},
        {R"(<chrono>|\b(steady|system|high_resolution)_clock\b|\b(clock_gettime|gettimeofday)\b|\bstd::time\b)",
         "time comes inside events", kAllButTools},
        {R"(\brandom_device\b|\bstd::(mt19937|default_random_engine|minstd_rand)|_distribution\b|<random>|\brand\()",
         "chance comes from named streams", kAllButTools},
        {R"(\bgetenv\b)", "the environment is no input", kAllButTools},
        {R"(<locale>|\bsetlocale\b|\bstd::locale\b)", "the locale is no input", kAllButTools},
        {R"(\b(float|double)\b)", "rates and shares are integer ratios; results must not hang on rounding", kSimulated},
        {R"(\breinterpret_cast<(std::)?u?intptr_t>)", "addresses are no values", {"protocol", "checker", "scenarios"}},
        {R"(\b(try|catch|throw)\b)", "errors are values", {"protocol", "checker"}},
        {R"(\bcatch \(\.\.\.\))", "it would swallow the unwinding of a fiber", kSimulated},
        {R"(\bvirtual\b|\boverride\b)", "machines are values", {"protocol"}},
        {R"(^\s*#\s*define (?!CHECK\()\w+\()", "no macros but CHECK", kCore},
        {R"(\b(lso|leo|hw)\b)", "spell log ends out: last_stable_offset, log_end_offset, high_watermark", kCore},
        {R"(^\s*rc::check\()", "whether the law held goes nowhere: check_law fails the test", {"tests"}},
        {R"(\b(TODO|FIXME|XXX)\b)",
         "finish it or file it",
         {"protocol", "sim", "checker", "scenarios", "reports", "tools", "tests"}},
    };
    return list;
}

// Files that are the one place where a banned thing is made safe.
bool is_the_exception(const SourceFile& file, const std::string& pattern) {
    if (file.path == "tests/tidy_test.cc") return true;
    // The arena is told apart from other memory by address.
    return file.path.starts_with("sim/arena") && pattern.find("intptr_t") != std::string::npos;
}

std::string places_of(const Ban& ban) {
    const std::regex pattern(ban.pattern);
    const bool in_comments = std::string(ban.pattern).find("TODO") != std::string::npos;
    std::string places;
    for (const SourceFile& file : source_files(ban.folders)) {
        if (is_the_exception(file, ban.pattern)) continue;
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::string text = in_comments ? file.lines[i] : code_of(file.lines[i]);
            if (std::regex_search(text, pattern))
                places += file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i] + "\n";
        }
    }
    return places;
}

constexpr std::size_t kFunctionLinesMax = 70;

std::size_t indentation_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

/// Whether a function may begin on this line: at the outermost level or one level in, and it is no other block.
bool may_begin_function(const std::string& code) {
    static const std::regex other(
        R"(^ *(namespace|struct|class|enum|union|if|for|while|switch|do|else|case|default)\b|^ *[})#])");
    const std::size_t indentation = indentation_of(code);
    return indentation < code.size() && (indentation == 0 || indentation == 4) && !std::regex_search(code, other);
}

/// Lines of the function whose first line is `first`, its signature included; 0 when none begins there.
std::size_t function_length(const std::vector<std::string>& lines, std::size_t first) {
    if (!may_begin_function(code_of(lines[first]))) return 0;
    const std::size_t indentation = indentation_of(lines[first]);
    bool has_parameters = false;
    std::size_t at = first;
    for (;; ++at) {
        if (at == lines.size() || (at > first && indentation_of(lines[at]) <= indentation)) return 0;
        const std::string code = code_of(lines[at]);
        has_parameters = has_parameters || code.find('(') != std::string::npos;
        const std::size_t last = code.find_last_not_of(' ');
        if (last == std::string::npos || code[last] == ';') return 0;
        if (code[last] == '{') break;
    }
    if (!has_parameters) return 0;
    for (++at; at < lines.size(); ++at) {
        if (lines[at].empty() || indentation_of(lines[at]) > indentation) continue;
        const bool is_end = indentation_of(lines[at]) == indentation && lines[at][indentation] == '}';
        return is_end ? at - first + 1 : 0;
    }
    return 0;
}

// A list of names, one a line, that the compiler checks for completeness.
bool is_a_list(const std::string& path) {
    return path == "protocol/broker/marks.cc";
}

const std::vector<std::string> kAllFolders = {"protocol", "sim", "checker", "scenarios", "reports", "tools", "tests"};

}  // namespace

TEST_CASE("words that break determinism or the style stand nowhere") {
    for (const Ban& ban : bans()) {
        INFO(ban.pattern << ": " << ban.why);
        REQUIRE(places_of(ban) == "");
    }
}

TEST_CASE("the bans see code and not comments or texts") {
    REQUIRE(code_of("int x = 1'000; // double") == "int x = 1'000; ");
    REQUIRE(code_of(R"(say("double \" getenv"); float y;)") == "say(); float y;");
    REQUIRE(code_of(R"(char c = '"'; double z;)") == "char c = ; double z;");
}

TEST_CASE("no file has outgrown one story") {
    for (const SourceFile& file : source_files(kAllFolders)) {
        const std::size_t limit = file.path.starts_with("tests/") ? 1000 : 600;
        INFO(file.path << " has " << file.lines.size() << " lines");
        REQUIRE(file.lines.size() <= limit);
    }
}

TEST_CASE("no function has outgrown one screen") {
    for (const SourceFile& file : source_files({"protocol", "sim", "checker", "scenarios", "reports", "tools"})) {
        if (is_a_list(file.path)) continue;
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::size_t length = function_length(file.lines, i);
            INFO(file.path << ":" << i + 1 << ": a function of " << length << " lines");
            REQUIRE(length <= kFunctionLinesMax);
        }
    }
}

TEST_CASE("the length of a function is that of its signature and body") {
    const std::vector<std::string> lines = {"struct Table {",
                                            "    int size() const {",
                                            "        return 1;",
                                            "    }",
                                            "};",
                                            "int wide(int a,",
                                            "         int b) {",
                                            "    if (a) {",
                                            "        b();",
                                            "    }",
                                            "    return b;",
                                            "}",
                                            "int declared(int a);",
                                            "constexpr int kTable[] = {",
                                            "    1,",
                                            "};"};
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (const std::size_t length = function_length(lines, i); length > 0) lengths.push_back(length);
    }
    REQUIRE(lengths == std::vector<std::size_t>{3, 7});
}

TEST_CASE("no file is named after nothing") {
    const std::regex empty_name("(utils?|helpers?|common|managers?|misc)");
    for (const SourceFile& file : source_files(kAllFolders)) {
        const std::string name = std::filesystem::path(file.path).stem();
        INFO(file.path);
        REQUIRE_FALSE(std::regex_search(name, empty_name));
        REQUIRE(std::regex_match(name, std::regex("[a-z0-9_]+")));
    }
}

TEST_CASE("every header opens with what it is for and is included once") {
    for (const SourceFile& file : source_files(kAllFolders)) {
        if (!file.path.ends_with(".h")) continue;
        INFO(file.path);
        REQUIRE(file.lines.at(0).starts_with(file.path.starts_with("tests/") ? "//" : "/// "));
        REQUIRE(std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end());
    }
}

TEST_CASE("nothing tells of the machine it was written on") {
    const std::regex machine(R"((^|[\s"'(=:])/(home|root|work|Users)/\w)");
    for (const SourceFile& file : text_files()) {
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            INFO(file.path << ":" << i + 1 << ": " << file.lines[i]);
            REQUIRE_FALSE(std::regex_search(file.lines[i], machine));
        }
    }
}
