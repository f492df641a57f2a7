/// What the command line runs: scenarios that turn a seed into a plan, and plans that run to a verdict. The program
/// runs the real ones (scenario_engine.h); the tests of the command line run one that crashes, hangs and lies on
/// demand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "scenarios/schedule.h"
#include "tools/live/live_schedule.h"

namespace tidelock::tools {

/// One schedule, ready to run.
class Schedule {
  public:
    virtual ~Schedule() = default;
    virtual scenarios::ScheduleResult run(const scenarios::RunOptions& options) const = 0;
};

/// A schedule that was planned from a seed.
class SchedulePlan : public Schedule {
  public:
    /// The plan as a JSON object, as failure files hold it.
    virtual std::string to_json() const = 0;
};

/// One scenario, read and checked.
class Scenario {
  public:
    virtual ~Scenario() = default;
    /// The name inside the scenario, which results are listed under.
    virtual std::string name() const = 0;
    virtual std::unique_ptr<SchedulePlan> plan(std::uint64_t seed) const = 0;
    /// The same plan, as far as possible, against processes of tidelockd.
    virtual live::LiveResult run_live(std::uint64_t seed, const live::LiveOptions& options) const = 0;
};

/// A name with one line that says what it is.
struct Described {
    std::string name;
    std::string what;
};

class Engine {
  public:
    virtual ~Engine() = default;
    /// The scenarios that come with the program, in the order a campaign takes them.
    virtual std::vector<Described> scenarios() const = 0;
    /// By name, or by the path of a scenario file. The error names the file and the key.
    virtual tl::expected<std::unique_ptr<Scenario>, std::string> load(const std::string& name_or_path) const = 0;
    /// From the JSON object in a failure file. The error names `file` and the key.
    virtual tl::expected<std::unique_ptr<SchedulePlan>, std::string> read_plan(const std::string& json,
                                                                               const std::string& file) const = 0;
    /// The stories that come with the program.
    virtual std::vector<Described> stories() const = 0;
    /// By name, or by the path of a `.scn` file. The error names the file and the line. Its run knows no `until_ns`;
    /// when the story does not go as told the run breaks `story`, whatever else breaks, and the message names the line.
    virtual tl::expected<std::unique_ptr<Schedule>, std::string> read_story(const std::string& name_or_path) const = 0;
    /// Why no schedule at all can run here, if so: a limit of the system that would make each look like a crash.
    virtual std::string obstacle() const { return {}; }
    virtual std::vector<Described> invariants() const = 0;
    virtual std::vector<Described> faults() const = 0;
    virtual std::vector<Described> marks() const = 0;
};

}  // namespace tidelock::tools
