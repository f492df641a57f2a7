/// The producers of one partition, known twice (T2): as of its log's end, to judge what wants to be appended, and as of
/// its high watermark, to write down elsewhere what has to outlive the records. What is not confirmed may be cut: it
/// must neither hide a confirmed batch behind newer ones, nor displace a producer that the next leader has to know.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "protocol/clients/producers.h"

namespace tidelock::clients {

class PartitionProducers {
  public:
    /// Each of the two tables remembers at most `producers_max` (1 and up).
    explicit PartitionProducers(std::size_t producers_max = kProducersMaxDefault);

    /// What to do with a batch that wants to be appended, by all that is in the log.
    [[nodiscard]] ProducerVerdict check(const ProducerBatch& batch) const { return newest_.check(batch); }
    /// A batch is in the log: live after its append, or read from the log; in log order.
    void on_batch(const ProducerBatch& batch);
    /// Everything below is confirmed. Goes up only, but for cuts and clear().
    void on_high_watermark(Offset high_watermark);
    /// What a record of the internal topic says of a producer. It was confirmed when it was written.
    void adopt(ProducerId id, const ProducerState& state);
    /// What such a record says of those that were forgotten, as of some high watermark.
    void forget_below(Offset end);
    /// The log was cut to `end` (exclusive). False: what came before the cut is not known any more; clear, then
    /// on_batch for every batch of the log, on_high_watermark, and adopt.
    [[nodiscard]] bool truncate_to(Offset end);
    void clear();

    /// As of the log's end.
    [[nodiscard]] const ProducerTable& newest() const { return newest_; }
    /// As of the high watermark.
    [[nodiscard]] const ProducerTable& confirmed() const { return confirmed_; }
    bool operator==(const PartitionProducers&) const = default;

  private:
    ProducerTable newest_;
    ProducerTable confirmed_;
    Offset high_watermark_;
    std::vector<ProducerBatch> unconfirmed_;  // in log order; those before `unconfirmed_begin_` are confirmed by now
    std::size_t unconfirmed_begin_ = 0;
};

}  // namespace tidelock::clients
