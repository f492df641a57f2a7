#include "tools/tidelock/output.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "reports/junit.h"
#include "reports/results_json.h"
#include "tools/tidelock/file_io.h"

namespace tidelock::tools {

namespace {

bool accepted(const FileError& error, std::string_view flag) {
    if (error.empty()) return true;
    complain(fmt::format("{}: {}", flag, error));
    return false;
}

}  // namespace

void complain(std::string_view what) {
    fmt::print(stderr, "tidelock: {}\n", what);
}

bool print_out(std::string_view text) {
    std::fflush(stdout);
    if (write_all(STDOUT_FILENO, text)) return true;
    complain(fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
    return false;
}

bool can_write_results(const std::string& json_file, const std::string& junit_file) {
    if (!json_file.empty() && !accepted(check_writable_file(json_file), "--json")) return false;
    return junit_file.empty() || accepted(check_writable_file(junit_file), "--junit");
}

bool write_results(const reports::Results& results, const std::string& json_file, const std::string& junit_file) {
    bool written = true;
    if (!json_file.empty()) written &= accepted(write_file(json_file, reports::results_to_json(results)), "--json");
    if (!junit_file.empty()) written &= accepted(write_file(junit_file, reports::results_to_junit(results)), "--junit");
    return written;
}

ExitStatus status_of(const reports::Results& results) {
    const reports::Totals totals = reports::totals_of(results);
    if (totals.unsound > 0) return ExitStatus::kUnsound;
    return totals.violations > 0 ? ExitStatus::kViolation : ExitStatus::kClean;
}

}  // namespace tidelock::tools
