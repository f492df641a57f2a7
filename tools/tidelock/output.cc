#include "tools/tidelock/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
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

constexpr std::string_view kStandardOutput = "-";

bool is_file(const std::string& name) {
    return !name.empty() && name != kStandardOutput;
}

}  // namespace

void secure_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        // The lowest free number is taken, which is this one.
        if (::fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
            const int stand_in = ::open("/dev/null", O_RDONLY);
    }
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
}

void tell(std::string_view text) {
    // Nobody is left to be told that this failed.
    [[maybe_unused]] const bool told = write_all(STDERR_FILENO, text);
}

void complain(std::string_view what) {
    std::string line = "tidelock: ";
    for (const char c : what) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte >= 0x20 && byte != 0x7F) || c == '\n' || c == '\t') line += c;
    }
    tell(line + "\n");
}

std::string shell_quoted(std::string_view word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+,:@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return std::string(word);
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

bool print_out(std::string_view text) {
    std::fflush(stdout);
    if (write_all(STDOUT_FILENO, text)) return true;
    complain(fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
    return false;
}

bool can_write_results(const ResultFiles& files) {
    if (files.json == kStandardOutput && files.junit == kStandardOutput) {
        complain("--junit: standard output is taken by --json: nobody could tell the two apart");
        return false;
    }
    if (is_file(files.json) && !accepted(check_writable_file(files.json), "--json")) return false;
    if (is_file(files.json) && is_file(files.junit) && are_one_file(files.json, files.junit)) {
        complain(fmt::format("--junit: '{}' is the file of --json: one would overwrite the other", files.junit));
        return false;
    }
    return !is_file(files.junit) || accepted(check_writable_file(files.junit), "--junit");
}

bool write_results(const reports::Results& results, const ResultFiles& files, std::string_view summary) {
    bool written = true;
    if (is_file(files.json)) written &= accepted(write_file(files.json, reports::results_to_json(results)), "--json");
    if (is_file(files.junit))
        written &= accepted(write_file(files.junit, reports::results_to_junit(results)), "--junit");
    // After the files: a reader of standard output that stands still must not cost them.
    if (files.json != kStandardOutput && files.junit != kStandardOutput) return print_out(summary) && written;
    tell(summary);
    const bool is_json = files.json == kStandardOutput;
    return print_out(is_json ? reports::results_to_json(results) : reports::results_to_junit(results)) && written;
}

bool can_run_schedules(const Engine& engine) {
    const std::string obstacle = engine.obstacle();
    if (!obstacle.empty()) complain(obstacle);
    return obstacle.empty();
}

ExitStatus status_of(const reports::Results& results) {
    const reports::Totals totals = reports::totals_of(results);
    if (totals.unsound > 0) return ExitStatus::kUnsound;
    return totals.violations > 0 ? ExitStatus::kViolation : ExitStatus::kClean;
}

}  // namespace tidelock::tools
