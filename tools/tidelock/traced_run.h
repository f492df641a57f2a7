/// Runs one schedule in a child process and takes in its timeline while it runs, so that a schedule that crashes or
/// never ends still shows what it did until then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/tidelock/engine.h"
#include "tools/tidelock/wire.h"

namespace tidelock::tools {

struct TracedRun {
    std::optional<ScheduleReport> report;  // nothing when the schedule took its process down, or was interrupted
    std::string how_ended;                 // "died of signal 6 (Aborted): CHECK failed ..." when there is no report
    bool is_hang = false;                  // it used up the CPU time that a process may use
};

/// Calls `on_line` for every line of the timeline, in order. Ends early when interrupted (interrupt.h).
TracedRun run_traced(const Schedule& schedule, std::optional<std::int64_t> until_ns,
                     const std::function<void(const scenarios::TraceLine&)>& on_line);

}  // namespace tidelock::tools
