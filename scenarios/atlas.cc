#include "scenarios/atlas.h"

#include <algorithm>

namespace tidelock::scenarios {

void Atlas::note_repairs(const std::vector<ReplicaCondition>& conditions) {
    for (std::size_t i = 0; i < damaged_.size(); ++i) {
        const ReplicaCondition& now = conditions[i];
        const bool was_renewed = now.data_incarnation != damaged_[i].in_life;
        if (was_renewed && now.is_in_sync && now.is_disk_sound) damaged_[i].is_damaged = false;
    }
}

bool Atlas::allows(BrokerId victim, const std::vector<ReplicaCondition>& conditions) {
    note_repairs(conditions);
    std::int32_t others_damaged = 0;
    for (std::size_t i = 0; i < damaged_.size(); ++i)
        if (damaged_[i].is_damaged && i != index(victim)) ++others_damaged;
    return others_damaged < tolerated_;
}

bool Atlas::is_everybody_whole(const std::vector<ReplicaCondition>& conditions) {
    note_repairs(conditions);
    return std::none_of(damaged_.begin(), damaged_.end(), [](const Damaged& replica) { return replica.is_damaged; });
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
