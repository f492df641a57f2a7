/// Reads JSON objects with the path of every key at hand, so that a complaint can name it. The first complaint wins and
/// is kept; after it reading goes on harmlessly. Include in .cc files only: nlohmann's header is heavy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "scenarios/scenario.h"
#include "scenarios/settings.h"

namespace tidelock::scenarios {

/// Parses JSON with comments; refuses cut-off text, naming line and column, keys given twice, zero bytes, and what
/// nests so deeply that showing it would run a stack out.
Result<nlohmann::json, InputError> parse_json(std::string_view text, std::string_view file);

/// The first thing found wrong, "key.path: what".
class Complaint {
  public:
    void add(std::string_view path, std::string_view what) {
        if (text_.empty()) text_ = path.empty() ? std::string(what) : std::string(path) + ": " + std::string(what);
    }
    [[nodiscard]] bool is_empty() const { return text_.empty(); }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// One object. Keys that nobody asked for are complained about by `finish`.
class ObjectReader {
  public:
    ObjectReader(const nlohmann::json& value, std::string path, Complaint& complaint);

    [[nodiscard]] bool has(std::string_view key) const;
    /// Leave the output as it was when the key is absent.
    void integer(std::string_view key, Range bounds, std::int64_t& out);
    void range(std::string_view key, Range bounds, Range& out);
    void boolean(std::string_view key, bool& out);
    void string(std::string_view key, std::string& out);
    /// The index of the given word among `choices`.
    void choice(std::string_view key, std::span<const std::string_view> choices, std::int64_t& out);
    /// An unsigned 64-bit number, written as a number or, where a script language would round it, as a string.
    void unsigned64(std::string_view key, std::uint64_t& out);
    /// Null if absent; marks the key as known.
    const nlohmann::json* member(std::string_view key);
    /// As the readers above, for a key that has to be there.
    void require(std::string_view key);
    void finish();

    [[nodiscard]] std::string path_of(std::string_view key) const;
    [[nodiscard]] const nlohmann::json& value() const { return *value_; }
    [[nodiscard]] Complaint& complaint() const { return *complaint_; }
    void complain(std::string_view key, std::string_view what) { complaint_->add(path_of(key), what); }

  private:
    const nlohmann::json* value_;
    std::string path_;
    Complaint* complaint_;
    std::set<std::string, std::less<>> known_;
};

/// One integer within bounds; complains otherwise.
void read_integer(const nlohmann::json& value, const std::string& path, Range bounds, std::int64_t& out,
                  Complaint& complaint);
/// A single number, or [smallest, largest].
void read_range(const nlohmann::json& value, const std::string& path, Range bounds, Range& out, Complaint& complaint);
/// Complains, with `path_prefix` before the setting's path, when one setting can be above another that bounds it.
void check_settings_agree(const SettingRanges& settings, std::string_view path_prefix, Complaint& complaint);
/// As the setting's type asks: number, switch or word.
void read_setting_range(const nlohmann::json& value, const SettingInfo& info, const std::string& path, Range& out,
                        Complaint& complaint);

}  // namespace tidelock::scenarios
