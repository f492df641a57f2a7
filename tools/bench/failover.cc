// How long nothing is acknowledged when the leader is killed: as the simulator predicts it, and as real brokers do it.
// The same plans, clients and kills on both; prints JSON.
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/plan.h"
#include "scenarios/scenario.h"
#include "scenarios/schedule.h"
#include "tools/live/live_schedule.h"
#include "tools/live/silence.h"

namespace tidelock::bench {
namespace {

/// A scenario may have kills that never strike a leader.
constexpr std::uint64_t kSchedulesPerKill = 3;

struct Options {
    std::string scenario;
    std::string program;
    int kills = 20;
    bool is_simulated_only = false;
    bool on_loopback = false;
};

/// Hears when producers were acknowledged, and when the leader was killed.
class Witness final : public scenarios::TraceSink {
  public:
    void line(const scenarios::TraceLine& line) override {
        const bool is_ack = line.kind == "call" && line.host.starts_with("producer") &&
                            line.text.find("produce") != std::string::npos && line.text.ends_with(": ok");
        if (is_ack) acknowledged_ns.push_back(line.time_ns);
        if (line.kind == "observation" && line.text.starts_with("leader serving")) leader_ = line.host;
        const std::string killed = fmt::format("process.kill on {} ", spaced(leader_));
        if (line.kind == "fault" && line.text.find(killed) != std::string::npos) kills_ns.push_back(line.time_ns);
    }

    std::vector<std::int64_t> acknowledged_ns;
    std::vector<std::int64_t> kills_ns;

  private:
    static std::string spaced(std::string host) {
        std::ranges::replace(host, '-', ' ');
        return host;
    }
    std::string leader_ = "nobody";
};

std::optional<scenarios::Scenario> read_scenario(const std::string& file) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    auto scenario = scenarios::parse_scenario(text, "failover", file);
    if (scenario) return *scenario;
    std::cerr << scenario.error().text << "\n";
    return std::nullopt;
}

/// Every kill strikes whoever leads.
scenarios::Plan plan_of(const scenarios::Scenario& scenario, std::uint64_t seed) {
    scenarios::Plan plan = scenarios::generate(scenario, seed);
    for (scenarios::PlannedFault& fault : plan.faults) fault.aim = scenarios::Aim::kLeader;
    return plan;
}

std::vector<std::int64_t> simulate(const scenarios::Scenario& scenario, int kills) {
    std::vector<std::int64_t> silences;
    const auto wanted = static_cast<std::size_t>(kills);
    for (std::uint64_t seed = 1; silences.size() < wanted && seed <= wanted * kSchedulesPerKill; ++seed) {
        Witness witness;
        scenarios::RunOptions options;
        options.trace = &witness;
        scenarios::run_plan(plan_of(scenario, seed), options);
        for (const std::int64_t kill : witness.kills_ns)
            if (const auto silence = live::silence_after(kill, witness.acknowledged_ns)) silences.push_back(*silence);
    }
    return silences;
}

std::vector<std::int64_t> measure(const scenarios::Scenario& scenario, const Options& options,
                                  const std::string& folder) {
    std::vector<std::int64_t> silences;
    const live::LiveOptions live{options.program, folder, !options.on_loopback, nullptr};
    const auto wanted = static_cast<std::size_t>(options.kills);
    for (std::uint64_t seed = 1; silences.size() < wanted && seed <= wanted * kSchedulesPerKill; ++seed) {
        const live::LiveResult result = live::run_live(plan_of(scenario, seed), live);
        if (!result.fallback.empty() && seed == 1) std::cerr << "brokers share loopback: " << result.fallback << "\n";
        if (!result.unsound.empty() || !result.violations.empty()) {
            std::cerr << "schedule " << seed << " on real brokers: "
                      << (result.unsound.empty() ? result.violations.front().message : result.unsound) << "\n";
            return {};
        }
        silences.insert(silences.end(), result.leader_kill_silences_ns.begin(), result.leader_kill_silences_ns.end());
    }
    return silences;
}

nlohmann::ordered_json figures(std::vector<std::int64_t> silences) {
    std::ranges::sort(silences);
    const auto ms = [&](std::size_t at) { return static_cast<double>(silences[at]) / 1e6; };
    return {{"kills", silences.size()},
            {"median_ms", ms(silences.size() / 2)},
            {"least_ms", ms(0)},
            {"most_ms", ms(silences.size() - 1)}};
}

int run(const Options& options) {
    const auto scenario = read_scenario(options.scenario);
    if (!scenario) return 2;
    nlohmann::ordered_json report;
    const std::vector<std::int64_t> simulated = simulate(*scenario, options.kills);
    if (simulated.empty()) {
        std::cerr << options.scenario << ": no leader is killed under producers that wait for all\n";
        return 2;
    }
    report["simulated"] = figures(simulated);
    if (!options.is_simulated_only) {
        std::string folder = "/tmp/tidelock-failover-XXXXXX";
        if (::mkdtemp(folder.data()) == nullptr) return 3;
        const std::vector<std::int64_t> silences = measure(*scenario, options, folder);
        if (silences.empty()) {
            std::cout << report.dump(2) << "\n";
            return 3;
        }
        std::filesystem::remove_all(folder);
        report["real"] = figures(silences);
        report["simulated_to_real"] =
            report["simulated"]["median_ms"].get<double>() / report["real"]["median_ms"].get<double>();
    }
    std::cout << report.dump(2) << "\n";
    return 0;
}

}  // namespace
}  // namespace tidelock::bench

int main(int argc, char** argv) {
    tidelock::bench::Options options;
    const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    options.scenario = TIDELOCK_SOURCE_DIR "/tools/bench/failover.json";
    options.program = here / "tidelockd";
    CLI::App app("How long nothing is acknowledged when the leader is killed: simulated, and on real brokers.",
                 "failover_bench");
    app.add_option("--scenario", options.scenario, "the plan's scenario")->capture_default_str()->type_name("FILE");
    app.add_option("--kills", options.kills, "so many kills of a leader on each side")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--tidelockd", options.program, "the broker (default: tidelockd beside this program)")
        ->type_name("FILE");
    app.add_flag("--simulated-only", options.is_simulated_only, "start no broker");
    app.add_flag("--loopback", options.on_loopback, "real brokers without namespaces of their own");
    try {
        app.parse(argc, argv);
        return tidelock::bench::run(options);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
}
