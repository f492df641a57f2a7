/// Faults of links made to measure: cuts, clogs, slow links, aimed drops.
#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/network.h"
#include "sim/world.h"

namespace tidelock::sim {

CutId Network::cut(const LinkSet& links, FaultKind why) {
    const CutId id = next_cut_++;
    cuts_.push_back(Cut{id, why, false, links});
    std::sort(cuts_.back().links.begin(), cuts_.back().links.end());
    for (const DirectedLink& each : links) ++link(each.from, each.to).cut_count;
    return id;
}

void Network::heal(CutId cut) {
    const auto found = std::find_if(cuts_.begin(), cuts_.end(), [cut](const Cut& each) { return each.id == cut; });
    if (found == cuts_.end()) return;
    for (const DirectedLink& each : found->links) {
        Link& way = link(each.from, each.to);
        CHECK(way.cut_count > 0);
        --way.cut_count;
    }
    cuts_.erase(found);
}

void Network::heal_all() {
    while (!cuts_.empty()) heal(cuts_.back().id);
}

bool Network::is_cut(HostId from, HostId to) const {
    return link(from, to).cut_count != 0;
}

void Network::count_cut(Link& way) {
    ++frames_cut_;
    // Of several cuts of this link the latest is named as the cause.
    const auto covers = [&way](const Cut& cut) {
        return std::binary_search(cut.links.begin(), cut.links.end(), DirectedLink{way.from, way.to});
    };
    const auto cause = std::find_if(cuts_.rbegin(), cuts_.rend(), covers);
    CHECK(cause != cuts_.rend());
    if (!std::exchange(cause->has_bitten, true)) world_.faults().count(cause->why);
}

void Network::clog(HostId from, HostId to) {
    Link& way = link(from, to);
    if (std::exchange(way.is_clogged, true)) return;
    way.clog_was_counted = false;
}

void Network::unclog(HostId from, HostId to) {
    Link& way = link(from, to);
    if (!std::exchange(way.is_clogged, false) || way.held.empty()) return;
    world_.call_at(world_.now(), [this, from, to] { release_held(link(from, to)); });
}

/// Until this has run, later arrivals queue behind what is held: the stream keeps its order.
void Network::release_held(Link& way) {
    if (way.is_clogged) return;
    for (Event& event : std::exchange(way.held, {})) {
        if (event.kind == EventKind::kFrame) {
            on_frame(event);
        } else {
            on_connection_broken(event);
        }
    }
}

bool Network::is_held_up(Link& way, Event& event) {
    if (!way.is_clogged && way.held.empty()) return false;
    if (!std::exchange(way.clog_was_counted, true)) world_.faults().count(FaultKind::kLinkClogged);
    way.held.push_back(std::move(event));
    return true;
}

void Network::slow_down(HostId from, HostId to, std::uint32_t factor) {
    CHECK(factor > 0);
    Link& way = link(from, to);
    if (way.slow_factor == 1) way.arrival_before_slowness = way.last_arrival;
    if (factor < way.slow_factor) hurry_slowed(way, factor);
    way.slow_factor = factor;
    way.slowness_was_counted = false;
}

/// What is on the way shares in the mending: otherwise one frame sent at the worst moment would hold up the stream long
/// after its link is well. Order is kept, also behind frames that left before the link was slow.
void Network::hurry_slowed(Link& way, std::uint32_t factor) {
    std::stable_sort(way.slowed.begin(), way.slowed.end(),
                     [](const SlowedFrame& a, const SlowedFrame& b) { return a.arrival < b.arrival; });
    TimeNs latest = std::max(world_.now(), way.arrival_before_slowness);
    const auto sooner = [this, &way, factor](TimeNs arrival) {
        if (arrival <= world_.now()) return arrival;
        return world_.now() + (arrival - world_.now()) / way.slow_factor * factor;
    };
    for (SlowedFrame& frame : std::exchange(way.slowed, {})) {
        if (!world_.queue().cancel(frame.handle)) continue;
        frame.arrival = latest = std::max(sooner(frame.arrival), latest + 1);
        frame.handle = world_.queue().push(frame.arrival, frame.event);
        if (factor != 1) way.slowed.push_back(std::move(frame));
    }
    way.last_arrival = std::min(way.last_arrival, latest);
    way.overtakable_at = sooner(way.overtakable_at);
    way.free_at = sooner(way.free_at);
}

void Network::drop_next(HostId from, HostId to, std::uint8_t frame_kind, std::uint32_t count) {
    if (count != 0) link(from, to).pending_drops.push_back(PendingDrop{frame_kind, count});
}

void Network::set_kind_loss(std::uint8_t frame_kind, std::uint32_t per_million) {
    CHECK(frame_kind < kFrameKindCount);
    kind_loss_per_million_[frame_kind] = per_million;
    has_kind_loss_ = std::any_of(kind_loss_per_million_.begin(), kind_loss_per_million_.end(),
                                 [](std::uint32_t rate) { return rate != 0; });
}

KindDelayId Network::delay_kind(KindDelay delay) {
    CHECK(delay.frame_kind < kFrameKindCount);
    std::sort(delay.links.begin(), delay.links.end());
    kind_delays_.emplace_back(next_kind_delay_, std::move(delay));
    return next_kind_delay_++;
}

void Network::end_kind_delay(KindDelayId delay) {
    std::erase_if(kind_delays_, [delay](const auto& each) { return each.first == delay; });
}

void Network::restore_all() {
    heal_all();
    kind_delays_.clear();
    kind_loss_per_million_.fill(0);
    has_kind_loss_ = false;
    for (std::vector<Link>& row : links_)
        for (Link& way : row) {
            slow_down(way.from, way.to, 1);
            way.pending_drops.clear();
            if (way.is_clogged) unclog(way.from, way.to);
        }
}

}  // namespace tidelock::sim
