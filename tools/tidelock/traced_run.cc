#include "tools/tidelock/traced_run.h"

#include <poll.h>
#include <signal.h>

#include <utility>

#include "tools/tidelock/child_process.h"
#include "tools/tidelock/file_io.h"
#include "tools/tidelock/interrupt.h"
#include "tools/tidelock/trace_pipe.h"

namespace tidelock::tools {

namespace {

constexpr int kPollMs = 100;

void run_in_child(const Schedule& schedule, std::optional<std::int64_t> until_ns, int output_fd) {
    ScheduleReport report;
    {
        TracePipe pipe(output_fd, true);
        scenarios::RunOptions options;
        options.trace = &pipe;
        options.until_ns = until_ns;
        report.result = schedule.run(options);
    }
    write_all(output_fd, encode_report(report));
}

// Cuts the child's output into frames: all are lines of the timeline but the last, which is the report if there is one.
class Receiver {
  public:
    explicit Receiver(const std::function<void(const scenarios::TraceLine&)>& on_line) : on_line_(on_line) {}

    void take(std::string_view bytes) {
        frames_.add(bytes);
        while (std::optional<std::string> frame = frames_.next()) {
            pass_last_on();
            last_ = std::move(frame);
        }
    }
    void pass_last_on() {
        if (!last_) return;
        if (const std::optional<scenarios::TraceLine> line = decode_trace_line(*last_)) on_line_(*line);
        last_.reset();
    }
    std::optional<ScheduleReport> report() const { return last_ ? decode_report(*last_) : std::nullopt; }

  private:
    const std::function<void(const scenarios::TraceLine&)>& on_line_;
    FrameReader frames_;
    std::optional<std::string> last_;
};

}  // namespace

TracedRun run_traced(const Schedule& schedule, std::optional<std::int64_t> until_ns,
                     const std::function<void(const scenarios::TraceLine&)>& on_line) {
    Child child = start_child([&](const ChildPipes& pipes) { run_in_child(schedule, until_ns, pipes.output_fd); });
    Receiver receiver(on_line);
    std::string errors;
    for (bool open = true; open;) {
        pollfd ready[] = {{child.output_fd, POLLIN, 0}, {child.error_fd, POLLIN, 0}};
        ::poll(ready, 2, kPollMs);
        std::string bytes;
        open = drain(child.output_fd, bytes);
        receiver.take(bytes);
        drain(child.error_fd, errors);
        if (interrupted_by() != 0) ::kill(child.pid, SIGKILL);
    }
    drain(child.error_fd, errors);
    const ChildEnd end = reap(child);
    TracedRun run;
    if (end.wait_status == 0) run.report = receiver.report();
    if (run.report) return run;
    receiver.pass_last_on();
    while (!errors.empty() && errors.back() == '\n') errors.pop_back();
    run.how_ended = interrupted_by() != 0 ? "was interrupted" : describe_end(end);
    run.is_hang = is_out_of_cpu_time(end);
    if (!errors.empty()) run.how_ended += ": " + errors;
    return run;
}

}  // namespace tidelock::tools
