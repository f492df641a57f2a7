#include "tools/live/live_nemesis.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scenarios/fault_kind.h"

namespace tidelock::live {
namespace {

using scenarios::FaultKind;
using scenarios::PlannedFault;

constexpr std::int64_t kMillisecond = 1'000'000;

/// Both ways between each of these and each of those.
std::vector<Link> between(const std::vector<BrokerId>& these, const std::vector<BrokerId>& those) {
    std::vector<Link> links;
    for (const BrokerId one : these) {
        for (const BrokerId other : those) {
            links.emplace_back(one, other);
            links.emplace_back(other, one);
        }
    }
    return links;
}

}  // namespace

bool is_asked_of_brokers(FaultKind kind) {
    return kind == FaultKind::kCreateTopic || kind == FaultKind::kGrowTopic || kind == FaultKind::kDeleteTopic ||
           kind == FaultKind::kRecreateTopic;
}

bool is_possible(FaultKind kind, bool can_cut) {
    if (is_asked_of_brokers(kind)) return true;
    switch (kind) {
        case FaultKind::kKill:
        case FaultKind::kKillTogether:
        case FaultKind::kPause:
        case FaultKind::kRollingRestart:
        case FaultKind::kProducerCrash:
        case FaultKind::kZombieProducer:
        case FaultKind::kSlowConsumer:
        case FaultKind::kConsumerReconnect:
        case FaultKind::kMemberCrash:
        case FaultKind::kZombieMember:
        case FaultKind::kMemberLeave:
            return true;
        case FaultKind::kPartitionTwoSided:
        case FaultKind::kPartitionOneWay:
        case FaultKind::kPartitionBridge:
        case FaultKind::kPartitionRing:
        case FaultKind::kPartitionFlapping:
        case FaultKind::kFullDisk:  // a small disk of its own needs a mount that nobody else sees
            return can_cut;
        default:
            return false;
    }
}

LiveNemesis::LiveNemesis(const scenarios::Plan& plan, BrokerProcesses& brokers, BrokerNetwork& network,
                         scenarios::Workload& workload)
    : plan_(plan), brokers_(brokers), network_(network), workload_(workload) {
    for (const PlannedFault& fault : plan_.faults)
        if (!is_asked_of_brokers(fault.kind)) due_.emplace(fault.at_ms * kMillisecond, [this, &fault] { fire(fault); });
}

std::int64_t LiveNemesis::next_ns() const {
    return due_.empty() ? std::numeric_limits<std::int64_t>::max() : due_.begin()->first;
}

void LiveNemesis::run_until(std::int64_t elapsed_ns, sim::TimeNs world_now) {
    elapsed_ns_ = elapsed_ns;
    world_now_ = world_now;
    while (!due_.empty() && due_.begin()->first <= elapsed_ns) {
        const std::function<void()> action = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        action();
    }
}

void LiveNemesis::later(std::int64_t after_ms, std::function<void()> action) {
    due_.emplace(elapsed_ns_ + after_ms * kMillisecond, std::move(action));
}

void LiveNemesis::heal() {
    due_.clear();
    cuts_.clear();
    apply_cuts();
    for (const BrokerId broker : others_of(BrokerId(0))) {
        brokers_.resume(broker);
        brokers_.free_disk(broker);
        brokers_.start(broker);
    }
}

std::vector<BrokerId> LiveNemesis::others_of(BrokerId broker) const {
    std::vector<BrokerId> others;
    for (int id = 1; id <= brokers_.count(); ++id)
        if (id != broker.value) others.emplace_back(id);
    return others;
}

BrokerId LiveNemesis::victim_of(const PlannedFault& fault, sim::Rng& random) const {
    const std::optional<BrokerId> leader = brokers_.leader();
    if (fault.aim == scenarios::Aim::kBroker || !leader) return BrokerId(fault.broker);
    if (fault.aim == scenarios::Aim::kLeader) return *leader;
    std::vector<BrokerId> candidates = others_of(*leader);
    const bool wants_in_sync = fault.aim == scenarios::Aim::kInSyncFollower;
    std::erase_if(candidates, [&](BrokerId each) { return brokers_.is_in_sync(each) != wants_in_sync; });
    return candidates.empty() ? BrokerId(fault.broker) : candidates[random.below(candidates.size())];
}

void LiveNemesis::fire(const PlannedFault& fault) {
    sim::Rng random(fault.choice);
    const BrokerId victim = victim_of(fault, random);
    switch (scenarios::info_of(fault.kind).section) {
        case scenarios::FaultSection::kNetwork:
            cut(fault, victim, random);
            break;
        case scenarios::FaultSection::kClient:
            scenarios::order_client(workload_, fault, world_now_.value, random);  // counted when a client takes it
            break;
        default:
            fire_process(fault, victim, random);
            break;
    }
}

bool LiveNemesis::kill_for(BrokerId broker, std::int64_t downtime_ms) {
    const bool was_leader = brokers_.leader() == broker;
    const std::int64_t at_ns = now_ns();
    if (!brokers_.kill(broker)) return false;
    if (was_leader) leader_kills_ns_.push_back(at_ns);
    later(downtime_ms, [this, broker] { brokers_.start(broker); });
    return true;
}

void LiveNemesis::fire_process(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    const std::string name = scenarios::full_name_of(fault.kind);
    bool is_done = true;
    if (fault.kind == FaultKind::kKill) {
        is_done = kill_for(victim, fault.duration_ms);
    } else if (fault.kind == FaultKind::kPause) {
        is_done = brokers_.pause(victim);
        later(fault.duration_ms, [this, victim] { brokers_.resume(victim); });
    } else if (fault.kind == FaultKind::kKillTogether) {
        std::vector<BrokerId> victims{victim};
        for (const BrokerId other : others_of(victim))
            if (static_cast<std::int64_t>(victims.size()) < fault.size) victims.push_back(other);
        is_done = false;
        for (const BrokerId each : victims)
            is_done = kill_for(each, fault.duration_ms * random.between(50, 150) / 100) || is_done;
    } else if (fault.kind == FaultKind::kRollingRestart) {
        std::int64_t at_ms = 0;
        for (const BrokerId each : others_of(BrokerId(0))) {
            later(at_ms, [this, each, down = fault.duration_ms] { kill_for(each, down); });
            at_ms += fault.duration_ms + fault.size;
        }
    } else if (fault.kind == FaultKind::kFullDisk) {
        if (!brokers_.fill_disk(victim, fault.size)) return complaints_.push_back(name + ": the disk cannot be filled");
        later(fault.duration_ms, [this, victim] { brokers_.free_disk(victim); });
    }
    if (is_done) ++delivered_[name];
}

void LiveNemesis::cut(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    const std::vector<BrokerId> others = others_of(victim);
    std::vector<Link> links;
    if (fault.kind == FaultKind::kPartitionOneWay) {
        const bool is_deaf = random.below(2) == 0;
        for (const BrokerId other : others) links.push_back(is_deaf ? Link{other, victim} : Link{victim, other});
    } else if (fault.kind == FaultKind::kPartitionBridge) {
        const auto half = static_cast<std::ptrdiff_t>(others.size() / 2);
        links = between({others.begin(), others.begin() + half}, {others.begin() + half, others.end()});
    } else if (fault.kind == FaultKind::kPartitionRing) {
        for (const BrokerId one : others_of(BrokerId(0)))
            for (const BrokerId other : others_of(one)) {
                const std::int32_t apart = std::abs(one.value - other.value);
                // Of three each has both others for neighbours: there it hears one of them only.
                const bool is_next = other.value == one.value % brokers_.count() + 1;
                const bool is_cut = brokers_.count() == 3 ? !is_next : apart != 1 && apart != brokers_.count() - 1;
                if (is_cut) links.emplace_back(one, other);
            }
    } else {
        links = between({victim}, others);
    }
    const int number = next_cut_++;
    if (fault.kind == FaultKind::kPartitionFlapping) {
        flap({number, std::move(links), std::max<std::int64_t>(1, fault.size / 2),
              elapsed_ns_ + fault.duration_ms * kMillisecond},
             true);
    } else {
        cuts_[number] = std::move(links);
        apply_cuts();
        later(fault.duration_ms, [this, number] {
            cuts_.erase(number);
            apply_cuts();
        });
    }
    ++delivered_[scenarios::full_name_of(fault.kind)];
}

void LiveNemesis::flap(const Flapping& flapping, bool is_cut) {
    cuts_.erase(flapping.number);
    const bool is_over = elapsed_ns_ >= flapping.until_ns;
    if (is_cut && !is_over) cuts_[flapping.number] = flapping.links;
    apply_cuts();
    if (!is_over) later(flapping.half_period_ms, [this, flapping, is_cut] { flap(flapping, !is_cut); });
}

void LiveNemesis::apply_cuts() {
    if (!network_.can_cut()) return;
    std::vector<Link> all;
    for (const auto& [number, links] : cuts_) all.insert(all.end(), links.begin(), links.end());
    if (std::string error = network_.set_cuts(all); !error.empty()) complaints_.push_back(std::move(error));
}

}  // namespace tidelock::live
