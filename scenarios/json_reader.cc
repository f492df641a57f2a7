#include "scenarios/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tidelock::scenarios {

namespace {

using nlohmann::json;

constexpr int kDepthMax = 32;

/// "[json.exception.parse_error.101] parse error at line 3, column 5: ..." without the bracket.
std::string plain(std::string_view what) {
    const std::size_t end = what.find("] ");
    return std::string(what.starts_with("[json.") && end != std::string_view::npos ? what.substr(end + 2) : what);
}

/// Watches the parser and remembers the first key given twice in one object.
class DuplicateKeys {
  public:
    bool on(json::parse_event_t event, const json& parsed) {
        if (event == json::parse_event_t::object_start) open_.emplace_back();
        if (event == json::parse_event_t::object_end && !open_.empty()) open_.pop_back();
        if (event == json::parse_event_t::key && !open_.empty() && first_.empty()) {
            const std::string key = parsed.get<std::string>();
            if (!open_.back().insert(key).second) first_ = key;
        }
        return true;
    }
    [[nodiscard]] const std::string& first() const { return first_; }

  private:
    std::vector<std::set<std::string>> open_;
    std::string first_;
};

}  // namespace

Result<json, InputError> parse_json(std::string_view text, std::string_view file) {
    // The parser would take it for the end and what follows for nothing.
    if (text.find('\0') != std::string_view::npos)
        return Failure<InputError>({fmt::format("{}: is no JSON text: there is a zero byte in it", file)});
    DuplicateKeys duplicates;
    bool nests_too_deeply = false;
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth > kDepthMax) nests_too_deeply = true;
        return !nests_too_deeply && duplicates.on(event, parsed);
    };
    try {
        json value = json::parse(text.begin(), text.end(), watch, true, true);
        if (nests_too_deeply)
            return Failure<InputError>({fmt::format("{}: nests deeper than {} levels", file, kDepthMax)});
        if (!duplicates.first().empty())
            return Failure<InputError>({fmt::format("{}: key \"{}\" is given twice", file, duplicates.first())});
        return value;
    } catch (const json::exception& error) {
        return Failure<InputError>({fmt::format("{}: {}", file, plain(error.what()))});
    }
}

ObjectReader::ObjectReader(const json& value, std::string path, Complaint& complaint)
    : value_(&value), path_(std::move(path)), complaint_(&complaint) {
    if (!value.is_object()) complaint.add(path_, fmt::format("must be an object, not {}", value.type_name()));
}

std::string ObjectReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

bool ObjectReader::has(std::string_view key) const {
    return value_->is_object() && value_->contains(std::string(key));
}

const json* ObjectReader::member(std::string_view key) {
    known_.emplace(key);
    if (!has(key)) return nullptr;
    return &(*value_)[std::string(key)];
}

void ObjectReader::integer(std::string_view key, Range bounds, std::int64_t& out) {
    if (const json* value = member(key)) read_integer(*value, path_of(key), bounds, out, *complaint_);
}

void ObjectReader::range(std::string_view key, Range bounds, Range& out) {
    if (const json* value = member(key)) read_range(*value, path_of(key), bounds, out, *complaint_);
}

void ObjectReader::boolean(std::string_view key, bool& out) {
    const json* value = member(key);
    if (value == nullptr) return;
    if (value->is_boolean()) {
        out = value->get<bool>();
    } else {
        complain(key, fmt::format("must be true or false, not {}", value->dump()));
    }
}

void ObjectReader::string(std::string_view key, std::string& out) {
    const json* value = member(key);
    if (value == nullptr) return;
    if (value->is_string()) {
        out = value->get<std::string>();
    } else {
        complain(key, fmt::format("must be text, not {}", value->type_name()));
    }
}

void ObjectReader::choice(std::string_view key, std::span<const std::string_view> choices, std::int64_t& out) {
    std::string word;
    if (!has(key)) {
        member(key);
        return;
    }
    string(key, word);
    const auto found = std::find(choices.begin(), choices.end(), word);
    if (found == choices.end()) {
        complain(key, fmt::format("\"{}\" is none of {}", word, fmt::join(choices, ", ")));
    } else {
        out = found - choices.begin();
    }
}

void ObjectReader::unsigned64(std::string_view key, std::uint64_t& out) {
    const json* value = member(key);
    if (value == nullptr) return;
    if (value->is_number_unsigned()) {
        out = value->get<std::uint64_t>();
        return;
    }
    const std::string text = value->is_string() ? value->get<std::string>() : "";
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stopped_at, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && stopped_at == end) {
        out = number;
    } else {
        complain(key, fmt::format("must be a whole number from 0 to {}, not {}", UINT64_MAX, value->dump()));
    }
}

void ObjectReader::require(std::string_view key) {
    if (value_->is_object() && !has(key)) complain(key, "is missing");
}

void ObjectReader::finish() {
    if (!value_->is_object()) return;
    for (const auto& [key, ignored] : value_->items())
        if (!known_.contains(key)) complain(key, "unknown key");
}

void read_integer(const json& value, const std::string& path, Range bounds, std::int64_t& out, Complaint& complaint) {
    if (!value.is_number_integer()) {
        complaint.add(path, fmt::format("must be a whole number, not {}", value.dump()));
        return;
    }
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(bounds.max)) {
        complaint.add(path, fmt::format("{} is above {}", value.get<std::uint64_t>(), bounds.max));
        return;
    }
    const std::int64_t number = value.get<std::int64_t>();
    if (number < bounds.min) {
        complaint.add(path, fmt::format("{} is below {}", number, bounds.min));
    } else {
        out = number;
    }
}

void read_range(const json& value, const std::string& path, Range bounds, Range& out, Complaint& complaint) {
    if (!value.is_array()) {
        std::int64_t both = out.min;
        read_integer(value, path, bounds, both, complaint);
        out = {both, both};
        return;
    }
    if (value.size() != 2) {
        complaint.add(path, fmt::format("a range is [smallest, largest], not {} numbers", value.size()));
        return;
    }
    Range read{};
    read_integer(value[0], path + "[0]", bounds, read.min, complaint);
    read_integer(value[1], path + "[1]", bounds, read.max, complaint);
    if (read.min > read.max) {
        complaint.add(path, fmt::format("the range [{}, {}] runs backwards", read.min, read.max));
    } else {
        out = read;
    }
}

namespace {

void read_switch(const json& value, const std::string& path, Range& out, Complaint& complaint) {
    const bool is_both = value.is_array() && value.size() == 2 && value[0] == json(false) && value[1] == json(true);
    if (is_both) {
        out = {0, 1};
    } else if (value.is_boolean()) {
        out = value.get<bool>() ? Range{1, 1} : Range{0, 0};
    } else {
        complaint.add(path, fmt::format("must be true, false or [false, true], not {}", value.dump()));
    }
}

void read_choice(const json& value, const SettingInfo& info, const std::string& path, Range& out,
                 Complaint& complaint) {
    if (!value.is_string()) {
        complaint.add(path, fmt::format("must be one of {}, not {}", fmt::join(info.choices, ", "), value.dump()));
        return;
    }
    const std::string word = value.get<std::string>();
    const auto found = std::find(info.choices.begin(), info.choices.end(), word);
    if (found == info.choices.end()) {
        complaint.add(path, fmt::format("\"{}\" is none of {}", word, fmt::join(info.choices, ", ")));
    } else {
        out = {found - info.choices.begin(), found - info.choices.begin()};
    }
}

}  // namespace

void read_setting_range(const json& value, const SettingInfo& info, const std::string& path, Range& out,
                        Complaint& complaint) {
    switch (info.type) {
        case SettingType::kInteger:
            read_range(value, path, {info.min, info.max}, out, complaint);
            return;
        case SettingType::kSwitch:
            read_switch(value, path, out, complaint);
            return;
        case SettingType::kChoice:
            read_choice(value, info, path, out, complaint);
            return;
    }
}

namespace {

struct Ordered {
    Setting lower;
    Setting upper;
};
constexpr Ordered kOrdered[] = {
    {Setting::kElectionTimeoutMinMs, Setting::kElectionTimeoutMaxMs},
    {Setting::kHeartbeatMs, Setting::kElectionTimeoutMinMs},
    {Setting::kDelayMinUs, Setting::kDelayMaxUs},
    {Setting::kSyncMinUs, Setting::kSyncMaxUs},
    {Setting::kReadMinUs, Setting::kReadMaxUs},
    {Setting::kDriftPpm, Setting::kDriftBoundPpm},
    {Setting::kMinInsyncReplicas, Setting::kBrokers},
};

}  // namespace

void check_settings_agree(const SettingRanges& settings, std::string_view path_prefix, Complaint& complaint) {
    const auto path_of = [path_prefix](Setting setting) {
        return std::string(path_prefix) + std::string(info_of(setting).path);
    };
    for (const auto& [lower, upper] : kOrdered) {
        const std::int64_t low = settings[lower].max;
        const std::int64_t high = settings[upper].min;
        if (low > high)
            complaint.add(path_of(lower), fmt::format("{} is above {} ({})", low, info_of(upper).path, high));
    }
    const std::int64_t acks_sum = settings[Setting::kAcksAllPermille].max + settings[Setting::kAcksLeaderPermille].max;
    if (acks_sum > 1'000)
        complaint.add(path_of(Setting::kAcksLeaderPermille),
                      fmt::format("with acks_all_permille it makes {}, more than 1000", acks_sum));
}

}  // namespace tidelock::scenarios
