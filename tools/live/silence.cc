#include "tools/live/silence.h"

#include <algorithm>

namespace tidelock::live {

std::optional<std::int64_t> silence_after(std::int64_t moment_ns, std::span<const std::int64_t> times) {
    constexpr std::int64_t kWindowNs = 3'000'000'000;
    auto after = std::ranges::upper_bound(times, moment_ns);
    if (after == times.begin() || after == times.end()) return std::nullopt;
    std::int64_t longest = 0;
    std::int64_t last = *(after - 1);
    for (; after != times.end() && last <= moment_ns + kWindowNs; ++after) {
        longest = std::max(longest, *after - last);
        last = *after;
    }
    return longest;
}

}  // namespace tidelock::live
