#include <fmt/core.h>

#include <algorithm>

#include "tools/tidelock/commands.h"
#include "tools/tidelock/output.h"

namespace tidelock::tools {

namespace {

std::vector<Described> listed(const Engine& engine, const std::string& what) {
    if (what == "scenarios") return engine.scenarios();
    if (what == "stories") return engine.stories();
    if (what == "invariants") return engine.invariants();
    return what == "faults" ? engine.faults() : engine.marks();
}

}  // namespace

int list_command(const Engine& engine, const std::string& what) {
    const std::vector<Described> entries = listed(engine, what);
    std::size_t width = 0;
    for (const Described& entry : entries) width = std::max(width, entry.name.size());
    std::string text;
    for (const Described& entry : entries) {
        text += entry.what.empty() ? entry.name + "\n" : fmt::format("{:<{}}  {}\n", entry.name, width, entry.what);
    }
    return static_cast<int>(print_out(text) ? ExitStatus::kClean : ExitStatus::kUnsound);
}

}  // namespace tidelock::tools
