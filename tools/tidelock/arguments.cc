#include "tools/tidelock/arguments.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

namespace tidelock::tools {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t ns;
};

constexpr std::array kUnits = {
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"min", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
    Unit{"", 1'000'000'000},
};

constexpr std::int64_t kDurationMaxHours = 24 * 365;
constexpr std::int32_t kShardsMax = 1'000'000;  // a shard looks at every seed: with more it would look all day for one

// All digits of `text` as a number; false when there is anything else in it, nothing, or too much.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
    if (text.empty() || text.front() < '0' || text.front() > '9') return false;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    return code == std::errc() && stop == text.data() + text.size();
}

tl::unexpected<std::string> wrong_duration(std::string_view text) {
    return tl::unexpected(fmt::format("'{}' is no duration (write 90s, 1.5m, 2h or 250ms)", text));
}

// The part after the point, in units of `unit_ns`.
std::int64_t fraction_ns(std::string_view digits, std::int64_t unit_ns) {
    std::int64_t ns = 0;
    std::int64_t place = unit_ns;
    for (const char digit : digits) {
        place /= 10;
        ns += place * (digit - '0');
    }
    return ns;
}

}  // namespace

tl::expected<std::uint64_t, std::string> parse_seed(std::string_view text) {
    std::uint64_t seed = 0;
    if (read_number(text, seed)) return seed;
    return tl::unexpected(fmt::format("'{}' is no seed (a whole number of 64 bits)", text));
}

tl::expected<SeedRange, std::string> parse_seeds(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == 0 || (dots != std::string_view::npos && dots + 2 == text.size())) {
        return tl::unexpected(fmt::format("'{}' is no range of seeds (write 1..1000, or 7 for one)", text));
    }
    const tl::expected<std::uint64_t, std::string> first = parse_seed(text.substr(0, dots));
    if (!first) return tl::unexpected(first.error());
    if (dots == std::string_view::npos) return SeedRange{*first, *first};
    const tl::expected<std::uint64_t, std::string> last = parse_seed(text.substr(dots + 2));
    if (!last) return tl::unexpected(last.error());
    if (*first > *last) return tl::unexpected(fmt::format("'{}' is empty: the first seed is above the last", text));
    return SeedRange{*first, *last};
}

tl::expected<std::int64_t, std::string> parse_duration(std::string_view text) {
    const std::size_t number_end = text.find_first_not_of("0123456789.");
    const std::string_view number = text.substr(0, number_end);
    const std::string_view unit_name = number_end == std::string_view::npos ? "" : text.substr(number_end);
    const std::size_t point = number.find('.');
    const std::string_view digits = point == std::string_view::npos ? "" : number.substr(point + 1);
    std::int64_t whole = 0;
    if (!read_number(number.substr(0, point), whole)) return wrong_duration(text);
    if (point != std::string_view::npos && (digits.empty() || digits.find('.') != std::string_view::npos)) {
        return wrong_duration(text);
    }
    for (const Unit& unit : kUnits) {
        if (unit.name != unit_name) continue;
        if (whole > kDurationMaxHours * kUnits[6].ns / unit.ns) {
            return tl::unexpected(fmt::format("'{}' is longer than a year", text));
        }
        return whole * unit.ns + fraction_ns(digits, unit.ns);
    }
    return wrong_duration(text);
}

tl::expected<std::int64_t, std::string> parse_time_span(std::string_view text) {
    tl::expected<std::int64_t, std::string> duration = parse_duration(text);
    if (duration && *duration == 0) return tl::unexpected(fmt::format("'{}' leaves no time at all", text));
    return duration;
}

tl::expected<Shard, std::string> parse_shard(std::string_view text) {
    const std::size_t slash = text.find('/');
    Shard shard;
    const bool numbers = slash != std::string_view::npos && read_number(text.substr(0, slash), shard.index) &&
                         read_number(text.substr(slash + 1), shard.count);
    if (!numbers) return tl::unexpected(fmt::format("'{}' is no shard (write 2/8 for the second of eight)", text));
    if (shard.index < 1 || shard.index > shard.count) {
        return tl::unexpected(fmt::format("'{}' is no shard: the first number goes from 1 to the second", text));
    }
    if (shard.count > kShardsMax) {
        return tl::unexpected(fmt::format("'{}' is no shard: there are at most {}", text, kShardsMax));
    }
    return shard;
}

std::int32_t shard_of(std::uint64_t seed, std::int32_t count) {
    // SplitMix64's finisher: neighbouring seeds fall into unrelated shards, so that shards take equally long.
    std::uint64_t x = seed + 0x9E37'79B9'7F4A'7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
    x ^= x >> 31;
    return static_cast<std::int32_t>(x % static_cast<std::uint64_t>(count)) + 1;
}

}  // namespace tidelock::tools
