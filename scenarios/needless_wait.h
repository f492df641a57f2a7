/// Who waits at a broker for what is there already: a wakeup that was lost. Each would be answered in the end, when its
/// time is over, and a client would only find the broker slow.
#pragma once

#include <optional>
#include <string>

#include "protocol/broker/broker.h"

namespace tidelock::scenarios {

/// Between two events of a broker nobody should: a reader below the high watermark (I7), a producer whose records are
/// confirmed (A5), a follower's fetch short of the log end (F1), members who lag (I2). In words; empty: nobody does.
std::optional<std::string> needless_wait(const broker::Broker& broker);

}  // namespace tidelock::scenarios
