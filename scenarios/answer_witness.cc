#include "scenarios/answer_witness.h"

#include <algorithm>

namespace tidelock::scenarios {
namespace {

/// What the request itself allows; none: it names no time.
std::optional<Duration> own_time(const clients::RequestBody& body) {
    if (const auto* produce = std::get_if<clients::ProduceRequest>(&body)) return produce->timeout;
    if (const auto* fetch = std::get_if<clients::FetchRequest>(&body)) return fetch->wait_max;
    return std::nullopt;
}

}  // namespace

bool AnswerWitness::is_repeated(ConnectionId connection, CorrelationId correlation) {
    const auto known = std::ranges::find(newest_, connection, &Newest::connection);
    if (known == newest_.end()) {
        newest_.push_back({connection, correlation});
        return false;
    }
    if (correlation <= known->correlation) return true;
    known->correlation = correlation;
    return false;
}

void AnswerWitness::on_request(ConnectionId connection, const clients::Request& request) {
    if (is_repeated(connection, request.correlation_id)) return;
    const Duration due = acted_ + own_time(request.body).value_or(patience_) + kSlack;
    waiting_.push_back({connection, request, due});
}

std::optional<clients::RequestBody> AnswerWitness::on_answer(ConnectionId connection, CorrelationId correlation) {
    const auto answered = std::ranges::find_if(waiting_, [&](const Waiting& each) {
        return each.connection == connection && each.request.correlation_id == correlation;
    });
    if (answered == waiting_.end()) return std::nullopt;
    std::optional<clients::RequestBody> asked(std::move(answered->request.body));
    waiting_.erase(answered);
    return asked;
}

void AnswerWitness::on_closed(ConnectionId connection) {
    std::erase_if(waiting_, [&](const Waiting& each) { return each.connection == connection; });
    std::erase_if(newest_, [&](const Newest& each) { return each.connection == connection; });
}

void AnswerWitness::on_all_closed() {
    waiting_.clear();
    newest_.clear();
}

std::optional<std::string> AnswerWitness::look(Instant now, bool is_disk_reading) {
    if (looked_at_) acted_ = acted_ + std::min(since(*looked_at_, now), kLookMax);
    looked_at_ = now;
    const auto overdue = std::ranges::find_if(waiting_, [&](const Waiting& each) {
        const bool may_wait = is_disk_reading && std::holds_alternative<clients::FetchRequest>(each.request.body);
        return each.due < acted_ && !may_wait;
    });
    if (overdue == waiting_.end()) return std::nullopt;
    std::string what = clients::to_text(overdue->request);
    waiting_.erase(overdue);
    return what;
}

}  // namespace tidelock::scenarios
