/// Connections: generations, who knows that one is gone, and how the other end learns of it.
#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/network.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

constexpr std::uint64_t kViewIsChanged = 1;  // Event::b: the end's own view was changed already, it only has to be told

}  // namespace

std::uint32_t Network::open_connection(Link& way) {
    if (way.sender_end.is_open) return way.sender_end.generation;
    const End& far_end = link(way.to, way.from).sender_end;
    // If the peer opened one that has not been heard of here, both opened at once: that is one connection.
    const bool joins = far_end.is_open && far_end.generation > way.sender_end.generation;
    const std::uint32_t next = std::max(way.sender_end.generation, far_end.generation) + 1;
    way.sender_end = End{joins ? far_end.generation : next, true};
    return way.sender_end.generation;
}

/// Frames of a generation the receiver has left are answered by a reset; a newer generation replaces the older one.
bool Network::accept_generation(const Event& event) {
    const std::uint32_t connection = static_cast<std::uint32_t>(event.a);
    Host& host = world_.host(event.host);
    End& end = link(event.host, event.peer).sender_end;
    const bool is_old = connection < end.generation || (connection == end.generation && !end.is_open);
    if (!host.is_alive() || is_old) {
        trace_frame(TraceKind::kDrop, event, "connection is gone");
        send_reset(event.host, event.peer, connection);
        return false;
    }
    if (connection > end.generation) {
        const End before = std::exchange(end, End{connection, true});
        if (before.is_open) host.accept(ConnectionBroken{event.peer, before.generation});
    }
    // What the host did on hearing of the break may have closed this one too.
    return host.is_alive() && end.is_open && end.generation == connection;
}

void Network::send_reset(HostId from, HostId to, std::uint32_t connection) {
    Link& way = link(from, to);
    if (way.mode == LinkMode::kDatagram) return;
    Departure reset{way, Bytes(), FrameTag{}, connection, way.frame_number++, 0};
    const TimeNs arrival =
        in_order(way, world_.now() + way.config.delay.at(numbered_draw(way.fault_key, reset.number)));
    push_arrival(way, arrival, Event{EventKind::kConnectionBroken, to, from, 0, connection, 0, {}});
}

void Network::on_connection_broken(Event& event) {
    Host& host = world_.host(event.host);
    const std::uint32_t connection = static_cast<std::uint32_t>(event.a);
    if ((event.b & kViewIsChanged) == 0) {
        Link& way = link(event.peer, event.host);
        const bool is_remote = event.life == 0;  // it travelled; otherwise the end noticed by itself
        if (is_remote && way.cut_count != 0) return;
        if (is_remote && is_held_up(way, event)) return;
        End& end = link(event.host, event.peer).sender_end;
        if (!end.is_open || end.generation != connection) return;
        end.is_open = false;
    } else if (host.life() != event.life) {
        return;
    }
    if (!host.is_alive()) return;
    trace_frame(TraceKind::kConnection, event, "broken");
    host.accept(ConnectionBroken{event.peer, connection});
}

void Network::break_end(HostId end, HostId peer) {
    End& view = link(end, peer).sender_end;
    if (!view.is_open) return;
    view.is_open = false;
    world_.queue().push(
        world_.now(),
        Event{EventKind::kConnectionBroken, end, peer, world_.host(end).life(), view.generation, kViewIsChanged, {}});
}

bool Network::reset_connection(HostId one, HostId other) {
    if (link(one, other).mode == LinkMode::kDatagram) return false;
    if (!link(one, other).sender_end.is_open && !link(other, one).sender_end.is_open) return false;
    break_end(one, other);
    break_end(other, one);
    world_.faults().count(FaultKind::kConnectionReset);
    return true;
}

bool Network::break_half(HostId learns, HostId believes) {
    if (link(learns, believes).mode == LinkMode::kDatagram) return false;
    const bool is_whole = link(learns, believes).sender_end.is_open && link(believes, learns).sender_end.is_open;
    if (!is_whole || learns == believes) return false;
    break_end(learns, believes);
    world_.faults().count(FaultKind::kHalfOpen);
    return true;
}

void Network::strike_connection(const Departure& departure) {
    const Link& way = departure.link;
    if (strikes(FaultKind::kConnectionReset, departure)) reset_connection(way.from, way.to);
    if (strikes(FaultKind::kHalfOpen, departure)) break_half(way.to, way.from);
}

void Network::close_connection(HostId closer, HostId peer) {
    if (link(closer, peer).mode == LinkMode::kDatagram) return;
    End& view = link(closer, peer).sender_end;
    if (!view.is_open) return;
    view.is_open = false;
    send_reset(closer, peer, view.generation);
}

void Network::on_host_down(HostId host, bool peers_are_told) {
    for (const HostId peer : ids_) {
        link(host, peer).sender_end.is_open = false;
        if (peer == host || !peers_are_told) continue;
        const End& far_end = link(peer, host).sender_end;
        if (far_end.is_open) send_reset(host, peer, far_end.generation);
    }
}

}  // namespace tidelock::sim
