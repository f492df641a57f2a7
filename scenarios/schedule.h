/// One schedule: a plan run from start to verdict. What the command line, the shrinker and the tests call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidelock::scenarios {

struct Plan;

/// An invariant that did not hold.
struct Violation {
    std::string invariant;  // its stable name, "acked-survival"
    std::int64_t time_ns;   // virtual
    std::string message;
    bool operator==(const Violation&) const = default;
};

/// One scheduled event or observation, as the trace and the determinism check see it.
struct TraceLine {
    std::int64_t time_ns;
    std::string host;  // "broker-1", "client-2", "nemesis", "world"
    std::string kind;  // "event", "observation", "fault", "call", "violation"
    std::string text;
};

/// Receives the trace while a schedule runs. Lives outside the world's arena.
class TraceSink {
  public:
    virtual ~TraceSink() = default;
    virtual void line(const TraceLine& line) = 0;
};

struct RunOptions {
    TraceSink* trace = nullptr;            // none: tracing costs nothing
    std::optional<std::int64_t> until_ns;  // stop there; progress (V16) is then not judged
    bool record_event_digests = false;     // fills ScheduleResult::event_digests
    bool judge = true;                     // false: the checker hears nothing, to measure what checking costs
};

struct ScheduleResult {
    std::uint64_t seed = 0;
    std::uint64_t digest = 0;
    std::int64_t events = 0;
    std::int64_t virtual_ns = 0;
    std::int64_t acked_records = 0;
    std::int64_t read_records = 0;
    std::int64_t peak_memory_bytes = 0;
    std::vector<std::pair<std::string, std::int64_t>> faults;  // delivered, by kind, every kind listed, by name
    std::vector<std::pair<std::string, std::int64_t>> marks;   // reached, every mark listed, by name
    std::vector<Violation> violations;
    std::string unsound;               // empty, or why the run itself cannot be trusted (event budget, internal error)
    std::vector<std::string> skipped;  // plan elements that no longer fit this build
    std::vector<std::uint64_t> event_digests;  // rolling digest after each event, when asked for
};

/// Runs a plan in a world of its own. Same plan, same result, in any process and on any compiler (V17).
ScheduleResult run_plan(const Plan& plan, const RunOptions& options);

}  // namespace tidelock::scenarios
