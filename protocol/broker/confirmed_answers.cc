// Answers that a successor could have made untrue: what a leader knows is told once a majority stands behind it, when
// it was asked (Raft thesis 6.4). Writes need no such question, none of a leader that is over is ever confirmed; but
// committed offsets, bounds of a log and refusals that end a producer or move a consumer rest on this leader's word
// alone (T1, T2, I7).
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

/// Clients ask about every partition there is at once, and each is an answer of its own.
constexpr std::size_t kConfirmedAnswersMax = 20'000;
constexpr std::size_t kConfirmedBytesMax = 64 << 20;

/// What it holds beyond its own size, about.
std::size_t bytes_of(const clients::Answer& answer) {
    const auto* offsets = std::get_if<clients::GroupOffsetsAnswer>(&answer.body);
    if (offsets == nullptr) return 0;
    std::size_t bytes = 0;
    for (const clients::GroupOffset& each : offsets->offsets)
        bytes += sizeof each + each.partition.topic.size() + each.metadata.size();
    return bytes;
}

std::size_t bytes_of(const std::deque<UnconfirmedAnswer>& answers) {
    std::size_t bytes = 0;
    for (const UnconfirmedAnswer& each : answers) bytes += each.bytes;
    return bytes;
}

clients::Answer with_error(clients::Answer answer, ErrorCode error) {
    std::visit([error](auto& body) { body.error = error; }, answer.body);
    return answer;
}

}  // namespace

void answer_when_confirmed(Step& step, const ClientRef& client, clients::Answer answer) {
    Broker& broker = step.broker;
    // A static leader is over when its operator says so, not before.
    if (broker.config.preset != Preset::kGroup)
        return step.effects.push_back(AnswerClient{client.connection, std::move(answer)});
    Leading& leading = *broker.leading;
    const std::size_t bytes = bytes_of(answer);
    const bool has_room = leading.unconfirmed_answers.size() < kConfirmedAnswersMax &&
                          (bytes == 0 || bytes_of(leading.unconfirmed_answers) + bytes <= kConfirmedBytesMax ||
                           leading.unconfirmed_answers.empty());
    if (!has_room)
        return step.effects.push_back(
            AnswerClient{client.connection, with_error(std::move(answer), ErrorCode::kThrottled)});
    leading.newest_round += 1;
    const ReadRound round = leading.newest_round;
    const Instant deadline = step.now + broker.config.request_timeout * 5;
    leading.unconfirmed_answers.push_back(
        UnconfirmedAnswer{client.connection, std::move(answer), round, deadline, bytes});
    note_deadline(step, deadline);
    observe(step, ReadRoundAsked{broker.raft.persistent.term, round});
    run_raft(step, raft::ConfirmationRequested{round});
}

void answer_when_confirmed(Step& step, const ClientRef& client, clients::AnswerBody body) {
    answer_when_confirmed(step, client, clients::Answer{client.correlation, BrokerId{}, std::move(body)});
}

void refuse_when_confirmed(Step& step, const ClientRef& client, const clients::Request& request, ErrorCode error) {
    answer_when_confirmed(step, client, clients::refusal_of(request, error, BrokerId{}));
}

void on_leadership_confirmed(Step& step, ReadRound up_to) {
    if (!step.broker.leading) return;
    auto& waiting = step.broker.leading->unconfirmed_answers;
    while (!waiting.empty() && waiting.front().round <= up_to) {
        step.effects.push_back(AnswerClient{waiting.front().connection, std::move(waiting.front().answer)});
        waiting.pop_front();
    }
}

void expire_unconfirmed_answers(Step& step) {
    auto& waiting = step.broker.leading->unconfirmed_answers;
    while (!waiting.empty() && waiting.front().deadline <= step.now) {
        mark(step, Mark::kAnswerUnconfirmed);
        step.effects.push_back(AnswerClient{
            waiting.front().connection, with_error(std::move(waiting.front().answer), ErrorCode::kRequestTimedOut)});
        waiting.pop_front();
    }
    if (!waiting.empty()) note_deadline(step, waiting.front().deadline);
}

}  // namespace tidelock::broker
