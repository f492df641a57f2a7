/// Results as text for somebody who sees them for the first time.
#pragma once

#include <string>

#include "reports/results.h"

namespace tidelock::reports {

/// The summary a campaign ends with. `replay_program` is how the reader called the program, for the example command.
std::string summary_text(const Results& results, const std::string& replay_program);

}  // namespace tidelock::reports
