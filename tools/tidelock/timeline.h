/// A schedule's trace as a timeline: text for people, JSON for programs.
#pragma once

#include <string>

#include "scenarios/schedule.h"

namespace tidelock::tools {

/// "   12.345678901  broker-1   event        ...".
std::string timeline_text(const scenarios::TraceLine& line);
/// One JSON object, without a newline.
std::string timeline_json(const scenarios::TraceLine& line);
/// Virtual seconds with nine decimals.
std::string virtual_time_text(std::int64_t ns);

}  // namespace tidelock::tools
