/// Words that several APIs share.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"
#include "protocol/kafka/api.h"
#include "protocol/kafka/error_code.h"

namespace tidelock::kafka {

/// Nobody, nowhere, never: what -1 says for a broker, an offset and an epoch.
inline constexpr BrokerId kNoBroker{-1};
inline constexpr Offset kNoOffset{-1};
inline constexpr LeaderEpoch kNoLeaderEpoch{-1};
/// In place of a bit set of allowed operations: not asked for.
inline constexpr std::int32_t kOperationsOmitted = std::numeric_limits<std::int32_t>::min();

/// isolation_level: all records below the high watermark, or those of undecided transactions left out.
inline constexpr std::int8_t kReadUncommitted = 0;
inline constexpr std::int8_t kReadCommitted = 1;

/// Who leads a partition now, in an answer that says not-leader (KIP-951).
struct CurrentLeader {
    BrokerId leader_id = kNoBroker;
    LeaderEpoch leader_epoch = kNoLeaderEpoch;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("leader_id", m.leader_id);
        v.field("leader_epoch", m.leader_epoch);
    }
    bool operator==(const CurrentLeader&) const = default;
};

/// Where the leaders named in an answer are reached (KIP-951).
struct NodeEndpoint {
    BrokerId node_id;
    std::string host;
    std::int32_t port = 0;
    std::optional<std::string> rack;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("node_id", m.node_id);
        v.field("host", m.host);
        v.field("port", m.port);
        v.field("rack", m.rack);
    }
    bool operator==(const NodeEndpoint&) const = default;
};

}  // namespace tidelock::kafka
