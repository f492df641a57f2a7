/// The deterministic world: hosts, network, disks, clocks and one queue of events in virtual time. Everything that
/// happens is a function of (configuration, seed, the stories' code). One thread; the world runs when `run_*` is
/// called, and between two events nothing runs, so it can be inspected, copied (sim/snapshot.h) or left.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/choice.h"
#include "sim/event_queue.h"
#include "sim/faults.h"
#include "sim/host.h"
#include "sim/network.h"
#include "sim/rng.h"
#include "sim/run_digest.h"
#include "sim/scheduler.h"
#include "sim/trace.h"

namespace tidelock::sim {

struct WorldConfig {
    NetworkConfig network;
    ChoiceConfig choices;
    std::span<const std::string_view> choice_names;  // must outlive the world
    std::span<const std::string_view> mark_names;    // must outlive the world
    DigestRecording recording = DigestRecording::kNothing;
    std::uint64_t event_budget = UINT64_MAX;  // run stops after so many events
    WallTime wall_at_start = WallTime(1'700'000'000'000'000'000);
    std::size_t mailbox_count_max =
        100'000;  // arrivals a host that does not take them keeps; more are lost, and counted
};

enum class RunStop : std::uint8_t { kTimeReached, kNothingLeft, kEventBudget, kStopRequested };

class World {
  public:
    World(const WorldConfig& config, std::uint64_t seed);
    /// Ends every story (`end_stories`). Inside an arena that is reset anyway it need not be called.
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Set-up
    /// A powered, living host in its first life, without stories yet. Ids are unique.
    Host& add_host(HostId id, std::string name, const HostConfig& config = {});
    /// What `restart(host)` and planned restarts run.
    void set_boot_story(HostId host, std::function<void(Host&)> story);
    /// Starts a fiber on the host, as an event at this moment.
    void spawn(Host& host, std::function<void()> story);
    /// Calls `action` in the world's loop (not on a fiber) at a true time; at once-but-later if that has passed.
    void call_at(TimeNs at, std::function<void()> action);

    /// The run is over: all processes are dead at once and every story sees it and returns, unseen by peers, disks and
    /// trace. For whoever owns what stories use and goes before the world.
    void end_stories();

    // Running
    /// True virtual time.
    [[nodiscard]] TimeNs now() const { return now_; }
    /// Runs events up to and including time `until`; `now()` is `until` afterwards unless it stopped for another
    /// reason.
    RunStop run_until(TimeNs until);
    /// Runs the next event; false if there is none.
    bool run_one();
    /// Makes `run_until` return after the running event (a violation was found).
    void request_stop() { stop_requested_ = true; }
    [[nodiscard]] bool is_stop_requested() const { return stop_requested_; }
    [[nodiscard]] std::uint64_t event_count() const { return event_count_; }

    // Looking
    [[nodiscard]] std::uint64_t seed() const { return seed_; }
    [[nodiscard]] Host& host(HostId id);
    [[nodiscard]] const Host& host(HostId id) const;
    [[nodiscard]] bool has_host(HostId id) const;
    /// In order of adding.
    [[nodiscard]] std::span<const std::unique_ptr<Host>> hosts() const { return hosts_; }
    [[nodiscard]] Network& network() { return network_; }
    [[nodiscard]] Faults& faults() { return faults_; }
    [[nodiscard]] const Faults& faults() const { return faults_; }
    [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }
    [[nodiscard]] const RunDigest& run_digest() const { return digest_; }
    /// Folds what the layer above saw into the digest.
    void add_observation(std::uint64_t hash) { digest_.add_observation(now_, hash); }
    /// Arrivals that found a host's mailbox full.
    [[nodiscard]] std::uint64_t mailbox_overflow_count() const { return mailbox_overflow_count_; }

    // Chance
    /// A stream of its own for this purpose and entity.
    [[nodiscard]] Rng stream(std::string_view purpose, std::uint64_t entity) const {
        return Rng(seed_, purpose, entity);
    }
    /// True if the rare branch `point` (index into choice_names) shall be taken.
    bool buggify(std::size_t point) { return choices_.fires(point); }
    /// State `mark` (index into mark_names) was reached.
    void sometimes(std::size_t mark) { marks_.reached(mark); }
    [[nodiscard]] ChoicePoints& choices() { return choices_; }
    [[nodiscard]] const Marks& marks() const { return marks_; }
    /// From now on all streams of the world differ by `salt`: another future for the same past (after a restore).
    void branch(std::uint64_t salt);

    // Faults on hosts. Each does nothing where it makes no sense (killing the dead), and says so by `false`.
    /// The process crashes: fibers unwind, volatile state is gone, page cache stays, peers see resets.
    bool kill(HostId host);
    /// The process crashes in place of its `effect_count`-th effect from now (1: the next send, disk or timer call).
    bool kill_at_effect(HostId host, std::uint64_t effect_count);
    /// An armed `kill_at_effect` does not happen any more.
    void disarm_kill(HostId host_id) { host(host_id).effects_until_kill_ = 0; }
    /// The machines lose power at once: also unsynced disk state is resolved, and peers are not told.
    void lose_power(std::span<const HostId> hosts);
    /// Starts the next life of a dead host with the given story, or its boot story.
    bool restart(HostId host, std::function<void()> story);
    bool restart(HostId host);
    /// A paused process takes no arrivals; they queue, its timers fire late. Its clock goes on.
    bool pause(HostId host);
    bool resume(HostId host);
    /// Each arrival keeps the process busy for `arrival_cost` (as configured again: `restore_host`).
    bool slow_down(HostId host, Duration arrival_cost);
    bool set_clock_drift(HostId host, std::int32_t drift_ppm);
    bool freeze_clock(HostId host);
    bool unfreeze_clock(HostId host);
    bool jump_wall_clock(HostId host, Duration by);
    /// Running, full speed, clock at its configured rate, disk at ease. A dead host stays dead.
    void restore_host(HostId host);
    /// Heal phase: no random fault any more, network and all hosts restored, buggify off. Dead hosts stay dead.
    void stop_faults();
    /// After `stop_faults`: planned faults that come up are skipped from then on.
    [[nodiscard]] bool are_faults_stopped() const { return faults_stopped_; }

    /// Puts Woken{word} into the host's mailbox, as an event of its own.
    void post(HostId host, std::uint64_t word);

    // Tracing
    void set_trace(TraceSink* sink) { trace_ = sink; }
    [[nodiscard]] bool is_traced() const { return trace_ != nullptr; }
    /// `at` is filled in. Costs a test when off; build texts only if `is_traced()`.
    void trace(TraceEntry entry);
    void note(HostId host, TraceKind kind, std::string_view text);

    // For host, network and disk.
    [[nodiscard]] EventQueue& queue() { return queue_; }
    [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
    [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
    [[nodiscard]] std::size_t index_of(HostId id) const { return index_by_id_[static_cast<std::size_t>(id.value)]; }
    [[nodiscard]] WallTime wall_at_start() const { return config_.wall_at_start; }
    [[nodiscard]] std::size_t mailbox_count_max() const { return config_.mailbox_count_max; }
    void count_mailbox_overflow() { ++mailbox_overflow_count_; }
    /// `kill` with its own name in the counters.
    bool end_life(HostId host, FaultKind why);

  private:
    void run_next(TimeNs at);
    void dispatch(Event& event);
    void start_fiber(const Event& event);
    void wake_fiber(const Event& event);
    void run_call(std::size_t call);
    void unwind_fibers(Host& dead);

    WorldConfig config_;
    std::uint64_t seed_;
    TimeNs now_;
    EventQueue queue_;
    Scheduler scheduler_;
    RunDigest digest_;
    Faults faults_;
    ChoicePoints choices_;
    Marks marks_;
    Network network_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::vector<std::function<void(Host&)>> boot_stories_;  // by index
    std::vector<std::uint16_t> index_by_id_;
    std::vector<std::function<void()>> calls_;
    std::vector<std::size_t> free_calls_;
    TraceSink* trace_ = nullptr;
    std::uint64_t event_count_ = 0;
    std::uint64_t mailbox_overflow_count_ = 0;
    bool stop_requested_ = false;
    bool faults_stopped_ = false;
};

}  // namespace tidelock::sim
