#include "sim/scheduler.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock::sim {
namespace {

auto lower_bound_by_id(auto& tasks, std::uint32_t id) {
    return std::lower_bound(tasks.begin(), tasks.end(), id,
                            [](const std::unique_ptr<Task>& task, std::uint32_t wanted) { return task->id < wanted; });
}

}  // namespace

Task& Scheduler::add(HostId host, std::uint32_t life, std::function<void()> story, std::size_t stack_bytes) {
    auto task = std::make_unique<Task>();
    task->id = next_id_++;
    task->host = host;
    task->life = life;
    task->fiber = std::make_unique<Fiber>(std::move(story), stack_bytes);
    tasks_.push_back(std::move(task));
    return *tasks_.back();
}

Task* Scheduler::find(std::uint32_t id) {
    const auto found = lower_bound_by_id(tasks_, id);
    return found != tasks_.end() && (*found)->id == id ? found->get() : nullptr;
}

void Scheduler::resume(Task& task) {
    Task* const resumer = std::exchange(current_, &task);
    task.is_started = true;
    task.fiber->resume();
    current_ = resumer;
    if (task.fiber->is_finished()) remove(task.id);
}

void Scheduler::suspend_current() {
    CHECK(current_ != nullptr);
    current_->fiber->suspend();
}

void Scheduler::discard(Task& task) {
    CHECK(!task.is_started);
    remove(task.id);
}

void Scheduler::remove(std::uint32_t id) {
    const auto found = lower_bound_by_id(tasks_, id);
    CHECK(found != tasks_.end());
    tasks_.erase(found);
}

}  // namespace tidelock::sim
