/// One schedule against real brokers: the plan of a scenario and a seed, its clients on a world whose clock is this
/// machine's, its faults done for real, and everything that was seen judged by the checker of the simulator.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/plan.h"
#include "scenarios/schedule.h"

namespace tidelock::live {

struct LiveOptions {
    std::string program;              // of tidelockd
    std::string folder;               // where each schedule gets a folder of its own
    bool wants_namespaces = true;     // false: all on loopback, and no link is ever cut
    const std::atomic<bool>* stop{};  // set by a signal: end the schedule at once
};

struct LiveResult {
    std::vector<scenarios::Violation> violations;
    std::string unsound;  // empty, or why the run itself says nothing
    std::string folder;   // of logs and observations; gone when nothing was found
    std::int64_t acked_records = 0;
    std::int64_t read_records = 0;
    std::int64_t observations = 0;
    std::map<std::string, std::int64_t> faults;         // done, by name
    std::int64_t skipped_faults = 0;                    // of the plan, that only a simulated world knows
    std::vector<std::int64_t> leader_kill_silences_ns;  // around each kill of whoever led (silence.h)
    bool was_stopped = false;
    std::string fallback;  // why brokers had to share loopback; empty: they did not, or were meant to
};

/// What of the plan real brokers can be asked for: the preset group, clients that speak Kafka, faults that can be done.
scenarios::Plan for_real(scenarios::Plan plan, bool can_cut, std::int64_t& skipped_faults);

/// Ends within the plan's time and a little. Brokers do not outlive the call, nor the process.
LiveResult run_live(const scenarios::Plan& plan, const LiveOptions& options);

}  // namespace tidelock::live
