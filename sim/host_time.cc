/// Sleeps and timers: deadlines on the host's own clock, translated into true time and again whenever its rate changes.
#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/host.h"
#include "sim/world.h"

namespace tidelock::sim {

Instant Host::local_now() const {
    return clock_.local_at(world_.now());
}
WallTime Host::wall_now() const {
    return clock_.wall_at(world_.now());
}

void Host::set_timer(TimerId timer, Duration after) {
    if (!begin_effect()) return;
    CHECK(timer.value < kTimerIdMax);
    if (timers_.size() <= timer.value) timers_.resize(timer.value + 1);
    Timer& set = timers_[timer.value];
    world_.queue().cancel(set.event);
    set.state = TimerState::kRunning;
    set.setting = next_timer_setting_++;
    set.due = local_now() + after;
    schedule_timer(timer, set);
}

void Host::cancel_timer(TimerId timer) {
    if (!begin_effect() || timer.value >= timers_.size()) return;
    Timer& cancelled = timers_[timer.value];
    world_.queue().cancel(cancelled.event);
    cancelled.state = TimerState::kOff;
}

void Host::schedule_timer(TimerId id, Timer& timer) {
    timer.event = EventHandle();
    const std::optional<TimeNs> at = clock_.true_time_of(timer.due, world_.now());
    if (!at) return;
    timer.event = world_.queue().push(*at, Event{EventKind::kTimer, id_, kNoHost, life_, id.value, timer.setting, {}});
}

void Host::on_timer(const Event& event) {
    if (!is_alive_ || event.life != life_) return;
    Timer& timer = timers_[event.a];
    CHECK(timer.state == TimerState::kRunning);
    CHECK(timer.setting == event.b);
    timer.state = TimerState::kDue;
    timer.event = EventHandle();
    accept(TimerFired{TimerId(static_cast<std::uint32_t>(event.a)), event.b});
}

void Host::start_sleep(Task& task, Instant until) {
    ++task.sleep;
    task.has_sleep = true;
    task.is_overdue = false;
    task.wake_at = until;
    schedule_wake(task);
}

void Host::stop_sleep(Task& task) {
    task.has_sleep = false;
    world_.queue().cancel(task.wake_event);
}

void Host::schedule_wake(Task& task) {
    task.wake_event = EventHandle();
    const std::optional<TimeNs> at = clock_.true_time_of(task.wake_at, world_.now());
    if (!at) return;
    task.wake_event =
        world_.queue().push(*at, Event{EventKind::kFiberWake, id_, kNoHost, life_, task.id, task.sleep, {}});
}

void Host::on_wake(Task& task, std::uint64_t sleep) {
    if (!task.has_sleep || task.sleep != sleep) return;
    if (is_paused_) {
        task.is_overdue = true;
        count_lateness();
        return;
    }
    wake(task);
}

void Host::wake(Task& task) {
    task.has_sleep = false;
    if (task.is_waiting_for_arrival) std::erase(waiting_, &task);
    world_.scheduler().resume(task);
}

void Host::wake_overdue() {
    std::vector<std::uint32_t> overdue;
    for (const std::unique_ptr<Task>& task : world_.scheduler().tasks())
        if (task->host == id_ && task->has_sleep && task->is_overdue) overdue.push_back(task->id);
    for (const std::uint32_t id : overdue) {
        Task* const task = world_.scheduler().find(id);
        if (is_paused_ || task == nullptr || !task->has_sleep || !task->is_overdue) continue;
        wake(*task);
    }
}

void Host::start_late() {
    for (const std::uint32_t id : std::exchange(start_late_, {}))
        if (Task* const task = world_.scheduler().find(id)) world_.scheduler().resume(*task);
}

void Host::reschedule_clock_events() {
    for (std::size_t i = 0; i < timers_.size(); ++i) {
        if (timers_[i].state != TimerState::kRunning) continue;
        world_.queue().cancel(timers_[i].event);
        schedule_timer(TimerId(static_cast<std::uint32_t>(i)), timers_[i]);
    }
    for (const std::unique_ptr<Task>& task : world_.scheduler().tasks()) {
        if (task->host != id_ || !task->has_sleep || task->is_overdue) continue;
        world_.queue().cancel(task->wake_event);
        schedule_wake(*task);
    }
}

}  // namespace tidelock::sim
