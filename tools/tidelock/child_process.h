/// A child of this process: forked, watched through pipes, reaped. Children ignore Ctrl-C (the parent decides what it
/// means) and die with their parent.
#pragma once

#include <sys/types.h>

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

/// Closes the pipes and waits for the child to end; its wait status.
int reap(Child& child);

/// "died of signal 6 (Aborted)", "exited with status 3".
std::string describe_end(int wait_status);

}  // namespace tidelock::tools
