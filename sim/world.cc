#include "sim/world.h"

#include <utility>

#include "protocol/base/check.h"
#include "sim/arena.h"

namespace tidelock::sim {
namespace {

constexpr std::uint16_t kNoIndex = UINT16_MAX;

}  // namespace

World::World(const WorldConfig& config, std::uint64_t seed)
    : config_(config),
      seed_(seed),
      queue_(Rng(seed, "tie-break", 0)),
      digest_(config.recording),
      choices_(config.choice_names, config.choices, seed),
      marks_(config.mark_names),
      network_(*this, config.network, seed) {}

World::~World() {
    end_stories();
}

void World::end_stories() {
    trace_ = nullptr;
    for (const std::unique_ptr<Host>& host : hosts_) host->is_alive_ = false;
    for (const std::unique_ptr<Host>& host : hosts_) unwind_fibers(*host);
}

Host& World::add_host(HostId id, std::string name, const HostConfig& config) {
    CHECK(id.value >= 0);
    CHECK(id.value <= kHostIdMax);
    CHECK(!has_host(id));
    const std::size_t position = static_cast<std::size_t>(id.value);
    if (index_by_id_.size() <= position) index_by_id_.resize(position + 1, kNoIndex);
    index_by_id_[position] = static_cast<std::uint16_t>(hosts_.size());
    hosts_.push_back(std::make_unique<Host>(*this, id, hosts_.size(), std::move(name), config, seed_));
    boot_stories_.emplace_back();
    network_.add_host(id);
    return *hosts_.back();
}

bool World::has_host(HostId id) const {
    const std::size_t position = static_cast<std::size_t>(id.value);
    return id.value >= 0 && position < index_by_id_.size() && index_by_id_[position] != kNoIndex;
}

Host& World::host(HostId id) {
    CHECK(has_host(id));
    return *hosts_[index_of(id)];
}

const Host& World::host(HostId id) const {
    CHECK(has_host(id));
    return *hosts_[index_of(id)];
}

void World::set_boot_story(HostId id, std::function<void(Host&)> story) {
    boot_stories_[host(id).index()] = std::move(story);
}

void World::spawn(Host& host, std::function<void()> story) {
    CHECK(host.is_alive());
    const Task& task = scheduler_.add(host.id(), host.life(), std::move(story), host.config_.stack_bytes);
    queue_.push(now_, Event{EventKind::kFiberStart, host.id(), kNoHost, host.life(), task.id, 0, {}});
}

void World::call_at(TimeNs at, std::function<void()> action) {
    std::size_t call = calls_.size();
    if (free_calls_.empty()) {
        calls_.push_back(std::move(action));
    } else {
        call = free_calls_.back();
        free_calls_.pop_back();
        calls_[call] = std::move(action);
    }
    queue_.push(std::max(at, now_), Event{EventKind::kCall, kNoHost, kNoHost, 0, call, 0, {}});
}

void World::post(HostId host, std::uint64_t word) {
    queue_.push(now_, Event{EventKind::kPost, host, kNoHost, 0, word, 0, {}});
}

RunStop World::run_until(TimeNs until) {
    CHECK(scheduler_.current() == nullptr);
    while (!stop_requested_) {
        if (event_count_ >= config_.event_budget) return RunStop::kEventBudget;
        const std::optional<TimeNs> next = queue_.next_time();
        if (!next || *next > until) {
            now_ = std::max(now_, until);
            return next ? RunStop::kTimeReached : RunStop::kNothingLeft;
        }
        run_next(*next);
    }
    stop_requested_ = false;
    return RunStop::kStopRequested;
}

bool World::run_one() {
    const std::optional<TimeNs> next = queue_.next_time();
    if (!next) return false;
    run_next(*next);
    return true;
}

void World::run_next(TimeNs at) {
    CHECK(at >= now_);
    now_ = at;
    Event event = queue_.pop();
    ++event_count_;
    digest_.add_event(now_, event);
    dispatch(event);
}

void World::dispatch(Event& event) {
    switch (event.kind) {
        case EventKind::kFiberStart:
            start_fiber(event);
            return;
        case EventKind::kFiberWake:
            wake_fiber(event);
            return;
        case EventKind::kHostReady:
            host(event.host).on_ready();
            return;
        case EventKind::kTimer:
            host(event.host).on_timer(event);
            return;
        case EventKind::kPost:
            host(event.host).accept(Woken{event.a});
            return;
        case EventKind::kFrame:
            network_.on_frame(event);
            return;
        case EventKind::kConnectionBroken:
            network_.on_connection_broken(event);
            return;
        case EventKind::kDiskSynced:
        case EventKind::kDiskRead:
        case EventKind::kDiskWriteFailed:
            host(event.host).disk().on_completion(event);
            return;
        case EventKind::kCall:
            run_call(event.a);
            return;
    }
}

void World::start_fiber(const Event& event) {
    Task* const task = scheduler_.find(static_cast<std::uint32_t>(event.a));
    if (task == nullptr) return;
    Host& owner = host(event.host);
    if (owner.is_paused()) {
        owner.start_late_.push_back(task->id);
        return;
    }
    scheduler_.resume(*task);
}

void World::wake_fiber(const Event& event) {
    Task* const task = scheduler_.find(static_cast<std::uint32_t>(event.a));
    if (task != nullptr) host(event.host).on_wake(*task, event.b);
}

void World::run_call(std::size_t call) {
    const std::function<void()> action = std::exchange(calls_[call], nullptr);
    free_calls_.push_back(call);
    action();
}

void World::branch(std::uint64_t salt) {
    seed_ = scrambled(seed_ ^ scrambled(salt));
    queue_.replace_tie_break(Rng(seed_, "tie-break", 0));
    network_.reseed(seed_);
    for (const std::unique_ptr<Host>& host : hosts_) {
        host->random_ = Rng(seed_, "host", static_cast<std::uint64_t>(host->id().value));
        host->disk_.reseed(seed_);
    }
}

void World::trace(TraceEntry entry) {
    if (trace_ == nullptr) return;
    entry.at = now_;
    const ArenaPause pause;
    trace_->on_entry(entry);
}

void World::note(HostId host, TraceKind kind, std::string_view text) {
    trace(TraceEntry{now_, host, kNoHost, kind, 0, text});
}

}  // namespace tidelock::sim
