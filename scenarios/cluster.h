/// One schedule's world: broker hosts, client hosts, the checker, and the wiring between them. Built from a plan; used
/// by run_plan and by scripted stories. Lives in the arena.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/checker.h"
#include "checker/progress.h"
#include "protocol/broker/config.h"
#include "protocol/broker/observation.h"
#include "scenarios/atlas.h"
#include "scenarios/broker_host.h"
#include "scenarios/call_log.h"
#include "scenarios/client_hosts.h"
#include "scenarios/disk_watch.h"
#include "scenarios/plan.h"
#include "sim/world.h"

namespace tidelock::scenarios {

/// The configuration of one broker under a plan.
broker::Config broker_config(const Settings& settings, BrokerId id);
sim::WorldConfig world_config(const Plan& plan, sim::DigestRecording recording);
sim::HostConfig broker_host_config(const Plan& plan, BrokerId broker);
checker::Settings checker_settings(const Plan& plan);
/// Faults that go on all the time: the network's by the scenario, and what a power loss may do to a disk.
void set_background_rates(sim::Faults& faults, const Settings& settings);

class Cluster {
  public:
    Cluster(const Plan& plan, sim::DigestRecording recording);
    /// Ends every story while the parts that stories use are still there. Inside an arena it need not be called.
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// Boots every broker (in its first life) and sends the plan's clients off.
    void start_brokers();
    void start_broker(BrokerId broker);
    void start_clients() { clients_.start(admin_hooks()); }
    void start_verifier() { clients_.start_verifier(); }
    /// A host for a client story of somebody else's.
    sim::Host& add_client_host(std::int32_t id, std::string name) { return clients_.add_host(id, std::move(name)); }

    // What the world does to brokers; each tells the checker.
    bool kill(BrokerId broker);
    void lose_power(const std::vector<BrokerId>& brokers);
    bool restart(BrokerId broker);
    /// The rest has to serve without it: nothing is expected of it at the end (V16).
    void give_up(BrokerId broker) { given_up_.push_back(broker); }
    /// Empties the disk of a broker that is down, if the atlas allows it.
    bool empty_disk(BrokerId broker);
    /// An operator lets a broker that refused to start, or is down, come back as an empty replica (R8).
    bool rejoin_as_empty(BrokerId broker);
    /// Whether the promise survives damage to this broker's disk now, or to anybody's.
    [[nodiscard]] bool allows_damage(BrokerId victim);
    [[nodiscard]] bool allows_damage_to_anybody();
    /// Every replica holds what it promised, and votes: any majority can go on alone.
    [[nodiscard]] bool is_everybody_whole();

    // The cluster as it is, for aiming faults and for judging the end.
    [[nodiscard]] std::int32_t broker_count() const { return static_cast<std::int32_t>(brokers_.size()); }
    [[nodiscard]] BrokerHost& broker_host(BrokerId broker) { return *brokers_[index(broker)]; }
    /// Null while its host is down.
    [[nodiscard]] const broker::Broker* broker(BrokerId broker) const;
    [[nodiscard]] bool is_up(BrokerId broker) const;
    /// Who serves, under the highest epoch if several believe so.
    [[nodiscard]] std::optional<BrokerId> leader() const;
    /// As the serving leader has committed it; empty without one.
    [[nodiscard]] std::vector<Replica> in_sync_replicas() const;
    /// Members of that set in their present life.
    [[nodiscard]] bool is_in_sync(BrokerId broker) const;
    [[nodiscard]] const std::string& refusal(BrokerId broker) const { return refusals_[index(broker)]; }
    /// The cluster as V16 judges it.
    [[nodiscard]] checker::FinalView final_view() const;
    [[nodiscard]] std::vector<std::string> unmet() const;

    [[nodiscard]] sim::World& world() { return world_; }
    [[nodiscard]] const sim::World& world() const { return world_; }
    [[nodiscard]] checker::Checker& checker() { return checker_; }
    [[nodiscard]] Workload& workload() { return clients_.workload(); }
    [[nodiscard]] CallLog& calls() { return calls_; }
    [[nodiscard]] const Verification& verification() const { return clients_.verification(); }
    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] std::int64_t mark_count(broker::Mark mark) const { return marks_[static_cast<std::size_t>(mark)]; }

    /// A planned fault that only this layer knows (operator, client, rolling restart ...) was delivered.
    void count_fault(FaultKind kind) { ++delivered_[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] std::int64_t delivered(FaultKind kind) const { return delivered_[static_cast<std::size_t>(kind)]; }
    void tell_checker(const checker::HostFact& fact) {
        if (is_judged_) checker_.on_host_fact(world_.now().value, fact);
    }
    /// From now on the checker hears nothing. The schedule runs as it would (checkers only look), unjudged.
    void stop_judging() {
        is_judged_ = false;
        for (const std::unique_ptr<BrokerHost>& host : brokers_) host->stop_telling_facts();
    }
    /// Sees every observation after the checker did.
    void set_watcher(std::function<void(BrokerId, const broker::Observation&)> watcher) {
        watcher_ = std::move(watcher);
    }
    /// Sees what each broker does to its files, right after it was handed to the disk.
    void set_file_watcher(std::function<void(BrokerId, const storage::FileEffect&)> watcher) {
        file_watcher_ = std::move(watcher);
    }
    /// Told of each life that begins on a disk without any file.
    void set_first_boot_watcher(std::function<void(BrokerId)> watcher) { first_boot_watcher_ = std::move(watcher); }
    /// Told when a broker's process has ended, for whatever reason.
    void set_death_watcher(std::function<void(BrokerId)> watcher) { death_watcher_ = std::move(watcher); }
    /// Something a checker cannot see is wrong with the run.
    void report(std::string_view invariant, std::string message);
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& reports() const { return reports_; }
    [[nodiscard]] bool has_violation() const { return !checker_.violations().empty() || !reports_.empty(); }
    /// The world stops at the event that broke an invariant.
    void stop_at_violation(bool stops) { stops_at_violation_ = stops; }

    /// Calls still under way become unknown; then the checker's last look.
    void finish(bool judge_progress);

  private:
    static std::size_t index(BrokerId broker) { return static_cast<std::size_t>(broker.value - 1); }
    void add_brokers();
    void look_at_followers(const broker::Broker& leader);
    void live(BrokerId broker, sim::Host& host);
    void stop_if_violated();
    void watch_damage();
    void on_damage(const sim::Damage& damage);
    void on_observation(sim::Host& host, const broker::Observation& observation);
    void look_at_disk(const sim::Host& host);
    void on_call(const checker::ClientCall& call);
    void add_final_partitions(checker::FinalView& view) const;
    [[nodiscard]] std::vector<ReplicaCondition> conditions() const;
    AdminHooks admin_hooks();

    const Plan& plan_;
    bool is_judged_ = true;
    sim::World world_;
    checker::Checker checker_;
    CallLog calls_;
    ClientHosts clients_;
    Atlas atlas_;
    std::vector<std::unique_ptr<BrokerHost>> brokers_;  // by id, from 1
    std::vector<DiskWatch> disk_watches_;
    std::vector<std::string> refusals_;           // why its running life refused to act; empty: it acts
    std::vector<Incarnation> data_incarnations_;  // as last observed
    std::vector<bool> are_files_hurt_;            // since its disk was new or emptied
    std::vector<BrokerId> given_up_;
    std::array<std::int64_t, broker::kMarkCount> marks_{};
    std::array<std::int64_t, kFaultKindCount> delivered_{};
    std::function<void(BrokerId, const broker::Observation&)> watcher_;
    std::function<void(BrokerId, const storage::FileEffect&)> file_watcher_;
    std::function<void(BrokerId)> first_boot_watcher_;
    std::function<void(BrokerId)> death_watcher_;
    std::vector<std::pair<std::string, std::string>> reports_;  // invariant, message
    std::uint32_t leader_steps_ = 0;
    bool is_losing_power_ = false;
    bool stops_at_violation_ = false;
};

}  // namespace tidelock::scenarios
