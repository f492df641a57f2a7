/// Results as JUnit XML, which every CI system shows: a suite a scenario, a case for all its schedules together and one
/// more for each failing seed.
#pragma once

#include <string>

#include "reports/results.h"

namespace tidelock::reports {

/// The whole file. Violations are failures, unsound runs errors, a campaign that stopped early a skipped case.
std::string results_to_junit(const Results& results);

/// `text` as XML character data or attribute value; what XML 1.0 cannot hold becomes U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace tidelock::reports
