/// Carries out for real what a plan's faults mean, as far as processes, links and files of one machine allow it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scenarios/client_orders.h"
#include "scenarios/plan.h"
#include "sim/rng.h"
#include "tools/live/broker_processes.h"

namespace tidelock::live {

/// Whether there is a way to do it; clocks, power and rotten disks are the simulator's.
[[nodiscard]] bool is_possible(scenarios::FaultKind kind, bool can_cut);
/// The administrator carries these out, like in the simulator.
[[nodiscard]] bool is_asked_of_brokers(scenarios::FaultKind kind);

class LiveNemesis {
  public:
    LiveNemesis(const scenarios::Plan& plan, BrokerProcesses& brokers, BrokerNetwork& network,
                scenarios::Workload& workload);

    /// Does everything that is due at this time of the schedule; clients are given times of their world.
    void run_until(std::int64_t elapsed_ns, sim::TimeNs world_now);
    /// Of the schedule; after everything: the largest number there is.
    [[nodiscard]] std::int64_t next_ns() const;
    /// Links are whole, disks have room, everybody runs; nothing more happens.
    void heal();

    [[nodiscard]] const std::map<std::string, std::int64_t>& delivered() const { return delivered_; }
    /// When a process was killed that led, on this machine's clock.
    [[nodiscard]] const std::vector<std::int64_t>& leader_kills_ns() const { return leader_kills_ns_; }
    /// What could not be done though it should have been possible.
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

  private:
    void fire(const scenarios::PlannedFault& fault);
    void fire_process(const scenarios::PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void cut(const scenarios::PlannedFault& fault, BrokerId victim, sim::Rng& random);
    struct Flapping {
        int number = 0;  // of its cut
        std::vector<Link> links;
        std::int64_t half_period_ms = 0;
        std::int64_t until_ns = 0;
    };
    void flap(const Flapping& flapping, bool is_cut);
    /// Whether it ran.
    bool kill_for(BrokerId broker, std::int64_t downtime_ms);
    void later(std::int64_t after_ms, std::function<void()> action);
    void apply_cuts();
    [[nodiscard]] BrokerId victim_of(const scenarios::PlannedFault& fault, sim::Rng& random) const;
    [[nodiscard]] std::vector<BrokerId> others_of(BrokerId broker) const;

    const scenarios::Plan& plan_;
    BrokerProcesses& brokers_;
    BrokerNetwork& network_;
    scenarios::Workload& workload_;
    std::multimap<std::int64_t, std::function<void()>> due_;
    std::map<int, std::vector<Link>> cuts_;
    int next_cut_ = 1;
    std::int64_t elapsed_ns_ = 0;
    sim::TimeNs world_now_;
    std::map<std::string, std::int64_t> delivered_;
    std::vector<std::int64_t> leader_kills_ns_;
    std::vector<std::string> complaints_;
};

}  // namespace tidelock::live
