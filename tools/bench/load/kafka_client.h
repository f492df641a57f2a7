/// A Kafka client's dealings that wait for their answer: who is there, who leads, what a topic has.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/kafka/messages.h"
#include "tools/bench/load/channel.h"

namespace tidelock::load {

inline constexpr kafka::Version kMetadataVersion = 9;
inline constexpr kafka::Version kCreateTopicsVersion = 5;
inline constexpr kafka::Version kProduceVersion = 8;
inline constexpr kafka::Version kFetchVersion = 11;
inline constexpr kafka::Version kListOffsetsVersion = 5;
inline constexpr kafka::Version kInitProducerIdVersion = 1;

/// Queues a request.
void put_request(Channel& channel, kafka::RequestBody body, kafka::Version version, std::int32_t correlation);
/// The content of the next whole frame that came, if one did; it is consumed. An error: it is too large.
Result<std::optional<Bytes>, std::string> take_frame(Channel& channel);
/// The correlation id of an answer.
std::int32_t correlation_of(const Bytes& content);

/// Asks and waits.
template <typename Answer, typename Question>
Result<Answer, std::string> call(Channel& channel, const Question& question, kafka::Version version,
                                 std::int64_t patience_ns) {
    put_request(channel, question, version, -1);
    for (;;) {
        auto frame = take_frame(channel);
        if (!frame) return Failure<std::string>(frame.error());
        if (*frame) {
            auto answer = kafka::decode_response(Question::kApi, version, **frame);
            if (!answer) return Failure<std::string>(kafka::to_text(answer.error()));
            return std::get<Answer>(std::move(answer->body));
        }
        if (std::string error = channel.await(patience_ns); !error.empty()) return Failure<std::string>(error);
    }
}

/// A topic as one broker describes it.
struct TopicView {
    std::map<BrokerId, HostPort> brokers;
    std::vector<BrokerId> leaders;  // by partition
};
/// Asks each broker in turn, creating the topic when it is missing. The error says what is not as it should be yet.
Result<TopicView, std::string> look_up_topic(const Options& options, std::int64_t patience_ns);

}  // namespace tidelock::load
