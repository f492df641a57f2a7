/// Adds schedule reports up into result rows.
#pragma once

#include <string>
#include <vector>

#include "reports/results.h"
#include "tools/tidelock/seed_order.h"
#include "tools/tidelock/wire.h"
#include "tools/tidelock/worker_process.h"

namespace tidelock::tools {

struct CampaignScenario;

class Tally {
  public:
    /// `scenarios` must outlive this.
    explicit Tally(const std::vector<CampaignScenario>& scenarios);

    /// The violations of the schedule, as the results list them.
    std::vector<reports::Violation> add(const Job& job, const ScheduleReport& report);
    /// A schedule that killed or hung its worker.
    reports::Violation add_lost(const LostJob& lost);
    /// Rows with findings sorted; only rows and memory are filled in.
    [[nodiscard]] reports::Results results() const;

  private:
    const std::vector<CampaignScenario>& scenarios_;
    std::vector<reports::ScenarioRow> rows_;
    std::int64_t peak_worker_bytes_ = 0;
};

}  // namespace tidelock::tools
