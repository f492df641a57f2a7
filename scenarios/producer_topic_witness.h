/// Reads the topic of producers as the next leader will, and the logs, from the medium of the present leader: what is
/// known of producers and log starts must not hang on the memory of who knows it, nor differ from the log (T2, L7).
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "protocol/base/flat_map.h"
#include "protocol/broker/broker.h"
#include "sim/disk.h"

namespace tidelock::scenarios {

/// Log starts that clients were told of by the running life of a broker.
using ToldLogStarts = FlatMap<TopicPartition, Offset>;

/// Who has a confirmed batch where, as far as one life of a broker has seen it happen: by its observations, and by
/// nothing of its tables.
class ConfirmedWriters {
  public:
    void on_observation(const broker::Observation& observation);
    /// Of each producer the offset its last confirmed batch ends at (inclusive).
    [[nodiscard]] FlatMap<ProducerId, Offset> of(TopicPartition tp) const;

  private:
    struct Written {
        ProducerId producer;
        Offset base_offset;
        Offset next_offset;
    };
    struct Log {
        FlatMap<ProducerId, Offset> confirmed;
        std::deque<Written> unconfirmed;
        Offset high_watermark;
    };
    void write(TopicPartition tp, const broker::BatchSummary& batch);
    void confirm(TopicPartition tp, Offset high_watermark);
    void cut(TopicPartition tp, Offset end);
    void forget_from(TopicId topic, PartitionIndex first);

    FlatMap<TopicPartition, Log> logs_;
};

/// What a serving leader knows of producers below its log starts, has seen of them, and told of log starts, that its
/// successor would not find in the topic of producers after a power loss; each in words. Looks at nothing that a table
/// may have forgotten because of its bound. Empty as well when nobody serves, or when the topic's copy is damaged.
std::vector<std::string> untold_to_successor(const sim::Disk& disk, const broker::Broker& broker,
                                             const ConfirmedWriters& writers, const ToldLogStarts& told);

/// What a serving leader's tables of producers say that its own log, as it rests on the medium, contradicts: an older
/// last batch than the log holds, or nothing of one that no bound can have made it forget; or an older last batch than
/// it has seen confirmed, which the log need not hold any more (T2); each in words.
std::vector<std::string> misremembered_producers(const sim::Disk& disk, const broker::Broker& broker,
                                                 const ConfirmedWriters& writers);

/// Deletions that a leader which has just opened found in the topic of producers, as it rests on the medium, and has
/// not made though its log reaches them (L7); each in words.
std::vector<std::string> deletions_not_made(const sim::Disk& disk, const broker::Broker& broker);

}  // namespace tidelock::scenarios
