/// What a producer notices of a failover: for how long nothing is acknowledged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tidelock::live {

/// The longest time without an acknowledgement that begins before, or within three seconds after, this moment. `times`
/// rise. None: there was no acknowledgement before it, or none after.
std::optional<std::int64_t> silence_after(std::int64_t moment_ns, std::span<const std::int64_t> times);

}  // namespace tidelock::live
