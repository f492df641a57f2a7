/// Reads the values of flags. Each either reads the whole text or says what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "tools/tidelock/options.h"

namespace tidelock::tools {

/// "1..10000", both inclusive, or one number.
tl::expected<SeedRange, std::string> parse_seeds(std::string_view text);
tl::expected<std::uint64_t, std::string> parse_seed(std::string_view text);
/// "90", "90s", "1.5m", "2h", "250ms", "3us", "7ns": nanoseconds; a bare number is seconds.
tl::expected<std::int64_t, std::string> parse_duration(std::string_view text);
/// A duration of more than 0.
tl::expected<std::int64_t, std::string> parse_time_span(std::string_view text);
/// "2/8": the second of eight; at most a million of them.
tl::expected<Shard, std::string> parse_shard(std::string_view text);
/// Which shard of `count` a seed falls into, 1 and up; a stable hash, the same in every build.
std::int32_t shard_of(std::uint64_t seed, std::int32_t count);

}  // namespace tidelock::tools
