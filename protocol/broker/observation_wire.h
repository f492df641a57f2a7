/// Observations as bytes, for logs that a checker reads later: what `tidelockd --observations` writes and
/// `tidelock live` judges. A record is its size (u32), the moment (i64, nanoseconds of the host's monotonic clock), the
/// kind, and the fields in the order of their declaration. Writer and reader are of one build: the kind is the place in
/// the variant.
#pragma once

#include <span>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/result.h"
#include "protocol/base/time.h"
#include "protocol/broker/observation.h"

namespace tidelock::broker {

struct ObservedAt {
    Instant at;
    Observation observation;
    bool operator==(const ObservedAt&) const = default;
};

void encode(const ObservedAt& observed, ByteWriter& out);
/// All whole records. One that is cut off at the end is left out: its process was killed in the middle of it. Anything
/// else that no writer writes is an error.
[[nodiscard]] Result<std::vector<ObservedAt>, DecodeError> decode_observations(std::span<const std::byte> log);

}  // namespace tidelock::broker
