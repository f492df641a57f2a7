#include "protocol/broker/record_watch.h"

#include <algorithm>
#include <limits>

namespace tidelock::broker {

void RecordWatches::add(const clients::ClientRef& client, std::vector<WatchedPosition> positions, Instant deadline) {
    const WatchId id = next_id_++;
    for (const WatchedPosition& each : positions) {
        const auto [at, is_new] = by_partition_[each.partition].try_emplace(id, each.offset);
        if (!is_new) at->second = std::min(at->second, each.offset);
    }
    by_deadline_[deadline].push_back(id);
    watches_.emplace(id, Watch{client, std::move(positions), deadline});
}

std::vector<clients::ClientRef> RecordWatches::take_passed(TopicPartition tp, Offset high_watermark) {
    const auto here = by_partition_.find(tp);
    if (here == by_partition_.end()) return {};
    std::vector<WatchId> passed;
    for (const auto& [id, offset] : here->second)
        if (offset < high_watermark) passed.push_back(id);
    std::vector<clients::ClientRef> taken;
    taken.reserve(passed.size());
    for (const WatchId id : passed) taken.push_back(take(id));
    return taken;
}

std::vector<clients::ClientRef> RecordWatches::take_all(TopicPartition tp) {
    return take_passed(tp, Offset(std::numeric_limits<std::int64_t>::max()));
}

std::vector<clients::ClientRef> RecordWatches::take_expired(Instant now) {
    std::vector<clients::ClientRef> taken;
    while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
        const std::vector<WatchId> expired = by_deadline_.begin()->second;
        for (const WatchId id : expired) taken.push_back(take(id));
    }
    return taken;
}

void RecordWatches::forget(ConnectionId connection) {
    std::vector<WatchId> gone;
    for (const auto& [id, watch] : watches_)
        if (watch.client.connection == connection) gone.push_back(id);
    for (const WatchId id : gone) take(id);
}

std::optional<Instant> RecordWatches::next_deadline() const {
    return by_deadline_.empty() ? std::nullopt : std::optional(by_deadline_.begin()->first);
}

clients::ClientRef RecordWatches::take(WatchId id) {
    const auto at = watches_.find(id);
    const Watch watch = std::move(at->second);
    watches_.erase(at);
    for (const WatchedPosition& each : watch.positions) {
        const auto here = by_partition_.find(each.partition);
        if (here == by_partition_.end()) continue;
        here->second.erase(id);
        if (here->second.empty()) by_partition_.erase(here);
    }
    const auto due = by_deadline_.find(watch.deadline);
    std::erase(due->second, id);
    if (due->second.empty()) by_deadline_.erase(due);
    return watch.client;
}

}  // namespace tidelock::broker
