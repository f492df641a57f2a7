#include "tools/tidelock/worker.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>

#include "tools/tidelock/determinism.h"
#include "tools/tidelock/file_io.h"

namespace tidelock::tools {

namespace {

std::int64_t clock_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t peak_rss_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

scenarios::ScheduleResult run_plain(const SchedulePlan& plan) {
    return plan.run(scenarios::RunOptions{});
}

void run_into(ScheduleReport& report, const Scenario& scenario, std::uint64_t seed, bool check_determinism) {
    const std::unique_ptr<SchedulePlan> plan = scenario.plan(seed);
    report.result = check_determinism ? run_twice(*plan) : run_plain(*plan);
    report.result.event_digests.clear();
    if (!report.result.violations.empty() || !report.result.unsound.empty()) report.plan_json = plan->to_json();
}

// False at the end of the pipe.
bool read_job(int fd, char (&job)[kJobBytes]) {
    std::size_t have = 0;
    while (have < kJobBytes) {
        const ssize_t count = ::read(fd, job + have, kJobBytes - have);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        have += static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace

ScheduleReport run_schedule(const Scenario& scenario, std::uint64_t seed, bool check_determinism) {
    ScheduleReport report;
    const std::int64_t wall_start = clock_ns(CLOCK_MONOTONIC);
    const std::int64_t cpu_start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    try {
        run_into(report, scenario, seed, check_determinism);
    } catch (const std::exception& error) {
        report.result.unsound = fmt::format("internal error: {}", error.what());
    }
    report.result.seed = seed;
    report.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
    report.wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_start;
    report.peak_rss_bytes = peak_rss_bytes();
    return report;
}

void work_off_jobs(const std::vector<const Scenario*>& scenarios, bool check_determinism, int job_fd, int report_fd) {
    char job[kJobBytes];
    while (read_job(job_fd, job)) {
        std::uint32_t scenario = 0;
        std::uint64_t seed = 0;
        std::memcpy(&scenario, job, sizeof scenario);
        std::memcpy(&seed, job + sizeof scenario, sizeof seed);
        const ScheduleReport report = run_schedule(*scenarios[scenario], seed, check_determinism);
        if (!write_all(report_fd, encode_report(report))) return;
    }
}

}  // namespace tidelock::tools
