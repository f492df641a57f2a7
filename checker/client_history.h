/// V21: the cluster as a black box. From what clients sent and were told alone: no acknowledged or read record is lost
/// or unseen at the end, no value is duplicated, made up or read though its produce failed for sure, an offset has one
/// value, polls and sends go forward and skip nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/excused_losses.h"
#include "checker/final_view.h"
#include "checker/hash_index.h"
#include "checker/history.h"
#include "checker/settings.h"
#include "checker/violation.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class ClientHistory {
  public:
    /// `excused`: a partition that lost records beyond the promise is not judged any more, any other is.
    void judge(const ClientCall& call, const ProduceCall& produce, ViolationLog& log, const ExcusedLosses& excused);
    void judge(const ClientCall& call, const FetchCall& fetch, ViolationLog& log, const ExcusedLosses& excused);
    void judge(const ClientCall& call, const ListOffsetsCall& list, ViolationLog& log, const ExcusedLosses& excused);
    void judge(const ClientCall& call, const TimeLookupCall& lookup, ViolationLog& log, const ExcusedLosses& excused);
    void judge(const ClientCall& call, const EpochEndCall& asked, ViolationLog& log, const ExcusedLosses& excused);
    void judge(const ClientCall& call, const CreateTopicCall& creation);
    void judge(const ClientCall& call, const GrowTopicCall& growth);
    void judge(const ClientCall& call, const DeleteTopicCall& deletion);
    void judge(const ClientCall& call, const DeleteRecordsCall& deletion, ViolationLog& log,
               const ExcusedLosses& excused);
    void judge_at_end(std::int64_t time_ns, const Settings& settings, const FinalView& view, ViolationLog& log,
                      const ExcusedLosses& excused);

    [[nodiscard]] std::int64_t acknowledged_record_count() const { return acknowledged_records_; }
    [[nodiscard]] std::int64_t read_record_count() const { return read_records_; }

  private:
    /// What was acknowledged up to a moment, appended or deleted: whoever asks later is told no lower offset.
    struct AckedEnd {
        std::int64_t returned_ns;
        Offset end;  // exclusive
    };
    struct Partition {
        ClientPartition id;
        std::uint32_t life = 0;                    // rises when the topic is deleted
        std::int64_t judged_from_ns = -1;          // calls invoked before it may have met an older life
        bool is_uncertain = false;                 // a deletion of unknown outcome may strike at any time
        Offset deletable_below;                    // somebody asked to delete records below it
        Offset deleted_below;                      // ... and was told that it is done
        std::vector<AckedEnd> deletions;           // ... and when: by rising time and offset
        std::vector<std::uint64_t> values;         // by offset; 0: not known. Acknowledged by policy, or read
        std::vector<std::int64_t> known_since_ns;  // by offset: when that was first told to a client
        std::vector<AckedEnd> acked_ends;
        std::vector<AckedEnd> shown_ends;  // high watermarks told to consumers: by rising time and offset
    };
    /// All that is known about one value, which one record carries.
    struct Value {
        std::uint64_t value;
        std::uint32_t partition = 0;       // it was sent to
        std::uint32_t read_partition = 0;  // it was read from
        std::uint32_t read_life = 0;
        std::uint32_t acked_life = 0;
        std::int32_t attempts = 0;
        bool has_failed_only = true;  // every attempt failed for sure
        bool is_idempotent = true;    // every attempt by one producer session
        bool is_read = false;
        bool is_read_twice = false;
        std::int64_t claimed_ns =
            -1;  // when it was first told to be written already, without its offset (T2); -1: never
        ProducerId producer_id;
        ProducerEpoch producer_epoch;
        Offset acked_offset{-1};
        Offset read_offset;
        Offset second_offset;
        ClientId reader;
        std::int64_t read_ns = 0;
    };

    struct TopicDeletions {
        std::uint32_t count = 0;
        std::int64_t last_returned_ns = -1;
        bool may_strike_later = false;  // one of unknown outcome
    };
    struct TopicPromise {
        std::int32_t partitions;
        std::int64_t told_ns;  // the last change of it
    };

    std::uint32_t partition_of(const ClientPartition& partition);
    static void begin_life(Partition& partition, const TopicDeletions& deletions);
    void judge_topics(std::int64_t time_ns, const FinalView& view, ViolationLog& log,
                      const ExcusedLosses& excused) const;
    Value& value_of(std::uint64_t value);
    static void learn(Partition& partition, Offset offset, std::uint64_t value, const ClientCall& call, const char* how,
                      ViolationLog& log);
    void note_attempt(const ClientCall& call, const ProduceCall& produce, std::uint32_t partition, Value& value);
    static void judge_send_order(const ClientCall& call, const ProduceCall& produce, Partition& partition,
                                 bool is_fresh, ViolationLog& log);
    void judge_acked_offset(const ClientCall& call, Offset offset, Value& value, ViolationLog& log,
                            const ExcusedLosses& excused);
    static void judge_poll_order(const ClientCall& call, const FetchCall& fetch, ViolationLog& log);
    static void judge_refusal(const ClientCall& call, const FetchCall& fetch, const Partition& partition,
                              ViolationLog& log);
    static void judge_refusal(const ClientCall& call, const DeleteRecordsCall& deletion, const Partition& partition,
                              ViolationLog& log);
    static void note_shown_end(Partition& partition, std::int64_t returned_ns, Offset end);
    static void judge_skips(const ClientCall& call, const FetchCall& fetch, const Partition& partition,
                            ViolationLog& log);
    void note_read(std::uint32_t partition, const ReadRecord& record, ClientId reader, std::int64_t time_ns);
    static Offset demanded_from(const Settings& settings, const FinalRead& read, const Partition& partition,
                                Offset read_end);
    static void judge_deleted(std::int64_t time_ns, const FinalRead& read, const Partition& partition,
                              ViolationLog& log);
    void judge_final_read(std::int64_t time_ns, const Settings& settings, const FinalRead& read, ViolationLog& log);
    void judge_claimed(std::int64_t time_ns, const Settings& settings, const FinalView& view, ViolationLog& log,
                       const ExcusedLosses& excused);
    void judge_value(std::int64_t time_ns, const Value& value, ViolationLog& log, const ExcusedLosses& excused) const;

    FlatMap<ClientPartition, std::uint32_t> partition_numbers_;
    std::vector<Partition> partitions_;
    /// Topics whose creation was answered and whose deletion was never asked for.
    FlatMap<ClientTopic, TopicPromise> promised_topics_;
    /// Also of topics of which no partition was known then: a call from before may return long after.
    FlatMap<ClientTopic, TopicDeletions> deletions_;
    HashIndex value_numbers_;
    std::vector<Value> values_;
    std::int64_t acknowledged_records_ = 0;
    std::int64_t read_records_ = 0;
};

}  // namespace tidelock::checker
