#include "tools/tidelock/scenario_engine.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "checker/catalogue.h"
#include "protocol/broker/marks.h"
#include "scenarios/embedded.h"
#include "scenarios/fault_kind.h"
#include "scenarios/plan.h"
#include "scenarios/scenario.h"
#include "scenarios/script.h"
#include "sim/arena.h"
#include "tools/tidelock/file_io.h"

namespace tidelock::tools {

namespace {

class RealPlan final : public SchedulePlan {
  public:
    explicit RealPlan(scenarios::Plan plan) : plan_(std::move(plan)) {}
    scenarios::ScheduleResult run(const scenarios::RunOptions& options) const override {
        return scenarios::run_plan(plan_, options);
    }
    std::string to_json() const override { return scenarios::to_json(plan_); }

  private:
    scenarios::Plan plan_;
};

class RealScenario final : public Scenario {
  public:
    explicit RealScenario(scenarios::Scenario scenario) : scenario_(std::move(scenario)) {}
    std::string name() const override { return scenario_.name; }
    std::unique_ptr<SchedulePlan> plan(std::uint64_t seed) const override {
        return std::make_unique<RealPlan>(scenarios::generate(scenario_, seed));
    }
    live::LiveResult run_live(std::uint64_t seed, const live::LiveOptions& options) const override {
        return live::run_live(scenarios::generate(scenario_, seed), options);
    }

  private:
    scenarios::Scenario scenario_;
};

class RealStory final : public Schedule {
  public:
    explicit RealStory(scenarios::Script script) : script_(std::move(script)) {}
    scenarios::ScheduleResult run(const scenarios::RunOptions& options) const override {
        scenarios::StoryResult told = scenarios::run_script(script_, options.trace);
        scenarios::ScheduleResult result;
        result.seed = script_.seed;
        result.digest = told.digest;
        result.events = told.events;
        result.virtual_ns = told.virtual_ns;
        result.acked_records = told.acked_records;
        result.read_records = told.read_records;
        result.violations = std::move(told.violations);
        if (!told.passed) result.violations.push_back({"story", told.virtual_ns, std::move(told.failure)});
        return result;
    }

  private:
    scenarios::Script script_;
};

// What the story begins with: the first line of its comment.
std::string first_words(std::string_view text) {
    if (!text.starts_with("# ")) return {};
    return std::string(text.substr(2, text.find('\n') - 2));
}

tl::expected<std::unique_ptr<Schedule>, std::string> parsed_story(std::string_view text, const std::string& name,
                                                                  const std::string& file) {
    Result<scenarios::Script, scenarios::InputError> script = scenarios::parse_script(text, name, file);
    if (!script) return tl::unexpected(script.error().text);
    return std::make_unique<RealStory>(std::move(*script));
}

}  // namespace

std::vector<Described> ScenarioEngine::scenarios() const {
    std::vector<Described> list;
    for (const std::string_view name : scenarios::builtin_scenario_names()) {
        const Result<scenarios::Scenario, scenarios::InputError> scenario = scenarios::load_scenario(name);
        list.push_back({std::string(name), scenario ? scenario->description : scenario.error().text});
    }
    return list;
}

tl::expected<std::unique_ptr<Scenario>, std::string> ScenarioEngine::load(const std::string& name_or_path) const {
    Result<scenarios::Scenario, scenarios::InputError> scenario;
    if (scenarios::is_scenario_path(name_or_path)) {
        const tl::expected<std::string, FileError> text = read_file(name_or_path);
        if (!text) return tl::unexpected(text.error());
        scenario = scenarios::parse_scenario(*text, std::filesystem::path(name_or_path).stem().string(), name_or_path);
    } else {
        scenario = scenarios::load_scenario(name_or_path);
    }
    if (!scenario) return tl::unexpected(scenario.error().text);
    return std::make_unique<RealScenario>(std::move(*scenario));
}

tl::expected<std::unique_ptr<SchedulePlan>, std::string> ScenarioEngine::read_plan(const std::string& json,
                                                                                   const std::string& file) const {
    Result<scenarios::Plan, scenarios::InputError> plan = scenarios::parse_plan(json, file);
    if (!plan) return tl::unexpected(plan.error().text);
    return std::make_unique<RealPlan>(std::move(*plan));
}

std::vector<Described> ScenarioEngine::stories() const {
    std::vector<Described> list;
    for (const scenarios::EmbeddedFile& story : scenarios::embedded_stories())
        list.push_back({std::string(story.name), first_words(story.text)});
    return list;
}

tl::expected<std::unique_ptr<Schedule>, std::string> ScenarioEngine::read_story(const std::string& name_or_path) const {
    for (const scenarios::EmbeddedFile& story : scenarios::embedded_stories()) {
        if (story.name == name_or_path) return parsed_story(story.text, name_or_path, name_or_path + ".scn");
    }
    const tl::expected<std::string, FileError> text = read_file(name_or_path);
    if (!text) return tl::unexpected(text.error());
    return parsed_story(*text, std::filesystem::path(name_or_path).stem().string(), name_or_path);
}

std::string ScenarioEngine::obstacle() const {
    if (!sim::kArenaEnabled) return {};
    void* const region = ::mmap(nullptr, sim::Arena::kReservedBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) {
        return fmt::format("cannot reserve the {} GiB of address space that a schedule takes: {} (ulimit -v)",
                           sim::Arena::kReservedBytes >> 30, std::generic_category().message(errno));
    }
    ::munmap(region, sim::Arena::kReservedBytes);
    return {};
}

std::vector<Described> ScenarioEngine::invariants() const {
    std::vector<Described> list;
    for (const checker::InvariantInfo& info : checker::catalogue()) {
        list.push_back({std::string(info.name), fmt::format("{:<4} {}", info.id, info.holds)});
    }
    list.push_back({"crash", "     no schedule ends the process that runs it"});
    list.push_back({"hang", "     every schedule ends, within the wall-clock time and the CPU time it is given"});
    list.push_back({"story", "     a replayed story goes as told"});
    return list;
}

std::vector<Described> ScenarioEngine::faults() const {
    std::vector<Described> list;
    for (const scenarios::FaultInfo& info : scenarios::all_faults()) {
        list.push_back({scenarios::full_name_of(info.kind), std::string(info.doc)});
    }
    return list;
}

std::vector<Described> ScenarioEngine::marks() const {
    std::vector<Described> list;
    for (std::size_t i = 0; i < broker::kMarkCount; ++i) {
        list.push_back({std::string(broker::name_of(static_cast<broker::Mark>(i))), ""});
    }
    return list;
}

}  // namespace tidelock::tools
