#include "scenarios/role_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidelock::scenarios {
namespace {

constexpr Duration kLookInterval = milliseconds(20);

}  // namespace

void RoleOperator::change(const PlannedFault& fault, sim::Rng& random) {
    const std::optional<BrokerId> leader = cluster_.leader();
    const bool is_static = cluster_.plan().settings[Setting::kPreset] == kPresetStatic;
    if (!is_static || change_ || !leader) return;
    std::vector<BrokerId> candidates;
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
        if (BrokerId(id) != *leader && cluster_.is_up(BrokerId(id)) && cluster_.is_in_sync(BrokerId(id)))
            candidates.emplace_back(id);
    if (candidates.empty()) return;
    change_ = Change{*leader, candidates[random.below(candidates.size())], ++last_command_};
    thoughts_ = random;
    if (thoughts_.below(2) == 0)
        change_->second_thoughts = microseconds(thoughts_.between(0, thoughts_.below(2) == 0 ? 10'000 : 60'000));
    note_change();
    cluster_.count_fault(fault.kind);
    tell(change_->from);
    look_again();
}

void RoleOperator::on_observation(BrokerId broker, const broker::Observation& observation) {
    const auto* set = std::get_if<broker::InSyncSetCommitted>(&observation);
    if (set == nullptr) return;
    set_of_ = broker;
    last_set_ = set->members;
}

void RoleOperator::note_change() const {
    if (!cluster_.world().is_traced()) return;
    cluster_.world().note(sim::kNoHost, sim::TraceKind::kFault,
                          fmt::format("{} {} from broker {} to broker {}", full_name_of(FaultKind::kCommandRole),
                                      change_->command, change_->from.value, change_->to.value));
}

void RoleOperator::tell(BrokerId broker) {
    const bool is_to_lead = change_->has_ended && broker == change_->to;
    if (const auto after = is_to_lead ? std::exchange(change_->second_thoughts, std::nullopt) : std::nullopt)
        cluster_.world().call_at(cluster_.world().now() + *after,
                                 [this, command = change_->command] { think_again(command); });
    cluster_.broker_host(broker).command_role(cluster_.world(), {change_->to, change_->command});
}

void RoleOperator::think_again(std::int32_t command) {
    if (!change_ || change_->command != command) return;
    const BrokerId leads = change_->to;
    const BrokerId next = thoughts_.below(2) == 0 ? change_->from : leads;
    change_ = Change{leads, next, ++last_command_};
    note_change();
    if (cluster_.is_up(leads)) tell(leads);
}

bool RoleOperator::has_taken(BrokerId broker) const {
    const broker::Broker* running = cluster_.broker(broker);
    return running != nullptr && running->lifecycle == broker::Lifecycle::kRunning &&
           running->identity.role_command >= change_->command && !running->is_static_role_pending;
}

void RoleOperator::look_again() {
    cluster_.world().call_at(cluster_.world().now() + kLookInterval, [this] { look(); });
}

void RoleOperator::look() {
    if (!change_->has_ended) {
        if (!has_taken(change_->from)) {
            // A crash may have taken the command, and the broker lead again.
            if (cluster_.is_up(change_->from)) tell(change_->from);
            return look_again();
        }
        change_->has_ended = true;
        // Whoever fell out of the set meanwhile may lack what was confirmed since: the lead goes back.
        const auto is_successor = [&](const Replica& member) { return member.broker == change_->to; };
        if (set_of_ != change_->from || std::ranges::none_of(last_set_, is_successor)) {
            change_->to = change_->from;
            change_->command = ++last_command_;
        }
    }
    bool is_everybody_told = true;
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) {
        if (has_taken(BrokerId(id))) continue;
        is_everybody_told = false;
        if (cluster_.is_up(BrokerId(id))) tell(BrokerId(id));
    }
    if (!is_everybody_told) return look_again();
    change_.reset();
}

}  // namespace tidelock::scenarios
