/// The rolling hash two runs are compared by (V17), and enough memory to name the first event where they parted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/digest.h"
#include "sim/event.h"

namespace tidelock::sim {

/// What is kept besides the rolling hash.
enum class DigestRecording : std::uint8_t {
    kNothing,
    kLastEvents,  // the last `kRecentStepCount` steps, described
    kEveryStep,   // the hash after every step, and every step described: for comparing two runs
};
inline constexpr std::size_t kRecentStepCount = 64;

/// One step of the run: an event of the world or an observation of the layer above.
struct DigestStep {
    TimeNs at;
    EventKind kind = EventKind::kCall;
    bool is_observation = false;
    HostId host = kNoHost;
    HostId peer = kNoHost;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t digest = 0;  // rolling hash after this step
    bool operator==(const DigestStep&) const = default;
};
/// One line for a person: time, host, what, digest.
std::string text_of(const DigestStep& step);

class RunDigest {
  public:
    explicit RunDigest(DigestRecording recording) : recording_(recording) {}

    void add_event(TimeNs at, const Event& event);
    void add_observation(TimeNs at, std::uint64_t hash);

    [[nodiscard]] std::uint64_t value() const { return rolling_.value(); }
    [[nodiscard]] std::uint64_t step_count() const { return step_count_; }
    /// Recorded steps, oldest first.
    [[nodiscard]] std::vector<DigestStep> steps() const;

  private:
    void record(const DigestStep& step);

    Digest rolling_;
    DigestRecording recording_;
    std::uint64_t step_count_ = 0;
    std::vector<DigestStep> steps_;  // a ring of kRecentStepCount, or all
};

/// Index of the first step that differs (a shorter run differs where it ends); empty if the runs are the same.
std::optional<std::size_t> first_divergence(const std::vector<DigestStep>& one, const std::vector<DigestStep>& other);

}  // namespace tidelock::sim
