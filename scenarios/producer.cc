// The producer's story.
#include <algorithm>
#include <limits>
#include <utility>

#include "protocol/clients/producers.h"
#include "protocol/storage/record_batch.h"
#include "scenarios/client_stories.h"
#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

using clients::ErrorCode;

clients::Acks wire_acks(PlannedAcks acks) {
    switch (acks) {
        case PlannedAcks::kNone:
            return clients::Acks::kNone;
        case PlannedAcks::kLeader:
            return clients::Acks::kLeader;
        case PlannedAcks::kAll:
            return clients::Acks::kAll;
    }
    return clients::Acks::kAll;
}

checker::Acks history_acks(PlannedAcks acks) {
    return static_cast<checker::Acks>(acks);
}

/// A life of an idempotent producer; without an id for others.
struct Identity {
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch{-1};
    std::map<TopicPartition, std::int32_t> next_sequence;
};

/// One batch on its way, with all its attempts.
struct Batch {
    KnownTopic topic;
    PartitionIndex partition;
    Identity* identity = nullptr;
    std::int32_t base_sequence = -1;
    std::vector<std::uint64_t> values;
    Bytes bytes;
};

enum class Sent : std::uint8_t { kAppended, kRefused, kOpen, kHostDied };

class Producer {
  public:
    Producer(Client& client, const ProducerPlan& plan, std::size_t position, std::uint64_t seed)
        : client_(client),
          plan_(plan),
          orders_(client.workload().producer_orders[position]),
          random_(seed, "producer", static_cast<std::uint64_t>(plan.id)) {}

    void run() {
        const Duration start = milliseconds(random_.between(1, std::max<std::int64_t>(1, plan_.interval_ms)));
        if (!client_.host().await_sleep(start)) return;
        while (!client_.workload().are_producers_done && await_round()) {
            const std::int64_t ns = milliseconds(plan_.interval_ms).value;
            if (!client_.host().await_sleep(Duration(random_.between(ns / 2, ns + ns / 2)))) return;
        }
    }

  private:
    /// False: the host died.
    bool await_round() {
        if (topics_.empty() || ++rounds_ % kRoundsBetweenMetadata == 0) {
            if (!client_.await_topics(topics_) && topics_.empty()) return client_.await_pause(client_.retry_pause());
        }
        if (!await_identity()) return client_.host().is_alive();
        if (orders_.zombie_until_ns > client_.true_now_ns() && plan_.is_idempotent && !zombie_)
            return await_replacement();
        if (zombie_ && orders_.zombie_until_ns <= client_.true_now_ns()) return await_zombie_return();
        if (is_late_retry_due()) return await_late_retry();
        return is_run_due() ? await_run() : await_batch(identity_);
    }

    /// Now and then a batch that was acknowledged arrives again, with others acknowledged since: a duplicate's answer
    /// is the offset it has (T2).
    bool is_late_retry_due() {
        if (plan_.acks != PlannedAcks::kAll || acknowledged_.empty()) return false;
        const bool is_same_life =
            acknowledged_by_ == std::pair(identity_.producer_id, identity_.producer_epoch) && !zombie_;
        if (!is_same_life) acknowledged_.clear();
        return is_same_life && random_.below(kRoundsBetweenLateRetries) == 0;
    }

    bool await_late_retry() {
        Batch batch = acknowledged_[random_.below(acknowledged_.size())];
        return await_attempt(batch) != Sent::kHostDied;
    }

    bool await_identity() {
        if (!plan_.is_idempotent || identity_.producer_id != kNoProducer) return true;
        client_.begin_call(checker::InitProducerIdCall{});
        const CallReply reply = client_.await_leader_call(clients::InitProducerIdRequest{}, client_.call_timeout());
        const bool is_given = take_identity(reply, identity_);
        if (is_given)
            client_.calls().operation_of<checker::InitProducerIdCall>({client_.id()}).producer_id =
                identity_.producer_id;
        client_.end_call(reply.outcome());
        return is_given;
    }

    static bool take_identity(const CallReply& reply, Identity& identity) {
        const auto* given = std::get_if<clients::InitProducerIdAnswer>(&reply.answer.body);
        if (!reply.is_ok() || given == nullptr) return false;
        identity = {given->producer_id, given->producer_epoch, {}};
        return true;
    }

    /// Another producer goes on with the id in a higher epoch (KIP-360); this one keeps its old life for later.
    bool await_replacement() {
        if (identity_.producer_epoch.value == std::numeric_limits<std::int16_t>::max()) {
            orders_.zombie_until_ns = 0;
            identity_ = {};
            return true;
        }
        zombie_ = identity_;
        const auto raised = static_cast<std::int16_t>(identity_.producer_epoch.value + 1);
        identity_ = {identity_.producer_id, ProducerEpoch(raised), {}};
        return await_batch(identity_);
    }

    bool await_zombie_return() {
        Identity old = *zombie_;
        zombie_.reset();
        ++client_.workload().orders_taken[1];
        return await_batch(old);
    }

    Batch make_batch(Identity& identity) {
        Batch batch;
        batch.topic = topics_[random_.below(topics_.size())];
        batch.partition = PartitionIndex(
            static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(batch.topic.partition_count))));
        batch.identity = &identity;
        if (plan_.is_idempotent) batch.base_sequence = identity.next_sequence[sequenced(batch)];
        fill(batch);
        return batch;
    }

    /// What a sequence runs along. Who writes by name does not notice that the topic of that name is another one now.
    TopicPartition sequenced(const Batch& batch) {
        if (!client_.writes_by_name()) return {batch.topic.id, batch.partition};
        const auto number = client_.calls().topic_number(batch.topic.name);
        return {TopicId(static_cast<std::uint64_t>(number.value)), batch.partition};
    }

    /// The one that goes to the same partition behind it.
    Batch make_next(const Batch& before) {
        Batch batch;
        batch.topic = before.topic;
        batch.partition = before.partition;
        batch.identity = before.identity;
        batch.base_sequence = sequence_behind(before);
        fill(batch);
        return batch;
    }

    static std::int32_t sequence_behind(const Batch& batch) {
        return clients::sequence_after(batch.base_sequence, static_cast<std::int32_t>(batch.values.size()));
    }

    /// With new records.
    void fill(Batch& batch) {
        const Identity& identity = *batch.identity;
        storage::BatchOptions options;
        options.producer_id = identity.producer_id;
        options.producer_epoch = identity.producer_epoch;
        options.base_sequence = batch.base_sequence;
        storage::RecordBatchBuilder builder(options);
        const auto size = static_cast<std::size_t>(client_.workload().plan->settings[Setting::kRecordBytes]);
        const std::int64_t count = random_.between(1, plan_.records_per_call);
        ByteWriter value;
        for (std::int64_t i = 0; i < count; ++i) {
            batch.values.push_back(make_value(client_.id(), next_value_++));
            value.clear();
            value.u64(batch.values.back());
            while (value.size() < size) value.u8(static_cast<std::uint8_t>(value.size()));
            builder.add(client_.true_now_ns() / 1'000'000, std::nullopt, value.span());
        }
        batch.bytes = builder.build();
    }

    /// Sends one new batch until its fate is known or it is given up. False: the host died.
    bool await_batch(Identity& identity) {
        Batch batch = make_batch(identity);
        for (std::int64_t tries = 0; tries <= client_.workload().plan->settings[Setting::kProduceRetries]; ++tries) {
            if (orders_.crash_count > 0) return crash_during(batch);
            const Sent sent = await_attempt(batch);
            if (sent == Sent::kHostDied) return false;
            if (sent == Sent::kAppended) {
                is_open_ = false;
                note_acknowledged(batch);
                return true;
            }
            is_open_ = is_open_ || sent == Sent::kOpen;
            const bool may_retry = sent == Sent::kRefused ? may_retry_refused_ : plan_.is_idempotent;
            if (!may_retry || client_.workload().are_producers_done) break;
            if (!client_.await_pause(client_.retry_pause())) return false;
        }
        give_up(identity);
        return true;
    }

    bool is_run_due() {
        return plan_.in_flight_max > 1 && plan_.is_idempotent && random_.below(kRoundsBetweenRuns) == 0;
    }

    /// Sends several batches to one partition without waiting for the answers between them, and again whatever is not
    /// known to be there, until all of them are or they are given up. False: the host died.
    bool await_run() {
        std::vector<Batch> run{make_batch(identity_)};
        const std::int64_t length = random_.between(2, plan_.in_flight_max);
        while (std::ssize(run) < length) run.push_back(make_next(run.back()));
        for (std::int64_t tries = 0; tries <= client_.workload().plan->settings[Setting::kProduceRetries]; ++tries) {
            if (orders_.crash_count > 0) return crash_during(run.front());
            const std::optional<bool> may_go_on = await_run_attempt(run);
            if (!may_go_on) return false;
            if (run.empty()) return true;
            if (!*may_go_on || client_.workload().are_producers_done) break;
            if (!client_.await_pause(client_.retry_pause())) return false;
        }
        give_up(identity_);
        return true;
    }

    /// Sends the run in one go, and takes out of it what is known to be in the log. Empty: the host died; false: trying
    /// again has no sense.
    std::optional<bool> await_run_attempt(std::vector<Batch>& run) {
        std::vector<clients::RequestBody> requests;
        for (std::size_t lane = 0; lane < run.size(); ++lane) {
            client_.begin_call(call_of(run[lane]), lane);
            requests.emplace_back(request_of(run[lane]));
        }
        const std::vector<CallReply> replies = client_.await_leader_calls(std::move(requests), client_.call_timeout());
        std::vector<Batch> left;
        bool may_go_on = true;
        bool has_died = false;
        for (std::size_t lane = 0; lane < run.size(); ++lane) {
            const Sent sent = take_reply(replies[lane], lane);
            has_died = has_died || sent == Sent::kHostDied;
            if (sent == Sent::kAppended) {
                note_acknowledged(run[lane]);
                continue;
            }
            is_open_ = is_open_ || sent == Sent::kOpen;
            // Behind one that is missing the others have to be out of order.
            const bool is_behind_gap = !left.empty() && is_sequence_error(replies[lane].error());
            if (sent == Sent::kRefused && !may_retry_refused_ && !is_behind_gap) may_go_on = false;
            left.push_back(run[lane]);
        }
        if (has_died) return std::nullopt;
        run = std::move(left);
        may_retry_refused_ = may_go_on;
        if (run.empty()) is_open_ = false;
        return may_go_on;
    }

    static bool is_sequence_error(ErrorCode error) {
        return error == ErrorCode::kOutOfOrderSequence || error == ErrorCode::kUnknownProducerId;
    }

    Sent await_attempt(Batch& batch) {
        client_.begin_call(call_of(batch));
        const CallReply reply = client_.await_leader_call(request_of(batch), client_.call_timeout());
        return take_reply(reply, 0);
    }

    /// Ends the call of that lane. Of a refusal, may_retry_refused_ says whether it may be tried again.
    Sent take_reply(const CallReply& reply, std::size_t lane) {
        const checker::Outcome outcome = outcome_of(reply);
        if (reply.end == CallEnd::kAnswered) {
            auto& call = client_.calls().operation_of<checker::ProduceCall>({client_.id(), lane});
            const auto* answer = std::get_if<clients::ProduceAnswer>(&reply.answer.body);
            if (reply.is_ok() && answer != nullptr && answer->base_offset.value >= 0)
                call.base_offset = answer->base_offset;
            call.error = reply.error();
        }
        client_.end_call(outcome, lane);
        if (reply.end == CallEnd::kHostDied) return Sent::kHostDied;
        if (outcome == checker::Outcome::kOk) return Sent::kAppended;
        if (outcome == checker::Outcome::kUnknown) return Sent::kOpen;
        may_retry_refused_ = clients::traits_of(reply.error()).is_retriable;
        if (reply.error() == ErrorCode::kUnknownTopicOrPartition) {
            topics_.clear();
            may_retry_refused_ = false;
        }
        return Sent::kRefused;
    }

    /// "Written before" is a success whose offset is not known any more.
    static checker::Outcome outcome_of(const CallReply& reply) {
        const bool is_known_duplicate =
            reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kDuplicateSequence;
        return is_known_duplicate ? checker::Outcome::kOk : reply.outcome();
    }

    /// Dies between send and acknowledgement, and comes back as a new producer.
    bool crash_during(const Batch& batch) {
        --orders_.crash_count;
        ++client_.workload().orders_taken[0];
        client_.begin_call(call_of(batch));
        client_.send_and_forget(request_of(batch));
        // Closing at once could overtake the request; a crash does not.
        const bool is_alive = client_.await_pause(client_.retry_pause());
        client_.drop_connection();
        client_.end_call(checker::Outcome::kUnknown);
        identity_ = {};
        zombie_.reset();
        return is_alive;
    }

    void note_acknowledged(const Batch& batch) {
        if (!plan_.is_idempotent) return;
        std::int32_t& next = batch.identity->next_sequence[sequenced(batch)];
        // In a run, the answer to an earlier batch may come after that to a later one.
        const std::int32_t behind = sequence_behind(batch);
        if (clients::sequence_after(behind, -next) < std::numeric_limits<std::int32_t>::max() / 2) next = behind;
        if (batch.identity != &identity_) return;
        const std::pair life(identity_.producer_id, identity_.producer_epoch);
        if (acknowledged_by_ != life) acknowledged_.clear();
        acknowledged_by_ = life;
        if (acknowledged_.size() == kAcknowledgedKept) acknowledged_.erase(acknowledged_.begin());
        acknowledged_.push_back(batch);
    }

    /// A batch that may be in the log must not share its sequence with another: the next one needs a new life. One that
    /// was refused for sure left no trace.
    void give_up(Identity& identity) {
        if (is_open_ || !may_retry_refused_) identity = {};
        is_open_ = false;
    }

    checker::ProduceCall call_of(const Batch& batch) {
        return {client_.calls().partition_number(batch.topic.name, batch.partition),
                batch.identity->producer_id,
                batch.identity->producer_epoch,
                batch.base_sequence,
                history_acks(plan_.acks),
                batch.values,
                std::nullopt,
                ErrorCode::kNone};
    }

    clients::ProduceRequest request_of(const Batch& batch) const {
        return {{batch.topic.name, batch.topic.id, batch.partition},
                wire_acks(plan_.acks),
                milliseconds(client_.workload().plan->settings[Setting::kProduceTimeoutMs]),
                batch.bytes};
    }

    static constexpr std::int64_t kRoundsBetweenMetadata = 24;
    static constexpr std::uint64_t kRoundsBetweenLateRetries = 12;
    static constexpr std::uint64_t kRoundsBetweenRuns = 2;
    static constexpr std::size_t kAcknowledgedKept = 8;  // more than a broker knows the offsets of

    Client& client_;
    const ProducerPlan& plan_;
    ClientOrders& orders_;
    sim::Rng random_;
    std::vector<KnownTopic> topics_;
    Identity identity_;
    std::optional<Identity> zombie_;   // the life that was replaced and does not know it
    std::vector<Batch> acknowledged_;  // the newest few, of one life
    std::pair<ProducerId, ProducerEpoch> acknowledged_by_{kNoProducer, ProducerEpoch(-1)};
    std::int64_t next_value_ = 1;
    std::int64_t rounds_ = 0;
    bool may_retry_refused_ = true;
    bool is_open_ = false;  // an attempt at the present batch may have been appended
};

}  // namespace

void run_producer(Client& client, const ProducerPlan& plan, std::size_t position, std::uint64_t seed) {
    Producer(client, plan, position, seed).run();
}

}  // namespace tidelock::scenarios
