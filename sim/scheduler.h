/// Keeps a world's fibers: which there are, whose they are, which one runs. It never decides an order; the event queue
/// does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sim/arrival.h"
#include "sim/event_queue.h"
#include "sim/fiber.h"

namespace tidelock::sim {

/// A fiber and what it belongs to and waits for.
struct Task {
    std::uint32_t id = 0;
    HostId host;
    std::uint32_t life = 0;  // of the host, when the story was spawned
    std::unique_ptr<Fiber> fiber;
    bool is_started = false;
    bool is_waiting_for_arrival = false;
    bool has_sleep = false;          // waits for `wake_at`, perhaps besides an arrival
    bool is_overdue = false;         // that sleep ended while the host was paused
    std::uint64_t sleep = 0;         // counts its sleeps: tells a late wake-up from this one's
    Instant wake_at;                 // on the host's clock
    EventHandle wake_event;          // none while the host's clock is frozen
    std::optional<Arrival> arrival;  // handed over by whoever resumes it
    std::uint32_t empty_await_count = 0;
};

class Scheduler {
  public:
    Task& add(HostId host, std::uint32_t life, std::function<void()> story, std::size_t stack_bytes);
    /// Null once the task is gone.
    [[nodiscard]] Task* find(std::uint32_t id);
    /// The task that runs now; null in the world's loop.
    [[nodiscard]] Task* current() const { return current_; }
    /// Runs a slice of the task; it is gone afterwards if its story returned.
    void resume(Task& task);
    /// Suspends the running task.
    void suspend_current();
    /// Removes a task that was never started.
    void discard(Task& task);

    [[nodiscard]] const std::vector<std::unique_ptr<Task>>& tasks() const { return tasks_; }

  private:
    void remove(std::uint32_t id);

    std::vector<std::unique_ptr<Task>> tasks_;  // sorted by id
    Task* current_ = nullptr;
    std::uint32_t next_id_ = 1;
};

}  // namespace tidelock::sim
