// The stories of those who read: consumers, offset committers, status pollers.
#include <algorithm>
#include <map>

#include "scenarios/client_stories.h"
#include "scenarios/reader_memory.h"
#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

using clients::ErrorCode;

class Consumer {
  public:
    Consumer(Client& client, const ConsumerPlan& plan, ClientOrders& orders, ConsumerProgress& progress)
        : client_(client), plan_(plan), orders_(orders), positions_(progress.positions) {}

    void run() {
        while (client_.host().is_alive()) {
            take_orders();
            if (orders_.silent_until_ns > client_.true_now_ns()) {
                if (!client_.await_pause(seconds(1))) return;
                continue;
            }
            if (!await_round()) return;
        }
    }

  private:
    void take_orders() {
        if (orders_.reconnect_count > 0) {
            --orders_.reconnect_count;
            ++client_.workload().orders_taken[3];
            client_.drop_connection();
        }
        const bool is_silent = orders_.silent_until_ns > client_.true_now_ns();
        if (is_silent && !was_silent_) ++client_.workload().orders_taken[2];
        was_silent_ = is_silent;
    }

    /// One fetch, of the partition whose turn it is. False: the host died.
    bool await_round() {
        // At the end everybody has to find the last topics soon.
        const std::int64_t between = client_.workload().are_producers_done ? 4 : kRoundsBetweenMetadata;
        const bool wants_topics = positions_.empty() || ++rounds_ >= between;
        if (wants_topics) {
            rounds_ = 0;
            if (!client_.await_topics(topics_) && positions_.empty()) return client_.await_pause(client_.retry_pause());
            follow_topics();
        }
        if (positions_.empty()) return client_.await_pause(client_.retry_pause());
        // Where there is more it goes on: the others would make it wait at their ends.
        if (!is_behind_ || turn_ >= positions_.size()) turn_ = (turn_ + 1) % positions_.size();
        is_behind_ = false;
        return await_fetch(turn_);
    }

    /// New partitions are read from offset 0, or where their log starts; a topic with another id is another topic.
    void follow_topics() {
        if (topics_.empty()) return;
        std::erase_if(positions_, [this](const ConsumerProgress::Position& position) {
            return std::none_of(topics_.begin(), topics_.end(), [&position](const KnownTopic& topic) {
                return topic.id == position.topic_id && position.partition.value < topic.partition_count;
            });
        });
        for (const KnownTopic& topic : topics_)
            for (std::int32_t partition = 0; partition < topic.partition_count; ++partition)
                add_position(topic, PartitionIndex(partition));
    }

    void add_position(const KnownTopic& topic, PartitionIndex partition) {
        const bool is_known = std::any_of(positions_.begin(), positions_.end(), [&](const auto& position) {
            return position.topic_id == topic.id && position.partition == partition;
        });
        if (!is_known) positions_.push_back({topic.name, topic.id, partition, Offset(0)});
    }

    bool await_fetch(std::size_t at) {
        const ConsumerProgress::Position position = positions_[at];
        const Settings& settings = client_.workload().plan->settings;
        // All partitions share one connection and one request at a time: each waits its part of the poll.
        const std::int64_t wait_ms =
            std::max<std::int64_t>(20, plan_.poll_wait_ms / static_cast<std::int64_t>(positions_.size()));
        const clients::FetchRequest request{{position.topic, position.topic_id, position.partition},
                                            position.next,
                                            static_cast<std::int32_t>(settings[Setting::kPollBytesMax]),
                                            milliseconds(wait_ms)};
        const std::int64_t asked_ns = client_.true_now_ns();
        client_.begin_call(checker::FetchCall{
            client_.calls().partition_number(position.topic, position.partition), position.next, false, {}, {}, {}});
        const CallReply reply = client_.await_leader_call(request, milliseconds(wait_ms) + client_.short_timeout());
        const bool was_read = take_records(reply, at);
        if (const auto start = refused_log_start(reply))
            client_.calls().operation_of<checker::FetchCall>(client_.id()).refused_log_start = start;
        client_.end_call(was_read ? checker::Outcome::kOk : not_ok(reply));
        if (reply.end == CallEnd::kHostDied) return false;
        if (!was_read) return await_after_error(reply, at);
        const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
        memories_[{position.topic_id, position.partition}].note(answer->batches, position.next, asked_ns);
        // A leader that knows less than it showed, or its predecessor did, is the one to ask.
        const bool is_ahead = answer->high_watermark < position.next;
        return (++fetches_ % kFetchesBetweenLooks != 0 && !is_ahead) || await_look_back(positions_[at]);
    }

    /// Asks about what it has read itself. False: the host died.
    bool await_look_back(const ConsumerProgress::Position& position) {
        const ReaderMemory& memory = memories_[{position.topic_id, position.partition}];
        if (memory.records().empty()) return true;
        const bool asks_for_time = ++looks_ % 2 == 0;
        return asks_for_time ? await_time_lookup(position, memory) : await_epoch_end(position, memory);
    }

    /// Any record that it remembers, older ones as often as newer ones.
    bool await_time_lookup(const ConsumerProgress::Position& position, const ReaderMemory& memory) {
        const std::vector<RememberedRecord>& records = memory.records();
        const std::int64_t timestamp_ms = records[static_cast<std::size_t>(fetches_ * 7) % records.size()].timestamp_ms;
        const RememberedRecord& first = *memory.first_since(timestamp_ms);
        const clients::PartitionName name{position.topic, position.topic_id, position.partition};
        checker::TimeLookupCall lookup{client_.calls().partition_number(position.topic, position.partition),
                                       timestamp_ms, first.offset, records.front().asked_ns};
        client_.begin_call(lookup);
        const CallReply reply = client_.await_leader_call(
            clients::ListOffsetsRequest{name, clients::OffsetAt::kTimestamp, timestamp_ms}, client_.short_timeout());
        const auto* found = std::get_if<clients::ListOffsetsAnswer>(&reply.answer.body);
        if (!reply.is_ok() || found == nullptr) return end_look_back(reply);
        const CallReply start = client_.await_leader_call(
            clients::ListOffsetsRequest{name, clients::OffsetAt::kLogStart}, client_.short_timeout());
        const auto* told = std::get_if<clients::ListOffsetsAnswer>(&start.answer.body);
        if (!start.is_ok() || told == nullptr) return end_look_back(start);
        const RememberedRecord* there = memory.at(found->offset);
        auto& call = client_.calls().operation_of<checker::TimeLookupCall>(client_.id());
        if (found->offset.value >= 0) call.offset = found->offset;
        call.is_too_early = there != nullptr && there->timestamp_ms < timestamp_ms;
        call.log_start = told->offset;
        client_.end_call(checker::Outcome::kOk);
        return true;
    }

    bool await_epoch_end(const ConsumerProgress::Position& position, const ReaderMemory& memory) {
        const RememberedRecord& last = memory.records().back();
        const clients::PartitionName name{position.topic, position.topic_id, position.partition};
        client_.begin_call(checker::EpochEndCall{client_.calls().partition_number(position.topic, position.partition),
                                                 last.offset + 1, last.asked_ns, Offset(0)});
        const CallReply reply =
            client_.await_leader_call(clients::EpochEndRequest{name, last.leader_epoch, {}}, client_.short_timeout());
        const auto* told = std::get_if<clients::EpochEndAnswer>(&reply.answer.body);
        if (!reply.is_ok() || told == nullptr) return end_look_back(reply);
        client_.calls().operation_of<checker::EpochEndCall>(client_.id()).end = told->end_offset;
        client_.end_call(checker::Outcome::kOk);
        return true;
    }

    bool end_look_back(const CallReply& reply) {
        client_.end_call(not_ok(reply));
        return reply.end != CallEnd::kHostDied;
    }

    /// A fetch changes nothing: without records it failed, whatever the reason.
    static checker::Outcome not_ok(const CallReply& reply) {
        return reply.end == CallEnd::kAnswered ? checker::Outcome::kFailed : checker::Outcome::kUnknown;
    }

    bool take_records(const CallReply& reply, std::size_t at) {
        const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
        if (!reply.is_ok() || answer == nullptr) return false;
        Offset next = positions_[at].next;
        auto records = records_in(answer->batches, next, next);
        if (!records) return false;
        auto& call = client_.calls().operation_of<checker::FetchCall>(client_.id());
        call.records = *std::move(records);
        call.high_watermark = answer->high_watermark;
        is_behind_ = next > positions_[at].next && next < answer->high_watermark;
        positions_[at].next = next;
        return true;
    }

    static std::optional<Offset> refused_log_start(const CallReply& reply) {
        const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
        const bool is_refused = reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kOffsetOutOfRange;
        return is_refused && answer != nullptr ? std::optional(answer->log_start_offset) : std::nullopt;
    }

    bool await_after_error(const CallReply& reply, std::size_t at) {
        if (const auto start = refused_log_start(reply); start && *start > positions_[at].next) {
            positions_[at].next = *start;
            return true;
        }
        if (reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kUnknownTopicOrPartition)
            rounds_ = kRoundsBetweenMetadata;  // look at the topics in the next round
        return client_.await_pause(client_.retry_pause());
    }

    static constexpr std::int64_t kRoundsBetweenMetadata = 24;
    static constexpr std::int64_t kFetchesBetweenLooks = 10;

    Client& client_;
    const ConsumerPlan& plan_;
    ClientOrders& orders_;
    std::vector<ConsumerProgress::Position>& positions_;
    std::vector<KnownTopic> topics_;
    std::map<TopicPartition, ReaderMemory> memories_;
    std::int64_t fetches_ = 0;
    std::int64_t looks_ = 0;
    std::size_t turn_ = 0;
    std::int64_t rounds_ = 0;
    bool was_silent_ = false;
    bool is_behind_ = false;  // the last fetch did not reach the high watermark
};

/// One commit, and now and then a look at what is committed. False: the host died.
bool await_commit(Client& client, const std::string& group, const KnownTopic& topic, PartitionIndex partition,
                  Offset offset) {
    const auto partition_number = client.calls().partition_number(topic.name, partition);
    client.begin_call(checker::OffsetCommitCall{client.calls().group_number(group), partition_number, offset});
    clients::OffsetCommitRequest request;
    request.group = group;
    request.partition = {topic.name, topic.id, partition};
    request.offset = offset;
    const CallReply reply = client.await_leader_call(request, client.call_timeout());
    client.end_call(reply.outcome());
    return reply.end != CallEnd::kHostDied;
}

bool await_offset_fetch(Client& client, const std::string& group, const KnownTopic& topic, PartitionIndex partition) {
    const auto partition_number = client.calls().partition_number(topic.name, partition);
    client.begin_call(checker::OffsetFetchCall{client.calls().group_number(group), partition_number, std::nullopt});
    const clients::OffsetFetchRequest request{group, {topic.name, topic.id, partition}};
    const CallReply reply = client.await_leader_call(request, client.short_timeout());
    const auto* answer = std::get_if<clients::OffsetFetchAnswer>(&reply.answer.body);
    if (reply.is_ok() && answer != nullptr && answer->offset.value >= 0)
        client.calls().operation_of<checker::OffsetFetchCall>(client.id()).offset = answer->offset;
    client.end_call(reply.outcome());
    return reply.end != CallEnd::kHostDied;
}

/// Takes a new producer id and never uses it. False: the host died.
bool await_producer_id(Client& client) {
    client.begin_call(checker::InitProducerIdCall{});
    const CallReply reply = client.await_leader_call(clients::InitProducerIdRequest{}, client.call_timeout());
    const auto* given = std::get_if<clients::InitProducerIdAnswer>(&reply.answer.body);
    if (reply.is_ok() && given != nullptr)
        client.calls().operation_of<checker::InitProducerIdCall>(client.id()).producer_id = given->producer_id;
    client.end_call(reply.outcome());
    return reply.end != CallEnd::kHostDied;
}

}  // namespace

void run_consumer(Client& client, const ConsumerPlan& plan, std::size_t position, ConsumerProgress& progress) {
    Consumer(client, plan, client.workload().consumer_orders[position], progress).run();
}

void run_committer(Client& client, const CommitterPlan& plan, std::uint64_t seed) {
    sim::Rng random(seed, "committer", static_cast<std::uint64_t>(plan.id));
    const std::string group = "g" + std::to_string(plan.id);
    std::vector<KnownTopic> topics;
    std::map<TopicPartition, std::int64_t> next_offsets;
    for (std::int64_t round = 0; !client.workload().are_producers_done; ++round) {
        if (!client.await_pause(milliseconds(plan.interval_ms))) return;
        if (topics.empty() || round % 8 == 7) {
            if (!client.await_topics(topics) && topics.empty()) continue;
        }
        const KnownTopic& topic = topics[random.below(topics.size())];
        const PartitionIndex partition(
            static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(topic.partition_count))));
        std::int64_t& next = next_offsets[{topic.id, partition}];
        if (!await_commit(client, group, topic, partition, Offset(next++))) return;
        const bool looks = random.below(2) == 0;
        if (looks && !await_offset_fetch(client, group, topic, partition)) return;
    }
}

void run_coordinator_poller(Client& client, const PollerPlan& plan, std::uint64_t seed) {
    sim::Rng random(seed, "coordinator-poller", static_cast<std::uint64_t>(plan.id));
    const auto groups = static_cast<std::uint64_t>(client.workload().plan->committers.size());
    std::vector<KnownTopic> topics;
    for (std::int64_t round = 0;; ++round) {
        if (!client.await_pause(milliseconds(plan.interval_ms))) return;
        if (groups == 0 || round % 4 == 0) {
            if (!await_producer_id(client)) return;
            continue;
        }
        if ((topics.empty() || round % 32 == 1) && !client.await_topics(topics) && topics.empty()) continue;
        const std::string group = "g" + std::to_string(1 + random.below(groups));
        const KnownTopic& topic = topics[random.below(topics.size())];
        const PartitionIndex partition(
            static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(topic.partition_count))));
        if (!await_offset_fetch(client, group, topic, partition)) return;
    }
}

void run_status_poller(Client& client, const PollerPlan& plan) {
    for (std::int32_t turn = plan.id;; ++turn) {
        if (!client.await_pause(milliseconds(plan.interval_ms))) return;
        const BrokerId broker(turn % client.workload().broker_count + 1);
        if (client.await_call(broker, clients::StatusRequest{}, client.short_timeout()).end == CallEnd::kHostDied)
            return;
    }
}

}  // namespace tidelock::scenarios
