/// What a worker process and the campaign say to each other over pipes. Both ends are one program, but a worker may die
/// in the middle of a frame, so the reader is total all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/schedule.h"

namespace tidelock::tools {

/// A worker's answer to one job.
struct ScheduleReport {
    scenarios::ScheduleResult result;  // without event digests
    std::int64_t wall_ns = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t peak_rss_bytes = 0;  // of the worker so far
    std::string plan_json;            // when the schedule failed
};

/// One frame: 4 bytes of length, then the report.
std::string encode_report(const ScheduleReport& report);

/// Bytes as they come out of a pipe, cut into frames.
class FrameReader {
  public:
    void add(std::string_view bytes) { buffer_.append(bytes); }
    /// The next whole frame's content, or nothing yet.
    std::optional<std::string> next();

  private:
    std::string buffer_;
    std::size_t start_ = 0;
};

/// Reads a frame's content; nothing when it is malformed.
std::optional<ScheduleReport> decode_report(std::string_view content);

/// Reads a frame's content as a line of a trace, as TracePipe writes it.
std::optional<scenarios::TraceLine> decode_trace_line(std::string_view content);

}  // namespace tidelock::tools
