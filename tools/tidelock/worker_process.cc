#include "tools/tidelock/worker_process.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "reports/figures.h"
#include "tools/tidelock/file_io.h"
#include "tools/tidelock/worker.h"

namespace tidelock::tools {

namespace {

constexpr std::size_t kErrorBytesKept = 2000;

std::string job_bytes(const Job& job) {
    std::string bytes(kJobBytes, '\0');
    std::memcpy(bytes.data(), &job.scenario, sizeof job.scenario);
    std::memcpy(bytes.data() + sizeof job.scenario, &job.seed, sizeof job.seed);
    return bytes;
}

}  // namespace

void WorkerProcess::give(const Job& job, std::int64_t now_ns) {
    if (outstanding_.empty()) front_started_ns_ = now_ns;
    outstanding_.push_back(job);
    // A worker that is gone does not read this; the job is then found among its outstanding ones when it is buried.
    write_all(child_.job_fd, job_bytes(job));
}

bool WorkerProcess::read() {
    std::string bytes;
    drain(child_.error_fd, errors_);
    if (errors_.size() > kErrorBytesKept) errors_.erase(0, errors_.size() - kErrorBytesKept);
    const bool open = drain(child_.output_fd, bytes);
    frames_.add(bytes);
    return open;
}

std::optional<std::pair<Job, ScheduleReport>> WorkerProcess::next_report(std::int64_t now_ns) {
    const std::optional<std::string> frame = frames_.next();
    if (!frame || outstanding_.empty()) return std::nullopt;
    std::optional<ScheduleReport> report = decode_report(*frame);
    const Job job = outstanding_.front();
    outstanding_.pop_front();
    front_started_ns_ = now_ns;
    has_answered_ = true;
    has_answered_since_hung_ = !hung_.empty();
    if (!report) {
        report.emplace();
        report->result.seed = job.seed;
        report->result.unsound = "internal error: the worker's report was malformed";
    }
    return std::pair(job, std::move(*report));
}

void WorkerProcess::kill_if_hung(std::int64_t now_ns, std::int64_t limit_ns) {
    if (outstanding_.empty() || now_ns - front_started_ns_ < limit_ns || !hung_.empty()) return;
    hung_ = fmt::format("no end after {} of wall-clock time", reports::span_text(limit_ns));
    kill_now();
}

void WorkerProcess::kill_now() {
    ::kill(child_.pid, SIGKILL);
}

void WorkerProcess::close_inherited() const {
    for (const int fd : {child_.job_fd, child_.output_fd, child_.error_fd}) {
        if (fd >= 0) ::close(fd);
    }
}

std::string WorkerProcess::last_words() const {
    std::string words = errors_;
    while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
    return words.empty() ? "" : ": " + words;
}

std::optional<LostJob> WorkerProcess::bury(std::deque<Job>& unstarted) {
    drain(child_.error_fd, errors_);
    const ChildEnd end = reap(child_);
    if (outstanding_.empty()) return std::nullopt;
    const bool is_starved = hung_.empty() && is_out_of_cpu_time(end);
    std::optional<LostJob> lost;
    if (is_starved ? !has_answered_ : !has_answered_since_hung_) {
        const std::string how = hung_.empty() ? "the worker " + describe_end(end) : hung_;
        lost = LostJob{outstanding_.front(), how + last_words(), is_starved || !hung_.empty()};
        outstanding_.pop_front();
    }
    unstarted.insert(unstarted.end(), outstanding_.begin(), outstanding_.end());
    outstanding_.clear();
    return lost;
}

}  // namespace tidelock::tools
