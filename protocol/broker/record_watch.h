/// Clients that wait for records in any of several partitions (AwaitRecordsRequest). One client waits once, however
/// many partitions it names; a partition that moves looks at its own waiters only.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/client_ref.h"

namespace tidelock::broker {

struct WatchedPosition {
    TopicPartition partition;
    Offset offset;
    bool operator==(const WatchedPosition&) const = default;
};

class RecordWatches {
  public:
    /// Waits until a high watermark passes one of the positions, at most until `deadline`.
    void add(const clients::ClientRef& client, std::vector<WatchedPosition> positions, Instant deadline);
    /// Who waits for less than `high_watermark` here, taken out; in the order in which they came.
    [[nodiscard]] std::vector<clients::ClientRef> take_passed(TopicPartition tp, Offset high_watermark);
    /// Everybody who waits for this partition, taken out: it is gone, or is not what it was.
    [[nodiscard]] std::vector<clients::ClientRef> take_all(TopicPartition tp);
    [[nodiscard]] std::vector<clients::ClientRef> take_expired(Instant now);
    void forget(ConnectionId connection);

    [[nodiscard]] std::optional<Instant> next_deadline() const;
    [[nodiscard]] std::size_t size() const { return watches_.size(); }
    bool operator==(const RecordWatches&) const = default;

  private:
    struct Watch {
        clients::ClientRef client;
        std::vector<WatchedPosition> positions;
        Instant deadline;
        bool operator==(const Watch&) const = default;
    };
    using WatchId = std::uint64_t;

    clients::ClientRef take(WatchId id);

    std::map<WatchId, Watch> watches_;
    std::map<TopicPartition, std::map<WatchId, Offset>> by_partition_;
    std::map<Instant, std::vector<WatchId>> by_deadline_;
    WatchId next_id_ = 1;
};

}  // namespace tidelock::broker
