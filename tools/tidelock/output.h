/// What all commands say to the outside: complaints, result files, and the exit status that follows from both.
#pragma once

#include <string>
#include <string_view>

#include "reports/results.h"
#include "tools/tidelock/engine.h"
#include "tools/tidelock/options.h"

namespace tidelock::tools {

/// Before anything else: a standard stream that was closed gets a stand-in that refuses every write (else the next file
/// opened would take its place), and a closed pipe or a file size limit is an error where it is met, not a signal.
void secure_standard_streams();

/// Text on standard error. One that is closed, full or broken costs the text and nothing else.
void tell(std::string_view text);

/// "tidelock: ..." on standard error; control characters, which names may hold, are left out.
void complain(std::string_view what);

/// A word as a shell reads it back, in quotes where it must be.
std::string shell_quoted(std::string_view word);

/// Standard output, whole or not at all; false (after complaining) when it could not be written.
bool print_out(std::string_view text);

/// Checks that the result files could be written and are two, before any work is done; complains when not.
bool can_write_results(const ResultFiles& files);

/// Writes those that were asked for, then the summary: on standard output, or on standard error when results are there.
/// Complains about each that fails and returns false.
bool write_results(const reports::Results& results, const ResultFiles& files, std::string_view summary);

/// Whether the system lets schedules run at all; complains when not.
bool can_run_schedules(const Engine& engine);

/// The status that results alone give: unsound before violation before clean.
ExitStatus status_of(const reports::Results& results);

}  // namespace tidelock::tools
