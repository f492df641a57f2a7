/// Reads the fields of a JSON object one by one, totally: a missing key, a wrong type and a number out of range each
/// become an error that names the key's path. Used by every reader of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace tidelock::reports {

/// Parses text of any origin; the error says at which byte it breaks off, or that it is nested too deeply.
tl::expected<nlohmann::json, std::string> parse_json(std::string_view text);

/// One object being read. The first error is kept, later reads give zero values; ask `error()` at the end.
class JsonFields {
  public:
    /// Reads from `object`, known in errors as `path`; `object` must outlive this.
    JsonFields(const nlohmann::json& object, std::string path);

    std::string text(std::string_view key);
    bool boolean(std::string_view key);
    std::int64_t count(std::string_view key);  // 0 and up
    std::uint64_t unsigned_number(std::string_view key);
    std::int64_t nanoseconds(std::string_view key);  // from a number of seconds, 0 and up
    std::uint64_t digest(std::string_view key);      // from "0x" and 16 hexadecimal digits
    std::map<std::string, std::int64_t> counts(std::string_view key);
    /// The array under `key`; nothing, and an error, when it is none.
    const nlohmann::json* array(std::string_view key);
    /// The value under `key`, or nothing. No error when it is missing.
    const nlohmann::json* optional_value(std::string_view key) const;

    /// Path of an element of the array under `key`: "scenarios[3]".
    [[nodiscard]] std::string path_of(std::string_view key, std::size_t index) const;
    void fail(std::string_view key, std::string_view what);
    void fail_with(std::string error);
    [[nodiscard]] const std::optional<std::string>& error() const { return error_; }

  private:
    const nlohmann::json* require(std::string_view key);
    [[nodiscard]] std::string path_of(std::string_view key) const;

    const nlohmann::json& object_;
    std::string path_;
    std::optional<std::string> error_;
};

}  // namespace tidelock::reports
