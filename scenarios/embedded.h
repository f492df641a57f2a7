/// The scenarios and stories that are compiled into the program, so that it runs anywhere without its source tree. The
/// table is generated at build time from scenarios/*.json and scenarios/stories/*.scn (CMakeLists.txt).
#pragma once

#include <span>
#include <string_view>

namespace tidelock::scenarios {

struct EmbeddedFile {
    std::string_view name;  // without folder and ending
    std::string_view text;
};

/// Sorted by name.
std::span<const EmbeddedFile> embedded_scenarios();
std::span<const EmbeddedFile> embedded_stories();

}  // namespace tidelock::scenarios
