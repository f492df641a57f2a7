// Configurations of tidelockd from anywhere: settings, or an error that names the file and says where.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/tidelockd/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidelock;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto settings = tidelockd::parse_settings(text, "broker.json");
    if (!settings && settings.error().find("broker.json") == std::string::npos) std::abort();
    if (!settings) return 0;
    // What is accepted can be run with: members are known, times are in order.
    const broker::Config& broker = settings->broker;
    const bool is_sane = broker.election_timeout_min <= broker.election_timeout_max &&
                         broker.min_insync_replicas >= 1 &&
                         static_cast<std::size_t>(broker.min_insync_replicas) <= broker.members.size() &&
                         settings->connections_max > 0 && settings->request_bytes_max > 0;
    if (!is_sane) std::abort();
    return 0;
}
