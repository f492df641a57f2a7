// Scenario files and plans from anywhere: a value or an error that names the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "scenarios/plan.h"
#include "scenarios/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    using namespace tidelock::scenarios;
    const auto scenario = parse_scenario(text, "name", "file.json");
    if (!scenario && scenario.error().text.find("file.json") == std::string::npos) std::abort();
    // A scenario that is accepted has a plan for any seed, and the plan reads back as itself.
    if (scenario) {
        const Plan plan = generate(*scenario, 7);
        const auto again = parse_plan(to_json(plan), "file.json");
        if (!again || !(*again == plan)) std::abort();
    }
    const auto plan = parse_plan(text, "file.json");
    if (plan && !parse_plan(to_json(*plan), "file.json")) std::abort();
    return 0;
}
