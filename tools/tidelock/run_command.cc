#include <fmt/core.h>

#include <optional>
#include <set>

#include "reports/summary.h"
#include "tools/tidelock/campaign.h"
#include "tools/tidelock/commands.h"
#include "tools/tidelock/failure_files.h"
#include "tools/tidelock/file_io.h"
#include "tools/tidelock/interrupt.h"
#include "tools/tidelock/output.h"
#include "tools/tidelock/progress.h"

namespace tidelock::tools {

namespace {

constexpr std::int64_t kFailuresTold = 20;  // as they happen; the summary holds all

// Tells the terminal and keeps failure files.
class Watcher final : public CampaignWatcher {
  public:
    explicit Watcher(const std::string& out_dir) : files_(out_dir) {}

    void on_progress(const CampaignProgress& progress) override { display_.show(progress); }

    void on_failure(const FailedSchedule& failure) override {
        const std::string path = files_.keep(failure);
        if (++failures_ > kFailuresTold) return;
        display_.clear();
        const reports::Violation& first = failure.violations.front();
        tell(fmt::format("{} seed {}: {}{}\n", failure.scenario, failure.seed, first.invariant,
                         path.empty() ? "" : ", kept in " + path));
    }

    void on_shortage(std::int64_t workers, const std::string& why) override {
        display_.clear();
        has_workers_ = workers > 0;
        complain(has_workers_ ? fmt::format("{}: going on with {} worker(s)", why, workers)
                              : fmt::format("{}: no schedule can run (ulimit -n, ulimit -u)", why));
    }

    void finish() { display_.clear(); }
    [[nodiscard]] const std::string& file_error() const { return files_.error(); }
    [[nodiscard]] bool has_workers() const { return has_workers_; }

  private:
    ProgressDisplay display_;
    FailureFiles files_;
    std::int64_t failures_ = 0;
    bool has_workers_ = true;
};

std::vector<std::string> wanted_scenarios(const Engine& engine, const CampaignOptions& options) {
    if (!options.scenarios.empty()) return options.scenarios;
    std::vector<std::string> names;
    for (const Described& scenario : engine.scenarios()) names.push_back(scenario.name);
    return names;
}

// Nothing, after complaining, when one cannot be loaded or two have one name (their rows would be one).
std::optional<std::vector<CampaignScenario>> load_scenarios(const Engine& engine, const CampaignOptions& options) {
    std::vector<CampaignScenario> loaded;
    std::set<std::string> names;
    for (const std::string& reference : wanted_scenarios(engine, options)) {
        tl::expected<std::unique_ptr<Scenario>, std::string> scenario = engine.load(reference);
        if (!scenario) {
            complain(scenario.error());
            return std::nullopt;
        }
        if (!names.insert((*scenario)->name()).second) {
            complain(fmt::format("scenario '{}' is named twice", (*scenario)->name()));
            return std::nullopt;
        }
        loaded.push_back({reference, std::move(*scenario)});
    }
    return loaded;
}

bool outputs_are_writable(const CampaignOptions& options) {
    // First, because the result files may be meant to lie in it.
    const FileError error = options.out_dir.empty() ? FileError() : prepare_directory(options.out_dir);
    if (!error.empty()) complain("--out: " + error);
    return error.empty() && can_write_results(options.results);
}

int exit_status(const reports::Results& results, bool is_sound) {
    const ExitStatus status = status_of(results);
    if (status != ExitStatus::kClean) return static_cast<int>(status);
    if (!is_sound) return static_cast<int>(ExitStatus::kUnsound);
    const int signal = interrupted_by();
    return signal != 0 ? 128 + signal : static_cast<int>(ExitStatus::kClean);
}

}  // namespace

int run_command(const Engine& engine, const CampaignOptions& options, const std::string& program) {
    const std::optional<std::vector<CampaignScenario>> scenarios = load_scenarios(engine, options);
    if (!scenarios || !outputs_are_writable(options)) return static_cast<int>(ExitStatus::kWrongUse);
    if (!can_run_schedules(engine)) return static_cast<int>(ExitStatus::kUnsound);
    watch_interrupts();
    Watcher watcher(options.out_dir);
    const reports::Results results = run_campaign(*scenarios, options, watcher);
    watcher.finish();
    if (!watcher.file_error().empty()) complain("--out: not every failure could be kept: " + watcher.file_error());
    const bool is_written = write_results(results, options.results, reports::summary_text(results, program));
    return exit_status(results, is_written && watcher.file_error().empty() && watcher.has_workers());
}

}  // namespace tidelock::tools
