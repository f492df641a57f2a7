/// A machine with one process on it, as the code that runs there sees it: fibers that wait for arrivals, timers on the
/// host's own clock, frames out, a disk. Nothing here tells a host the true time.
///
/// A life is the time between two starts of the process. When the host is killed, every `await_` of that life returns
/// empty (false) at once and from then on, every other call does nothing, and the stories return.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/arrival.h"
#include "sim/clock.h"
#include "sim/disk.h"
#include "sim/event_queue.h"
#include "sim/rng.h"

namespace tidelock::sim {

class World;
struct Task;

struct HostConfig {
    DiskConfig disk;
    std::size_t stack_bytes = 64 << 10;   // of each fiber; sanitized builds use at least 512 KiB
    Duration arrival_cost = Duration(0);  // time the process is busy with each arrival
    std::int32_t clock_drift_ppm = 0;     // from the beginning; not counted as a fault
    Duration wall_error = Duration(0);    // wall clock minus the world's idea of it
};

class Host {
  public:
    Host(World& world, HostId id, std::size_t index, std::string name, const HostConfig& config, std::uint64_t seed);
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] HostId id() const { return id_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// 1 for the first life.
    [[nodiscard]] std::uint32_t life() const { return life_; }
    [[nodiscard]] bool is_alive() const { return is_alive_; }
    [[nodiscard]] bool is_powered() const { return is_powered_; }
    [[nodiscard]] bool is_paused() const { return is_paused_; }
    [[nodiscard]] const HostConfig& config() const { return config_; }
    [[nodiscard]] World& world() const { return world_; }

    // What suspends the calling fiber.
    /// The next arrival, oldest first; empty once this life is over. With several fibers waiting, the one that waits
    /// longest.
    std::optional<Arrival> await_arrival();
    /// The same, or DeadlinePassed when the host's clock reaches `deadline` first.
    std::optional<Arrival> await_arrival_until(Instant deadline);
    /// Sleeps on the host's clock. False once this life is over.
    bool await_sleep(Duration duration);

    // Time and chance
    /// The host's monotonic clock.
    [[nodiscard]] Instant local_now() const;
    [[nodiscard]] WallTime wall_now() const;
    /// Starts the timer, or starts it anew: TimerFired{timer} arrives when the host's clock has advanced by `after`.
    void set_timer(TimerId timer, Duration after);
    /// Afterwards TimerFired{timer} does not arrive, even if it was on its way.
    void cancel_timer(TimerId timer);
    /// The host's own stream; both ends inclusive.
    Duration draw(Duration low, Duration high) { return random_.between(low, high); }
    std::int64_t draw(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
    std::uint64_t draw_bits() { return random_.next(); }

    // Effects
    void send(HostId to, Bytes frame, FrameTag tag = {});
    /// Ends the connection: frames in flight to this host are lost, the peer gets ConnectionBroken after those sent
    /// before.
    void close_connection(HostId peer);
    [[nodiscard]] Disk& disk() { return disk_; }
    [[nodiscard]] const Disk& disk() const { return disk_; }
    /// A fiber of this life, started at this moment (as an event of its own).
    void spawn(std::function<void()> story);
    /// A note in the trace; formatted by the caller only if `world().is_traced()`.
    void note(std::string_view text);

    [[nodiscard]] const HostClock& clock() const { return clock_; }

    // Called by the world, the network and the disk.
    /// False if the calling fiber belongs to a dead life, or an armed kill falls on this very effect: then do nothing.
    [[nodiscard]] bool begin_effect();
    /// Hands the arrival to the story, or keeps it until the story asks.
    void accept(Arrival arrival);
    void on_timer(const Event& event);
    void on_wake(Task& task, std::uint64_t sleep);
    void on_ready() { deliver_waiting(); }
    [[nodiscard]] std::size_t index() const { return index_; }
    [[nodiscard]] std::size_t waiting_arrival_count() const { return mailbox_.size(); }

  private:
    friend class World;
    /// Running: its end lies ahead. Due: it ended and waits in the mailbox.
    enum class TimerState : std::uint8_t { kOff, kRunning, kDue };
    struct Timer {
        TimerState state = TimerState::kOff;
        std::uint64_t setting = 0;
        Instant due;        // on the host's clock
        EventHandle event;  // none while the clock is frozen
    };

    [[nodiscard]] Task& calling_task() const;
    [[nodiscard]] bool is_over(Task& task) const;
    [[nodiscard]] bool is_stale_caller() const;
    [[nodiscard]] bool is_busy() const;
    // The mailbox
    std::optional<Arrival> take_from_mailbox();
    bool claim(const Arrival& arrival);
    void charge_for_arrival();
    void count_lateness();
    void deliver_waiting();
    void wake_when_ready();
    std::optional<Arrival> wait_for_arrival(Task& task);
    void hand_over(Arrival arrival);
    // Sleeps and timers on the host's clock
    void start_sleep(Task& task, Instant until);
    void stop_sleep(Task& task);
    void schedule_wake(Task& task);
    void wake(Task& task);
    void wake_overdue();
    void start_late();
    void schedule_timer(TimerId id, Timer& timer);
    void reschedule_clock_events();
    void forget_life();

    World& world_;
    HostId id_;
    std::size_t index_;  // dense, in order of adding
    std::string name_;
    HostConfig config_;
    HostClock clock_;
    Rng random_;
    Disk disk_;
    std::deque<Arrival> mailbox_;
    std::vector<Task*> waiting_;             // those that wait for an arrival, longest first
    std::vector<std::uint32_t> start_late_;  // tasks whose start fell into a pause
    std::vector<Timer> timers_;              // by id
    std::uint64_t next_timer_setting_ = 1;
    Duration arrival_cost_;
    TimeNs busy_until_;
    EventHandle ready_event_;
    std::uint64_t effects_until_kill_ = 0;  // 0: not armed
    std::uint32_t life_ = 1;
    bool is_alive_ = true;
    bool is_powered_ = true;
    bool is_paused_ = false;
    bool is_slowed_ = false;
    bool pause_was_counted_ = false;
    bool slowness_was_counted_ = false;
};

}  // namespace tidelock::sim
