/// Carries out the faults of a plan: resolves whom each one strikes when it fires, undoes it when its time is over, and
/// heals everything at the end of the chaos. Works in the world's loop, between events; each fault draws from its own
/// `choice`, so that faults taken out of a plan leave the others as they were.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scenarios/cluster.h"
#include "scenarios/plan.h"
#include "scenarios/role_operator.h"
#include "sim/rng.h"

namespace tidelock::scenarios {

/// What a broker does to its files, as far as power losses are aimed at it.
enum class FileDeed : std::uint8_t {
    kSegmentWrite,
    kSegmentBegin,
    kCut,
    kJournalWrite,
    kJournalBegin,
    kRaftWrite,
    kTopicsWrite,
    kIdentityWrite,
    kRename,
    kRemove,
    kNamesSync,
    kAnything,
};

class Nemesis {
  public:
    explicit Nemesis(Cluster& cluster);
    Nemesis(const Nemesis&) = delete;
    Nemesis& operator=(const Nemesis&) = delete;

    /// Takes all faults of the plan but those of the operator, which the administrator carries out.
    void schedule_faults();
    /// The heal point: nothing new fires, everything is undone, dead brokers start again; or a random majority only,
    /// when the plan says so and no replica is being recopied.
    void heal();
    /// To be called now and then: an operator looks after brokers that refuse to start.
    void tend();
    /// Faults that did not fire because the promise would not have survived them, or there was nobody to strike.
    [[nodiscard]] std::int64_t withheld_count() const { return withheld_; }

  private:
    struct RateWindow {
        std::int32_t fault;
        sim::FaultKind kind;
        std::uint32_t per_million;
    };
    /// A kill that waits for a broker to do a certain thing.
    struct ArmedKill {
        BrokerId broker;
        std::size_t observation;  // index of the variant
        std::int64_t occurrences_left;
        std::uint64_t effects;  // which effect after it
        Duration downtime;
    };

    /// A power loss that waits for a broker to do something to its files.
    struct ArmedPowerLoss {
        const PlannedFault* fault = nullptr;
        BrokerId broker;
        FileDeed deed = FileDeed::kAnything;
        std::uint64_t occurrences_left = 1;
        std::int64_t strikes_left = 1;
        bool begins_with_kill = false;  // the process dies first; what it wrote is still in memory then
        sim::Rng random{0};
    };
    /// A power loss that waits for a broker to start without any file.
    struct ArmedFirstBoot {
        const PlannedFault* fault = nullptr;
        std::uint64_t boots_left = 1;
        sim::Rng random{0};
    };
    /// A strike that waits for any broker to do a certain thing, or to reach a certain state.
    struct ArmedStrike {
        const PlannedFault* fault;  // the plan's
        std::size_t observation;    // index of the variant
        std::optional<broker::Mark> mark;
        bool is_own_vote = false;  // of VoteGranted: the candidate's
        std::int64_t occurrences_left;
        std::int64_t repeats_left;  // strikes at the next times too
        sim::Rng random;
    };

    void fire(const PlannedFault& fault);
    void disturb_transfer(const PlannedFault& fault);
    void fire_network(const PlannedFault& fault, sim::Rng& random);
    void fire_process(const PlannedFault& fault, sim::Rng& random);
    void fire_clock(const PlannedFault& fault, sim::Rng& random);
    void fire_disk(const PlannedFault& fault, sim::Rng& random);
    void fire_client(const PlannedFault& fault, sim::Rng& random);

    BrokerId victim_of(const PlannedFault& fault, sim::Rng& random) const;
    std::vector<BrokerId> others_of(BrokerId broker) const;
    /// The victim and others, up to so many.
    std::vector<BrokerId> group_around(BrokerId victim, std::int64_t size, sim::Rng& random) const;
    std::vector<sim::HostId> hosts_of(const std::vector<BrokerId>& brokers) const;
    /// Calls it after that long, unless the cluster has been healed by then.
    void later(Duration after, std::function<void()> action);
    void withhold(const PlannedFault& fault, std::string_view why);
    void trace(const PlannedFault& fault, std::string_view text);

    // network
    void open_rate(const PlannedFault& fault, sim::FaultKind kind);
    void apply_rates(sim::FaultKind kind);
    void lose_kind(const PlannedFault& fault, sim::Rng& random);
    void delay_kind(const PlannedFault& fault, sim::Rng& random);
    void delay_last_words(const PlannedFault& fault, BrokerId victim, std::uint8_t frame_kind, sim::Rng& random);
    void partition(const PlannedFault& fault, sim::Rng& random);
    sim::LinkSet links_of_partition(const PlannedFault& fault, sim::Rng& random) const;
    void flap(const sim::LinkSet& links, Duration period, sim::TimeNs until);
    void break_connections(const PlannedFault& fault, sim::Rng& random);
    std::vector<sim::HostId> some_peers(BrokerId victim, sim::Rng& random) const;
    void hinder_links(const PlannedFault& fault, sim::Rng& random);
    void cut_off_while_forming(const PlannedFault& fault, sim::Rng random);
    void leave_alone_with_emptied(const PlannedFault& fault, BrokerId late, BrokerId emptied, sim::CutId cut);

    // process
    void kill_for(BrokerId broker, Duration downtime);
    void lose_power(const PlannedFault& fault, sim::Rng& random);
    void kill_together(const PlannedFault& fault, sim::Rng& random);
    void roll(const PlannedFault& fault, sim::Rng& random);
    void mix_configuration(const PlannedFault& fault, sim::Rng& random);
    void arm_kill(const PlannedFault& fault, sim::Rng& random);
    void on_observation(BrokerId broker, const broker::Observation& observation);
    void on_death(BrokerId broker);
    void arm_power_loss(const PlannedFault& fault, sim::Rng& random);
    /// Power goes once when the broker, down now, next writes a state file, or anything.
    void arm_on_the_way_up(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void on_file_effect(BrokerId broker, const storage::FileEffect& effect);
    void strike_power(ArmedPowerLoss armed);
    void take_power(ArmedPowerLoss& armed);
    void kill_in_write(ArmedPowerLoss& armed);
    void arm_first_boot(const PlannedFault& fault);
    void on_first_boot(BrokerId broker);

    // at a turning point
    void arm_strike(const PlannedFault& fault, sim::Rng& random);
    void aim_strike(ArmedStrike& strike);
    static bool is_awaited(const ArmedStrike& strike, BrokerId actor, const broker::Observation& observation);
    void look_for_turning_point(BrokerId actor, const broker::Observation& observation);
    void strike_after(ArmedStrike strike, BrokerId actor);
    void empty_at_step(const PlannedFault& fault, BrokerId actor, BrokerId victim, sim::Rng& random);
    BrokerId struck_by(sim::Rng& random, BrokerId actor) const;
    void black_out(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void isolate(const PlannedFault& fault, BrokerId victim, sim::Rng& random);

    // disk
    void lose_sectors(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void stall_together(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void slow_file(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void limit_rate(const PlannedFault& fault, sim::FaultKind kind, std::uint32_t per_million);
    void rot(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void rot_at_restart(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    void rot_state_at_restart(const PlannedFault& fault, BrokerId victim, sim::Rng& random);
    bool empty(const PlannedFault& fault, BrokerId victim);

    void freeze_minority();
    void freeze(BrokerId broker);

    Cluster& cluster_;
    sim::World& world_;
    RoleOperator roles_;
    std::vector<RateWindow> rates_;
    std::vector<ArmedKill> armed_;
    std::vector<ArmedPowerLoss> armed_power_;
    std::vector<ArmedFirstBoot> first_boots_;
    std::vector<ArmedStrike> strikes_;
    std::vector<TopicPartition> last_promised_;           // by broker: whose records it made durable last
    std::vector<std::optional<Duration>> restart_after_;  // by broker: an armed kill's downtime
    std::vector<BrokerId> frozen_;
    std::optional<BrokerId> hung_;  // its disk, from the heal point on
    std::array<sim::FaultRate, sim::kFaultKindCount> background_{};
    std::int64_t withheld_ = 0;
    bool is_healed_ = false;
};

}  // namespace tidelock::scenarios
