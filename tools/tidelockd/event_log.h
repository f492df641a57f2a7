/// The daemon's log: one line of JSON an event, on standard error or wherever it is sent. What the core observes and
/// what the sockets meet go the same way. An event that repeats itself fast is counted, not written, so that nobody can
/// fill a disk from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidelock::tidelockd {

enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError };

class EventLog {
  public:
    using Fields = std::vector<std::pair<std::string_view, std::string>>;

    /// Lines are written by a thread of its own: whoever reads them may stop reading. What finds the queue full is
    /// counted, and told with the next line that finds room.
    explicit EventLog(std::FILE* out, Level least = Level::kInfo);
    /// Gives what is queued a moment to be written.
    ~EventLog();
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;
    /// `event` is a word that stays the same: what dashboards search for.
    void write(Level level, std::string_view event, std::string_view text, const Fields& fields = {});
    /// As `write`, ten a second of each event at most; the next one written says how many were left out.
    void write_limited(Level level, std::string_view event, std::string_view text, const Fields& fields = {});

  private:
    struct Rate {
        std::chrono::steady_clock::time_point since;
        std::uint32_t written = 0;
        std::uint64_t left_out = 0;
    };

    struct Queue;
    static void write_queued(const std::shared_ptr<Queue>& queue, std::FILE* out);

    std::shared_ptr<Queue> queue_;  // also the thread's, which may outlive this
    Level least_;
    std::map<std::string, Rate, std::less<>> rates_;
};

}  // namespace tidelock::tidelockd
