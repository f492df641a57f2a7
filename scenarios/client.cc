#include "scenarios/client.h"

#include "protocol/storage/record_batch.h"
#include "scenarios/broker_host.h"
#include "scenarios/plan.h"
#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

using clients::ErrorCode;

constexpr std::int32_t kHintsMax = 3;  // G7
constexpr int kValueCounterBits = 32;
constexpr sim::FrameTag kRequestTag{kClientRequestKind, false};

bool is_for_another_host(ErrorCode error) {
    return error == ErrorCode::kNotLeader;
}

/// Drawn for each client.
bool speaks_kafka(const Plan& plan, checker::ClientId id) {
    sim::Rng rng(plan.seed, "speaks-kafka", static_cast<std::uint64_t>(id.value));
    return rng.between(0, 999) < plan.settings[Setting::kKafkaPermille];
}

std::vector<KnownTopic> topics_in(const clients::MetadataAnswer& metadata) {
    std::vector<KnownTopic> topics;
    for (const clients::MetadataAnswer::Topic& topic : metadata.topics)
        if (topic.error == ErrorCode::kNone && !topic.is_internal)
            topics.push_back({topic.name, topic.id, topic.partition_count});
    return topics;
}

}  // namespace

checker::Outcome CallReply::outcome() const {
    if (end != CallEnd::kAnswered) return checker::Outcome::kUnknown;
    if (error() == ErrorCode::kNone) return checker::Outcome::kOk;
    return clients::traits_of(error()).is_outcome_unknown ? checker::Outcome::kUnknown : checker::Outcome::kFailed;
}

Client::Client(Workload& workload, sim::Host& host, checker::ClientId id)
    : workload_(&workload), host_(&host), id_(id), target_(1 + id.value % workload.broker_count), last_tried_(target_) {
    if (speaks_kafka(*workload.plan, id)) kafka_.emplace(workload.plan->seed, id.value);
}

std::int64_t Client::true_now_ns() const {
    return host_->world().now().value;
}

Duration Client::call_timeout() const {
    return milliseconds(workload_->plan->settings[Setting::kCallTimeoutMs]);
}

Duration Client::short_timeout() const {
    return milliseconds(workload_->plan->settings[Setting::kShortTimeoutMs]);
}

Duration Client::retry_pause() const {
    return milliseconds(workload_->plan->settings[Setting::kRetryPauseMs]);
}

void Client::begin_call(decltype(checker::ClientCall::operation) operation, std::size_t lane) {
    calls().begin({id_, lane}, true_now_ns(), std::move(operation));
}

void Client::end_call(checker::Outcome outcome, std::size_t lane) {
    calls().end({id_, lane}, true_now_ns(), outcome);
}

CallReply Client::await_call(BrokerId broker, clients::RequestBody body, Duration timeout) {
    return std::move(await_calls(broker, {std::move(body)}, timeout).front());
}

std::vector<CallReply> Client::await_calls(BrokerId broker, std::vector<clients::RequestBody> bodies,
                                           Duration timeout) {
    const CorrelationId first(next_correlation_);
    std::vector<CallReply> replies(bodies.size(), CallReply{CallEnd::kHostDied, {}});
    std::size_t missing_count = bodies.size();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const clients::Request request{CorrelationId(next_correlation_++), std::move(bodies[i])};
        if (auto answered = send(broker, request)) {
            replies[i] = *std::move(answered);
            --missing_count;
        }
    }
    const Instant deadline = host_->local_now() + timeout;
    while (missing_count > 0) {
        const std::optional<sim::Arrival> arrival = host_->await_arrival_until(deadline);
        if (!arrival) return replies;
        std::optional<CallReply> reply = reply_from(*arrival, broker, first);
        if (!reply) continue;
        if (reply->end == CallEnd::kNoAnswer) {
            host_->close_connection(host_of(broker));
            if (kafka_) kafka_->forget();
            for (CallReply& each : replies)
                if (each.end == CallEnd::kHostDied) each.end = CallEnd::kNoAnswer;
            return replies;
        }
        CallReply& place = replies[static_cast<std::size_t>(reply->answer.correlation_id.value - first.value)];
        if (place.end != CallEnd::kHostDied) continue;  // the frame was doubled on its way
        place = *std::move(reply);
        --missing_count;
    }
    return replies;
}

std::optional<CallReply> Client::send(BrokerId broker, const clients::Request& request) {
    const std::optional<Bytes> content = kafka_ ? kafka_->ask(request) : std::nullopt;
    host_->send(host_of(broker), content ? encode_kafka_frame(*content) : encode_client_frame(request), kRequestTag);
    if (!content || KafkaDoor::is_answered(request)) return std::nullopt;
    return CallReply{CallEnd::kAnswered, clients::refusal_of(request, ErrorCode::kNone)};
}

Result<std::optional<clients::Answer>, DecodeError> Client::answer_in(const Bytes& frame) {
    if (const auto content = kafka_ ? decode_kafka_frame(frame) : std::nullopt) return kafka_->take(*content);
    return decode_answer_frame(frame).transform(
        [](const clients::Answer& answer) { return std::optional<clients::Answer>(answer); });
}

std::optional<CallReply> Client::reply_from(const sim::Arrival& arrival, BrokerId broker, CorrelationId first) {
    if (std::holds_alternative<sim::DeadlinePassed>(arrival)) return CallReply{};
    if (const auto* broken = std::get_if<sim::ConnectionBroken>(&arrival))
        return broken->peer == host_of(broker) ? std::optional(CallReply{}) : std::nullopt;
    const auto* frame = std::get_if<sim::FrameArrived>(&arrival);
    if (frame == nullptr || frame->from != host_of(broker)) return std::nullopt;
    Result<std::optional<clients::Answer>, DecodeError> decoded = answer_in(frame->frame);
    if (!decoded) return CallReply{};  // a damaged frame: the stream behind it cannot be trusted
    std::optional<clients::Answer>& answer = *decoded;
    const bool is_awaited =
        answer && answer->correlation_id >= first && answer->correlation_id.value < next_correlation_;
    if (!is_awaited) return std::nullopt;
    return CallReply{CallEnd::kAnswered, *std::move(answer)};
}

std::vector<CallReply> Client::await_leader_calls(std::vector<clients::RequestBody> bodies, Duration timeout) {
    std::vector<CallReply> replies = await_calls(target_, std::move(bodies), timeout);
    const CallReply& first = replies.front();
    const bool is_answered = first.end == CallEnd::kAnswered;
    const BrokerId hint = is_answered ? first.answer.leader_hint : BrokerId{};
    const bool is_refused = is_answered && is_for_another_host(first.error());
    const bool has_moved = kafka_ && is_answered && first.error() == ErrorCode::kLeadershipEnded;
    if (is_refused || has_moved)
        follow_hint_or_try_next(hint);
    else if (!is_answered || first.error() == ErrorCode::kLeaderNotAvailable)
        try_next_host();
    return replies;
}

void Client::follow_hint_or_try_next(BrokerId hint) {
    if (hint.value >= 1 && hint.value <= workload_->broker_count && hint != target_)
        target_ = hint;
    else
        try_next_host();
}

/// All in turn, whoever sent it here: two brokers, one that is dead and one that knows no better than to name it, would
/// keep it for themselves.
void Client::try_next_host() {
    const auto next_after = [this](BrokerId broker) { return BrokerId(broker.value % workload_->broker_count + 1); };
    last_tried_ = next_after(last_tried_);
    if (last_tried_ == target_) last_tried_ = next_after(last_tried_);
    target_ = last_tried_;
}

CallReply Client::await_leader_call(const clients::RequestBody& body, Duration timeout) {
    std::int32_t hints_left = kHintsMax;
    for (std::int32_t hosts_tried = 1;; ++hosts_tried) {
        CallReply reply = await_call(target_, body, timeout);
        // Who knows of no leader may be the last to learn of one, with a disk that hangs for example.
        const bool is_in_the_dark = reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kLeaderNotAvailable;
        if (reply.end == CallEnd::kNoAnswer || is_in_the_dark) try_next_host();
        // Who has lost the lead says so in Kafka's words; whether it did what was asked it does not say.
        if (kafka_ && reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kLeadershipEnded) {
            follow_hint_or_try_next(reply.answer.leader_hint);
            return reply;
        }
        if (reply.end != CallEnd::kAnswered || !is_for_another_host(reply.error())) return reply;
        const BrokerId hint = reply.answer.leader_hint;
        const bool is_hint_usable = hint.value >= 1 && hint.value <= workload_->broker_count && hint != target_;
        if (is_hint_usable && hints_left > 0) {
            --hints_left;
            target_ = hint;
            --hosts_tried;
            continue;
        }
        try_next_host();
        if (hosts_tried >= workload_->broker_count) return reply;
    }
}

void Client::send_and_forget(const clients::RequestBody& body) {
    send(target_, clients::Request{CorrelationId(next_correlation_++), body});
}

void Client::drop_connection() {
    if (kafka_) kafka_->forget();
    host_->close_connection(host_of(target_));
}

bool Client::await_topics(std::vector<KnownTopic>& topics) {
    const CallReply reply = await_leader_call(clients::MetadataRequest{}, short_timeout());
    if (!reply.is_ok()) return false;
    const auto* metadata = std::get_if<clients::MetadataAnswer>(&reply.answer.body);
    if (metadata == nullptr) return false;
    topics = topics_in(*metadata);
    // Whose disk hangs may never hear of any.
    if (topics.empty()) try_next_host();
    return !topics.empty();
}

bool Client::await_leaders_topics(std::vector<KnownTopic>& topics) {
    for (std::int32_t hints_left = kHintsMax; hints_left > 0; --hints_left) {
        const CallReply reply = await_call(target_, clients::MetadataRequest{}, short_timeout());
        const auto* metadata = std::get_if<clients::MetadataAnswer>(&reply.answer.body);
        if (!reply.is_ok() || metadata == nullptr || metadata->leader.value < 1) break;
        if (metadata->leader == target_) {
            topics = topics_in(*metadata);
            return true;
        }
        target_ = metadata->leader;
    }
    try_next_host();
    return false;
}

bool Client::await_pause(Duration at_most) {
    const Duration shortest = at_most / 2;
    return host_->await_sleep(host_->draw(shortest, at_most));
}

std::uint64_t value_in(std::span<const std::byte> record_value) {
    ByteReader in(record_value);
    const std::uint64_t value = in.u64();
    return in.failed() ? 0 : value;
}

std::uint64_t make_value(checker::ClientId client, std::int64_t counter) {
    return (static_cast<std::uint64_t>(client.value) << kValueCounterBits) | static_cast<std::uint64_t>(counter);
}

std::optional<std::vector<checker::ReadRecord>> records_in(const Bytes& batches, Offset from, Offset& next) {
    std::vector<checker::ReadRecord> records;
    const auto views = storage::split_batches(batches);
    if (!views) return std::nullopt;
    for (const storage::BatchView& view : *views) {
        next = std::max(next, view.header.next_offset());
        if (view.header.is_control()) continue;
        if (!storage::check_batch(view.bytes.span())) return std::nullopt;
        storage::RecordReader reader(view.bytes.span(), view.header);
        for (;;) {
            const auto record = reader.next();
            if (!record) return std::nullopt;
            if (!*record) break;
            if ((*record)->offset < from) continue;
            records.push_back({(*record)->offset, (*record)->value ? value_in(*(*record)->value) : 0});
        }
    }
    return records;
}

}  // namespace tidelock::scenarios
