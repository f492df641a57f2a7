#include "tools/tidelockd/event_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tidelock::tidelockd {
namespace {

constexpr std::uint32_t kPerSecondMax = 10;
constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};

std::string time_text() {
    const auto now = std::chrono::system_clock::now();
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), millis);
}

}  // namespace

void EventLog::write(Level level, std::string_view event, std::string_view text, const Fields& fields) {
    if (level < least_) return;
    nlohmann::ordered_json line;
    line["time"] = time_text();
    line["level"] = kLevels[static_cast<std::size_t>(level)];
    line["event"] = event;
    if (!text.empty()) line["text"] = text;
    for (const auto& [key, value] : fields) line[std::string(key)] = value;
    const std::string written = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    std::fwrite(written.data(), 1, written.size(), out_);
    std::fflush(out_);
}

void EventLog::write_limited(Level level, std::string_view event, std::string_view text, const Fields& fields) {
    const auto now = std::chrono::steady_clock::now();
    Rate& rate = rates_.try_emplace(std::string(event), Rate{now, 0, 0}).first->second;
    if (now - rate.since >= std::chrono::seconds(1)) {
        rate.since = now;
        rate.written = 0;
    }
    if (rate.written >= kPerSecondMax) {
        ++rate.left_out;
        return;
    }
    ++rate.written;
    if (rate.left_out == 0) return write(level, event, text, fields);
    Fields more = fields;
    more.emplace_back("left_out", std::to_string(std::exchange(rate.left_out, 0)));
    write(level, event, text, more);
}

}  // namespace tidelock::tidelockd
