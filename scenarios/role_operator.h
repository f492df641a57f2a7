/// Who commands roles in the preset `static`, with the care that an operator owes to records that were confirmed: first
/// the broker that leads is told to follow, and has written that down; only then, and only if the other one was in its
/// last set, do all others hear who leads now. The core leaves this to whoever commands (PROTOCOL 0).
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/cluster.h"
#include "scenarios/plan.h"
#include "sim/rng.h"

namespace tidelock::scenarios {

class RoleOperator {
  public:
    explicit RoleOperator(Cluster& cluster) : cluster_(cluster) {}
    RoleOperator(const RoleOperator&) = delete;
    RoleOperator& operator=(const RoleOperator&) = delete;

    /// Begins to give the lead to another in-sync member, unless a change is under way, nobody leads or nobody else is
    /// in sync. Goes on by itself until everybody has heard, through crashes and the heal point.
    void change(const PlannedFault& fault, sim::Rng& random);
    /// What brokers are seen doing.
    void on_observation(BrokerId broker, const broker::Observation& observation);

  private:
    struct Change {
        BrokerId from;
        BrokerId to;
        std::int32_t command = 0;
        bool has_ended = false;                                  // the lead of `from`, durably
        std::optional<Duration> second_thoughts = std::nullopt;  // this long after `to` was told
    };
    void look();
    void look_again();
    void tell(BrokerId broker);
    /// The command is taken back, or given once more, while whoever is to lead by it may still be writing that down.
    void think_again(std::int32_t command);
    void note_change() const;
    /// It has this command, or a later one, and will after a restart.
    [[nodiscard]] bool has_taken(BrokerId broker) const;

    Cluster& cluster_;
    std::optional<Change> change_;
    std::int32_t last_command_ = 0;
    sim::Rng thoughts_{0};
    BrokerId set_of_;                // whose set this is
    std::vector<Replica> last_set_;  // committed last
};

}  // namespace tidelock::scenarios
