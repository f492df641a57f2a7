/// Sends a trace out of the process that runs the world, line by line, so that it survives that process.
#pragma once

#include <cstddef>
#include <string_view>

#include "scenarios/schedule.h"

namespace tidelock::tools {

/// Writes each line as a frame (wire.h) to a file descriptor. Allocates nothing: it is called while the world's arena
/// owns every allocation. Lines longer than the buffer are cut.
class TracePipe final : public scenarios::TraceSink {
  public:
    /// `promptly`: every line leaves at once, so that the last one before a crash is seen.
    TracePipe(int fd, bool promptly) : fd_(fd), promptly_(promptly) {}
    ~TracePipe() override { flush(); }
    TracePipe(const TracePipe&) = delete;
    TracePipe& operator=(const TracePipe&) = delete;

    void line(const scenarios::TraceLine& line) override;
    void flush();

  private:
    void put(const void* bytes, std::size_t size);
    void put_number(std::size_t number);
    void put_text(std::string_view text);

    static constexpr std::size_t kBufferBytes = 64 * 1024;
    int fd_;
    bool promptly_;
    std::size_t used_ = 0;
    char buffer_[kBufferBytes];
};

}  // namespace tidelock::tools
