/// V10: in the confirmed log each idempotent producer's batches follow each other: no sequence twice, none left out,
/// none out of order, no batch of an older producer epoch after a newer one (T2). Judged when an acknowledgement
/// confirms it, or at the latest when its leader moves the log start past it.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/excused_losses.h"
#include "checker/history.h"
#include "checker/invariant.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class ProducerOrder {
  public:
    /// A producer whose last batch is in the leader's log, and than which fewer wrote later than a partition remembers,
    /// is known to it (T2): it is not refused as nobody's, nor as out of order what comes next.
    void judge(const Context& context, const BrokerView& broker, const broker::ProducerRefused& refused);
    /// Judges what this acknowledgement newly confirms.
    void judge(const Context& context, const BrokerView& broker, const broker::RecordsAcknowledged& acknowledged);
    /// Judges what goes before any acknowledgement by policy came after it.
    void judge(const Context& context, const BrokerView& broker, const broker::LogStartAdvanced& advanced);

    /// A new producer id is nobody else's (T2): two producers under one id would take each other for retries.
    void judge(const ClientCall& call, const InitProducerIdCall& init, ViolationLog& log);

    /// A producer whose batches were acknowledged by policy is known for as long as the topic is there, whatever
    /// retention took of them (T2): what comes next, or comes again, is not refused as out of order or nobody's.
    /// `excused`: faults beyond the promise took records of the partition, or what is kept of producers.
    void judge(const ClientCall& call, const ProduceCall& produce, ViolationLog& log, const ExcusedLosses& excused);
    void judge(const ClientCall& call, const DeleteTopicCall& deletion);
    /// Adds the producers that a leader took for new ones because so many others had written since, as it might.
    void add_forgotten_to(ExcusedLosses& excused, const ClusterView& view) const;

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
    void judge_up_to(const Context& context, const BrokerView& broker, PartitionNumber number, Offset end);
    /// What was judged so far, of the partition as it is after the losses accounted for.
    Progress& progress_of(const Context& context, PartitionNumber number);
    void judge_batch(const Context& context, PartitionNumber number, const broker::BatchSummary& batch,
                     Progress& progress, bool report);
    void rebuild(const Context& context, PartitionNumber number, Progress& progress);
    static bool may_be_forgotten(const Context& context, const Progress& progress, const LastBatch& last);
    void note_forgotten(PartitionNumber number, ProducerId producer);

    /// What a client was told of one life of a producer in one partition.
    struct Session {
        ClientPartition partition;
        ProducerId producer_id;
        ProducerEpoch producer_epoch;
        constexpr auto operator<=>(const Session&) const = default;
    };
    struct Acknowledged {
        std::int32_t next_sequence;
        std::int64_t returned_ns;
    };
    FlatMap<Session, Acknowledged> acknowledged_;
    std::vector<ClientTopic> uncertain_topics_;    // a deletion of unknown outcome may strike at any time
    FlatMap<ClientTopic, std::int64_t> deleted_;   // when that was last answered: what was asked before may mean it
    std::vector<Progress> progress_;               // by PartitionNumber
    FlatMap<ProducerId, std::int64_t> given_ids_;  // by which call
    struct Forgotten {
        PartitionNumber partition;
        ProducerId producer;
        bool operator==(const Forgotten&) const = default;
    };
    std::vector<Forgotten> forgotten_;  // legally: so many others had written since
};

}  // namespace tidelock::checker
