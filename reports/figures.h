/// Numbers as people read them: "12,345", "1 h 23 min", "34.5 MiB".
#pragma once

#include <cstdint>
#include <string>

namespace tidelock::reports {

/// Digits in groups of three: 1234567 is "1,234,567".
std::string grouped(std::int64_t number);
/// A span of time with two units at most: "83 h 20 min", "1 min 10 s", "0.4 s".
std::string span_text(std::int64_t ns);
/// "34.5 MiB".
std::string mebibytes(std::int64_t bytes);
/// How many a second, in groups of three, with one decimal below ten; "-" when no time has passed.
std::string rate_text(std::int64_t count, std::int64_t ns);

}  // namespace tidelock::reports
