#include "tools/tidelock/campaign.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <list>
#include <system_error>
#include <utility>

#include "tools/tidelock/build_id.h"
#include "tools/tidelock/file_io.h"
#include "tools/tidelock/interrupt.h"
#include "tools/tidelock/output.h"
#include "tools/tidelock/tally.h"
#include "tools/tidelock/worker.h"
#include "tools/tidelock/worker_process.h"

namespace tidelock::tools {

namespace {

constexpr std::size_t kJobsAhead = 2;  // given to a worker at once, so that it never waits for the next
constexpr int kPollMs = 100;
constexpr std::int64_t kGraceNs = 3'000'000'000;  // for running schedules once interrupted
constexpr unsigned kPlanSeconds = 10;

std::int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The plan of a schedule that took its worker down. Made in a child: making it may be what crashes. Empty: none.
std::string plan_made_apart(const Scenario& scenario, std::uint64_t seed) try {
    Child child = start_child([&](const ChildPipes& pipes) {
        ::signal(SIGALRM, SIG_DFL);
        ::alarm(kPlanSeconds);
        write_all(pipes.output_fd, scenario.plan(seed)->to_json());
    });
    std::string json;
    std::string ignored;
    pollfd ready{child.output_fd, POLLIN, 0};
    while (drain(child.output_fd, json)) {
        drain(child.error_fd, ignored);
        ::poll(&ready, 1, kPollMs);
    }
    return reap(child).wait_status == 0 ? json : "";
} catch (const std::system_error&) {
    return {};
}

class Campaign {
  public:
    Campaign(const std::vector<CampaignScenario>& scenarios, const CampaignOptions& options, CampaignWatcher& watcher)
        : scenarios_(scenarios),
          options_(options),
          watcher_(watcher),
          order_(options.seeds, options.shard, static_cast<std::uint32_t>(scenarios.size()), options.interleave),
          tally_(scenarios),
          started_ns_(now_ns()),
          workers_max_(options.jobs) {
        if (!options_.time_ns || options_.seeds != kAllSeeds) progress_.schedules_total = order_.total();
        progress_.time_ns = options_.time_ns;
        for (const CampaignScenario& scenario : scenarios_) bare_scenarios_.push_back(scenario.scenario.get());
    }

    reports::Results run();

  private:
    using Workers = std::list<WorkerProcess>;

    void start_workers();
    bool start_worker();
    void make_do_with_workers(const std::string& why);
    void wait_for_news();
    void serve(Workers::iterator worker);
    void feed(WorkerProcess& worker);
    void replace(Workers::iterator worker);
    void take(const Job& job, const ScheduleReport& report);
    void take_lost(const LostJob& lost);
    std::optional<Job> next_job();
    void stop(std::string why);
    void check_limits();
    void kill_hung_workers();
    [[nodiscard]] bool is_working() const;
    reports::Results results();

    const std::vector<CampaignScenario>& scenarios_;
    std::vector<const Scenario*> bare_scenarios_;
    const CampaignOptions& options_;
    CampaignWatcher& watcher_;
    SeedOrder order_;
    Tally tally_;
    std::int64_t started_ns_;
    CampaignProgress progress_;
    Workers workers_;
    std::deque<Job> returned_;  // jobs that a dead worker had not begun
    std::int64_t workers_max_;  // wanted, and fewer once no more can be started
    std::int64_t failing_ = 0;
    bool stopping_ = false;
    bool complete_ = true;
    std::string stopped_by_;
    std::int64_t interrupted_ns_ = 0;
};

void Campaign::start_workers() {
    const std::int64_t wanted = std::min(workers_max_, progress_.schedules_total.value_or(workers_max_));
    while (!stopping_ && static_cast<std::int64_t>(workers_.size()) < wanted && start_worker()) feed(workers_.back());
}

bool Campaign::start_worker() {
    try {
        workers_.emplace_back([this](const ChildPipes& pipes) {
            // Pipes of workers started earlier were inherited; held open here they would hide their end.
            for (const WorkerProcess& other : workers_) other.close_inherited();
            work_off_jobs(bare_scenarios_, options_.check_determinism, pipes.job_fd, pipes.output_fd);
        });
        return true;
    } catch (const std::system_error& error) {
        make_do_with_workers(error.what());
        return false;
    }
}

void Campaign::make_do_with_workers(const std::string& why) {
    workers_max_ = static_cast<std::int64_t>(workers_.size());
    watcher_.on_shortage(workers_max_, why);
    if (workers_.empty()) return stop("no worker process could be started");
    // What a dead worker left is theirs now, even of those that had nothing more to do.
    for (WorkerProcess& worker : workers_) feed(worker);
}

std::optional<Job> Campaign::next_job() {
    if (stopping_) return std::nullopt;
    if (!returned_.empty()) {
        const Job job = returned_.front();
        returned_.pop_front();
        return job;
    }
    return order_.next();
}

void Campaign::feed(WorkerProcess& worker) {
    while (worker.outstanding() < kJobsAhead) {
        const std::optional<Job> job = next_job();
        if (!job) return;
        worker.give(*job, now_ns());
    }
}

void Campaign::stop(std::string why) {
    if (stopping_) return;
    stopping_ = true;
    complete_ = why.empty();
    stopped_by_ = std::move(why);
}

void Campaign::check_limits() {
    if (const int signal = interrupted_by(); signal != 0) {
        if (interrupted_ns_ == 0) interrupted_ns_ = now_ns();
        stop(std::string(signal_name(signal)));
    }
    if (options_.time_ns && now_ns() - started_ns_ >= *options_.time_ns) {
        // Time alone ends a campaign as asked; with seeds given too, some of them were not run.
        stop(options_.seeds == kAllSeeds ? "" : "the time budget");
    }
    if (options_.failing_max > 0 && failing_ >= options_.failing_max) {
        stop(fmt::format("{} failing schedule(s)", failing_));
    }
}

void Campaign::take(const Job& job, const ScheduleReport& report) {
    const CampaignScenario& scenario = scenarios_[job.scenario];
    const std::vector<reports::Violation> violations = tally_.add(job, report);
    ++progress_.schedules;
    progress_.violations += static_cast<std::int64_t>(violations.size());
    if (violations.empty() && report.result.unsound.empty()) return;
    ++failing_;
    if (violations.empty()) return;
    watcher_.on_failure({scenario.scenario->name(), job.seed, violations, report.result.digest, report.plan_json});
}

void Campaign::take_lost(const LostJob& lost) {
    const CampaignScenario& scenario = scenarios_[lost.job.scenario];
    const reports::Violation violation = tally_.add_lost(lost);
    ++progress_.schedules;
    ++progress_.violations;
    ++failing_;
    watcher_.on_failure(
        {scenario.scenario->name(), lost.job.seed, {violation}, 0, plan_made_apart(*scenario.scenario, lost.job.seed)});
}

void Campaign::replace(Workers::iterator worker) {
    const std::optional<LostJob> lost = worker->bury(returned_);
    workers_.erase(worker);
    // After an interrupt unfinished schedules are dropped, and what was killed for it is no finding.
    if (lost && interrupted_ns_ == 0) take_lost(*lost);
    check_limits();
    if (!stopping_) start_workers();
}

void Campaign::serve(Workers::iterator worker) {
    const bool alive = worker->read();
    while (auto report = worker->next_report(now_ns())) {
        take(report->first, report->second);
        check_limits();
        if (alive) feed(*worker);
    }
    if (!alive) replace(worker);
}

void Campaign::wait_for_news() {
    std::vector<pollfd> watched;
    for (const WorkerProcess& worker : workers_) {
        watched.push_back({worker.output_fd(), POLLIN, 0});
        watched.push_back({worker.error_fd(), POLLIN, 0});
    }
    ::poll(watched.data(), watched.size(), kPollMs);
}

void Campaign::kill_hung_workers() {
    const bool grace_over = interrupted_ns_ != 0 && now_ns() - interrupted_ns_ > kGraceNs;
    for (WorkerProcess& worker : workers_) {
        if (grace_over) worker.kill_now();
        worker.kill_if_hung(now_ns(), options_.schedule_limit_ns);
    }
}

bool Campaign::is_working() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const WorkerProcess& worker) { return worker.outstanding() > 0; });
}

reports::Results Campaign::results() {
    reports::Results results = tally_.results();
    results.builds = {build_id()};
    results.complete = complete_;
    results.stopped_by = stopped_by_;
    results.jobs = static_cast<std::int32_t>(workers_max_);
    results.shard = options_.shard.index;
    results.shards = options_.shard.count;
    results.elapsed_ns = now_ns() - started_ns_;
    return results;
}

reports::Results Campaign::run() {
    start_workers();
    while (is_working()) {
        wait_for_news();
        check_limits();
        for (auto worker = workers_.begin(); worker != workers_.end();) serve(worker++);
        kill_hung_workers();
        progress_.elapsed_ns = now_ns() - started_ns_;
        watcher_.on_progress(progress_);
    }
    std::deque<Job> none;
    for (WorkerProcess& worker : workers_) worker.bury(none);
    return results();
}

}  // namespace

reports::Results run_campaign(const std::vector<CampaignScenario>& scenarios, const CampaignOptions& options,
                              CampaignWatcher& watcher) {
    return Campaign(scenarios, options, watcher).run();
}

std::string replay_command(const std::string& reference) {
    return "tidelock replay " + shell_quoted(reference);
}

}  // namespace tidelock::tools
