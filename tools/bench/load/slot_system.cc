#include "tools/bench/load/slot_system.h"

#include <algorithm>

namespace tidelock::load {
namespace {

constexpr std::int64_t kStepNs = 2'000'000'000;
constexpr std::size_t kSlotsMax = 256;

}  // namespace

std::string SlotSystem::connect() {
    slots_.clear();
    idle_.clear();
    waiting_.clear();
    std::string why = "no broker is there";
    for (std::size_t i = 0; i < options_.brokers.size(); ++i) {
        auto channel = Channel::open(options_.brokers[i], kStepNs);
        why = channel ? check_leads(**channel) : channel.error();
        if (!why.empty()) continue;
        leader_ = i;
        return open_slots(options_.brokers[i]);
    }
    return why;
}

std::string SlotSystem::open_slots(const HostPort& broker) {
    const std::uint32_t batch = std::min(options_.batch_records(), batch_records_max());
    const std::size_t wanted = std::clamp<std::size_t>((options_.in_flight + batch - 1) / batch, 1, kSlotsMax);
    while (slots_.size() < wanted) {
        auto channel = Channel::open(broker, kStepNs);
        if (!channel) return channel.error();
        idle_.push_back(slots_.size());
        slots_.push_back({std::move(*channel), std::nullopt});
    }
    return {};
}

void SlotSystem::send(RecordRange range, std::int64_t made_ns) {
    waiting_.push_back({range, made_ns});
    begin();
}

void SlotSystem::begin() {
    while (!waiting_.empty() && !idle_.empty()) {
        Slot& slot = slots_[idle_.back()];
        idle_.pop_back();
        slot.under_way = waiting_.front().range;
        put_records(*slot.channel, waiting_.front().range, waiting_.front().made_ns);
        waiting_.pop_front();
    }
}

std::string SlotSystem::wait(std::int64_t patience_ns, Outcomes& outcomes) {
    std::vector<Channel*> channels;
    for (const Slot& slot : slots_) channels.push_back(slot.channel.get());
    const std::string error = exchange_all(channels, patience_ns);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        Slot& slot = slots_[i];
        if (!slot.under_way) continue;
        const auto place = take_answer(*slot.channel, *slot.under_way);
        if (!place) return place.error();
        if (!*place) continue;
        const RecordRange range = *std::exchange(slot.under_way, std::nullopt);
        idle_.push_back(i);
        outcomes.on_acknowledged(range, **place);
    }
    begin();
    return error;
}

}  // namespace tidelock::load
