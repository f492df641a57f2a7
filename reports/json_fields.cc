#include "reports/json_fields.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/results.h"

namespace tidelock::reports {

namespace {

using nlohmann::json;

// 290 years, as nanoseconds what kSumMax is.
constexpr double kSecondsMax = 9.2e9;

constexpr std::uint64_t kCountMax = kSumMax;

bool is_count(const json& value) {
    return value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= kCountMax) &&
           value.get<std::int64_t>() >= 0;
}

// Writing a value recurses once a level: what nests deeper than any file of ours is refused before it can run a stack
// out.
constexpr int kDepthMax = 64;

bool nests_too_deeply(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
            continue;
        }
        if (c == '"') in_string = true;
        if (c == '[' || c == '{') ++depth;
        if (c == ']' || c == '}') --depth;
        if (depth > kDepthMax) return true;
    }
    return false;
}

}  // namespace

tl::expected<json, std::string> parse_json(std::string_view text) {
    // The parser would take it for the end and what follows for nothing.
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
        return tl::unexpected(fmt::format("is no JSON text: a zero byte stands at byte {}", at + 1));
    }
    if (nests_too_deeply(text)) return tl::unexpected(fmt::format("nests deeper than {} levels", kDepthMax));
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        return tl::unexpected(fmt::format("is no whole JSON text: breaks off or goes wrong at byte {}", error.byte));
    } catch (const json::out_of_range&) {
        return tl::unexpected(std::string("holds a number out of range"));
    }
}

JsonFields::JsonFields(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object())
        fail_with(fmt::format("{}: an object is wanted here", path_.empty() ? "top level" : path_));
}

std::string JsonFields::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::string JsonFields::path_of(std::string_view key, std::size_t index) const {
    return fmt::format("{}[{}]", path_of(key), index);
}

void JsonFields::fail(std::string_view key, std::string_view what) {
    fail_with(fmt::format("{}: {}", path_of(key), what));
}

void JsonFields::fail_with(std::string error) {
    if (!error_) error_ = std::move(error);
}

const json* JsonFields::optional_value(std::string_view key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(std::string(key));
    return found == object_.end() ? nullptr : &*found;
}

const json* JsonFields::require(std::string_view key) {
    const json* value = optional_value(key);
    if (value == nullptr) fail(key, "is missing");
    return value;
}

std::string JsonFields::text(std::string_view key) {
    const json* value = require(key);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    fail(key, "a string is wanted here");
    return {};
}

bool JsonFields::boolean(std::string_view key) {
    const json* value = require(key);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    fail(key, "true or false is wanted here");
    return false;
}

std::int64_t JsonFields::count(std::string_view key) {
    const json* value = require(key);
    if (value == nullptr) return 0;
    if (is_count(*value)) return value->get<std::int64_t>();
    fail(key, "a whole number, 0 or more, is wanted here");
    return 0;
}

std::uint64_t JsonFields::unsigned_number(std::string_view key) {
    const json* value = require(key);
    if (value == nullptr) return 0;
    if (value->is_number_unsigned() || (value->is_number_integer() && value->get<std::int64_t>() >= 0)) {
        return value->get<std::uint64_t>();
    }
    fail(key, "a whole number of 64 bits, 0 or more, is wanted here");
    return 0;
}

std::int64_t JsonFields::nanoseconds(std::string_view key) {
    const json* value = require(key);
    if (value == nullptr) return 0;
    if (value->is_number()) {
        const double seconds = value->get<double>();
        if (seconds >= 0 && seconds <= kSecondsMax) return std::llround(seconds * 1e9);
    }
    fail(key, "a number of seconds, 0 or more, is wanted here");
    return 0;
}

std::uint64_t JsonFields::digest(std::string_view key) {
    const std::string digits = text(key);
    std::uint64_t number = 0;
    if (digits.size() == 18 && digits.starts_with("0x")) {
        const char* end = digits.data() + digits.size();
        const auto [stop, code] = std::from_chars(digits.data() + 2, end, number, 16);
        if (code == std::errc() && stop == end) return number;
    }
    fail(key, "0x and 16 hexadecimal digits are wanted here");
    return 0;
}

std::map<std::string, std::int64_t> JsonFields::counts(std::string_view key) {
    const json* value = require(key);
    std::map<std::string, std::int64_t> counts;
    if (value == nullptr) return counts;
    if (!value->is_object()) {
        fail(key, "an object of names and counts is wanted here");
        return counts;
    }
    for (const auto& [name, count] : value->items()) {
        if (is_count(count)) {
            counts[name] = count.get<std::int64_t>();
        } else {
            fail(fmt::format("{}.{}", key, name), "a whole number, 0 or more, is wanted here");
        }
    }
    return counts;
}

const json* JsonFields::array(std::string_view key) {
    const json* value = require(key);
    if (value == nullptr || value->is_array()) return value;
    fail(key, "a list is wanted here");
    return nullptr;
}

}  // namespace tidelock::reports
