#include "tools/tidelock/timeline.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace tidelock::tools {

std::string virtual_time_text(std::int64_t ns) {
    return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string timeline_text(const scenarios::TraceLine& line) {
    return fmt::format("{:>14}  {:<12} {:<12} {}", virtual_time_text(line.time_ns), line.host, line.kind, line.text);
}

std::string timeline_json(const scenarios::TraceLine& line) {
    const nlohmann::ordered_json object = {
        {"time_ns", line.time_ns}, {"host", line.host}, {"kind", line.kind}, {"text", line.text}};
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tidelock::tools
