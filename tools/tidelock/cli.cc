// The command line as CLI11 reads it: flags, their words, and which command gets what.
#include <fmt/core.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <system_error>

#include "tools/tidelock/arguments.h"
#include "tools/tidelock/build_id.h"
#include "tools/tidelock/commands.h"
#include "tools/tidelock/output.h"

namespace tidelock::tools {

namespace {

constexpr const char* kFooter =
    "With --json - or --junit - standard output holds the results alone, and the summary goes to standard error.\n"
    "Exit status: 0 nothing found, 1 violation found, 2 wrong use or unreadable input, 3 the run itself is unsound\n"
    "(not deterministic, internal error, output that could not be written); 128 + signal when stopped by Ctrl-C,\n"
    "SIGTERM or SIGHUP with nothing found until then.\n";

constexpr std::int64_t kFailuresMax = 1'000'000'000;

std::int32_t usable_cores() {
    cpu_set_t cores;
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
    return std::max(1, CPU_COUNT(&cores));
}

// Adds a flag whose text `parse` reads; an error names the flag.
template <typename Value, typename Parse>
void add_parsed(CLI::App& command, const std::string& flag, Value& value, Parse parse, const std::string& type,
                const std::string& help) {
    const CLI::callback_t read = [&value, parse, flag](const CLI::results_t& texts) {
        const auto parsed = parse(texts.front());
        if (!parsed) throw CLI::ValidationError(flag, parsed.error());
        value = *parsed;
        return true;
    };
    command.add_option(flag, read, help)->type_name(type);
}

// Adds a flag for a name of a file or directory. An empty one (`--json "$UNSET"`) would silently write nothing.
void add_name(CLI::App& command, const std::string& flag, std::string& name, const std::string& type,
              const std::string& help) {
    const auto complaint = [](const std::string& text) { return text.empty() ? "the name is empty" : std::string(); };
    command.add_option(flag, name, help)->check(CLI::Validator(complaint, ""))->type_name(type);
}

struct CommandLine {
    CampaignOptions run;
    bool fail_fast = false;
    ReplayOptions replay;
    std::vector<std::string> replay_words;
    std::string listed;
    MergeOptions merge;
    LiveCommandOptions live;
};

void add_run_output(CLI::App& command, CampaignOptions& run) {
    add_name(command, "--json", run.results.json, "FILE", "write the results to this file; - is standard output");
    add_name(command, "--junit", run.results.junit, "FILE", "write the results as JUnit XML; - is standard output");
    add_name(command, "--out", run.out_dir, "DIR", "keep a failure file for each failing schedule here");
}

void add_run_limits(CLI::App& command, CommandLine& line) {
    CampaignOptions& run = line.run;
    add_parsed(command, "--time", run.time_ns, parse_time_span, "TIME",
               "hand out schedules for this long (90s, 10m, 2h)");
    command.add_option("--max-failures", run.failing_max, "stop after this many failing schedules; 0: never")
        ->check(CLI::Range(std::int64_t{0}, kFailuresMax))
        ->capture_default_str()
        ->type_name("N");
    command.add_flag("--fail-fast", line.fail_fast, "stop at the first failing schedule");
    add_parsed(command, "--schedule-limit", run.schedule_limit_ns, parse_time_span, "TIME",
               "a schedule that takes longer on the wall clock counts as hung (default 60s)");
}

CLI::App* add_run(CLI::App& app, CommandLine& line) {
    CampaignOptions& run = line.run;
    CLI::App* command = app.add_subcommand("run", "run fault schedules and judge every one by all invariants");
    command->add_option("SCENARIO", run.scenarios,
                        "names (tidelock list scenarios) or paths of JSON files; default: all");
    add_parsed(*command, "--seeds", run.seeds, parse_seeds, "A..B",
               "seeds A..B, both inclusive (default 1..1000, without end under --time)");
    add_run_limits(*command, line);
    command->add_option("--jobs", run.jobs, "worker processes (default: one a core)")
        ->check(CLI::Range(1, 4096))
        ->type_name("N");
    add_parsed(*command, "--shard", run.shard, parse_shard, "i/n",
               "only the i-th of n parts of the seeds, 1 <= i <= n");
    command->add_flag("--interleave", run.interleave, "all scenarios at seed A, then all at A+1, and so on");
    command->add_flag("--check-determinism", run.check_determinism,
                      "run each seed twice and name the first event in which the two runs part");
    add_run_output(*command, run);
    return command;
}

CLI::App* add_replay(CLI::App& app, CommandLine& line) {
    CLI::App* command =
        app.add_subcommand("replay", "run one schedule again, or a story, and show its timeline and verdict");
    command->add_option("WHAT", line.replay_words, "SCENARIO SEED, a failure file, or a story: its name or a .scn file")
        ->required()
        ->expected(1, 2);
    add_name(*command, "--trace", line.replay.trace_file, "FILE", "write the whole timeline (.txt or .json)");
    add_parsed(*command, "--until", line.replay.until_ns, parse_duration, "TIME",
               "stop at this virtual time (12.5s); progress is then not judged");
    command->add_option("--last", line.replay.last_lines, "how many lines of the timeline's end to print")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
    return command;
}

CLI::App* add_list(CLI::App& app, CommandLine& line) {
    CLI::App* command = app.add_subcommand("list", "list what there is");
    command->add_option("WHAT", line.listed, "scenarios, stories, invariants, faults or marks")
        ->required()
        ->check(CLI::IsMember({"scenarios", "stories", "invariants", "faults", "marks"}));
    return command;
}

CLI::App* add_merge(CLI::App& app, CommandLine& line) {
    CLI::App* command = app.add_subcommand("merge", "join the result files of shards");
    command->add_option("RESULTS", line.merge.inputs, "files written by run --json")->required();
    add_name(*command, "--json", line.merge.results.json, "FILE",
             "write the joined results to this file; - is standard output");
    add_name(*command, "--junit", line.merge.results.junit, "FILE", "write them as JUnit XML; - is standard output");
    return command;
}

CLI::App* add_live(CLI::App& app, CommandLine& line) {
    LiveCommandOptions& live = line.live;
    CLI::App* command =
        app.add_subcommand("live", "run schedules against real brokers (tidelockd), and judge them alike");
    command->add_option("SCENARIO", live.scenarios, "names (tidelock list scenarios) or paths of JSON files")
        ->required();
    add_parsed(*command, "--seeds", live.seeds, parse_seeds, "A..B",
               "seeds A..B, both inclusive (default 1..10, without end under --time)");
    add_parsed(*command, "--time", live.time_ns, parse_time_span, "TIME", "begin schedules for this long (30m, 2h)");
    add_name(*command, "--tidelockd", live.program, "FILE", "the broker (default: tidelockd beside this program)");
    add_name(*command, "--out", live.out_dir, "DIR",
             "keep logs and observations of failing schedules here (default: a new folder in /tmp)");
    command->add_flag("--loopback", live.on_loopback,
                      "all brokers on loopback, without namespaces of their own: no link is cut, no disk is full");
    return command;
}

// Settles what depends on more than one flag.
void settle_run(CommandLine& line, const CLI::App& command) {
    if (line.fail_fast) line.run.failing_max = 1;
    if (line.run.time_ns && command.count("--seeds") == 0) line.run.seeds = kAllSeeds;
    // Time would otherwise end inside the first scenario.
    if (line.run.time_ns) line.run.interleave = true;
    if (command.count("--jobs") == 0) line.run.jobs = usable_cores();
}

bool settle_replay(CommandLine& line) {
    line.replay.target = line.replay_words.front();
    if (line.replay_words.size() == 1) return true;
    const tl::expected<std::uint64_t, std::string> seed = parse_seed(line.replay_words.back());
    if (!seed) {
        complain("replay: " + seed.error());
        return false;
    }
    line.replay.seed = *seed;
    return true;
}

// --help and --version.
int show_text(const CLI::App& app, const CLI::ParseError& text) {
    app.exit(text);
    std::cout.flush();
    if (std::cout) return static_cast<int>(ExitStatus::kClean);
    complain("cannot write to standard output");
    return static_cast<int>(ExitStatus::kUnsound);
}

// CLI11 counts words: "--seeds: At Most 1 required but received 2".
std::string plain(const CLI::ParseError& error) {
    const std::string text = error.what();
    const std::size_t counts = text.find(": At Most 1 required");
    return counts == std::string::npos ? text : text.substr(0, counts) + ": is given more than once";
}

int read_failed(const CLI::App& app, const CLI::ParseError& error, std::string_view first_word) {
    if (error.get_exit_code() == 0) return show_text(app, error);
    // CLI11 would only say that a command is missing.
    const bool is_command =
        !app.get_subcommands([&](const CLI::App* command) { return command->get_name() == first_word; }).empty();
    const bool is_unknown = !first_word.empty() && !first_word.starts_with("-") && !is_command;
    complain(is_unknown ? fmt::format("no such command: '{}'", first_word) : plain(error));
    tell("Run with --help for what there is.\n");
    return static_cast<int>(ExitStatus::kWrongUse);
}

int read_and_carry_out(const Engine& engine, int argc, const char* const* argv) {
    CommandLine line;
    CLI::App app("Tidelock: seeded fault schedules against the real protocol code of a replicated message broker",
                 "tidelock");
    app.require_subcommand(1);
    app.set_version_flag("--version", build_id());
    app.footer(kFooter);
    const CLI::App* run = add_run(app, line);
    const CLI::App* replay = add_replay(app, line);
    const CLI::App* list = add_list(app, line);
    const CLI::App* live = add_live(app, line);
    add_merge(app, line);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return read_failed(app, error, argc > 1 ? argv[1] : "");
    }
    const std::string program = shell_quoted(argc > 0 ? argv[0] : "tidelock");
    if (run->parsed()) {
        settle_run(line, *run);
        return run_command(engine, line.run, program);
    }
    if (replay->parsed()) {
        return settle_replay(line) ? replay_command_line(engine, line.replay) : static_cast<int>(ExitStatus::kWrongUse);
    }
    if (live->parsed()) {
        if (live->count("--seeds") == 0) line.live.seeds = line.live.time_ns ? kAllSeeds : SeedRange{1, 10};
        return live_command(engine, line.live, program);
    }
    return list->parsed() ? list_command(engine, line.listed) : merge_command(line.merge, program);
}

}  // namespace

int run_program(const Engine& engine, int argc, const char* const* argv) {
    secure_standard_streams();
    try {
        return read_and_carry_out(engine, argc, argv);
    } catch (const std::system_error& error) {
        complain(error.what());
    } catch (const std::bad_alloc&) {
        complain("out of memory (ulimit -v, or an input that is too large)");
    } catch (const std::exception& error) {
        complain(fmt::format("internal error: {}", error.what()));
    }
    return static_cast<int>(ExitStatus::kUnsound);
}

}  // namespace tidelock::tools
