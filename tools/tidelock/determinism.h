/// Runs a schedule twice and says where the two runs part (V17).
#pragma once

#include "tools/tidelock/engine.h"

namespace tidelock::tools {

/// The first run's result. When the second differs, `unsound` names the first divergent event: its number, and its text
/// in both runs (found by two more runs, traced; a divergence that does not come back is said to be that).
scenarios::ScheduleResult run_twice(const SchedulePlan& plan);

}  // namespace tidelock::tools
