#include "tools/tidelock/determinism.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "tools/tidelock/file_io.h"
#include "tools/tidelock/timeline.h"
#include "tools/tidelock/trace_pipe.h"
#include "tools/tidelock/wire.h"

namespace tidelock::tools {

namespace {

using scenarios::RunOptions;
using scenarios::ScheduleResult;
using scenarios::TraceLine;

// A trace kept outside every heap: the world's arena must not see it.
class MemoryTrace {
  public:
    MemoryTrace() : fd_(::memfd_create("tidelock-trace", MFD_CLOEXEC)) {}
    ~MemoryTrace() { ::close(fd_); }
    MemoryTrace(const MemoryTrace&) = delete;
    MemoryTrace& operator=(const MemoryTrace&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] FrameReader frames() const {
        FrameReader reader;
        ::lseek(fd_, 0, SEEK_SET);
        char block[64 * 1024];
        for (ssize_t count = 0; (count = ::read(fd_, block, sizeof block)) > 0;) {
            reader.add(std::string_view(block, static_cast<std::size_t>(count)));
        }
        return reader;
    }

  private:
    int fd_;
};

void run_traced(const SchedulePlan& plan, const MemoryTrace& trace) {
    TracePipe pipe(trace.fd(), false);
    RunOptions options;
    options.trace = &pipe;
    plan.run(options);
}

std::string line_or_end(const std::optional<std::string>& frame) {
    if (!frame) return "the end of the run";
    const std::optional<TraceLine> line = decode_trace_line(*frame);
    return line ? timeline_text(*line) : "an unreadable line";
}

// The first line in which two traced runs differ, in words; nothing when they agree.
std::optional<std::string> first_difference(const SchedulePlan& plan) {
    const MemoryTrace first_trace;
    const MemoryTrace second_trace;
    run_traced(plan, first_trace);
    run_traced(plan, second_trace);
    FrameReader first = first_trace.frames();
    FrameReader second = second_trace.frames();
    for (;;) {
        const std::optional<std::string> a = first.next();
        const std::optional<std::string> b = second.next();
        if (a != b) return fmt::format("first run: {}; second run: {}", line_or_end(a), line_or_end(b));
        if (!a) return std::nullopt;
    }
}

std::size_t first_divergent_event(const ScheduleResult& a, const ScheduleResult& b) {
    const auto [in_a, in_b] =
        std::mismatch(a.event_digests.begin(), a.event_digests.end(), b.event_digests.begin(), b.event_digests.end());
    return static_cast<std::size_t>(in_a - a.event_digests.begin()) + 1;
}

bool same_run(const ScheduleResult& a, const ScheduleResult& b) {
    return a.digest == b.digest && a.events == b.events && a.event_digests == b.event_digests &&
           a.virtual_ns == b.virtual_ns && a.acked_records == b.acked_records && a.violations == b.violations;
}

}  // namespace

ScheduleResult run_twice(const SchedulePlan& plan) {
    RunOptions options;
    options.record_event_digests = true;
    ScheduleResult first = plan.run(options);
    const ScheduleResult second = plan.run(options);
    if (same_run(first, second)) return first;
    const std::string where =
        first_difference(plan).value_or("two traced runs agreed: the difference did not come back");
    first.unsound = fmt::format("not deterministic: two runs part at event {} of {} ({})",
                                first_divergent_event(first, second), first.events, where);
    return first;
}

}  // namespace tidelock::tools
