#include "sim/host.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

// A story that goes on awaiting after its life is over would never return.
constexpr std::uint32_t kEmptyAwaitCountMax = 1'000;

}  // namespace

Host::Host(World& world, HostId id, std::size_t index, std::string name, const HostConfig& config, std::uint64_t seed)
    : world_(world),
      id_(id),
      index_(index),
      name_(std::move(name)),
      config_(config),
      clock_(WallTime(world.wall_at_start().value + config.wall_error.value)),
      random_(seed, "host", static_cast<std::uint64_t>(id.value)),
      disk_(world, *this, config.disk, seed),
      arrival_cost_(config.arrival_cost) {
    clock_.set_drift(world.now(), config.clock_drift_ppm);
}

Task& Host::calling_task() const {
    Task* const task = world_.scheduler().current();
    CHECK(task != nullptr);
    CHECK(task->host == id_);
    return *task;
}

bool Host::is_over(Task& task) const {
    if (is_alive_ && task.life == life_) return false;
    ++task.empty_await_count;
    const bool story_returns_when_killed = task.empty_await_count < kEmptyAwaitCountMax;
    CHECK(story_returns_when_killed);
    return true;
}

bool Host::is_stale_caller() const {
    const Task* const task = world_.scheduler().current();
    return task != nullptr && task->host == id_ && task->life != life_;
}

bool Host::begin_effect() {
    if (!is_alive_ || is_stale_caller()) return false;
    if (effects_until_kill_ == 0) return true;
    if (--effects_until_kill_ != 0) return true;
    world_.end_life(id_, FaultKind::kKillAtStep);
    return false;
}

bool Host::is_busy() const {
    return world_.now() < busy_until_;
}

std::optional<Arrival> Host::await_arrival() {
    Task& task = calling_task();
    if (is_over(task)) return std::nullopt;
    if (std::optional<Arrival> taken = take_from_mailbox()) return taken;
    std::optional<Arrival> arrival = wait_for_arrival(task);
    if (is_over(task)) return std::nullopt;
    return arrival;
}

std::optional<Arrival> Host::await_arrival_until(Instant deadline) {
    Task& task = calling_task();
    if (is_over(task)) return std::nullopt;
    if (std::optional<Arrival> taken = take_from_mailbox()) return taken;
    if (deadline <= local_now()) return DeadlinePassed{};
    start_sleep(task, deadline);
    std::optional<Arrival> arrival = wait_for_arrival(task);
    if (is_over(task)) return std::nullopt;
    stop_sleep(task);
    return arrival ? std::move(arrival) : DeadlinePassed{};
}

bool Host::await_sleep(Duration duration) {
    Task& task = calling_task();
    if (is_over(task)) return false;
    start_sleep(task, local_now() + duration);
    world_.scheduler().suspend_current();
    if (is_over(task)) return false;
    stop_sleep(task);
    return true;
}

std::optional<Arrival> Host::wait_for_arrival(Task& task) {
    task.is_waiting_for_arrival = true;
    task.arrival.reset();
    waiting_.push_back(&task);
    wake_when_ready();
    world_.scheduler().suspend_current();
    task.is_waiting_for_arrival = false;
    return std::move(task.arrival);
}

void Host::accept(Arrival arrival) {
    if (!is_alive_) return;
    if (!is_paused_ && !is_busy() && mailbox_.empty() && !waiting_.empty()) {
        if (claim(arrival)) hand_over(std::move(arrival));
        return;
    }
    count_lateness();
    if (mailbox_.size() >= world_.mailbox_count_max()) {
        world_.count_mailbox_overflow();
        return;
    }
    mailbox_.push_back(std::move(arrival));
    deliver_waiting();
}

void Host::count_lateness() {
    if (is_paused_ && !std::exchange(pause_was_counted_, true)) world_.faults().count(FaultKind::kPause);
    if (is_slowed_ && is_busy() && !std::exchange(slowness_was_counted_, true))
        world_.faults().count(FaultKind::kSlowHost);
}

void Host::hand_over(Arrival arrival) {
    Task& task = *waiting_.front();
    waiting_.erase(waiting_.begin());
    charge_for_arrival();
    task.arrival = std::move(arrival);
    world_.scheduler().resume(task);
}

void Host::deliver_waiting() {
    while (is_alive_ && !waiting_.empty()) {
        std::optional<Arrival> arrival = take_from_mailbox();
        if (!arrival) break;
        hand_over(std::move(*arrival));
    }
    wake_when_ready();
}

/// The oldest arrival that still means something, if the process can take one now.
std::optional<Arrival> Host::take_from_mailbox() {
    if (is_paused_ || is_busy()) return std::nullopt;
    while (!mailbox_.empty()) {
        Arrival arrival = std::move(mailbox_.front());
        mailbox_.pop_front();
        if (!claim(arrival)) continue;
        charge_for_arrival();
        return arrival;
    }
    return std::nullopt;
}

/// A timer that was cancelled or set anew while it waited in the mailbox is not delivered.
bool Host::claim(const Arrival& arrival) {
    const TimerFired* const fired = std::get_if<TimerFired>(&arrival);
    if (fired == nullptr) return true;
    Timer& timer = timers_[fired->timer.value];
    if (timer.state != TimerState::kDue || timer.setting != fired->setting) return false;
    timer.state = TimerState::kOff;
    return true;
}

void Host::charge_for_arrival() {
    if (arrival_cost_.value != 0) busy_until_ = world_.now() + arrival_cost_;
}

void Host::wake_when_ready() {
    if (!is_busy() || mailbox_.empty() || waiting_.empty() || world_.queue().is_pending(ready_event_)) return;
    ready_event_ = world_.queue().push(busy_until_, Event{EventKind::kHostReady, id_, kNoHost, life_, 0, 0, {}});
}

void Host::send(HostId to, Bytes frame, FrameTag tag) {
    if (begin_effect()) world_.network().send(id_, to, std::move(frame), tag);
}

void Host::close_connection(HostId peer) {
    if (begin_effect()) world_.network().close_connection(id_, peer);
}

void Host::spawn(std::function<void()> story) {
    if (is_alive_ && !is_stale_caller()) world_.spawn(*this, std::move(story));
}

void Host::note(std::string_view text) {
    if (!is_stale_caller()) world_.note(id_, TraceKind::kNote, text);
}

void Host::forget_life() {
    mailbox_.clear();
    waiting_.clear();
    start_late_.clear();
    for (Timer& timer : timers_) {
        world_.queue().cancel(timer.event);
        timer.state = TimerState::kOff;
    }
    world_.queue().cancel(ready_event_);
    busy_until_ = TimeNs();
    effects_until_kill_ = 0;
    is_paused_ = false;
}

}  // namespace tidelock::sim
