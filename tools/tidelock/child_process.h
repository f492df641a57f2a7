/// A child of this process: forked, watched through pipes, reaped. Children ignore Ctrl-C (the parent decides what it
/// means) and die with their parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tidelock::tools {

/// The read ends of the pipes to a child, and its id.
struct Child {
    pid_t pid = -1;
    int job_fd = -1;     // to its job pipe; -1 when it has none
    int output_fd = -1;  // what it reports; non-blocking
    int error_fd = -1;   // its standard error; non-blocking
};

/// Which pipe ends the child's function gets.
struct ChildPipes {
    int job_fd;
    int output_fd;
};

/// Forks; the child runs `body` and exits, its standard error being `error_fd`. Throws std::system_error when the
/// system has no process or pipe left.
Child start_child(const std::function<void(const ChildPipes&)>& body);

/// Appends what a non-blocking pipe holds to `text`; false at its end.
bool drain(int fd, std::string& text);

/// How a child ended.
struct ChildEnd {
    int wait_status = 0;
    std::int64_t cpu_ns = 0;  // user and system time of its whole life
};

/// Closes the pipes and waits for the child to end.
ChildEnd reap(Child& child);

/// Whether the system ended it for having used the CPU time that a process may use (RLIMIT_CPU, `ulimit -t`).
bool is_out_of_cpu_time(const ChildEnd& end);

/// "died of signal 6 (Aborted)", "exited with status 3", "used up its CPU time (ulimit -t)".
std::string describe_end(const ChildEnd& end);

}  // namespace tidelock::tools
