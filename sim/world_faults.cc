/// Faults on whole hosts: lives that end and begin, pauses, slowness, clocks.
#include <utility>

#include "protocol/base/check.h"
#include "sim/world.h"

namespace tidelock::sim {

bool World::kill(HostId id) {
    return end_life(id, FaultKind::kProcessCrash);
}

bool World::end_life(HostId id, FaultKind why) {
    Host& victim = host(id);
    if (!victim.is_alive_) return false;
    faults_.count(why);
    note(id, TraceKind::kLifecycle, text_of(why));
    victim.is_alive_ = false;
    network_.on_host_down(id, true);
    victim.forget_life();
    unwind_fibers(victim);
    return true;
}

bool World::kill_at_effect(HostId id, std::uint64_t effect_count) {
    CHECK(effect_count > 0);
    Host& victim = host(id);
    if (!victim.is_alive_) return false;
    victim.effects_until_kill_ = effect_count;
    return true;
}

void World::lose_power(std::span<const HostId> hosts) {
    // All are dark before any story unwinds or any peer could notice.
    std::vector<Host*> victims;
    for (const HostId id : hosts) {
        Host& victim = host(id);
        if (!victim.is_powered_) continue;
        victim.is_powered_ = false;
        victim.is_alive_ = false;
        victims.push_back(&victim);
    }
    for (Host* const victim : victims) {
        note(victim->id_, TraceKind::kLifecycle, text_of(FaultKind::kPowerLoss));
        network_.on_host_down(victim->id_, false);
        victim->forget_life();
        unwind_fibers(*victim);
        victim->disk_.on_power_loss();
    }
    if (!victims.empty()) faults_.count(FaultKind::kPowerLoss);
}

/// Runs every fiber of a dead host once more, so that its story sees the end and returns. Those that are running now
/// (the host killed itself) see it at their next await.
void World::unwind_fibers(Host& dead) {
    std::vector<std::uint32_t> ids;
    for (const std::unique_ptr<Task>& task : scheduler_.tasks())
        if (task->host == dead.id_) ids.push_back(task->id);
    for (const std::uint32_t id : ids) {
        Task* const task = scheduler_.find(id);
        if (task == nullptr || task->fiber->is_running()) continue;
        queue_.cancel(task->wake_event);
        if (task->is_started) {
            scheduler_.resume(*task);
        } else {
            scheduler_.discard(*task);
        }
    }
}

bool World::restart(HostId id, std::function<void()> story) {
    Host& reborn = host(id);
    if (reborn.is_alive_) return false;
    if (!std::exchange(reborn.is_powered_, true)) reborn.clock_.reboot(now_);
    ++reborn.life_;
    reborn.is_alive_ = true;
    reborn.disk_.on_process_start();
    note(id, TraceKind::kLifecycle, "start");
    if (story) spawn(reborn, std::move(story));
    return true;
}

bool World::restart(HostId id) {
    Host& reborn = host(id);
    if (reborn.is_alive_) return false;
    const std::function<void(Host&)>& boot = boot_stories_[reborn.index_];
    CHECK(boot);
    return restart(id, [boot, &reborn] { boot(reborn); });
}

bool World::pause(HostId id) {
    Host& victim = host(id);
    if (!victim.is_alive_ || std::exchange(victim.is_paused_, true)) return false;
    victim.pause_was_counted_ = false;
    note(id, TraceKind::kLifecycle, "pause");
    return true;
}

bool World::resume(HostId id) {
    Host& paused = host(id);
    if (!paused.is_paused_) return false;
    paused.is_paused_ = false;
    note(id, TraceKind::kLifecycle, "resume");
    // In the world's loop, not on the stack of whoever resumes it; the pause may have begun again by then.
    call_at(now_, [&paused] {
        if (paused.is_paused_ || !paused.is_alive_) return;
        paused.start_late();
        paused.deliver_waiting();
        paused.wake_overdue();
    });
    return true;
}

bool World::slow_down(HostId id, Duration arrival_cost) {
    Host& victim = host(id);
    victim.arrival_cost_ = arrival_cost;
    victim.is_slowed_ = arrival_cost > victim.config_.arrival_cost;
    victim.slowness_was_counted_ = false;
    return true;
}

bool World::set_clock_drift(HostId id, std::int32_t drift_ppm) {
    Host& victim = host(id);
    if (victim.clock_.drift_ppm() == drift_ppm) return false;
    CHECK(drift_ppm > -1'000'000);
    victim.clock_.set_drift(now_, drift_ppm);
    victim.reschedule_clock_events();
    if (drift_ppm != victim.config_.clock_drift_ppm) faults_.count(FaultKind::kClockDrift);
    return true;
}

bool World::freeze_clock(HostId id) {
    Host& victim = host(id);
    if (victim.clock_.is_frozen()) return false;
    victim.clock_.freeze(now_);
    victim.reschedule_clock_events();
    faults_.count(FaultKind::kClockFreeze);
    return true;
}

bool World::unfreeze_clock(HostId id) {
    Host& victim = host(id);
    if (!victim.clock_.is_frozen()) return false;
    victim.clock_.unfreeze(now_);
    victim.reschedule_clock_events();
    return true;
}

bool World::jump_wall_clock(HostId id, Duration by) {
    if (by.value == 0) return false;
    host(id).clock_.jump_wall(by);
    faults_.count(FaultKind::kWallJump);
    return true;
}

void World::restore_host(HostId id) {
    Host& restored = host(id);
    resume(id);
    unfreeze_clock(id);
    set_clock_drift(id, restored.config_.clock_drift_ppm);
    slow_down(id, restored.config_.arrival_cost);
    restored.effects_until_kill_ = 0;
    restored.disk_.restore_all();
}

void World::stop_faults() {
    faults_stopped_ = true;
    faults_.silence();
    choices_.switch_all_off();
    network_.restore_all();
    for (const std::unique_ptr<Host>& host : hosts_) restore_host(host->id());
}

}  // namespace tidelock::sim
