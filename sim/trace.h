/// What a world tells whoever wants to watch: one entry per thing that happened. Without a sink it costs one test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/ids.h"

namespace tidelock::sim {

enum class TraceKind : std::uint8_t {
    kSend,        // flow: the frame
    kDeliver,     // flow: the frame; `peer` is the sender
    kDrop,        // flow: the frame; text says why
    kConnection,  // opened, closed, broken
    kTimer,
    kDisk,
    kLifecycle,  // started, killed, powered off, paused ...
    kFault,
    kObservation,  // handed in by the layer above
    kNote,
};
std::string_view text_of(TraceKind kind);

/// The views are valid during the call only.
struct TraceEntry {
    TimeNs at;
    HostId host = kNoHost;
    HostId peer = kNoHost;
    TraceKind kind = TraceKind::kNote;
    std::uint64_t flow = 0;  // joins a send with its deliveries and drops; 0: none
    std::string_view text;
};

/// Called outside the arena (an ArenaPause is open), so a sink may keep what it makes.
class TraceSink {
  public:
    TraceSink() = default;
    TraceSink(const TraceSink&) = delete;
    TraceSink& operator=(const TraceSink&) = delete;
    virtual ~TraceSink() = default;
    virtual void on_entry(const TraceEntry& entry) = 0;
};

/// `  0.123456789 host 2 <- 1 deliver: text`, without a line end.
std::string line_of(const TraceEntry& entry);

/// Collects lines.
class TextTrace final : public TraceSink {
  public:
    void on_entry(const TraceEntry& entry) override;
    /// All lines, each with its line end.
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
};

}  // namespace tidelock::sim
