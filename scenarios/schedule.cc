#include "scenarios/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "scenarios/cluster.h"
#include "scenarios/fault_counts.h"
#include "scenarios/nemesis.h"
#include "scenarios/plan.h"
#include "scenarios/trace_adapter.h"
#include "sim/arena.h"

namespace tidelock::scenarios {

namespace {

constexpr Duration kTendInterval = milliseconds(250);
constexpr Duration kReadingPause = seconds(1);  // that a reader who gets further may make

std::size_t records_read(const Verification& verification) {
    std::size_t count = 0;
    for (const VerifiedPartition& partition : verification.partitions) count += partition.read.records.size();
    return count;
}

/// One schedule from boot to verdict. Lives in the arena.
class ScheduleRun {
  public:
    ScheduleRun(const Plan& plan, const RunOptions& options, TraceAdapter& trace)
        : plan_(plan),
          options_(options),
          cluster_(plan,
                   options.record_event_digests ? sim::DigestRecording::kEveryStep : sim::DigestRecording::kNothing),
          nemesis_(cluster_) {
        cluster_.stop_at_violation(true);
        if (!options.judge) cluster_.stop_judging();
        if (options.trace == nullptr) return;
        trace.set_world(&cluster_.world());
        cluster_.world().set_trace(&trace);
    }

    void run() {
        cluster_.start_brokers();
        cluster_.start_clients();
        nemesis_.schedule_faults();
        const bool is_whole = run_phases();
        cluster_.finish(is_whole);
    }

    /// Called outside the arena: what the caller gets must outlive it.
    void copy_out(ScheduleResult& result) {
        const sim::World& world = cluster_.world();
        result.seed = plan_.seed;
        result.digest = world.digest();
        result.events = static_cast<std::int64_t>(world.event_count());
        result.virtual_ns = world.now().value;
        result.acked_records = cluster_.checker().acknowledged_record_count();
        result.read_records = cluster_.checker().read_record_count();
        result.faults = fault_counts(cluster_);
        for (std::size_t i = 0; i < broker::kMarkCount; ++i) {
            const auto mark = static_cast<broker::Mark>(i);
            result.marks.emplace_back(broker::name_of(mark), cluster_.mark_count(mark));
        }
        std::sort(result.marks.begin(), result.marks.end());
        for (const auto& [invariant, message] : cluster_.reports())
            result.violations.push_back({std::string(invariant), world.now().value, std::string(message)});
        for (const checker::Violation& violation : cluster_.checker().violations())
            result.violations.push_back({std::string(checker::name_of(violation.invariant)), violation.time_ns,
                                         std::string(violation.message)});
        result.skipped = plan_.skipped;
        for (const sim::DigestStep& step : world.run_digest().steps()) result.event_digests.push_back(step.digest);
    }

  private:
    /// False if the run ended before its time.
    bool run_phases() {
        const sim::TimeNs heal_at = sim::TimeNs(0) + seconds(plan_.settings[Setting::kChaosSeconds]);
        const Duration heal = seconds(plan_.settings[Setting::kHealSeconds]);
        // Writers go on for a while, so that the healed cluster has work to catch up with; then everybody reads to the
        // end.
        const sim::TimeNs writers_done_at = heal_at + heal * 3 / 10;
        const sim::TimeNs verify_at = heal_at + heal * 4 / 10;
        if (!run_to(heal_at, false)) return false;
        nemesis_.heal();
        if (!run_to(writers_done_at, true)) return false;
        cluster_.workload().are_producers_done = true;
        if (!run_to(verify_at, true)) return false;
        cluster_.start_verifier();
        return run_to(heal_at + heal, true) && run_while_reading(heal_at + heal * 2);
    }

    /// Reading back what many small segments hold takes its time: nobody waits in vain who gets further all the while.
    bool run_while_reading(sim::TimeNs end) {
        sim::World& world = cluster_.world();
        std::size_t read_before = 0;
        while (!cluster_.verification().is_finished && world.now() < end) {
            const std::size_t read = records_read(cluster_.verification());
            if (read == read_before) break;
            read_before = read;
            if (!run_to(std::min(end, world.now() + kReadingPause), true)) return false;
        }
        return true;
    }

    bool run_to(sim::TimeNs end, bool is_healing) {
        sim::World& world = cluster_.world();
        sim::TimeNs last = end;
        if (options_.until_ns) last = std::min(last, sim::TimeNs(*options_.until_ns));
        while (world.now() < last) {
            if (is_healing) nemesis_.tend();
            const sim::TimeNs stop = is_healing ? std::min(last, world.now() + kTendInterval) : last;
            const sim::RunStop reason = world.run_until(stop);
            if (reason == sim::RunStop::kEventBudget) {
                cluster_.report("progress", fmt::format("livelock: {} events before the schedule's time was over",
                                                        world.event_count()));
                return false;
            }
            if (reason == sim::RunStop::kStopRequested || world.is_stop_requested()) return false;
            if (reason == sim::RunStop::kNothingLeft && world.now() < stop) break;
        }
        return last == end;
    }

    const Plan& plan_;
    const RunOptions& options_;
    Cluster cluster_;
    Nemesis nemesis_;
};

}  // namespace

ScheduleResult run_plan(const Plan& plan, const RunOptions& options) {
    ScheduleResult result;
    TraceAdapter trace(options.trace);
    sim::Arena::reset();
    {
        const sim::ArenaScope scope;
        auto run = std::make_unique<ScheduleRun>(plan, options, trace);
        run->run();
        {
            const sim::ArenaPause pause;
            run->copy_out(result);
        }
        result.peak_memory_bytes = static_cast<std::int64_t>(sim::Arena::used_bytes());
        // The next reset forgets the whole world at once; without an arena it has to be taken apart.
        if (sim::kArenaEnabled) static_cast<void>(run.release());
    }
    for (const Violation& violation : result.violations) trace.violation(violation);
    return result;
}

}  // namespace tidelock::scenarios
