#include "tests/tools/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tidelock::tests {

namespace {

constexpr int kWaitsMax = 6000;
constexpr useconds_t kWaitUs = 10'000;

std::string all_of(int fd) {
    std::string text;
    char block[4096];
    ::lseek(fd, 0, SEEK_SET);
    for (ssize_t count = 0; (count = ::read(fd, block, sizeof block)) > 0;) {
        text.append(block, static_cast<std::size_t>(count));
    }
    return text;
}

}  // namespace

RunningProcess::RunningProcess(const std::vector<std::string>& words)
    : out_fd_(::memfd_create("out", MFD_CLOEXEC)), err_fd_(::memfd_create("err", MFD_CLOEXEC)) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(out_fd_, STDOUT_FILENO);
        ::dup2(err_fd_, STDERR_FILENO);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
}

RunningProcess::~RunningProcess() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_fd_);
    ::close(err_fd_);
}

void RunningProcess::signal(int number) const {
    ::kill(pid_, number);
}

Finished RunningProcess::wait() {
    int status = 0;
    for (int waits = 0; ::waitpid(pid_, &status, WNOHANG) == 0; ++waits) {
        if (waits == kWaitsMax) ::kill(pid_, SIGKILL);
        ::usleep(kWaitUs);
    }
    pid_ = -1;
    const int code = WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, all_of(out_fd_), all_of(err_fd_)};
}

Finished run(const std::vector<std::string>& words) {
    return RunningProcess(words).wait();
}

ScratchDirectory::ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "tidelock-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
    path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

}  // namespace tidelock::tests
