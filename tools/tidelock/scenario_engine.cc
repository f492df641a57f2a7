#include "tools/tidelock/scenario_engine.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "checker/catalogue.h"
#include "protocol/broker/marks.h"
#include "scenarios/fault_kind.h"
#include "scenarios/plan.h"
#include "scenarios/scenario.h"
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

  private:
    scenarios::Scenario scenario_;
};

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
