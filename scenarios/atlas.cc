#include "scenarios/atlas.h"

namespace tidelock::scenarios {

bool Atlas::allows(BrokerId victim, const std::vector<ReplicaCondition>& conditions) {
    std::int32_t others_damaged = 0;
    for (std::size_t i = 0; i < damaged_.size(); ++i) {
        Damaged& replica = damaged_[i];
        const ReplicaCondition& condition = conditions[i];
        const bool was_renewed = condition.data_incarnation != replica.in_life;
        if (replica.is_damaged && was_renewed && condition.is_in_sync) replica.is_damaged = false;
        if (replica.is_damaged && i != index(victim)) ++others_damaged;
    }
    return others_damaged < tolerated_;
}

bool Atlas::allows_anybody(const std::vector<ReplicaCondition>& conditions) {
    for (std::size_t i = 0; i < damaged_.size(); ++i)
        if (!allows(BrokerId(static_cast<std::int32_t>(i) + 1), conditions)) return false;
    return true;
}

void Atlas::on_damage(BrokerId victim, Incarnation data_incarnation, bool is_lasting) {
    Damaged& replica = damaged_[index(victim)];
    const bool was_lasting = replica.is_damaged && replica.is_lasting;
    replica = {true, is_lasting || was_lasting, data_incarnation};
}

void Atlas::on_harmless(BrokerId victim, Incarnation data_incarnation) {
    Damaged& replica = damaged_[index(victim)];
    if (replica.is_damaged && !replica.is_lasting && replica.in_life == data_incarnation) replica.is_damaged = false;
}

}  // namespace tidelock::scenarios
