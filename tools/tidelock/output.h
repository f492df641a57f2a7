/// What all commands say to the outside: complaints, result files, and the exit status that follows from both.
#pragma once

#include <string>
#include <string_view>

#include "reports/results.h"
#include "tools/tidelock/options.h"

namespace tidelock::tools {

/// "tidelock: ..." on standard error.
void complain(std::string_view what);

/// Standard output, whole or not at all; false (after complaining) when it could not be written.
bool print_out(std::string_view text);

/// Checks that the result files could be written, before any work is done; complains when not.
bool can_write_results(const std::string& json_file, const std::string& junit_file);

/// Writes those that were asked for; complains about each that fails and returns false.
bool write_results(const reports::Results& results, const std::string& json_file, const std::string& junit_file);

/// The status that results alone give: unsound before violation before clean.
ExitStatus status_of(const reports::Results& results);

}  // namespace tidelock::tools
