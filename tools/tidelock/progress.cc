#include "tools/tidelock/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "reports/figures.h"

namespace tidelock::tools {

namespace {

constexpr std::int64_t kBarEveryNs = 200'000'000;
constexpr std::int64_t kLineEveryNs = 5'000'000'000;
constexpr std::int64_t kBarCells = 30;

std::string bar_text(std::int64_t permille) {
    const auto filled = static_cast<std::size_t>(permille * kBarCells / 1000);
    return "[" + std::string(filled, '#') + std::string(static_cast<std::size_t>(kBarCells) - filled, '.') + "]";
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

ProgressDisplay::ProgressDisplay() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressDisplay::show(const CampaignProgress& progress) {
    const std::int64_t every_ns = terminal_ ? kBarEveryNs : kLineEveryNs;
    if (progress.elapsed_ns - last_shown_ns_ < every_ns) return;
    last_shown_ns_ = progress.elapsed_ns;
    if (terminal_) {
        fmt::print(stderr, "\r\x1b[K{} {}", bar_text(progress_permille(progress)), progress_text(progress));
    } else {
        fmt::print(stderr, "{}\n", progress_text(progress));
    }
    std::fflush(stderr);
    shown_ = terminal_;
}

void ProgressDisplay::clear() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    shown_ = false;
}

}  // namespace tidelock::tools
