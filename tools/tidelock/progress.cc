#include "tools/tidelock/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "reports/figures.h"
#include "tools/tidelock/output.h"

namespace tidelock::tools {

namespace {

constexpr std::int64_t kBarEveryNs = 200'000'000;
constexpr std::int64_t kLineEveryNs = 5'000'000'000;
constexpr std::int64_t kBarCells = 30;

std::string bar_text(std::int64_t permille) {
    const auto filled = static_cast<std::size_t>(permille * kBarCells / 1000);
    return "[" + std::string(filled, '#') + std::string(static_cast<std::size_t>(kBarCells) - filled, '.') + "]";
}

// A terminal that can go back to the start of a line and clear it.
bool can_redraw() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

std::int64_t progress_permille(const CampaignProgress& progress) {
    std::int64_t permille = 0;
    if (progress.schedules_total.value_or(0) > 0) permille = progress.schedules * 1000 / *progress.schedules_total;
    if (progress.time_ns.value_or(0) > 0) {
        permille = std::max(permille, progress.elapsed_ns / std::max<std::int64_t>(*progress.time_ns / 1000, 1));
    }
    return std::clamp<std::int64_t>(permille, 0, 1000);
}

std::string progress_text(const CampaignProgress& progress) {
    const std::int64_t permille = progress_permille(progress);
    std::string text = reports::grouped(progress.schedules);
    if (progress.schedules_total) text += " of " + reports::grouped(*progress.schedules_total);
    text += fmt::format(" schedules ({} %), {}/s", permille / 10,
                        reports::rate_text(progress.schedules, progress.elapsed_ns));
    if (permille > 0 && permille < 1000) {
        const std::int64_t left_ns = progress.elapsed_ns / permille * (1000 - permille);
        text += fmt::format(", {} to go", reports::span_text(left_ns));
    }
    return text +
           fmt::format(", {} violation{}", reports::grouped(progress.violations), progress.violations == 1 ? "" : "s");
}

ProgressDisplay::ProgressDisplay() : terminal_(can_redraw()) {}

void ProgressDisplay::show(const CampaignProgress& progress) {
    const std::int64_t every_ns = terminal_ ? kBarEveryNs : kLineEveryNs;
    if (progress.elapsed_ns - last_shown_ns_ < every_ns) return;
    last_shown_ns_ = progress.elapsed_ns;
    if (terminal_) {
        tell(fmt::format("\r\x1b[K{} {}", bar_text(progress_permille(progress)), progress_text(progress)));
    } else {
        tell(progress_text(progress) + "\n");
    }
    shown_ = terminal_;
}

void ProgressDisplay::clear() {
    if (shown_) tell("\r\x1b[K");
    shown_ = false;
}

}  // namespace tidelock::tools
