#include "tools/bench/load/kafka_client.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace tidelock::load {
namespace {

constexpr std::size_t kFrameBytesMax = 256U << 20U;

Result<TopicView, std::string> create_topic(Channel& channel, const Options& options, std::int64_t patience_ns) {
    kafka::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = options.topic;
    topic.num_partitions = options.partitions;
    topic.replication_factor = static_cast<std::int16_t>(options.replication);
    request.timeout_ms = 5'000;
    const auto answer = call<kafka::CreateTopicsResponse>(channel, request, kCreateTopicsVersion, patience_ns);
    if (!answer) return Failure<std::string>(answer.error());
    const auto code = answer->topics.empty() ? kafka::ErrorCode::kUnknownServerError : answer->topics[0].error_code;
    if (code == kafka::ErrorCode::kNone) return Failure<std::string>("the topic was created just now");
    return Failure<std::string>(fmt::format("the topic could not be created: {}", kafka::name_of(code)));
}

Result<TopicView, std::string> look_up_at(const HostPort& broker, const Options& options, std::int64_t patience_ns) {
    auto channel = Channel::open(broker, patience_ns);
    if (!channel) return Failure<std::string>(channel.error());
    kafka::MetadataRequest request;
    request.topics.emplace().push_back({{}, options.topic});
    request.allow_auto_topic_creation = false;
    const auto answer = call<kafka::MetadataResponse>(**channel, request, kMetadataVersion, patience_ns);
    if (!answer) return Failure<std::string>(answer.error());
    if (answer->topics.size() != 1) return Failure<std::string>("the broker does not describe the topic");
    const kafka::MetadataTopic& topic = answer->topics[0];
    if (topic.error_code == kafka::ErrorCode::kUnknownTopicOrPartition)
        return create_topic(**channel, options, patience_ns);
    if (topic.error_code != kafka::ErrorCode::kNone) return Failure<std::string>(kafka::name_of(topic.error_code));
    TopicView view;
    for (const auto& each : answer->brokers)
        view.brokers[each.node_id] = {each.host, static_cast<std::uint16_t>(each.port)};
    view.leaders.resize(topic.partitions.size(), kafka::kNoBroker);
    for (const auto& each : topic.partitions) {
        const auto at = static_cast<std::size_t>(each.partition_index.value);
        if (at >= view.leaders.size() || !view.brokers.contains(each.leader_id))
            return Failure<std::string>("a partition has no leader");
        view.leaders[at] = each.leader_id;
    }
    return view;
}

}  // namespace

void put_request(Channel& channel, kafka::RequestBody body, kafka::Version version, std::int32_t correlation) {
    const kafka::Frame frame =
        kafka::encode_request({version, correlation, std::optional<std::string>("tidelock_load"), std::move(body)});
    for (const Bytes& part : frame.parts) channel.put(part.span());
}

Result<std::optional<Bytes>, std::string> take_frame(Channel& channel) {
    const std::string_view input = channel.input();
    if (input.size() < kafka::kFrameSizeBytes) return std::optional<Bytes>();
    std::array<std::byte, kafka::kFrameSizeBytes> prefix{};
    std::memcpy(prefix.data(), input.data(), prefix.size());
    const auto size = kafka::frame_size(prefix, kFrameBytesMax);
    if (!size) return Failure<std::string>("the broker sent something that is no answer");
    if (input.size() < prefix.size() + *size) return std::optional<Bytes>();
    Bytes content = Bytes::copy_of(input.substr(prefix.size(), *size));
    channel.consume(prefix.size() + *size);
    return std::optional<Bytes>(std::move(content));
}

std::int32_t correlation_of(const Bytes& content) {
    ByteReader in(content);
    return in.i32_be();
}

Result<TopicView, std::string> look_up_topic(const Options& options, std::int64_t patience_ns) {
    std::string why;
    for (const HostPort& broker : options.brokers) {
        auto view = look_up_at(broker, options, patience_ns);
        if (view) return view;
        why = view.error();
    }
    return Failure<std::string>(why);
}

}  // namespace tidelock::load
