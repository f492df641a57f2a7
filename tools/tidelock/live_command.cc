// `tidelock live`: one schedule after the other against real brokers, until seeds or time are over.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "tools/tidelock/commands.h"
#include "tools/tidelock/output.h"

namespace tidelock::tools {
namespace {

std::atomic<bool> g_is_stopped = false;
std::atomic<int> g_signal = 0;

void on_signal(int number) {
    g_signal = number;
    g_is_stopped = true;
}

/// The first asks the schedule to end; a second one is not waited for.
void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

struct Sums {
    std::int64_t schedules = 0;
    std::int64_t failing = 0;
    std::int64_t unsound = 0;
    std::int64_t stopped = 0;  // before its end
    std::int64_t acked_records = 0;
    std::int64_t read_records = 0;
    std::int64_t observations = 0;
    std::int64_t skipped_faults = 0;
    std::map<std::string, std::int64_t> faults;
};

tl::expected<std::string, std::string> broker_program(const std::string& asked) {
    std::error_code error;
    std::string program = asked;
    if (program.empty()) program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "tidelockd";
    if (::access(program.c_str(), X_OK) != 0)
        return tl::unexpected(fmt::format("{} is no program: build tidelockd, or name it with --tidelockd", program));
    return std::filesystem::absolute(program).string();
}

tl::expected<std::string, std::string> folder_of(const std::string& asked) {
    if (asked.empty()) {
        const char* temporary = std::getenv("TMPDIR");
        std::string name = fmt::format("{}/tidelock-live-XXXXXX", temporary != nullptr ? temporary : "/tmp");
        if (::mkdtemp(name.data()) == nullptr)
            return tl::unexpected(fmt::format("{}: {}", name, std::generic_category().message(errno)));
        return name;
    }
    std::error_code error;
    std::filesystem::create_directories(asked, error);
    if (error || ::access(asked.c_str(), W_OK) != 0)
        return tl::unexpected(fmt::format("{}: cannot be written to", asked));
    return std::filesystem::absolute(asked).string();
}

void tell_schedule(const std::string& program, const std::string& name, std::uint64_t seed,
                   const live::LiveResult& result) {
    std::int64_t faults = 0;
    for (const auto& [kind, count] : result.faults) faults += count;
    std::string verdict = "clean";
    if (result.was_stopped) verdict = "stopped";
    if (!result.violations.empty()) verdict = fmt::format("{} violations", result.violations.size());
    if (!result.unsound.empty()) verdict = "says nothing: " + result.unsound;
    print_out(fmt::format("{} {}: {} acknowledged, {} read, {} faults, {} events judged: {}\n", name, seed,
                          result.acked_records, result.read_records, faults, result.observations, verdict));
    for (const scenarios::Violation& each : result.violations)
        print_out(fmt::format("  VIOLATION of {} at {:.3f} s: {}\n", each.invariant,
                              static_cast<double>(each.time_ns) / 1e9, each.message));
    if (result.violations.empty() && result.unsound.empty()) return;
    if (!result.folder.empty()) print_out(fmt::format("  logs: {}\n", result.folder));
    print_out(fmt::format("  the same plan again: {} live {} --seeds {}\n", program, shell_quoted(name), seed));
}

void add(Sums& sums, const live::LiveResult& result) {
    ++sums.schedules;
    sums.stopped += result.was_stopped ? 1 : 0;
    sums.failing += result.violations.empty() ? 0 : 1;
    sums.unsound += result.unsound.empty() ? 0 : 1;
    sums.acked_records += result.acked_records;
    sums.read_records += result.read_records;
    sums.observations += result.observations;
    sums.skipped_faults += result.skipped_faults;
    for (const auto& [kind, count] : result.faults) sums.faults[kind] += count;
}

void tell_sums(const Sums& sums) {
    std::string faults;
    for (const auto& [kind, count] : sums.faults)
        faults += fmt::format("{}{} {}", faults.empty() ? "" : ", ", kind, count);
    print_out(
        fmt::format("\n{} schedules against real brokers: {} records acknowledged, {} read, {} events judged\n"
                    "done for real: {}\n"
                    "left to the simulator: {} planned faults that cannot be done to real brokers here\n",
                    sums.schedules, sums.acked_records, sums.read_records, sums.observations,
                    faults.empty() ? "no fault" : faults, sums.skipped_faults));
    if (sums.failing > 0) print_out(fmt::format("{} schedules broke an invariant.\n", sums.failing));
    if (sums.unsound > 0) print_out(fmt::format("{} schedules say nothing.\n", sums.unsound));
    if (sums.stopped > 0) print_out("Stopped: the last schedule was judged as far as it came.\n");
    if (sums.schedules > sums.stopped && sums.failing == 0 && sums.unsound == 0)
        print_out("No violation: every invariant held in every schedule.\n");
}

ExitStatus status_of(const Sums& sums) {
    if (sums.unsound > 0) return ExitStatus::kUnsound;
    return sums.failing > 0 ? ExitStatus::kViolation : ExitStatus::kClean;
}

}  // namespace

int live_command(const Engine& engine, const LiveCommandOptions& options, const std::string& program) {
    const auto refuse = [](const std::string& why) {
        complain("live: " + why);
        return static_cast<int>(ExitStatus::kWrongUse);
    };
    std::vector<std::unique_ptr<Scenario>> scenarios;
    for (const std::string& name : options.scenarios) {
        auto scenario = engine.load(name);
        if (!scenario) return refuse(scenario.error());
        scenarios.push_back(std::move(*scenario));
    }
    const auto broker = broker_program(options.program);
    if (!broker) return refuse(broker.error());
    const auto folder = folder_of(options.out_dir);
    if (!folder) return refuse(folder.error());
    catch_signals();
    live::LiveOptions live{*broker, *folder, !options.on_loopback, &g_is_stopped};
    Sums sums;
    const auto begun = std::chrono::steady_clock::now();
    const auto has_time = [&] {
        return !options.time_ns ||
               std::chrono::steady_clock::now() - begun < std::chrono::nanoseconds(*options.time_ns);
    };
    for (std::uint64_t seed = options.seeds.first; !g_is_stopped && has_time(); ++seed) {
        for (std::size_t at = 0; at < scenarios.size() && !g_is_stopped && has_time(); ++at) {
            const live::LiveResult result = scenarios[at]->run_live(seed, live);
            if (!result.fallback.empty() && live.wants_namespaces) {
                tell(fmt::format("tidelock: brokers share loopback, no link is cut and no disk is full: {}\n",
                                 result.fallback));
                live.wants_namespaces = false;
            }
            tell_schedule(program, options.scenarios[at], seed, result);
            add(sums, result);
        }
        if (seed == options.seeds.last) break;
    }
    std::error_code ignored;
    if (sums.failing == 0 && sums.unsound == 0 && options.out_dir.empty())
        std::filesystem::remove_all(*folder, ignored);
    tell_sums(sums);
    const ExitStatus status = status_of(sums);
    if (g_signal != 0 && status == ExitStatus::kClean) return 128 + g_signal;
    return static_cast<int>(status);
}

}  // namespace tidelock::tools
