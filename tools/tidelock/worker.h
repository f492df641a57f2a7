/// The worker's side of a campaign: a child process that runs one schedule after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tidelock/engine.h"
#include "tools/tidelock/wire.h"

namespace tidelock::tools {

/// A job as it goes through the pipe: the scenario's index and the seed, in this machine's own byte order.
inline constexpr std::size_t kJobBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

/// Runs one schedule (twice when determinism is to be checked) and measures it. Never throws.
ScheduleReport run_schedule(const Scenario& scenario, std::uint64_t seed, bool check_determinism);

/// Reads jobs until the pipe ends and writes one frame for each.
void work_off_jobs(const std::vector<const Scenario*>& scenarios, bool check_determinism, int job_fd, int report_fd);

}  // namespace tidelock::tools
