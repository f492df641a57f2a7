/// What a record holds: which run and which record it is and when it was made, then filling. So whoever reads it back
/// knows which acknowledged record it is, whatever system it went through.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tidelock::load {

/// As little as a record can hold.
inline constexpr std::uint32_t kPayloadBytesMin = 24;

/// Which record of which run, and when it was made (CLOCK_MONOTONIC).
struct Stamp {
    std::uint64_t run = 0;
    std::uint64_t record = 0;
    std::int64_t made_ns = 0;
    bool operator==(const Stamp&) const = default;
};

/// Records of one size and one run; the filling is the same in all of them and does not compress.
class Payload {
  public:
    Payload(std::uint64_t run, std::uint32_t record_bytes);
    /// Valid until the next call.
    std::span<const std::byte> of(std::uint64_t record, std::int64_t made_ns);
    [[nodiscard]] std::uint64_t run() const { return run_; }

  private:
    std::uint64_t run_;
    std::string bytes_;
};

/// Empty: too short to be one of ours.
std::optional<Stamp> stamp_of(std::span<const std::byte> payload);

}  // namespace tidelock::load
