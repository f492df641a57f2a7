/// The engine of the real program: scenarios/ behind the interface that the command line calls.
#pragma once

#include "tools/tidelock/engine.h"

namespace tidelock::tools {

class ScenarioEngine final : public Engine {
  public:
    std::vector<Described> scenarios() const override;
    tl::expected<std::unique_ptr<Scenario>, std::string> load(const std::string& name_or_path) const override;
    tl::expected<std::unique_ptr<SchedulePlan>, std::string> read_plan(const std::string& json,
                                                                       const std::string& file) const override;
    std::vector<Described> stories() const override;
    tl::expected<std::unique_ptr<Schedule>, std::string> read_story(const std::string& name_or_path) const override;
    std::string obstacle() const override;
    std::vector<Described> invariants() const override;
    std::vector<Described> faults() const override;
    std::vector<Described> marks() const override;
};

}  // namespace tidelock::tools
