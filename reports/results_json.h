/// Results as JSON: the format of `tidelock run --json` and the input of `tidelock merge`.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "reports/results.h"

namespace tidelock::reports {

/// The whole file, indented, ending in a newline.
std::string results_to_json(const Results& results);

/// Any text gives results or an error that names the key's path (or the byte where the JSON breaks off).
tl::expected<Results, std::string> results_from_json(std::string_view text);

}  // namespace tidelock::reports
