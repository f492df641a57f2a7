#include "protocol/gateway/gateway.h"

#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/gateway/call.h"

namespace tidelock::gateway {
namespace {

/// Answers that are complete leave, from the front on.
void flush(const GatewayConfig& config, Instant now, ConnectionId id, Connection& connection, Effects& effects) {
    while (!connection.pending.empty() && connection.pending.front().outstanding == 0) {
        Pending& first = connection.pending.front();
        const bool closes = !first.close_with.empty();
        if (first.is_answered && (!closes || first.is_answered_before_close)) {
            const kafka::Response response{first.request.version, first.request.correlation_id,
                                           std::move(first.answer)};
            effects.emplace_back(SendFrame{id, kafka::encode_response(response), kafka::api_key(response.body),
                                           since(first.received, now)});
        }
        if (closes) return effects.emplace_back(CloseConnection{id, first.close_with}), void();
        connection.bytes_pending -= first.frame_bytes;
        connection.pending.pop_front();
    }
    const bool has_room = connection.pending.size() < static_cast<std::size_t>(config.requests_max) &&
                          connection.bytes_pending < config.request_bytes_max;
    if (connection.is_paused == !has_room) return;
    connection.is_paused = !has_room;
    if (has_room)
        effects.emplace_back(ResumeReading{id});
    else
        effects.emplace_back(PauseReading{id});
}

/// A frame that is no request: the protocol's own answer if it has one, else the end of the connection.
void refuse_frame(Instant now, ConnectionId id, Connection& connection, const kafka::RequestRefusal& refusal,
                  Effects& effects) {
    const auto answer = kafka::answer_to(refusal);
    if (!answer) return effects.emplace_back(CloseConnection{id, to_text(refusal.error)}), void();
    Pending& pending = connection.pending.emplace_back();
    pending.number = ++connection.last_number;
    pending.request.version = answer->version;
    pending.request.correlation_id = answer->correlation_id;
    pending.answer = answer->body;
    pending.received = now;
}

Pending* find_pending(Connection& connection, std::uint64_t number) {
    if (connection.pending.empty() || number < connection.pending.front().number) return nullptr;
    const std::uint64_t at = number - connection.pending.front().number;
    return at < connection.pending.size() ? &connection.pending[at] : nullptr;
}

}  // namespace

void Call::ask(Slot slot, clients::RequestBody body) {
    if (pending.outstanding >= static_cast<std::uint32_t>(config.parts_max)) {
        pending.is_too_much = true;
        return;
    }
    const CorrelationId correlation(++connection.last_correlation);
    connection.parts.emplace_hint(connection.parts.end(), correlation, Part{pending.number, slot});
    ++pending.outstanding;
    effects.emplace_back(AskBroker{connection_id, clients::Request{correlation, std::move(body)}});
}

kafka::CurrentLeader current_leader(const clients::Answer& answer) {
    if (answer.leader_hint.value == 0) return {};
    return {answer.leader_hint, answer.leader_epoch.value > 0 ? answer.leader_epoch : kafka::kNoLeaderEpoch};
}

void note_endpoint(const GatewayConfig& config, const kafka::CurrentLeader& leader,
                   std::vector<kafka::NodeEndpoint>& endpoints) {
    const auto endpoint = config.endpoints.find(leader.leader_id);
    if (endpoint == config.endpoints.end()) return;
    const bool is_told = std::any_of(endpoints.begin(), endpoints.end(),
                                     [&](const kafka::NodeEndpoint& each) { return each.node_id == leader.leader_id; });
    if (is_told) return;
    endpoints.push_back({leader.leader_id, endpoint->second.host, endpoint->second.port, std::nullopt});
}

void Gateway::open(ConnectionId connection, std::string host) {
    connections_[connection].host = std::move(host);
}

void Gateway::on_frame(Instant now, ConnectionId id, const Bytes& content, Effects& effects) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) return;
    Connection& connection = at->second;
    auto request = kafka::decode_request(content);
    if (!request) {
        refuse_frame(now, id, connection, request.error(), effects);
        return flush(config_, now, id, connection, effects);
    }
    Pending& pending = connection.pending.emplace_back();
    pending.number = ++connection.last_number;
    pending.is_answered = kafka::is_answered(request->body);
    pending.received = now;
    pending.frame_bytes = static_cast<std::int64_t>(content.size());
    connection.bytes_pending += pending.frame_bytes;
    pending.answer = kafka::refusal_of(*request, kafka::ErrorCode::kNone).body;  // has a place for every result
    pending.request = std::move(*request);
    const std::size_t effects_before = effects.size();
    Call call{config_, now, id, connection, pending, effects};
    std::visit([&](auto& asked) { ask(call, asked); }, pending.request.body);
    // A broker that is busy with one request leads nobody meanwhile.
    if (pending.is_too_much) {
        effects.erase(effects.begin() + static_cast<std::ptrdiff_t>(effects_before), effects.end());
        effects.emplace_back(CloseConnection{id, "a request about more than can be asked at once"});
        return;
    }
    flush(config_, now, id, connection, effects);
}

void Gateway::on_answer(Instant now, ConnectionId id, const clients::Answer& answer, Effects& effects) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) return;
    Connection& connection = at->second;
    const auto part = connection.parts.find(answer.correlation_id);
    if (part == connection.parts.end()) return;
    const Part filled = part->second;
    connection.parts.erase(part);
    Pending* pending = find_pending(connection, filled.pending);
    CHECK(pending != nullptr);
    CHECK(pending->outstanding > 0);
    --pending->outstanding;
    Call call{config_, now, id, connection, *pending, effects};
    std::visit([&](const auto& asked) { take(call, filled.slot, answer, asked); }, pending->request.body);
    flush(config_, now, id, connection, effects);
}

}  // namespace tidelock::gateway
