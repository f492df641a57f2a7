/// V10: in the confirmed log each idempotent producer's batches follow each other: no sequence twice, none left out,
/// none out of order, no batch of an older producer epoch after a newer one (T2).
#pragma once

#include <cstdint>
#include <vector>

#include "checker/invariant.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class ProducerOrder {
  public:
    /// Judges what this acknowledgement newly confirms.
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsAcknowledged& acknowledged);

  private:
    struct LastBatch {
        ProducerEpoch producer_epoch;
        std::int32_t last_sequence;
        Offset last_offset;
    };
    struct Progress {
        Offset judged_end;  // exclusive
        std::uint32_t confirmed_cuts = 0;
        FlatMap<ProducerId, LastBatch> producers;
    };
    static void judge_batch(const Context& context, const PartitionView& partition, const broker::BatchSummary& batch,
                            Progress& progress, bool report);
    static void rebuild(const Context& context, const PartitionView& partition, Progress& progress);

    std::vector<Progress> progress_;  // by PartitionNumber
};

}  // namespace tidelock::checker
