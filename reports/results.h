/// What a campaign found, as data: made by `tidelock run`, joined by `tidelock merge`, shown by every writer of this
/// folder. Rows are sums and sets, so results of shards join into exactly what one run of the whole would have given
/// (times and memory apart).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidelock::reports {

/// An invariant that did not hold in one schedule; `crash` is the invariant of a schedule that killed or hung its
/// worker.
struct Violation {
    std::uint64_t seed = 0;
    std::string invariant;
    std::int64_t time_ns = 0;  // virtual
    std::string message;
    std::string replay;  // the one command that runs this schedule again
    bool operator==(const Violation&) const = default;
};

/// A schedule whose run cannot be trusted: not deterministic, out of its event budget, an internal error.
struct UnsoundRun {
    std::uint64_t seed = 0;
    std::string why;
    std::string replay;
    bool operator==(const UnsoundRun&) const = default;
};

/// All schedules of one scenario.
struct ScenarioRow {
    std::string scenario;
    std::string replay_prefix;     // the command that runs one of its schedules again, once a seed is added
    std::uint64_t first_seed = 0;  // inclusive; meaningless while schedules is 0
    std::uint64_t last_seed = 0;   // inclusive
    std::int64_t schedules = 0;
    std::vector<Violation> violations;  // by seed, then time
    std::vector<UnsoundRun> unsound;    // by seed
    std::int64_t events = 0;
    std::int64_t virtual_ns = 0;
    std::int64_t wall_ns = 0;  // summed over schedules: what the workers spent
    std::int64_t cpu_ns = 0;
    std::int64_t acked_records = 0;
    std::int64_t read_records = 0;
    std::int64_t skipped_elements = 0;           // of plans that no longer fit this build
    std::int64_t peak_memory_bytes = 0;          // of one world
    std::map<std::string, std::int64_t> faults;  // delivered, by kind; kinds never delivered stand with 0
    std::map<std::string, std::int64_t> marks;   // reached, by name; marks never reached stand with 0
    std::uint64_t digest = 0;                    // of all schedules, independent of their order
    bool operator==(const ScenarioRow&) const = default;
};

/// Everything one `--json` file holds.
struct Results {
    std::vector<std::string> builds;  // which program(s) made this, sorted
    bool complete = true;             // false: stopped early, the rows hold what was done until then
    std::string stopped_by;           // why, when not complete: "SIGINT", "100 failing schedules"
    std::int32_t jobs = 0;            // worker processes
    std::int32_t shard = 1;           // 1 and up
    std::int32_t shards = 1;
    std::int64_t elapsed_ns = 0;         // wall clock of the campaign
    std::int64_t peak_worker_bytes = 0;  // resident, of the largest worker
    std::vector<ScenarioRow> scenarios;
    bool operator==(const Results&) const = default;
};

/// Which part of a digest sum one schedule is: adding these in any order gives the row's digest.
std::uint64_t digest_share(std::uint64_t seed, std::uint64_t schedule_digest);

/// Adds `part`, both 0 or more; a sum past `kSumMax` stays there. Files of any origin are joined, so none may overflow.
void add_up(std::int64_t& sum, std::int64_t part);
/// The largest sum: as nanoseconds it is also a number of seconds that is read back.
inline constexpr std::int64_t kSumMax = 9'200'000'000'000'000'000;

/// Adds the figures of `part` to `whole`; both are rows of one scenario.
void add_to_row(ScenarioRow& whole, const ScenarioRow& part);

/// Sorts violations and unsound runs, so that the order in which workers finished leaves no trace.
void sort_findings(ScenarioRow& row);

/// Joins results of shards, scenarios in order of first appearance. Overlapping inputs are the caller's to refuse.
Results join(const std::vector<Results>& parts);

/// Sums over all rows.
struct Totals {
    std::int64_t schedules = 0;
    std::int64_t violations = 0;
    std::int64_t unsound = 0;
    std::int64_t events = 0;
    std::int64_t virtual_ns = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t acked_records = 0;
    std::int64_t read_records = 0;
    bool operator==(const Totals&) const = default;
};
Totals totals_of(const Results& results);

/// 16 hexadecimal digits after `0x`.
std::string digest_text(std::uint64_t digest);

}  // namespace tidelock::reports
