#include "sim/plan.h"

#include <algorithm>
#include <span>

#include "protocol/base/check.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

std::vector<HostId> existing(const World& world, const std::vector<HostId>& named) {
    std::vector<HostId> found;
    for (const HostId id : named)
        if (world.has_host(id)) found.push_back(id);
    return found;
}

void undo_at(World& world, const PlannedFault& fault, std::function<void()> undo) {
    if (fault.lasts.value > 0) world.call_at(world.now() + fault.lasts, std::move(undo));
}

void restart_dead(World& world, const std::vector<HostId>& hosts) {
    for (const HostId id : hosts) world.restart(id);
}

/// The links a partition kind cuts.
LinkSet links_of(const PlannedFault& fault, const std::vector<HostId>& hosts, const std::vector<HostId>& peers) {
    switch (fault.fault) {
        case FaultKind::kPartitionOneWay:
            return one_way(hosts, peers);
        case FaultKind::kPartitionBridge:
            return bridged(hosts, peers);
        case FaultKind::kPartitionRing:
            return ring(hosts);
        default:
            return two_sided(hosts, peers);
    }
}

void apply_partition(World& world, const PlannedFault& fault) {
    const LinkSet links = links_of(fault, existing(world, fault.hosts), existing(world, fault.peers));
    const CutId cut = world.network().cut(links, fault.fault);
    undo_at(world, fault, [&world, cut] { world.network().heal(cut); });
}

void flap(World& world, const LinkSet& links, Duration half_period, TimeNs until) {
    if (world.now() >= until || world.are_faults_stopped()) return;
    const CutId cut = world.network().cut(links, FaultKind::kPartitionFlapping);
    world.call_at(std::min(world.now() + half_period, until), [&world, cut] { world.network().heal(cut); });
    world.call_at(world.now() + half_period * 2,
                  [&world, links, half_period, until] { flap(world, links, half_period, until); });
}

void apply_flapping(World& world, const PlannedFault& fault) {
    const LinkSet links = links_of(fault, existing(world, fault.hosts), existing(world, fault.peers));
    const Duration half_period(std::max<std::int64_t>(fault.amount, 1'000'000));
    flap(world, links, half_period, world.now() + fault.lasts);
}

void apply_to_links(World& world, const PlannedFault& fault) {
    const LinkSet links = one_way(existing(world, fault.hosts), existing(world, fault.peers));
    const std::uint32_t amount = static_cast<std::uint32_t>(std::max<std::int64_t>(fault.amount, 1));
    Network& network = world.network();
    for (const DirectedLink& way : links) {
        switch (fault.fault) {
            case FaultKind::kLinkClogged:
                network.clog(way.from, way.to);
                undo_at(world, fault, [&network, way] { network.unclog(way.from, way.to); });
                break;
            case FaultKind::kSlowLink:
                network.slow_down(way.from, way.to, amount);
                undo_at(world, fault, [&network, way] { network.slow_down(way.from, way.to, 1); });
                break;
            default:
                network.drop_next(way.from, way.to, static_cast<std::uint8_t>(fault.position), amount);
                break;
        }
    }
}

void delay_kind(World& world, const PlannedFault& fault) {
    KindDelay delay;
    delay.frame_kind = static_cast<std::uint8_t>(fault.position);
    delay.extra = Distribution::fixed(Duration(fault.amount));
    delay.links = one_way(existing(world, fault.hosts), existing(world, fault.peers));
    const KindDelayId id = world.network().delay_kind(std::move(delay));
    undo_at(world, fault, [&world, id] { world.network().end_kind_delay(id); });
}

void apply_to_connections(World& world, const PlannedFault& fault) {
    const std::size_t count = std::min(fault.hosts.size(), fault.peers.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (!world.has_host(fault.hosts[i]) || !world.has_host(fault.peers[i])) continue;
        if (fault.fault == FaultKind::kHalfOpen) {
            world.network().break_half(fault.hosts[i], fault.peers[i]);
        } else {
            world.network().reset_connection(fault.hosts[i], fault.peers[i]);
        }
    }
}

void apply_rate(World& world, const PlannedFault& fault) {
    const FaultRate before = world.faults().rate(fault.fault);
    world.faults().set_rate(fault.fault, FaultRate{static_cast<std::uint32_t>(fault.amount), before.budget});
    undo_at(world, fault, [&world, kind = fault.fault, before] {
        if (!world.are_faults_stopped()) world.faults().set_rate(kind, before);
    });
}

void apply_to_lives(World& world, const PlannedFault& fault) {
    const std::vector<HostId> hosts = existing(world, fault.hosts);
    const bool takes_power = fault.fault == FaultKind::kPowerLoss || fault.fault == FaultKind::kDiskEmptied;
    if (takes_power) world.lose_power(hosts);
    for (const HostId id : hosts) {
        if (fault.fault == FaultKind::kProcessCrash) world.kill(id);
        if (fault.fault == FaultKind::kKillAtStep)
            world.kill_at_effect(id, static_cast<std::uint64_t>(std::max<std::int64_t>(fault.amount, 1)));
        if (fault.fault == FaultKind::kDiskEmptied) world.host(id).disk().empty();
    }
    undo_at(world, fault, [&world, hosts] {
        for (const HostId id : hosts) world.disarm_kill(id);
        restart_dead(world, hosts);
    });
}

void apply_to_clock(World& world, const PlannedFault& fault, HostId id) {
    switch (fault.fault) {
        case FaultKind::kClockDrift:
            world.set_clock_drift(id, static_cast<std::int32_t>(fault.amount));
            undo_at(world, fault, [&world, id] { world.set_clock_drift(id, world.host(id).config().clock_drift_ppm); });
            return;
        case FaultKind::kClockFreeze:
            world.freeze_clock(id);
            undo_at(world, fault, [&world, id] { world.unfreeze_clock(id); });
            return;
        default:
            world.jump_wall_clock(id, Duration(fault.amount));
            return;
    }
}

void apply_to_pace(World& world, const PlannedFault& fault, HostId id) {
    if (fault.fault == FaultKind::kPause) {
        world.pause(id);
        undo_at(world, fault, [&world, id] { world.resume(id); });
        return;
    }
    world.slow_down(id, Duration(fault.amount));
    undo_at(world, fault, [&world, id] { world.slow_down(id, world.host(id).config().arrival_cost); });
}

void apply_to_disk(World& world, const PlannedFault& fault, HostId id) {
    Disk& disk = world.host(id).disk();
    switch (fault.fault) {
        case FaultKind::kBitRot: {
            Rng rng = world.stream("planned rot", static_cast<std::uint64_t>(fault.at.value));
            if (fault.amount == 0) {
                disk.rot_random(rng, fault.file);
            } else {
                disk.rot_bit(fault.file, fault.position, static_cast<std::uint32_t>(fault.amount - 1));
            }
            return;
        }
        case FaultKind::kSectorUnreadable: {
            const std::uint64_t length = static_cast<std::uint64_t>(std::max<std::int64_t>(fault.amount, 1));
            disk.make_unreadable(fault.file, ByteRange{fault.position, fault.position + length});
            return;
        }
        case FaultKind::kDiskFull:
            disk.set_capacity(disk.used_bytes() + static_cast<std::uint64_t>(fault.amount));
            undo_at(world, fault,
                    [&disk, capacity = world.host(id).config().disk.capacity_bytes] { disk.set_capacity(capacity); });
            return;
        case FaultKind::kDiskSlow:
            disk.slow_down(static_cast<std::uint32_t>(std::max<std::int64_t>(fault.amount, 1)));
            undo_at(world, fault, [&disk] { disk.slow_down(1); });
            return;
        default:
            disk.stall();
            undo_at(world, fault, [&disk] { disk.release(); });
            return;
    }
}

using HostFault = void (*)(World&, const PlannedFault&, HostId);

void apply_to_each(World& world, const PlannedFault& fault, HostFault apply) {
    for (const HostId id : existing(world, fault.hosts)) apply(world, fault, id);
}

void apply(World& world, const PlannedFault& fault) {
    if (world.are_faults_stopped()) return;
    switch (fault.fault) {
        case FaultKind::kProcessCrash:
        case FaultKind::kKillAtStep:
        case FaultKind::kPowerLoss:
        case FaultKind::kDiskEmptied:
            return apply_to_lives(world, fault);
        case FaultKind::kPause:
        case FaultKind::kSlowHost:
            return apply_to_each(world, fault, apply_to_pace);
        case FaultKind::kClockDrift:
        case FaultKind::kClockFreeze:
        case FaultKind::kWallJump:
            return apply_to_each(world, fault, apply_to_clock);
        case FaultKind::kDiskFull:
        case FaultKind::kDiskSlow:
        case FaultKind::kDiskStalled:
            return apply_to_each(world, fault, apply_to_disk);
        case FaultKind::kPartitionTwoSided:
        case FaultKind::kPartitionOneWay:
        case FaultKind::kPartitionBridge:
        case FaultKind::kPartitionRing:
            return apply_partition(world, fault);
        case FaultKind::kPartitionFlapping:
            return apply_flapping(world, fault);
        case FaultKind::kLinkClogged:
        case FaultKind::kSlowLink:
            return apply_to_links(world, fault);
        case FaultKind::kResponseLost:
        case FaultKind::kFrameKindLost:
            return fault.hosts.empty() ? apply_rate(world, fault) : apply_to_links(world, fault);
        case FaultKind::kFrameKindDelayed:
            return delay_kind(world, fault);
        case FaultKind::kConnectionReset:
        case FaultKind::kHalfOpen:
            return fault.hosts.empty() ? apply_rate(world, fault) : apply_to_connections(world, fault);
        case FaultKind::kSectorUnreadable:
            return apply_to_each(world, fault, apply_to_disk);
        case FaultKind::kBitRot:
            return fault.hosts.empty() ? apply_rate(world, fault) : apply_to_each(world, fault, apply_to_disk);
        case FaultKind::kReadError:
        case FaultKind::kFrameLost:
        case FaultKind::kFrameDuplicated:
        case FaultKind::kFrameReordered:
        case FaultKind::kFrameCorrupted:
        case FaultKind::kDelaySpike:
        case FaultKind::kUnsyncedWriteLost:
        case FaultKind::kSectorTorn:
        case FaultKind::kWritesReordered:
        case FaultKind::kRenameLost:
        case FaultKind::kDirectoryEntryLost:
        case FaultKind::kSyncFailed:
        case FaultKind::kWriteError:
        case FaultKind::kMisdirectedWrite:
        case FaultKind::kMisdirectedRead:
            return apply_rate(world, fault);
    }
}

}  // namespace

void schedule(World& world, const PlannedFault& fault) {
    world.call_at(fault.at, [&world, fault] { apply(world, fault); });
}

void schedule(World& world, const std::vector<PlannedFault>& plan) {
    for (const PlannedFault& fault : plan) schedule(world, fault);
}

}  // namespace tidelock::sim
