// consume: consumers that each read all of a topic, from the beginning or as records come.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/bench/load/commands.h"
#include "tools/bench/load/kafka_reader.h"
#include "tools/bench/load/report.h"

namespace tidelock::load {
namespace {

constexpr std::int64_t kStepNs = 2'000'000'000;
constexpr std::int64_t kTurnNs = 20'000'000;
constexpr std::int32_t kWaitMs = 500;

/// One partition on one connection: the next question leaves when the answer to the last one is there.
struct Reading {
    std::unique_ptr<Channel> channel;
    std::int32_t partition = 0;
    std::int64_t next = 0;
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

struct Consumed {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    Histogram latency;  // from when a record was made
};

class Consumer {
  public:
    explicit Consumer(const Options& options) : options_(options) {}

    /// Empty: connected, and the first questions are asked.
    std::string start() {
        const auto view = look_up_topic(options_, kStepNs);
        if (!view) return view.error();
        readings_.clear();
        const std::size_t partitions = view->leaders.size();
        for (std::size_t i = 0; i < partitions * options_.consumers; ++i) {
            const HostPort& leader = view->brokers.at(view->leaders[i % partitions]);
            if (std::string error = begin(leader, static_cast<std::int32_t>(i % partitions)); !error.empty())
                return error;
        }
        return {};
    }

    /// Empty: read as far as asked.
    std::string run() {
        const std::int64_t begun_ns = now_ns();
        const std::int64_t until_ns =
            options_.seconds_ns == 0 ? std::numeric_limits<std::int64_t>::max() : begun_ns + options_.seconds_ns;
        while (!is_over() && now_ns() < until_ns) {
            std::vector<Channel*> channels;
            for (const Reading& reading : readings_) channels.push_back(reading.channel.get());
            if (std::string error = exchange_all(channels, kTurnNs); !error.empty()) return error;
            for (Reading& reading : readings_)
                if (std::string error = take(reading); !error.empty()) return error;
        }
        took_ns_ = (options_.follows ? now_ns() : last_record_ns_) - begun_ns;
        return {};
    }

    [[nodiscard]] const Consumed& consumed() const { return consumed_; }
    [[nodiscard]] std::int64_t took_ns() const { return took_ns_; }

  private:
    std::string begin(const HostPort& leader, std::int32_t partition) {
        auto channel = Channel::open(leader, kStepNs);
        if (!channel) return channel.error();
        const auto first = offset_of(**channel, options_.topic, partition, kEarliestOffset, kStepNs);
        const auto end = offset_of(**channel, options_.topic, partition, kEndOffset, kStepNs);
        if (!first || !end) return !first ? first.error() : end.error();
        Reading reading{std::move(*channel), partition, options_.follows ? *end : *first};
        if (!options_.follows) reading.end = *end;
        ask(reading);
        readings_.push_back(std::move(reading));
        return {};
    }

    void ask(Reading& reading) {
        if (reading.next >= reading.end) return;
        put_request(*reading.channel, fetch_of(options_.topic, reading.partition, reading.next, kWaitMs), kFetchVersion,
                    0);
    }

    std::string take(Reading& reading) {
        auto frame = take_frame(*reading.channel);
        if (!frame) return frame.error();
        if (!*frame) return {};
        const auto answer = kafka::decode_response(kafka::ApiKey::kFetch, kFetchVersion, **frame);
        if (!answer) return kafka::to_text(answer.error());
        const auto& topics = std::get<kafka::FetchResponse>(answer->body).topics;
        if (topics.size() != 1 || topics[0].partitions.size() != 1) return "an answer has another form";
        const std::int64_t at_ns = now_ns();
        std::string error = take_records(topics[0].partitions[0], reading.next,
                                         [&](const Stamp& stamp, std::int64_t, std::size_t bytes) {
                                             ++consumed_.records;
                                             consumed_.bytes += bytes;
                                             if (options_.follows) consumed_.latency.add(at_ns - stamp.made_ns);
                                             last_record_ns_ = at_ns;
                                         });
        if (error.empty()) ask(reading);
        return error;
    }

    [[nodiscard]] bool is_over() const {
        if (options_.records != 0 && consumed_.records >= options_.records) return true;
        return std::ranges::all_of(readings_, [](const Reading& each) { return each.next >= each.end; });
    }

    const Options& options_;
    std::vector<Reading> readings_;
    Consumed consumed_;
    std::int64_t last_record_ns_ = 0;
    std::int64_t took_ns_ = 0;
};

}  // namespace

int consume(const Options& options) {
    Consumer consumer(options);
    const std::int64_t end_ns = now_ns() + options.patience_ns;
    for (;;) {
        const std::string error = consumer.start();
        if (error.empty()) break;
        if (now_ns() >= end_ns) return complain("no broker gives records: " + error, 2);
        sleep_ns(kTurnNs);
    }
    if (const std::string error = consumer.run(); !error.empty()) return complain("broken off: " + error, 1);
    const Consumed& consumed = consumer.consumed();
    Json result = describe(options);
    const auto record_bytes = consumed.records == 0 ? 0 : static_cast<std::uint32_t>(consumed.bytes / consumed.records);
    result["record_bytes"] = record_bytes;
    add_rates(result, consumed.records, record_bytes, consumer.took_ns());
    if (options.follows) result["latency"] = to_json(consumed.latency);
    return publish(options, result, to_text(result)) ? 0 : 1;
}

}  // namespace tidelock::load
