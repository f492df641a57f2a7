#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

// Event::b of a frame: its tag, what befell it, and the number that joins its trace entries.
constexpr std::uint64_t kResponseFlag = 1 << 8;
constexpr std::uint64_t kDuplicateFlag = 1 << 9;
constexpr std::uint64_t kCorruptFlag = 1 << 10;
constexpr std::uint64_t kLateFlag = 1 << 11;
constexpr int kFlowShift = 16;

// Each use of a frame's number draws from its own sequence.
constexpr std::uint64_t kDelayDraws = 0x01;
constexpr std::uint64_t kSpikeDraws = 0x02;
constexpr std::uint64_t kReorderDraws = 0x03;
constexpr std::uint64_t kDuplicateDraws = 0x04;
constexpr std::uint64_t kCorruptDraws = 0x05;
constexpr std::uint64_t kKindLossDraws = 0x06;
constexpr std::uint64_t kBreakDraws = 0x07;
constexpr std::uint64_t kKindDelayDraws = 0x08;

std::uint64_t drawn(std::uint64_t key, std::uint64_t use, std::uint64_t number) {
    return numbered_draw(key + use * 0xE703'7ED1'A0B4'28DBULL, number);
}

FrameTag tag_of(const Event& event) {
    return FrameTag{static_cast<std::uint8_t>(event.b & 0xFF), (event.b & kResponseFlag) != 0};
}

}  // namespace

Network::Network(World& world, const NetworkConfig& config, std::uint64_t seed)
    : world_(world), config_(config), seed_(seed) {}

void Network::add_host(HostId id) {
    ids_.push_back(id);
    links_.emplace_back();
    for (std::size_t from = 0; from < ids_.size(); ++from)
        for (std::size_t to = links_[from].size(); to < ids_.size(); ++to) {
            Link& made = links_[from].emplace_back();
            made.from = ids_[from];
            made.to = ids_[to];
            made.config = config_.link;
            made.mode = config_.mode;
            key_link(made);
        }
}

void Network::key_link(Link& keyed) const {
    const std::uint64_t entity =
        static_cast<std::uint64_t>(keyed.from.value) << 32 | static_cast<std::uint64_t>(keyed.to.value);
    keyed.fault_key = stream_seed(seed_, "link", entity);
}

void Network::reseed(std::uint64_t seed) {
    seed_ = seed;
    for (std::vector<Link>& row : links_)
        for (Link& each : row) key_link(each);
}

Network::Link& Network::link(HostId from, HostId to) {
    return links_[world_.index_of(from)][world_.index_of(to)];
}
const Network::Link& Network::link(HostId from, HostId to) const {
    return links_[world_.index_of(from)][world_.index_of(to)];
}

void Network::set_link(HostId from, HostId to, const LinkConfig& config) {
    link(from, to).config = config;
}
void Network::set_mode(HostId one, HostId other, LinkMode mode) {
    link(one, other).mode = link(other, one).mode = mode;
}
void Network::spare(HostId from, HostId to, bool is_spared) {
    link(from, to).is_spared = is_spared;
}

bool Network::strikes(FaultKind kind, const Departure& departure) const {
    return world_.faults().strikes(kind, departure.link.fault_key, departure.number);
}

void Network::send(HostId from, HostId to, Bytes frame, FrameTag tag) {
    CHECK(tag.kind < kFrameKindCount);
    Link& way = link(from, to);
    Departure departure{way, std::move(frame), tag, 0, way.frame_number++, ++frames_sent_};
    if (way.mode == LinkMode::kStream) {
        departure.connection = open_connection(way);
        if (!way.is_spared) strike_connection(departure);
    }
    depart(departure);
}

void Network::depart(Departure& departure) {
    Link& way = departure.link;
    const std::uint64_t response = departure.tag.is_response ? kResponseFlag : 0;
    Event event{EventKind::kFrame,
                way.to,
                way.from,
                0,
                departure.connection,
                departure.tag.kind | response | departure.flow << kFlowShift,
                departure.frame};
    trace_frame(TraceKind::kSend, event, {});
    if (const std::optional<FaultKind> lost = loss_of(departure)) {
        world_.faults().count(*lost);
        trace_frame(TraceKind::kDrop, event, text_of(*lost));
        break_after_loss(way, departure.connection);
        return;
    }
    const std::optional<Duration> late = kind_delay_of(departure);
    if (late) event.b |= kLateFlag;
    const TimeNs arrival = arrival_time(departure, late);
    if (way.cut_count != 0) {
        count_cut(way);
        trace_frame(TraceKind::kDrop, event, "cut");
        break_after_loss(way, departure.connection);
        return;
    }
    if (!way.is_spared && strikes(FaultKind::kFrameDuplicated, departure)) depart_again(departure);
    if (!way.is_spared && !departure.frame.empty() && strikes(FaultKind::kFrameCorrupted, departure)) {
        event.bytes = corrupted(departure);
        event.b |= kCorruptFlag;
    }
    push_arrival(way, arrival, std::move(event));
}

void Network::push_arrival(Link& way, TimeNs arrival, Event event) {
    if (way.slow_factor == 1) {
        world_.queue().push(arrival, std::move(event));
        return;
    }
    const EventHandle handle = world_.queue().push(arrival, event);
    way.slowed.push_back(SlowedFrame{handle, arrival, std::move(event)});
}

void Network::depart_again(const Departure& departure) {
    const Link& way = departure.link;
    const std::uint64_t response = departure.tag.is_response ? kResponseFlag : 0;
    Event copy{EventKind::kFrame,
               way.to,
               way.from,
               0,
               departure.connection,
               departure.tag.kind | response | kDuplicateFlag | departure.flow << kFlowShift,
               departure.frame};
    // A copy keeps no place in the stream: it may come before later frames or after them.
    const Duration delay = way.config.delay.at(drawn(way.fault_key, kDuplicateDraws, departure.number));
    const Duration later = config_.reorder.at(drawn(way.fault_key, kDuplicateDraws + 100, departure.number));
    world_.queue().push(world_.now() + delay + later, std::move(copy));
}

std::optional<FaultKind> Network::loss_of(const Departure& departure) {
    Link& way = departure.link;
    const FaultKind by_kind = departure.tag.is_response ? FaultKind::kResponseLost : FaultKind::kFrameKindLost;
    if (!way.pending_drops.empty() && takes_pending_drop(way, departure.tag)) return by_kind;
    if (way.is_spared) return std::nullopt;
    if (has_kind_loss_) {
        const std::uint32_t rate = kind_loss_per_million_[departure.tag.kind];
        if (scaled_below(drawn(way.fault_key, kKindLossDraws, departure.number), kMillion) < rate)
            return FaultKind::kFrameKindLost;
    }
    if (strikes(FaultKind::kFrameLost, departure)) return FaultKind::kFrameLost;
    if (departure.tag.is_response && strikes(FaultKind::kResponseLost, departure)) return FaultKind::kResponseLost;
    return std::nullopt;
}

bool Network::takes_pending_drop(Link& way, FrameTag tag) {
    for (auto drop = way.pending_drops.begin(); drop != way.pending_drops.end(); ++drop) {
        if (drop->frame_kind != tag.kind) continue;
        if (--drop->count == 0) way.pending_drops.erase(drop);
        return true;
    }
    return false;
}

TimeNs Network::arrival_time(Departure& departure, std::optional<Duration> late) {
    Link& way = departure.link;
    const std::uint64_t number = departure.number;
    Duration delay = way.config.delay.at(drawn(way.fault_key, kDelayDraws, number));
    if (way.slow_factor != 1) {
        delay = delay * way.slow_factor;
        if (!std::exchange(way.slowness_was_counted, true)) world_.faults().count(FaultKind::kSlowLink);
    }
    if (way.config.bandwidth_bytes_per_second != 0) {
        const std::uint64_t sending_ns = departure.frame.size() * 1'000'000'000 / way.config.bandwidth_bytes_per_second;
        way.free_at = std::max(way.free_at, world_.now()) + Duration(static_cast<std::int64_t>(sending_ns));
    }
    TimeNs arrival = std::max(way.free_at, world_.now()) + delay;
    if (!way.is_spared && strikes(FaultKind::kDelaySpike, departure)) {
        arrival = arrival + config_.spike.at(drawn(way.fault_key, kSpikeDraws, number));
        world_.faults().count(FaultKind::kDelaySpike);
    }
    if (late) {
        world_.faults().count(FaultKind::kFrameKindDelayed);
        return arrival + *late;
    }
    if (!way.is_spared && strikes(FaultKind::kFrameReordered, departure)) {
        way.overtakable_at =
            std::max(arrival, way.last_arrival) + config_.reorder.at(drawn(way.fault_key, kReorderDraws, number));
        return way.overtakable_at;
    }
    arrival = in_order(way, arrival);
    if (arrival < way.overtakable_at) {
        // Only now did the frame held back really lose its place.
        world_.faults().count(FaultKind::kFrameReordered);
        way.overtakable_at = TimeNs();
    }
    return arrival;
}

std::optional<Duration> Network::kind_delay_of(const Departure& departure) const {
    const Link& way = departure.link;
    for (const auto& [id, delay] : kind_delays_) {
        if (delay.frame_kind != departure.tag.kind) continue;
        if (!std::binary_search(delay.links.begin(), delay.links.end(), DirectedLink{way.from, way.to})) continue;
        const std::uint64_t draw = drawn(way.fault_key, kKindDelayDraws, departure.number);
        if (scaled_below(draw, kMillion) < delay.per_million) return delay.extra.at(scrambled(draw));
    }
    return std::nullopt;
}

TimeNs Network::in_order(Link& way, TimeNs arrival) {
    if (way.mode == LinkMode::kDatagram) return arrival;
    way.last_arrival = std::max(arrival, way.last_arrival + 1);
    return way.last_arrival;
}

Bytes Network::corrupted(const Departure& departure) const {
    const std::uint64_t key = departure.link.fault_key;
    std::uint64_t draw = drawn(key, kCorruptDraws, departure.number);
    const std::uint64_t flips = 1 + scaled_below(draw, 3);
    const std::uint64_t bits = departure.frame.size() * 8;
    return Bytes::build(departure.frame.size(), [&](std::span<std::byte> content) {
        std::copy(departure.frame.span().begin(), departure.frame.span().end(), content.begin());
        const std::uint64_t first = scaled_below(scrambled(draw), bits);
        for (std::uint64_t i = 0; i < flips; ++i) {
            // Distinct bits, so that the frame really differs.
            const std::uint64_t bit = (first + i) % bits;
            content[bit / 8] ^= std::byte{1} << (bit % 8);
        }
    });
}

void Network::break_after_loss(Link& way, std::uint32_t connection) {
    if (way.mode == LinkMode::kDatagram || config_.after_loss == AfterLoss::kGoOn) return;
    if (way.gap_generation == connection) return;
    way.gap_generation = connection;
    const Duration detection = config_.break_detection.at(drawn(way.fault_key, kBreakDraws, connection));
    for (const auto& [end, peer] : {std::pair(way.from, way.to), std::pair(way.to, way.from)})
        world_.queue().push(world_.now() + detection,
                            Event{EventKind::kConnectionBroken, end, peer, world_.host(end).life(), connection, 0, {}});
}

void Network::on_frame(Event& event) {
    Link& way = link(event.peer, event.host);
    if (is_stopped_on_the_way(way, event)) return;
    if (way.mode == LinkMode::kDatagram || accept_generation(event)) deliver(event);
}

bool Network::is_stopped_on_the_way(Link& way, Event& event) {
    const std::uint32_t connection = static_cast<std::uint32_t>(event.a);
    // A late one has waited on the receiver's side of what was cut meanwhile.
    if (way.cut_count != 0 && (event.b & kLateFlag) == 0) {
        count_cut(way);
        trace_frame(TraceKind::kDrop, event, "cut");
        break_after_loss(way, connection);
        return true;
    }
    if (is_held_up(way, event)) return true;
    if (way.mode == LinkMode::kStream && way.gap_generation != 0 && connection == way.gap_generation) {
        trace_frame(TraceKind::kDrop, event, "behind a gap");
        return true;
    }
    if (!world_.host(event.host).is_powered()) {
        trace_frame(TraceKind::kDrop, event, "no power");
        return true;
    }
    return false;
}

void Network::deliver(Event& event) {
    Host& host = world_.host(event.host);
    if (!host.is_alive()) return;
    if ((event.b & kDuplicateFlag) != 0) world_.faults().count(FaultKind::kFrameDuplicated);
    if ((event.b & kCorruptFlag) != 0) world_.faults().count(FaultKind::kFrameCorrupted);
    ++frames_delivered_;
    trace_frame(TraceKind::kDeliver, event, {});
    host.accept(FrameArrived{event.peer, static_cast<std::uint32_t>(event.a), tag_of(event), std::move(event.bytes)});
}

void Network::trace_frame(TraceKind kind, const Event& event, std::string_view text) {
    if (!world_.is_traced()) return;
    const bool is_send = kind == TraceKind::kSend;
    world_.trace(TraceEntry{TimeNs(), is_send ? event.peer : event.host, is_send ? event.host : event.peer, kind,
                            event.b >> kFlowShift, text});
}

}  // namespace tidelock::sim
