// What a story does to brokers: to the network between them, their processes and their disks.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/script_run.h"

namespace tidelock::scenarios {

namespace {

std::vector<sim::HostId> hosts_of(const std::vector<BrokerId>& brokers) {
    std::vector<sim::HostId> hosts;
    for (const BrokerId broker : brokers) hosts.push_back(host_of(broker));
    return hosts;
}

/// A bit in the middle of the first file whose name holds these letters.
std::string rot(const std::string& name, sim::Disk& disk) {
    for (const std::string& file : disk.list()) {
        const std::size_t size = disk.durable_content(file).size();
        if (file.find(name) == std::string::npos || size == 0) continue;
        return disk.rot_bit(file, size / 2, 3) ? "" : "the promise would not survive it";
    }
    return fmt::format("no file like \"{}\" has durable content", name);
}

}  // namespace

std::string StoryRun::cut(const ScriptLine& line, const Groups& brokers, const Groups& others) {
    const std::vector<sim::HostId> one = hosts_of(brokers);
    const std::vector<sim::HostId> other = hosts_of(others);
    if (line.verb == Verb::kCut)
        world_.network().cut(sim::two_sided(one, other), sim::FaultKind::kPartitionTwoSided);
    else
        world_.network().cut(sim::one_way(one, other), sim::FaultKind::kPartitionOneWay);
    return {};
}

void StoryRun::clog(const Groups& brokers, const Groups& others, bool clogs) {
    for (const BrokerId from : brokers)
        for (const BrokerId to : others) {
            if (clogs)
                world_.network().clog(host_of(from), host_of(to));
            else
                world_.network().reset_connection(host_of(from), host_of(to));
        }
}

void StoryRun::unclog_all() {
    for (std::int32_t from = 1; from <= cluster_.broker_count(); ++from)
        for (std::int32_t to = 1; to <= cluster_.broker_count(); ++to)
            if (from != to) world_.network().unclog(sim::HostId(from), sim::HostId(to));
}

void StoryRun::lose(const ScriptLine& line, const Groups& brokers, const Groups& others) {
    if (line.name == "nothing") return world_.network().restore_all();
    const auto kind = static_cast<std::uint8_t>(line.amount);
    if (brokers.empty()) return world_.network().set_kind_loss(kind, sim::kMillion);
    for (const BrokerId from : brokers)
        for (const BrokerId to : others) world_.network().drop_next(host_of(from), host_of(to), kind, UINT32_MAX);
}

std::string StoryRun::on_each(const ScriptLine& line, const Groups& brokers) {
    for (const BrokerId broker : brokers) {
        const std::string wrong = on_one(line, broker);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

std::string StoryRun::on_one(const ScriptLine& line, BrokerId broker) {
    const sim::HostId host = host_of(broker);
    const std::string name = fmt::format("broker {}", broker.value);
    switch (line.verb) {
        case Verb::kKill:
            return cluster_.kill(broker) ? "" : name + " is not running";
        case Verb::kRestart:
        case Verb::kStart:
            return start(broker) ? "" : name + " is running";
        case Verb::kWipe:
            if (world_.host(host).is_alive()) return name + " is running: kill it first";
            return cluster_.empty_disk(broker) ? "" : "the promise would not survive it (unlimited_faults lifts that)";
        case Verb::kPause:
            return world_.pause(host) ? "" : name + " cannot be paused";
        case Verb::kResume:
            return world_.resume(host) ? "" : name + " is not paused";
        case Verb::kRejoin:
            return cluster_.rejoin_as_empty(broker) ? "" : "the promise would not survive it";
        case Verb::kKillAt:
            armed_[broker] = static_cast<std::size_t>(line.amount);
            return {};
        default:
            return on_disk(line, world_.host(host).disk());
    }
}

bool StoryRun::start(BrokerId broker) {
    if (started_.size() < static_cast<std::size_t>(cluster_.broker_count()) &&
        std::find(started_.begin(), started_.end(), broker) == started_.end()) {
        started_.push_back(broker);
        cluster_.start_broker(broker);
        return true;
    }
    return cluster_.restart(broker);
}

std::string StoryRun::on_disk(const ScriptLine& line, sim::Disk& disk) {
    if (line.verb == Verb::kSlowDisk) disk.slow_down(static_cast<std::uint32_t>(line.amount));
    if (line.verb == Verb::kStallDisk) disk.stall();
    if (line.verb == Verb::kReleaseDisk) disk.release();
    if (line.verb == Verb::kFullDisk) disk.set_capacity(disk.used_bytes() + static_cast<std::uint64_t>(line.amount));
    if (line.verb == Verb::kFreeDisk) disk.set_capacity(UINT64_MAX);
    return line.verb == Verb::kRot ? rot(line.name, disk) : "";
}

void StoryRun::fail_syncs(const ScriptLine& line) {
    const std::uint64_t budget =
        world_.faults().delivered(sim::FaultKind::kSyncFailed) + static_cast<std::uint64_t>(line.amount);
    world_.faults().set_rate(sim::FaultKind::kSyncFailed, {sim::kMillion, static_cast<std::uint32_t>(budget)});
}

void StoryRun::command_role(const ScriptLine& line, const Groups& brokers) {
    const broker::RoleCommanded command{brokers.front(), static_cast<std::int32_t>(line.amount)};
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
        if (cluster_.is_up(BrokerId(id))) cluster_.broker_host(BrokerId(id)).command_role(world_, command);
}

}  // namespace tidelock::scenarios
