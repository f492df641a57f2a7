/// Keeps the faults of a schedule within what the cluster promises to survive (G8): a disk may be damaged only while no
/// more than a tolerated number of replicas, this one included, have been damaged and not recopied since. Damage is
/// taken as repaired only when it was found (the data incarnation was renewed), copied again, and the replica is a
/// member of the committed in-sync set in its new life, its Raft incarnation admitted, while nothing hurt is left on
/// its disk: rot that nobody has read yet still waits in another partition.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/base/ids.h"

namespace tidelock::scenarios {

/// What the atlas has to know of one broker at the moment it decides.
struct ReplicaCondition {
    Incarnation data_incarnation;  // of its running or last life; 0: never ran
    bool is_disk_sound = false;    // whatever was hurt has been overwritten or removed
    bool is_in_sync = false;       // a serving leader has committed it as a member in that incarnation, and admitted it
};

class Atlas {
  public:
    Atlas(std::size_t brokers, std::int32_t tolerated) : damaged_(brokers), tolerated_(tolerated) {}

    /// May this broker's synced data be damaged now? `conditions` by broker, from 1.
    [[nodiscard]] bool allows(BrokerId victim, const std::vector<ReplicaCondition>& conditions);
    /// The same whoever the victim will be.
    [[nodiscard]] bool allows_anybody(const std::vector<ReplicaCondition>& conditions);
    /// Nobody is damaged and not whole again.
    [[nodiscard]] bool is_everybody_whole(const std::vector<ReplicaCondition>& conditions);
    /// It was.
    void on_damage(BrokerId victim, Incarnation data_incarnation, bool is_lasting);
    /// A damage that left the medium as it was (a read that failed once) did no harm, as it turned out.
    void on_harmless(BrokerId victim, Incarnation data_incarnation);
    /// Brokers that are damaged and not whole again.
    [[nodiscard]] bool is_damaged(BrokerId broker) const { return damaged_[index(broker)].is_damaged; }

  private:
    struct Damaged {
        bool is_damaged = false;
        bool is_lasting = false;  // the medium itself was hurt
        Incarnation in_life;      // of its data, when it was damaged last
    };
    static std::size_t index(BrokerId broker) { return static_cast<std::size_t>(broker.value - 1); }

    void note_repairs(const std::vector<ReplicaCondition>& conditions);

    std::vector<Damaged> damaged_;  // by broker, from 1
    std::int32_t tolerated_;
};

}  // namespace tidelock::scenarios
