/// The campaign's side of one worker: what it was given to do, how long it has been at it, what it said.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/tidelock/child_process.h"
#include "tools/tidelock/seed_order.h"
#include "tools/tidelock/wire.h"

namespace tidelock::tools {

/// A job and how its worker ended while it ran.
struct LostJob {
    Job job;
    std::string how;       // "the worker died of signal 6 (Aborted): CHECK failed ..."
    bool is_hang = false;  // it took too long, on the wall clock or of the CPU time that a process may use
};

/// One worker process. Jobs are answered in the order given, so the first unanswered one is the one that runs.
class WorkerProcess {
  public:
    using Body = std::function<void(const ChildPipes&)>;
    explicit WorkerProcess(const Body& body) : child_(start_child(body)) {}

    void give(const Job& job, std::int64_t now_ns);
    /// Takes in what the pipes hold. False: the worker has ended, call `bury`.
    bool read();
    /// The next answered job.
    std::optional<std::pair<Job, ScheduleReport>> next_report(std::int64_t now_ns);
    /// Kills it when its present job has taken longer than `limit_ns`; `bury` then says so.
    void kill_if_hung(std::int64_t now_ns, std::int64_t limit_ns);
    void kill_now();
    /// Waits for its end. The job it died of, if it had one; jobs it had not begun are left in `unstarted`, and so is
    /// one that ran when the CPU time was used up that earlier jobs had begun to use.
    std::optional<LostJob> bury(std::deque<Job>& unstarted);

    /// In a child that was forked later: lets go of the inherited ends of this worker's pipes.
    void close_inherited() const;

    [[nodiscard]] std::size_t outstanding() const { return outstanding_.size(); }
    [[nodiscard]] int output_fd() const { return child_.output_fd; }
    [[nodiscard]] int error_fd() const { return child_.error_fd; }

  private:
    std::string last_words() const;

    Child child_;
    std::deque<Job> outstanding_;
    std::int64_t front_started_ns_ = 0;
    FrameReader frames_;
    std::string errors_;  // the last of its standard error
    std::string hung_;    // why it was killed
    bool has_answered_ = false;
    bool has_answered_since_hung_ = false;  // the kill came too late to have stopped a job that hung
};

}  // namespace tidelock::tools
