// The last client of a schedule: everything has to be writable and readable from end to end.
#include <algorithm>

#include "protocol/storage/record_batch.h"
#include "scenarios/client_stories.h"
#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

class Verifier {
  public:
    Verifier(Client& client, Verification& verification) : client_(client), verification_(verification) {}

    void run() {
        std::vector<KnownTopic> topics;
        if (!await_all_topics(topics)) return;
        for (const KnownTopic& topic : topics)
            for (std::int32_t partition = 0; partition < topic.partition_count; ++partition)
                add_partition(topic, PartitionIndex(partition));
        for (VerifiedPartition& partition : verification_.partitions)
            if (!await_written(partition)) return;
        // What an administrator deleted meanwhile is nobody's promise any more; the checker knows of the call.
        std::erase_if(verification_.partitions, [](const VerifiedPartition& each) { return each.is_gone; });
        for (VerifiedPartition& partition : verification_.partitions)
            if (!await_read(partition)) return;
        verification_.is_finished = true;
    }

  private:
    bool await_all_topics(std::vector<KnownTopic>& topics) {
        const bool expects_topics = client_.workload().plan->settings[Setting::kTopics] > 0;
        for (;;) {
            const std::int64_t asked_ns = client_.true_now_ns();
            const bool is_told = client_.await_leaders_topics(topics);
            if (is_told) verification_.topics_listed_ns = asked_ns;
            if (!topics.empty() || !expects_topics) break;
            // All of them may be gone for good: then there is nothing to read.
            verification_.is_finished = is_told;
            if (!client_.await_pause(client_.retry_pause())) return false;
        }
        verification_.is_finished = false;
        return true;
    }

    /// What is not read in time is still known by its name.
    void add_partition(const KnownTopic& topic, PartitionIndex index) {
        VerifiedPartition& added = verification_.partitions.emplace_back();
        added.topic = topic.name;
        added.topic_id = topic.id;
        added.partition = index;
        added.read.partition = client_.calls().partition_number(topic.name, index);
        added.read.last_invoked_ns = 0;
    }

    /// Tries for as long as the schedule lasts. Each try is a record of its own: an open one may be in the log.
    bool await_written(VerifiedPartition& partition) {
        while (!partition.is_writable && !partition.is_gone) {
            if (!await_write_attempt(partition)) return false;
            if (!partition.is_writable && !partition.is_gone && !client_.await_pause(client_.retry_pause()))
                return false;
        }
        return true;
    }

    bool await_write_attempt(VerifiedPartition& partition) {
        const std::uint64_t value = make_value(client_.id(), next_value_++);
        ByteWriter bytes;
        bytes.u64(value);
        storage::RecordBatchBuilder builder({});
        builder.add(client_.true_now_ns() / 1'000'000, std::nullopt, bytes.span());
        client_.begin_call(checker::ProduceCall{client_.calls().partition_number(partition.topic, partition.partition),
                                                kNoProducer,
                                                ProducerEpoch(-1),
                                                -1,
                                                checker::Acks::kAll,
                                                {value},
                                                {}});
        const clients::ProduceRequest request{{partition.topic, partition.topic_id, partition.partition},
                                              clients::Acks::kAll,
                                              client_.short_timeout(),
                                              builder.build()};
        const CallReply reply = client_.await_leader_call(request, client_.call_timeout());
        const auto* answer = std::get_if<clients::ProduceAnswer>(&reply.answer.body);
        if (reply.is_ok() && answer != nullptr)
            client_.calls().operation_of<checker::ProduceCall>(client_.id()).base_offset = answer->base_offset;
        client_.end_call(reply.outcome());
        partition.is_writable = reply.is_ok();
        partition.is_gone =
            reply.end == CallEnd::kAnswered && reply.error() == clients::ErrorCode::kUnknownTopicOrPartition;
        if (reply.is_ok() && answer != nullptr) partition.written_end = answer->base_offset + 1;
        return reply.end != CallEnd::kHostDied;
    }

    bool await_read(VerifiedPartition& partition) {
        Offset next = partition.read.log_start_offset;
        partition.read.first_invoked_ns = std::min(partition.read.first_invoked_ns, client_.true_now_ns());
        while (!partition.read.complete) {
            const std::int64_t invoked_ns = client_.true_now_ns();
            const CallReply reply = await_fetch(partition, next);
            if (reply.end == CallEnd::kHostDied) return false;
            const bool got_further = take(reply, partition, next);
            // Only an answer that says where the end is can say that a record behind it is not there.
            if (reply.is_ok() && next >= partition.high_watermark) partition.read.last_invoked_ns = invoked_ns;
            if (!got_further && !client_.await_pause(client_.retry_pause())) return false;
        }
        return true;
    }

    CallReply await_fetch(const VerifiedPartition& partition, Offset from) {
        const clients::FetchRequest request{
            {partition.topic, partition.topic_id, partition.partition}, from, kReadBytesMax, milliseconds(1)};
        return client_.await_leader_call(request, client_.short_timeout());
    }

    /// True if the read got further.
    bool take(const CallReply& reply, VerifiedPartition& partition, Offset& next) {
        const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
        if (reply.end != CallEnd::kAnswered || answer == nullptr) return false;
        checker::FinalRead& read = partition.read;
        if (reply.error() == clients::ErrorCode::kOffsetOutOfRange && answer->log_start_offset > next) {
            next = answer->log_start_offset;
            read.log_start_offset = next;
            read.records.clear();
            return true;
        }
        if (!reply.is_ok()) return false;
        const Offset before = next;
        auto records = records_in(answer->batches, next, next);
        if (!records) return false;
        read.records.insert(read.records.end(), records->begin(), records->end());
        partition.high_watermark = answer->high_watermark;
        // A leader that has just taken over may not show yet what its predecessor confirmed (I6).
        read.complete = next >= answer->high_watermark && next >= partition.written_end;
        return next > before;
    }

    static constexpr std::int32_t kReadBytesMax = 1 << 20;

    Client& client_;
    Verification& verification_;
    std::int64_t next_value_ = 1;
};

}  // namespace

void run_verifier(Client& client, Verification& verification) {
    Verifier(client, verification).run();
}

}  // namespace tidelock::scenarios
