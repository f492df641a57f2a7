#include "tools/tidelock/child_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "reports/figures.h"

namespace tidelock::tools {

namespace {

constexpr rlim_t kCpuSecondsMax = 1'000'000'000;  // more than anybody waits for
// The limit is counted in ticks, charged to whoever runs when one comes; what is told afterwards is measured. On a busy
// machine the two differ by a tenth and more.
constexpr std::int64_t kCpuSlackPercent = 30;

std::int64_t nanoseconds(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

void close_open(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

// Ends that nobody took over are closed with it: a child that could not be started leaves nothing open.
struct Pipe {
    int read_fd = -1;
    int write_fd = -1;

    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) {
            throw std::system_error(errno, std::generic_category(), "cannot make a pipe to a worker process");
        }
        read_fd = ends[0];
        write_fd = ends[1];
    }
    ~Pipe() {
        close_open(read_fd);
        close_open(write_fd);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
};

void set_nonblocking(int fd) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

[[noreturn]] void run_child(pid_t parent, const std::function<void(const ChildPipes&)>& body, const ChildPipes& pipes,
                            int error_fd) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    ::dup2(error_fd, STDERR_FILENO);
    body(pipes);
    ::_exit(0);
}

}  // namespace

Child start_child(const std::function<void(const ChildPipes&)>& body) {
    Pipe jobs;
    Pipe output;
    Pipe errors;
    // What is still buffered would otherwise be printed by both processes.
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot start a worker process");
    if (pid == 0) {
        ::close(jobs.write_fd);
        ::close(output.read_fd);
        ::close(errors.read_fd);
        run_child(parent, body, {jobs.read_fd, output.write_fd}, errors.write_fd);
    }
    set_nonblocking(output.read_fd);
    set_nonblocking(errors.read_fd);
    return {pid, std::exchange(jobs.write_fd, -1), std::exchange(output.read_fd, -1),
            std::exchange(errors.read_fd, -1)};
}

bool drain(int fd, std::string& text) {
    char block[64 * 1024];
    for (;;) {
        const ssize_t count = ::read(fd, block, sizeof block);
        if (count > 0) {
            text.append(block, static_cast<std::size_t>(count));
        } else if (count == 0) {
            return false;
        } else if (errno != EINTR) {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
    }
}

ChildEnd reap(Child& child) {
    close_open(child.job_fd);
    close_open(child.output_fd);
    close_open(child.error_fd);
    ChildEnd end;
    rusage usage{};
    while (::wait4(child.pid, &end.wait_status, 0, &usage) < 0 && errno == EINTR) {
    }
    child.pid = -1;
    end.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
    return end;
}

bool is_out_of_cpu_time(const ChildEnd& end) {
    if (!WIFSIGNALED(end.wait_status)) return false;
    if (WTERMSIG(end.wait_status) == SIGXCPU) return true;
    // The hard limit kills, and `ulimit -t` sets both at once.
    rlimit limit{};
    if (WTERMSIG(end.wait_status) != SIGKILL || ::getrlimit(RLIMIT_CPU, &limit) != 0) return false;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > kCpuSecondsMax) return false;
    const std::int64_t limit_ns = static_cast<std::int64_t>(limit.rlim_max) * 1'000'000'000;
    return end.cpu_ns >= limit_ns / 100 * (100 - kCpuSlackPercent);
}

std::string describe_end(const ChildEnd& end) {
    if (is_out_of_cpu_time(end)) {
        return fmt::format("used up its CPU time: ended by the system after {} (ulimit -t)",
                           reports::span_text(end.cpu_ns));
    }
    if (WIFSIGNALED(end.wait_status)) {
        const int number = WTERMSIG(end.wait_status);
        const char* name = ::sigdescr_np(number);
        return fmt::format("died of signal {} ({})", number, name == nullptr ? "unknown" : name);
    }
    return fmt::format("exited with status {}", WEXITSTATUS(end.wait_status));
}

}  // namespace tidelock::tools
