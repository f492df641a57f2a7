/// A small world for tests: hosts that gossip, write and sync, so that every part of the simulator is in motion.
#pragma once

#include <string>
#include <vector>

#include "sim/world.h"

namespace tidelock::sim {

inline constexpr TimerId kGossipTimer{1};

/// Sends to random peers, appends what it hears to a file and syncs it now and then, until its life is over.
inline void gossip(Host& host, std::int32_t host_count) {
    host.set_timer(kGossipTimer, host.draw(milliseconds(1), milliseconds(10)));
    std::uint64_t heard_bytes = host.disk().size_of("heard");
    std::uint64_t sync_count = 0;
    while (const std::optional<Arrival> arrival = host.await_arrival()) {
        if (std::holds_alternative<TimerFired>(*arrival)) {
            const HostId peer(static_cast<std::int32_t>(host.draw(std::int64_t{1}, std::int64_t{host_count})));
            const std::uint64_t word = host.draw_bits();
            host.send(peer, Bytes::copy_of(std::to_string(word)), FrameTag{1, false});
            host.set_timer(kGossipTimer, host.draw(milliseconds(1), milliseconds(10)));
        } else if (const FrameArrived* const frame = std::get_if<FrameArrived>(&*arrival)) {
            host.disk().write("heard", heard_bytes, frame->frame);
            if (heard_bytes == 0) host.disk().sync_directory(DiskOp(0));
            heard_bytes += frame->frame.size();
            if (heard_bytes % 3 == 0) host.disk().sync("heard", DiskOp(++sync_count));
            if (heard_bytes > 10'000) {
                host.disk().truncate("heard", 0);
                heard_bytes = 0;
            }
            if (!frame->tag.is_response) host.send(frame->from, Bytes::copy_of("heard"), FrameTag{2, true});
        }
    }
}

/// Adds hosts 1 to `host_count`, each with a gossip story (also after restarts).
inline void add_gossips(World& world, std::int32_t host_count, const HostConfig& config = {}) {
    for (std::int32_t id = 1; id <= host_count; ++id) {
        Host& host = world.add_host(HostId(id), "gossip " + std::to_string(id), config);
        world.set_boot_story(HostId(id), [host_count](Host& booted) { gossip(booted, host_count); });
        world.spawn(host, [&host, host_count] { gossip(host, host_count); });
    }
}

/// Switches on every fault that is a rate.
inline void set_all_rates(World& world, std::uint32_t per_million) {
    for (std::size_t kind = 0; kind < kFaultKindCount; ++kind)
        world.faults().set_rate(static_cast<FaultKind>(kind), FaultRate{per_million});
}

constexpr TimeNs at_ms(std::int64_t n) {
    return TimeNs(n * 1'000'000);
}

/// Collects all arrivals of a host in `log` until its life is over.
inline void collect(Host& host, std::vector<Arrival>& log) {
    while (std::optional<Arrival> arrival = host.await_arrival()) log.push_back(std::move(*arrival));
}

/// How many arrivals of a type a log holds.
template <typename Wanted>
std::size_t count_of(const std::vector<Arrival>& log) {
    std::size_t count = 0;
    for (const Arrival& arrival : log) count += std::holds_alternative<Wanted>(arrival) ? 1 : 0;
    return count;
}

/// The texts of the frames a log holds, in order.
inline std::vector<std::string> frames_of(const std::vector<Arrival>& log) {
    std::vector<std::string> texts;
    for (const Arrival& arrival : log)
        if (const FrameArrived* const frame = std::get_if<FrameArrived>(&arrival))
            texts.emplace_back(frame->frame.text());
    return texts;
}

}  // namespace tidelock::sim
