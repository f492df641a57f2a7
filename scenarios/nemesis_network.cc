// Faults of the network.
#include <fmt/format.h>

#include <algorithm>

#include "protocol/broker/peer_message.h"
#include "scenarios/nemesis.h"

namespace tidelock::scenarios {

namespace {

std::optional<sim::FaultKind> rate_kind(FaultKind kind) {
    switch (kind) {
        case FaultKind::kDelaySpike:
            return sim::FaultKind::kDelaySpike;
        case FaultKind::kLoss:
            return sim::FaultKind::kFrameLost;
        case FaultKind::kDuplicate:
            return sim::FaultKind::kFrameDuplicated;
        case FaultKind::kReorder:
            return sim::FaultKind::kFrameReordered;
        case FaultKind::kLostResponse:
            return sim::FaultKind::kResponseLost;
        case FaultKind::kCorruptFrames:
            return sim::FaultKind::kFrameCorrupted;
        default:
            return std::nullopt;
    }
}

sim::FaultKind partition_kind(FaultKind kind) {
    switch (kind) {
        case FaultKind::kPartitionOneWay:
            return sim::FaultKind::kPartitionOneWay;
        case FaultKind::kPartitionBridge:
            return sim::FaultKind::kPartitionBridge;
        case FaultKind::kPartitionRing:
            return sim::FaultKind::kPartitionRing;
        case FaultKind::kPartitionFlapping:
            return sim::FaultKind::kPartitionFlapping;
        default:
            return sim::FaultKind::kPartitionTwoSided;
    }
}

/// Of the frames of a kind, when not all of them are late.
constexpr std::uint32_t kSomeLatePpm = 600'000;

/// Longer than the emptied broker takes to come back.
constexpr Duration kAloneFor = seconds(1);

template <typename Element>
Element take_random(std::vector<Element>& from, sim::Rng& random) {
    const std::size_t pick = random.below(from.size());
    const Element taken = from[pick];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(pick));
    return taken;
}

}  // namespace

void Nemesis::fire_network(const PlannedFault& fault, sim::Rng& random) {
    if (const std::optional<sim::FaultKind> kind = rate_kind(fault.kind)) return open_rate(fault, *kind);
    switch (fault.kind) {
        case FaultKind::kLossByKind:
            return lose_kind(fault, random);
        case FaultKind::kLateKind:
            return delay_kind(fault, random);
        case FaultKind::kCutOffAtElection:
        case FaultKind::kPartitionAtStep:
            return arm_strike(fault, random);
        case FaultKind::kReset:
        case FaultKind::kHalfOpen:
            return break_connections(fault, random);
        case FaultKind::kClog:
        case FaultKind::kSlowLink:
            return hinder_links(fault, random);
        default:
            return partition(fault, random);
    }
}

/// Windows may overlap: the harshest counts.
void Nemesis::open_rate(const PlannedFault& fault, sim::FaultKind kind) {
    trace(fault, fmt::format("{} per million for {} ms", fault.size, fault.duration_ms));
    rates_.push_back({fault.id, kind, static_cast<std::uint32_t>(fault.size)});
    apply_rates(kind);
    later(milliseconds(fault.duration_ms), [this, id = fault.id, kind] {
        std::erase_if(rates_, [id](const RateWindow& window) { return window.fault == id; });
        apply_rates(kind);
    });
}

void Nemesis::apply_rates(sim::FaultKind kind) {
    sim::FaultRate rate = background_[static_cast<std::size_t>(kind)];
    rate.budget = UINT32_MAX;
    for (const RateWindow& window : rates_)
        if (window.kind == kind) rate.per_million = std::max(rate.per_million, window.per_million);
    world_.faults().set_rate(kind, rate);
}

void Nemesis::lose_kind(const PlannedFault& fault, sim::Rng& random) {
    // Peers' messages by their number, then the two kinds of client frames.
    const std::uint64_t drawn = random.below(broker::kPeerKindCount + 2U);
    const std::uint8_t frame_kind =
        drawn < broker::kPeerKindCount
            ? static_cast<std::uint8_t>(drawn)
            : static_cast<std::uint8_t>(kClientRequestKind + (drawn - broker::kPeerKindCount));
    trace(fault, fmt::format("kind {}, {} per million", frame_kind, fault.size));
    world_.network().set_kind_loss(frame_kind, static_cast<std::uint32_t>(fault.size));
    later(milliseconds(fault.duration_ms), [this, frame_kind] { world_.network().set_kind_loss(frame_kind, 0); });
}

/// What is said of one thing comes when it is no longer true, while everything else comes in time. Half of the time all
/// of it is as late, so that there is one gap and then none; else some of it is, each frame as it falls. It befalls all
/// brokers, or what one is told, or what one tells.
void Nemesis::delay_kind(const PlannedFault& fault, sim::Rng& random) {
    const BrokerId victim = victim_of(fault, random);
    const auto frame_kind = static_cast<std::uint8_t>(random.below(broker::kPeerKindCount));
    const std::uint64_t way = random.below(5);
    if (way >= 3) return delay_last_words(fault, victim, frame_kind, random);
    const std::vector<sim::HostId> one{host_of(victim)};
    const std::vector<sim::HostId> all = hosts_of(others_of(BrokerId(0)));
    const std::vector<sim::HostId> others = hosts_of(others_of(victim));
    const Duration longest = milliseconds(fault.size);
    const bool is_steady = random.below(2) == 0;
    sim::KindDelay delay;
    delay.frame_kind = frame_kind;
    delay.extra = sim::Distribution::uniform(is_steady ? longest : Duration(longest.value / 4), longest);
    delay.per_million = is_steady ? sim::kMillion : kSomeLatePpm;
    delay.links = way == 0 ? sim::one_way(all, all) : way == 1 ? sim::one_way(one, others) : sim::one_way(others, one);
    trace(fault, fmt::format("kind {} by {} ms on {} links", frame_kind, fault.size, delay.links.size()));
    const sim::KindDelayId id = world_.network().delay_kind(delay);
    later(milliseconds(fault.duration_ms), [this, id] { world_.network().end_kind_delay(id); });
}

/// A broker, mostly the leader, is cut off while what it was told is under way for about an election timeout: the
/// others do without it before it hears what they last said, consent to its leading most of the time.
void Nemesis::delay_last_words(const PlannedFault& fault, BrokerId victim, std::uint8_t frame_kind, sim::Rng& random) {
    const bool is_consent = random.below(3) != 0;
    if (is_consent) {
        victim = cluster_.leader().value_or(victim);
        frame_kind = broker::kind_number(raft::Message(raft::AppendAnswer()));
    }
    const std::vector<sim::HostId> one{host_of(victim)};
    const std::vector<sim::HostId> others = hosts_of(others_of(victim));
    const std::int64_t late_us = cluster_.plan().settings[Setting::kElectionTimeoutMaxMs] * random.between(700, 1'050);
    const Duration until_cut = microseconds(random.between(late_us / 20, late_us / 4));
    const sim::KindDelay delay{frame_kind, sim::Distribution::fixed(microseconds(late_us)), sim::kMillion,
                               sim::one_way(others, one)};
    trace(fault, fmt::format("kind {} by {} us to broker {}, cut off after {} us", frame_kind, late_us, victim.value,
                             until_cut.value / 1'000));
    const sim::KindDelayId id = world_.network().delay_kind(delay);
    later(until_cut, [this, &fault, id, one, others] {
        world_.network().end_kind_delay(id);
        const sim::CutId cut = world_.network().cut(sim::two_sided(one, others), sim::FaultKind::kPartitionTwoSided);
        later(milliseconds(fault.duration_ms), [this, cut] { world_.network().heal(cut); });
    });
}

void Nemesis::partition(const PlannedFault& fault, sim::Rng& random) {
    const sim::LinkSet links = links_of_partition(fault, random);
    if (links.empty()) return withhold(fault, "too few brokers for this pattern");
    trace(fault, fmt::format("{} links for {} ms", links.size(), fault.duration_ms));
    if (fault.kind == FaultKind::kPartitionFlapping)
        return flap(links, milliseconds(fault.size), world_.now() + milliseconds(fault.duration_ms));
    const sim::CutId cut = world_.network().cut(links, partition_kind(fault.kind));
    later(milliseconds(fault.duration_ms), [this, cut] { world_.network().heal(cut); });
}

/// Clients reach both sides, or one, as it falls: those that reach an old leader are the interesting ones.
sim::LinkSet Nemesis::links_of_partition(const PlannedFault& fault, sim::Rng& random) const {
    const BrokerId victim = victim_of(fault, random);
    std::vector<BrokerId> others = others_of(victim);
    if (others.empty()) return {};
    std::vector<BrokerId> side{victim};
    std::vector<BrokerId> bridge;
    if (fault.kind == FaultKind::kPartitionBridge && others.size() > 1) bridge.push_back(take_random(others, random));
    while (others.size() > side.size() + 1 && random.below(2) == 0) side.push_back(take_random(others, random));
    if (fault.kind == FaultKind::kPartitionRing) {
        std::vector<BrokerId> all = others_of(BrokerId(0));
        std::vector<sim::HostId> order;
        while (!all.empty()) order.push_back(host_of(take_random(all, random)));
        if (order.size() > 3) return sim::ring(order);
        // Three in a ring reach one another; let each be heard by its successor only.
        sim::LinkSet links;
        for (std::size_t i = 0; i < order.size() && order.size() == 3; ++i)
            links.push_back({order[i], order[(i + 2) % order.size()]});
        std::sort(links.begin(), links.end());
        return links;
    }
    std::vector<sim::HostId> one = hosts_of(side);
    std::vector<sim::HostId> other = hosts_of(others);
    for (const auto& host : world_.hosts()) {
        if (is_broker_host(host->id())) continue;
        const std::uint64_t drawn = random.below(4);
        if (drawn == 0) one.push_back(host->id());
        if (drawn == 1) other.push_back(host->id());
    }
    if (fault.kind == FaultKind::kPartitionOneWay)
        return random.below(2) == 0 ? sim::one_way(one, other) : sim::one_way(other, one);
    return fault.kind == FaultKind::kPartitionBridge ? sim::bridged(one, other) : sim::two_sided(one, other);
}

void Nemesis::flap(const sim::LinkSet& links, Duration period, sim::TimeNs until) {
    if (world_.now() >= until) return;
    const sim::CutId cut = world_.network().cut(links, sim::FaultKind::kPartitionFlapping);
    later(period, [this, cut] { world_.network().heal(cut); });
    later(period * 2, [this, links, period, until] { flap(links, period, until); });
}

/// It has heard that some agree, and never that all do. Meanwhile the others go on, and what they form must stay the
/// one group, whoever else the late one finds.
void Nemesis::cut_off_while_forming(const PlannedFault& fault, sim::Rng random) {
    const Settings& settings = cluster_.plan().settings;
    const std::int64_t forming_us =
        5'000 + (settings[Setting::kSyncMaxUs] + settings[Setting::kDelayMaxUs]) * 2;  // for the last one to come
    std::vector<BrokerId> others = others_of(BrokerId(0));
    const BrokerId late = take_random(others, random);
    if (others.empty()) return withhold(fault, "too few brokers for this pattern");
    const BrokerId emptied = others[random.below(others.size())];
    const bool is_disk_lost = random.below(4) != 0;
    const std::int64_t lasts_us = fault.duration_ms * 1'000;
    const Duration until_lost = microseconds(random.between(lasts_us / 8, lasts_us));
    later(microseconds(random.between(0, forming_us)), [this, &fault, late, emptied, is_disk_lost, until_lost, others] {
        trace(fault, fmt::format("broker {} for {} ms", late.value, fault.duration_ms));
        cluster_.count_fault(fault.kind);
        const sim::CutId cut = world_.network().cut(sim::two_sided(hosts_of({late}), hosts_of(others)),
                                                    sim::FaultKind::kPartitionTwoSided);
        if (!is_disk_lost) return later(milliseconds(fault.duration_ms), [this, cut] { world_.network().heal(cut); });
        later(until_lost, [this, &fault, late, emptied, cut] { leave_alone_with_emptied(fault, late, emptied, cut); });
    });
}

/// The cut moves: the two know nothing of a group, and nobody tells them.
void Nemesis::leave_alone_with_emptied(const PlannedFault& fault, BrokerId late, BrokerId emptied, sim::CutId cut) {
    world_.network().heal(cut);
    if (!empty(fault, emptied)) return;
    std::vector<BrokerId> others = others_of(late);
    std::erase(others, emptied);
    const sim::CutId moved = world_.network().cut(sim::two_sided(hosts_of({late, emptied}), hosts_of(others)),
                                                  sim::FaultKind::kPartitionTwoSided);
    later(milliseconds(fault.duration_ms) + kAloneFor, [this, moved] { world_.network().heal(moved); });
}

/// One peer, or all of them.
std::vector<sim::HostId> Nemesis::some_peers(BrokerId victim, sim::Rng& random) const {
    std::vector<BrokerId> others = others_of(victim);
    const bool takes_one = random.below(2) == 0;
    if (takes_one && !others.empty()) return {host_of(take_random(others, random))};
    std::vector<sim::HostId> peers = hosts_of(others);
    for (const auto& host : world_.hosts())
        if (!is_broker_host(host->id())) peers.push_back(host->id());
    return peers;
}

void Nemesis::break_connections(const PlannedFault& fault, sim::Rng& random) {
    const BrokerId victim = victim_of(fault, random);
    const bool victim_learns = random.below(2) == 0;
    trace(fault, fmt::format("on broker {}", victim.value));
    for (const sim::HostId peer : some_peers(victim, random)) {
        if (fault.kind == FaultKind::kReset) {
            world_.network().reset_connection(host_of(victim), peer);
        } else if (victim_learns) {
            world_.network().break_half(host_of(victim), peer);
        } else {
            world_.network().break_half(peer, host_of(victim));
        }
    }
}

void Nemesis::hinder_links(const PlannedFault& fault, sim::Rng& random) {
    const BrokerId victim = victim_of(fault, random);
    const std::vector<sim::HostId> peers = some_peers(victim, random);
    const sim::HostId host = host_of(victim);
    const bool is_clog = fault.kind == FaultKind::kClog;
    const auto factor = static_cast<std::uint32_t>(fault.size);
    trace(fault, fmt::format("between broker {} and {} others", victim.value, peers.size()));
    sim::Network& network = world_.network();
    for (const sim::HostId peer : peers) {
        is_clog ? network.clog(host, peer) : network.slow_down(host, peer, factor);
        is_clog ? network.clog(peer, host) : network.slow_down(peer, host, factor);
    }
    later(milliseconds(fault.duration_ms), [&network, host, peers, is_clog] {
        for (const sim::HostId peer : peers) {
            is_clog ? network.unclog(host, peer) : network.slow_down(host, peer, 1);
            is_clog ? network.unclog(peer, host) : network.slow_down(peer, host, 1);
        }
    });
}

}  // namespace tidelock::scenarios
