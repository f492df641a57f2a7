#include "checker/invariant.h"

#include <fmt/format.h>

namespace tidelock::checker {

std::string text_of(BrokerId broker) {
    return fmt::format("broker {}", broker.value);
}

std::string text_of(const std::vector<Replica>& members) {
    std::string text;
    for (const Replica& member : members) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", member.broker.value);
    }
    return "{" + text + "}";
}

std::string text_of(const broker::BatchSummary& batch) {
    return fmt::format("offsets {}..{} (epoch {}, crc {:08x})", batch.base_offset.value, batch.last_offset.value,
                       batch.leader_epoch.value, batch.content);
}

}  // namespace tidelock::checker
