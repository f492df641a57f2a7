// What the clients of a story do: each call runs on a client of its own, while the world runs on.
#include <fmt/format.h>

#include <memory>

#include "protocol/storage/record_batch.h"
#include "scenarios/script_run.h"

namespace tidelock::scenarios {

namespace {

constexpr Duration kClientWait = seconds(12);

Bytes batch_of(const std::vector<std::uint64_t>& values) {
    storage::RecordBatchBuilder builder({});
    for (const std::uint64_t value : values) {
        ByteWriter bytes;
        bytes.u64(value);
        builder.add(0, std::nullopt, bytes.span());
    }
    return builder.build();
}

std::string_view word_of(Expected outcome) {
    if (outcome == Expected::kOk) return "ok";
    return outcome == Expected::kRefused ? "refused" : "unknown";
}

CallReply success() {
    return {CallEnd::kAnswered, {CorrelationId(0), BrokerId(0), clients::StatusAnswer{}}};
}

}  // namespace

Client& StoryRun::new_client() {
    sim::Host& host = cluster_.add_client_host(next_client_, fmt::format("script-{}", next_client_ - kScriptHost));
    Client& client = clients_.emplace_back(cluster_.workload(), host, checker::ClientId(next_client_));
    ++next_client_;
    if (const std::optional<BrokerId> leader = cluster_.leader()) client.set_target(*leader);
    return client;
}

CallReply StoryRun::call(const clients::RequestBody& body, std::optional<BrokerId> via, Duration timeout) {
    Client& client = new_client();
    auto reply = std::make_shared<std::optional<CallReply>>();
    world_.spawn(client.host(), [&client, body, via, timeout, reply] {
        *reply = via ? client.await_call(*via, body, timeout) : client.await_leader_call(body, timeout);
    });
    run_until(kClientWait, [&reply] { return reply->has_value(); });
    return reply->value_or(CallReply{});
}

std::string StoryRun::via_of(const ScriptLine& line, std::optional<BrokerId>& via) {
    Groups brokers;
    const std::string wrong = resolve(line.other_brokers, brokers);
    if (!brokers.empty()) via = brokers.front();
    return wrong;
}

std::string StoryRun::start_produce(const ScriptLine& line, std::shared_ptr<std::optional<checker::Outcome>> done) {
    std::optional<BrokerId> via;
    if (std::string wrong = via_of(line, via); !wrong.empty()) return wrong;
    Client& client = new_client();
    const auto acks = static_cast<clients::Acks>(line.acks);
    const clients::ProduceRequest request{
        {line.name, TopicId(0), PartitionIndex(line.partition)}, acks, seconds(2), batch_of(line.values)};
    world_.spawn(client.host(), [this, &client, &line, request, via, done] {
        client.begin_call(checker::ProduceCall{
            cluster_.calls().partition_number(line.name, PartitionIndex(line.partition)), kNoProducer,
            ProducerEpoch(-1), -1, static_cast<checker::Acks>(line.acks), line.values, std::nullopt});
        const CallReply reply =
            via ? client.await_call(*via, request, seconds(4)) : client.await_leader_call(request, seconds(4));
        const auto* answer = std::get_if<clients::ProduceAnswer>(&reply.answer.body);
        if (reply.is_ok() && answer != nullptr && answer->base_offset.value >= 0)
            client.calls().operation_of<checker::ProduceCall>(client.id()).base_offset = answer->base_offset;
        if (reply.end == CallEnd::kAnswered) last_error_ = clients::to_text(reply.error());
        client.end_call(reply.outcome());
        if (reply.is_ok()) acked_.insert(acked_.end(), line.values.begin(), line.values.end());
        *done = reply.outcome();
    });
    return {};
}

std::string StoryRun::produce(const ScriptLine& line) {
    auto done = std::make_shared<std::optional<checker::Outcome>>();
    last_error_ = "no answer";
    if (std::string wrong = start_produce(line, done); !wrong.empty()) return wrong;
    run_until(kClientWait, [&done] { return done->has_value(); });
    const auto outcome = static_cast<Expected>(done->value_or(checker::Outcome::kUnknown));
    if (outcome == line.expected) return {};
    return fmt::format("the produce ended otherwise: {} ({})", word_of(outcome), last_error_);
}

std::string StoryRun::read(const ScriptLine& line) {
    std::optional<BrokerId> via;
    if (std::string wrong = via_of(line, via); !wrong.empty()) return wrong;
    const clients::PartitionName name{line.name, TopicId(0), PartitionIndex(line.partition)};
    std::vector<std::uint64_t> values;
    Offset next(line.amount);
    while (true) {
        const CallReply reply = call(clients::FetchRequest{name, next, 1 << 20, milliseconds(50)}, via);
        const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
        if (!reply.is_ok() || answer == nullptr)
            return reply.end == CallEnd::kAnswered ? fmt::format("the read failed: {}", clients::to_text(reply.error()))
                                                   : "the read was not answered";
        const Offset before = next;
        const auto records = records_in(answer->batches, next, next);
        if (!records) return "the read answered no whole batches";
        for (const checker::ReadRecord& record : *records) values.push_back(record.value);
        if (next == before || next >= answer->high_watermark) break;
    }
    if (values == line.values) return {};
    return fmt::format("read {} instead", values.empty() ? "nothing" : fmt::format("{}", fmt::join(values, " ")));
}

std::string StoryRun::change(const clients::RequestBody& body, Expected expected, clients::ErrorCode done_already) {
    CallReply reply;
    int tries = 0;
    const bool is_answered = run_until(kClientWait, [&] {
        reply = call(body, std::nullopt);
        if (++tries > 1 && reply.end == CallEnd::kAnswered && reply.error() == done_already) reply = success();
        const bool may_help = reply.end == CallEnd::kNoAnswer || clients::traits_of(reply.error()).is_retriable;
        return reply.is_ok() || !may_help || expected != Expected::kOk;
    });
    const checker::Outcome outcome = reply.outcome();
    if (is_answered && static_cast<Expected>(outcome) == expected) return {};
    return fmt::format("it ended otherwise: {}",
                       reply.end == CallEnd::kAnswered ? clients::to_text(reply.error()) : "no answer");
}

std::string StoryRun::told_change(decltype(checker::ClientCall::operation) operation, const clients::RequestBody& body,
                                  clients::ErrorCode done_already) {
    const checker::ClientId administrator(kAdminHost);
    cluster_.calls().begin(administrator, world_.now().value, std::move(operation));
    std::string wrong = change(body, Expected::kOk, done_already);
    cluster_.calls().end(administrator, world_.now().value,
                         wrong.empty() ? checker::Outcome::kOk : checker::Outcome::kUnknown);
    return wrong;
}

std::string StoryRun::change_topic(const ScriptLine& line) {
    const auto count = static_cast<std::int32_t>(line.amount);
    const checker::ClientTopic topic = cluster_.calls().topic_number(line.name);
    if (line.verb == Verb::kCreateTopic)
        return told_change(checker::CreateTopicCall{topic, count}, clients::CreateTopicRequest{line.name, count, {}},
                           clients::ErrorCode::kTopicAlreadyExists);
    if (line.verb == Verb::kGrowTopic)
        return told_change(checker::GrowTopicCall{topic, count}, clients::GrowTopicRequest{line.name, count});
    cluster_.tell_checker(checker::TopicDeletionAsked{line.name});
    return told_change(checker::DeleteTopicCall{topic}, clients::DeleteTopicRequest{line.name},
                       clients::ErrorCode::kUnknownTopicOrPartition);
}

std::string StoryRun::delete_records(const ScriptLine& line) {
    const PartitionIndex partition(line.partition);
    cluster_.tell_checker(checker::RecordDeletionAsked{line.name, partition, Offset(line.amount)});
    return told_change(
        checker::DeleteRecordsCall{cluster_.calls().partition_number(line.name, partition), Offset(line.amount)},
        clients::DeleteRecordsRequest{{line.name, TopicId(0), partition}, Offset(line.amount)});
}

std::string StoryRun::transfer(const ScriptLine& line, BrokerId to) {
    const clients::TransferLeadershipRequest request{to};
    if (line.amount != 0) return change(request, line.expected);
    call(request, std::nullopt);
    return {};
}

std::string StoryRun::commit(const ScriptLine& line) {
    clients::OffsetCommitRequest request;
    request.group = "story";
    request.partition = {line.name, TopicId(0), PartitionIndex(line.partition)};
    request.offset = Offset(line.amount);
    return told_change(
        checker::OffsetCommitCall{cluster_.calls().group_number(request.group),
                                  cluster_.calls().partition_number(line.name, PartitionIndex(line.partition)),
                                  Offset(line.amount)},
        request);
}

std::string StoryRun::committed(const ScriptLine& line) {
    const clients::OffsetFetchRequest request{"story", {line.name, TopicId(0), PartitionIndex(line.partition)}};
    CallReply reply;
    run_until(kClientWait, [&] {
        reply = call(request, std::nullopt);
        return reply.is_ok();
    });
    const auto* answer = std::get_if<clients::OffsetFetchAnswer>(&reply.answer.body);
    if (!reply.is_ok() || answer == nullptr) return "nobody answers";
    return answer->offset.value == line.amount ? "" : fmt::format("it is {}", answer->offset.value);
}

}  // namespace tidelock::scenarios
