#include "reports/figures.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidelock::reports {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kRateMax = 9e18;  // what 64 bits hold

}  // namespace

std::string grouped(std::int64_t number) {
    std::string digits = fmt::format("{}", number < 0 ? -number : number);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return number < 0 ? "-" + digits : digits;
}

std::string span_text(std::int64_t ns) {
    const std::int64_t seconds = ns / kSecond;
    if (seconds < 10) return fmt::format("{}.{} s", seconds, ns % kSecond / (kSecond / 10));
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
    if (seconds < 24 * 3600) return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
    return fmt::format("{} days {} h", grouped(seconds / 86400), seconds % 86400 / 3600);
}

std::string mebibytes(std::int64_t bytes) {
    constexpr std::int64_t kMebibyte = 1 << 20;
    return fmt::format("{}.{} MiB", bytes / kMebibyte, bytes % kMebibyte * 10 / kMebibyte);
}

std::string rate_text(std::int64_t count, std::int64_t ns) {
    if (ns <= 0) return "-";
    const double rate = static_cast<double>(count) * static_cast<double>(kSecond) / static_cast<double>(ns);
    return rate < 10 ? fmt::format("{:.1f}", rate) : grouped(static_cast<std::int64_t>(std::min(rate, kRateMax)));
}

}  // namespace tidelock::reports
