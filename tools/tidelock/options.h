/// What a command was asked to do, once the command line is read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidelock::tools {

/// Seeds first..last, both inclusive.
struct SeedRange {
    std::uint64_t first = 1;
    std::uint64_t last = 1000;
    bool operator==(const SeedRange&) const = default;
};

inline constexpr SeedRange kAllSeeds{1, UINT64_MAX};

/// Shard `index` of `count`, 1 <= index <= count.
struct Shard {
    std::int32_t index = 1;
    std::int32_t count = 1;
    bool operator==(const Shard&) const = default;
};

/// Where results go. Empty: nowhere; `-`: to standard output, which then holds nothing else.
struct ResultFiles {
    std::string json;
    std::string junit;
};

struct CampaignOptions {
    std::vector<std::string> scenarios;  // names or paths; empty: all
    SeedRange seeds;
    std::optional<std::int64_t> time_ns;  // wall clock; hand out no schedule after it
    std::int32_t jobs = 1;
    Shard shard;
    bool interleave = false;  // all scenarios at seed A, then all at A + 1
    bool check_determinism = false;
    std::int64_t failing_max = 100;                   // stop after this many failing schedules; 0: never
    std::int64_t schedule_limit_ns = 60'000'000'000;  // wall clock; past it a schedule counts as hung
    ResultFiles results;
    std::string out_dir;
};

struct ReplayOptions {
    std::string target;                 // a scenario, or a failure file or story when there is no seed
    std::optional<std::uint64_t> seed;  // none: `target` is a failure file or a story
    std::string trace_file;             // empty: none
    std::optional<std::int64_t> until_ns;
    std::int32_t last_lines = 40;  // of the timeline, to print
};

struct LiveCommandOptions {
    std::vector<std::string> scenarios;  // names or paths
    SeedRange seeds;
    std::optional<std::int64_t> time_ns;  // wall clock; begin no schedule after it
    std::string program;                  // of tidelockd; empty: the one beside this program
    std::string out_dir;                  // where folders of failing schedules stay; empty: a new one in /tmp
    bool on_loopback = false;
};

struct MergeOptions {
    std::vector<std::string> inputs;
    ResultFiles results;
};

/// What programs of this folder exit with (ARCHITECTURE 5). After Ctrl-C or SIGTERM, with nothing found: 128 + signal.
enum class ExitStatus : int {
    kClean = 0,
    kViolation = 1,
    kWrongUse = 2,
    kUnsound = 3,
};

}  // namespace tidelock::tools
