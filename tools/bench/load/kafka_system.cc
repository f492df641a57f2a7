// tidelockd, and whoever else speaks Kafka's protocol: batches go to the leaders of their partitions.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "protocol/storage/record_batch.h"
#include "tools/bench/load/kafka_client.h"
#include "tools/bench/load/kafka_reader.h"
#include "tools/bench/load/system.h"

namespace tidelock::load {
namespace {

constexpr std::int64_t kStepNs = 2'000'000'000;  // patience of one question while connecting
constexpr std::int32_t kAckTimeoutMs = 30'000;

std::int64_t wall_clock_ms() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

class KafkaSystem final : public System {
  public:
    KafkaSystem(const Options& options, Payload& payload) : options_(options), payload_(payload) {}

    std::string connect() override {
        channels_.clear();
        under_way_.clear();
        auto view = look_up_topic(options_, kStepNs);
        if (!view) return view.error();
        view_ = std::move(*view);
        if (sequences_.size() < view_.leaders.size()) sequences_.resize(view_.leaders.size());
        for (const BrokerId leader : view_.leaders) {
            if (channels_.contains(leader)) continue;
            auto channel = Channel::open(view_.brokers.at(leader), kStepNs);
            if (!channel) return channel.error();
            channels_.emplace(leader, std::move(*channel));
        }
        return options_.is_idempotent && producer_id_ == kNoProducer ? ask_for_producer_id() : std::string();
    }

    void send(RecordRange range, std::int64_t made_ns) override {
        const Batch batch = batch_of(range);
        storage::BatchOptions described;
        if (options_.is_idempotent) {
            described.producer_id = producer_id_;
            described.producer_epoch = producer_epoch_;
            described.base_sequence = batch.base_sequence;
        }
        storage::RecordBatchBuilder builder(described);
        const std::int64_t time_ms = wall_clock_ms();
        for (std::uint32_t i = 0; i < range.count; ++i)
            builder.add(time_ms, std::nullopt, payload_.of(range.first + i, made_ns));
        kafka::ProduceRequest request;
        request.acks = static_cast<std::int16_t>(options_.acks);
        request.timeout_ms = kAckTimeoutMs;
        request.topics = {{options_.topic, {{PartitionIndex(batch.partition), builder.build()}}}};
        const std::int32_t correlation = ++correlation_;
        if (options_.acks != 0) under_way_.emplace(correlation, range);
        Channel& channel = *channels_.at(view_.leaders[static_cast<std::size_t>(batch.partition)]);
        put_request(channel, std::move(request), kProduceVersion, correlation);
        trouble_ = channel.flush();
    }

    std::string wait(std::int64_t patience_ns, Outcomes& outcomes) override {
        if (!trouble_.empty()) return std::exchange(trouble_, {});
        std::vector<Channel*> all;
        for (const auto& [broker, channel] : channels_) all.push_back(channel.get());
        std::string error = exchange_all(all, patience_ns);
        for (Channel* channel : all) {
            const std::string broken = take_answers(*channel, outcomes);
            if (!broken.empty()) return broken;
        }
        return error;
    }

    Result<std::size_t, std::string> leader() override {
        if (view_.leaders.empty()) return Failure<std::string>("no leader is known");
        const HostPort& address = view_.brokers.at(view_.leaders[0]);
        const auto at = std::ranges::find(options_.brokers, address);
        if (at == options_.brokers.end())
            return Failure<std::string>(
                fmt::format("--brokers does not name {}, which leads", tidelockd::to_text(address)));
        return static_cast<std::size_t>(at - options_.brokers.begin());
    }

    std::string read_back(const Reader& reader) override {
        for (std::size_t partition = 0; partition < view_.leaders.size(); ++partition) {
            Channel& channel = *channels_.at(view_.leaders[partition]);
            std::string error = read_partition(channel, static_cast<std::int32_t>(partition), reader);
            if (!error.empty()) return error;
        }
        return {};
    }

    [[nodiscard]] std::uint32_t batch_records_max() const override { return 1U << 20U; }

  private:
    /// What a range keeps when it is sent again.
    struct Batch {
        std::int32_t partition = 0;
        std::int32_t base_sequence = -1;
    };

    std::string ask_for_producer_id() {
        kafka::InitProducerIdRequest request;
        request.transaction_timeout_ms = kAckTimeoutMs;
        const auto answer =
            call<kafka::InitProducerIdResponse>(*channels_.begin()->second, request, kInitProducerIdVersion, kStepNs);
        if (!answer) return answer.error();
        if (answer->error_code != kafka::ErrorCode::kNone) return kafka::name_of(answer->error_code);
        producer_id_ = answer->producer_id;
        producer_epoch_ = answer->producer_epoch;
        return {};
    }

    Batch batch_of(RecordRange range) {
        const auto known = batches_.find(range.first);
        if (known != batches_.end()) return known->second;
        const std::size_t partition = next_partition_++ % view_.leaders.size();
        const Batch batch{static_cast<std::int32_t>(partition), sequences_[partition]};
        sequences_[partition] =
            static_cast<std::int32_t>((std::int64_t{batch.base_sequence} + range.count) & 0x7FFF'FFFF);
        if (options_.acks != 0) batches_.emplace(range.first, batch);
        return batch;
    }

    std::string take_answers(Channel& channel, Outcomes& outcomes) {
        for (;;) {
            auto frame = take_frame(channel);
            if (!frame) return frame.error();
            if (!*frame) return {};
            const auto answer = kafka::decode_response(kafka::ApiKey::kProduce, kProduceVersion, **frame);
            if (!answer) return kafka::to_text(answer.error());
            const auto asked = under_way_.find(answer->correlation_id);
            if (asked == under_way_.end()) return "an answer came that nobody asked for";
            const RecordRange range = asked->second;
            under_way_.erase(asked);
            const auto& topics = std::get<kafka::ProduceResponse>(answer->body).topics;
            if (topics.size() != 1 || topics[0].partitions.size() != 1) return "an answer has another form";
            const auto& result = topics[0].partitions[0];
            const bool is_there = result.error_code == kafka::ErrorCode::kNone ||
                                  result.error_code == kafka::ErrorCode::kDuplicateSequenceNumber;
            if (!is_there) return kafka::name_of(result.error_code);
            batches_.erase(range.first);
            outcomes.on_acknowledged(range, {result.index.value, result.base_offset.value});
        }
    }

    std::string read_partition(Channel& channel, std::int32_t partition, const Reader& reader) {
        auto next = offset_of(channel, options_.topic, partition, kEarliestOffset, kStepNs);
        const auto end = offset_of(channel, options_.topic, partition, kEndOffset, kStepNs);
        if (!next || !end) return !next ? next.error() : end.error();
        while (*next < *end) {
            const auto answer = call<kafka::FetchResponse>(channel, fetch_of(options_.topic, partition, *next, 500),
                                                           kFetchVersion, 5 * kStepNs);
            if (!answer) return answer.error();
            if (answer->topics.empty() || answer->topics[0].partitions.empty()) return "an answer has another form";
            std::string error = take_records(answer->topics[0].partitions[0], *next,
                                             [&](const Stamp& stamp, std::int64_t offset, std::size_t) {
                                                 reader(stamp, {partition, offset});
                                             });
            if (!error.empty()) return error;
        }
        return {};
    }

    const Options& options_;
    Payload& payload_;
    TopicView view_;
    std::map<BrokerId, std::unique_ptr<Channel>> channels_;
    std::map<std::int32_t, RecordRange> under_way_;  // by correlation
    std::map<std::uint64_t, Batch> batches_;         // by first record; unacknowledged
    std::vector<std::int32_t> sequences_;            // by partition; of the next record
    std::size_t next_partition_ = 0;
    std::int32_t correlation_ = 0;
    ProducerId producer_id_ = kNoProducer;
    ProducerEpoch producer_epoch_{-1};
    std::string trouble_;
};

}  // namespace

std::unique_ptr<System> make_kafka(const Options& options, Payload& payload) {
    return std::make_unique<KafkaSystem>(options, payload);
}

}  // namespace tidelock::load
