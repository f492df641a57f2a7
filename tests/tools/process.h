/// Runs programs as a user would and looks at what they print and exit with.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tidelock::tests {

struct Finished {
    int status = -1;  // exit status; 256 + signal when one ended it
    std::string out;
    std::string err;
};

/// A running program. Its output is collected through files, so that it never blocks on us.
class RunningProcess {
  public:
    explicit RunningProcess(const std::vector<std::string>& words);
    ~RunningProcess();
    RunningProcess(const RunningProcess&) = delete;
    RunningProcess& operator=(const RunningProcess&) = delete;

    void signal(int number) const;
    /// Waits; a program that takes longer than a minute is killed.
    Finished wait();

  private:
    pid_t pid_;
    int out_fd_;
    int err_fd_;
};

Finished run(const std::vector<std::string>& words);

/// A directory of its own, removed at the end.
class ScratchDirectory {
  public:
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

std::string content_of(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace tidelock::tests
