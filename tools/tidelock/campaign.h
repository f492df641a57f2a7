/// Many schedules over worker processes: hands out jobs, takes in reports, replaces workers that die or hang, and adds
/// everything up. What is added up does not depend on how many workers there are or who finishes first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reports/results.h"
#include "tools/tidelock/engine.h"
#include "tools/tidelock/options.h"
#include "tools/tidelock/seed_order.h"

namespace tidelock::tools {

/// One scenario of a campaign and how the user named it (a path stays a path in replay commands).
struct CampaignScenario {
    std::string reference;
    std::unique_ptr<Scenario> scenario;
};

/// How far a campaign has come.
struct CampaignProgress {
    std::int64_t schedules = 0;
    std::optional<std::int64_t> schedules_total;  // nothing while only time ends it
    std::int64_t violations = 0;
    std::int64_t elapsed_ns = 0;
    std::optional<std::int64_t> time_ns;  // the budget
};

/// A schedule that failed, with all that is needed to keep it.
struct FailedSchedule {
    std::string scenario;
    std::uint64_t seed = 0;
    std::vector<reports::Violation> violations;
    std::uint64_t digest = 0;
    std::string plan_json;
};

/// Is told what happens while it happens.
class CampaignWatcher {
  public:
    virtual ~CampaignWatcher() = default;
    virtual void on_progress(const CampaignProgress& progress) = 0;
    virtual void on_failure(const FailedSchedule& failure) = 0;
    /// No more workers can be started than these; with none the campaign ends, incomplete.
    virtual void on_shortage(std::int64_t workers, const std::string& why) = 0;
};

/// Runs to the end of the seeds or the time, to `failing_max`, or until interrupted (interrupt.h), with as many workers
/// as can be started.
reports::Results run_campaign(const std::vector<CampaignScenario>& scenarios, const CampaignOptions& options,
                              CampaignWatcher& watcher);

/// The canonical command that replays a schedule once its seed is added, with the reference quoted for a shell where it
/// must be.
std::string replay_command(const std::string& reference);

}  // namespace tidelock::tools
