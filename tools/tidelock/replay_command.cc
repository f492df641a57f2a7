#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "reports/failure.h"
#include "tools/tidelock/build_id.h"
#include "tools/tidelock/commands.h"
#include "tools/tidelock/file_io.h"
#include "tools/tidelock/interrupt.h"
#include "tools/tidelock/output.h"
#include "tools/tidelock/timeline.h"
#include "tools/tidelock/traced_run.h"

namespace tidelock::tools {

namespace {

using reports::Failure;
using scenarios::ScheduleResult;
using scenarios::TraceLine;

constexpr const char* kStoryInvariant = "story";

enum class TraceFormat { kNone, kText, kJson };

// What is to be replayed, and the file it came from, if any.
struct Subject {
    std::unique_ptr<Schedule> schedule;
    std::optional<Failure> failure;
    bool is_story = false;
};

// Keeps the end of the timeline for the screen and all of it for the file.
class Timeline {
  public:
    Timeline(TraceFormat format, std::int32_t last_lines)
        : format_(format), kept_(static_cast<std::size_t>(last_lines)) {}

    void add(const TraceLine& line) {
        if (format_ == TraceFormat::kText) file_ += timeline_text(line) + "\n";
        if (format_ == TraceFormat::kJson) file_ += (count_ == 0 ? "\n" : ",\n") + timeline_json(line);
        ++count_;
        last_.push_back(timeline_text(line) + "\n");
        if (last_.size() > kept_) last_.pop_front();
    }
    [[nodiscard]] std::string file_content() const {
        return format_ == TraceFormat::kJson ? "[" + file_ + "\n]\n" : file_;
    }
    [[nodiscard]] std::string end_text() const {
        std::string text;
        if (count_ > last_.size()) text += fmt::format("... {} earlier lines\n", count_ - last_.size());
        for (const std::string& line : last_) text += line;
        return text + "\n";
    }

  private:
    TraceFormat format_;
    std::size_t kept_;
    std::size_t count_ = 0;
    std::string file_;
    std::deque<std::string> last_;
};

std::optional<TraceFormat> trace_format(const std::string& path) {
    if (path.empty()) return TraceFormat::kNone;
    if (path.ends_with(".txt")) return TraceFormat::kText;
    if (path.ends_with(".json")) return TraceFormat::kJson;
    complain(fmt::format("--trace: '{}' must end in .txt or .json", path));
    return std::nullopt;
}

std::unique_ptr<SchedulePlan> plan_of_seed(const Engine& engine, const std::string& scenario, std::uint64_t seed) {
    const tl::expected<std::unique_ptr<Scenario>, std::string> loaded = engine.load(scenario);
    if (loaded) return (*loaded)->plan(seed);
    complain(loaded.error());
    return nullptr;
}

// A failure whose plan could not even be made: only its scenario can make it again.
std::unique_ptr<SchedulePlan> plan_of_name(const Engine& engine, const Failure& failure, const std::string& file) {
    const tl::expected<std::unique_ptr<Scenario>, std::string> loaded = engine.load(failure.scenario);
    if (loaded) return (*loaded)->plan(failure.seed);
    complain(
        fmt::format("{}: holds no plan, and no scenario '{}' comes with this program: replay that scenario's file "
                    "with seed {}",
                    file, failure.scenario, failure.seed));
    return nullptr;
}

std::unique_ptr<SchedulePlan> plan_of_failure(const Engine& engine, const Failure& failure, const std::string& file) {
    if (failure.plan_json.empty()) return plan_of_name(engine, failure, file);
    tl::expected<std::unique_ptr<SchedulePlan>, std::string> plan = engine.read_plan(failure.plan_json, file);
    if (plan) return std::move(*plan);
    complain(plan.error());
    return nullptr;
}

std::optional<Failure> read_failure(const std::string& path) {
    const tl::expected<std::string, FileError> text = read_file(path);
    if (!text) {
        complain(text.error() + " (to replay a scenario, name its seed too)");
        return std::nullopt;
    }
    tl::expected<Failure, std::string> failure = reports::failure_from_json(*text);
    if (failure) return std::move(*failure);
    complain(fmt::format("{}: {}", path, failure.error()));
    return std::nullopt;
}

bool is_story(const Engine& engine, const std::string& target) {
    if (target.ends_with(".scn")) return true;
    const std::vector<Described> stories = engine.stories();
    return std::any_of(stories.begin(), stories.end(), [&](const Described& story) { return story.name == target; });
}

Subject story_subject(const Engine& engine, const ReplayOptions& options) {
    Subject subject;
    subject.is_story = true;
    if (options.seed || options.until_ns) {
        complain(options.seed ? fmt::format("replay: '{}' is a story and takes no seed (its line `seed N` gives one)",
                                            options.target)
                              : "--until: a story runs to its last line");
        return subject;
    }
    tl::expected<std::unique_ptr<Schedule>, std::string> story = engine.read_story(options.target);
    if (!story) {
        complain(story.error());
        return subject;
    }
    subject.schedule = std::move(*story);
    return subject;
}

// Without a schedule, after complaining, when the input cannot be used.
Subject subject_of(const Engine& engine, const ReplayOptions& options) {
    if (is_story(engine, options.target)) return story_subject(engine, options);
    Subject subject;
    if (options.seed) {
        subject.schedule = plan_of_seed(engine, options.target, *options.seed);
        return subject;
    }
    subject.failure = read_failure(options.target);
    if (subject.failure) subject.schedule = plan_of_failure(engine, *subject.failure, options.target);
    return subject;
}

bool breaks(const ScheduleResult& result, const std::string& invariant) {
    for (const scenarios::Violation& violation : result.violations) {
        if (violation.invariant == invariant) return true;
    }
    return false;
}

// A story may tell of violations: those are no findings.
bool is_clean(const ScheduleResult& result, const Subject& subject) {
    if (!result.unsound.empty()) return false;
    return subject.is_story ? !breaks(result, kStoryInvariant) : result.violations.empty();
}

std::string clean_text(const ScheduleResult& result, const Subject& subject) {
    if (!subject.is_story) return "no violation\n";
    return result.violations.empty() ? "the story goes as told\n" : "the story goes as told, violations included\n";
}

std::string result_text(const ScheduleResult& result, const Subject& subject) {
    std::string text = fmt::format("{} events in {} virtual seconds, {} records acknowledged, {} read; digest {}\n",
                                   result.events, virtual_time_text(result.virtual_ns), result.acked_records,
                                   result.read_records, reports::digest_text(result.digest));
    for (const std::string& element : result.skipped) text += fmt::format("left out of the plan: {}\n", element);
    for (const scenarios::Violation& violation : result.violations) {
        text += fmt::format("VIOLATION of {} at {} s: {}\n", violation.invariant, virtual_time_text(violation.time_ns),
                            violation.message);
    }
    if (!result.unsound.empty()) text += fmt::format("UNSOUND: {}\n", result.unsound);
    return is_clean(result, subject) ? text + clean_text(result, subject) : text;
}

// How this run compares with the one that the failure file tells of.
std::string comparison_text(const Failure& failure, const ScheduleResult& result) {
    const std::string& invariant = failure.violations.front().invariant;
    std::string text;
    if (failure.seed != result.seed) {
        text = fmt::format("the file was edited: it tells of seed {}, its plan is of seed {}, which is what ran\n",
                           failure.seed, result.seed);
    }
    text += fmt::format("the file tells of {}: it {}\n", invariant,
                        breaks(result, invariant) ? "fails again" : "does not fail in this run");
    if (failure.digest == 0) return text;
    if (failure.digest == result.digest) return text + "this is the run of the file, event for event (same digest)\n";
    text += fmt::format("this is another run than the file's (its digest: {}): ", reports::digest_text(failure.digest));
    if (failure.build != build_id()) {
        return text + fmt::format("the build differs (the file's: {}; this one: {})\n", failure.build, build_id());
    }
    return text +
           "the build is the same, so the plan was edited or the run is not deterministic (--check-determinism)\n";
}

int status_of_run(const TracedRun& run, const Subject& subject) {
    if (interrupted_by() != 0) return 128 + interrupted_by();
    if (!run.report) return static_cast<int>(ExitStatus::kViolation);
    if (!run.report->result.unsound.empty()) return static_cast<int>(ExitStatus::kUnsound);
    return static_cast<int>(is_clean(run.report->result, subject) ? ExitStatus::kClean : ExitStatus::kViolation);
}

std::string verdict_text(const TracedRun& run, const Subject& subject, bool is_whole) {
    if (!run.report) {
        const char* const kind = run.is_hang ? "HANG: " : "CRASH: ";
        return fmt::format("{}the schedule {}\n", interrupted_by() != 0 ? "" : kind, run.how_ended);
    }
    std::string text = result_text(run.report->result, subject);
    if (subject.failure && is_whole) text += comparison_text(*subject.failure, run.report->result);
    return text;
}

}  // namespace

int replay_command_line(const Engine& engine, const ReplayOptions& options) {
    const std::optional<TraceFormat> format = trace_format(options.trace_file);
    if (!format) return static_cast<int>(ExitStatus::kWrongUse);
    const Subject subject = subject_of(engine, options);
    if (!subject.schedule) return static_cast<int>(ExitStatus::kWrongUse);
    if (*format != TraceFormat::kNone) {
        const FileError error = check_writable_file(options.trace_file);
        if (!error.empty()) {
            complain("--trace: " + error);
            return static_cast<int>(ExitStatus::kWrongUse);
        }
    }
    if (!can_run_schedules(engine)) return static_cast<int>(ExitStatus::kUnsound);
    watch_interrupts();
    Timeline timeline(*format, options.last_lines);
    const TracedRun run =
        run_traced(*subject.schedule, options.until_ns, [&](const TraceLine& line) { timeline.add(line); });
    bool written = true;
    if (*format != TraceFormat::kNone) {
        const FileError error = write_file(options.trace_file, timeline.file_content());
        if (!error.empty()) complain("--trace: " + error);
        written = error.empty();
    }
    written &= print_out(timeline.end_text() + verdict_text(run, subject, !options.until_ns));
    const int status = status_of_run(run, subject);
    return status == 0 && !written ? static_cast<int>(ExitStatus::kUnsound) : status;
}

}  // namespace tidelock::tools
