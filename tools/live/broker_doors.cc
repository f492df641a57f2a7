#include "tools/live/broker_doors.h"

#include <utility>

#include "protocol/kafka/messages.h"
#include "scenarios/broker_host.h"

namespace tidelock::live {
namespace {

constexpr sim::FrameTag kAnswerTag{scenarios::kClientAnswerKind, true};

}  // namespace

BrokerDoors::BrokerDoors(sim::World& world, BrokerWires& wires, std::vector<sockaddr_in> addresses)
    : world_(world), wires_(wires), addresses_(std::move(addresses)) {
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        const BrokerId broker(static_cast<std::int32_t>(i + 1));
        sim::Host& host = world_.add_host(scenarios::host_of(broker), "broker-" + std::to_string(broker.value));
        world_.spawn(host, [this, broker, &host] { live(broker, host); });
    }
}

void BrokerDoors::live(BrokerId broker, sim::Host& host) {
    while (const std::optional<sim::Arrival> arrival = host.await_arrival()) {
        if (const auto* frame = std::get_if<sim::FrameArrived>(&*arrival)) on_frame(broker, host, *frame);
        if (const auto* closed = std::get_if<sim::ConnectionBroken>(&*arrival)) on_closed(broker, *closed);
        if (std::holds_alternative<sim::Woken>(*arrival)) hand_out(broker, host);
    }
}

void BrokerDoors::deliver(std::vector<WireNews> news) {
    for (WireNews& each : news) {
        const auto caller = callers_.find(each.wire);
        if (caller == callers_.end()) continue;
        const Caller at = caller->second;
        parcels_[at.broker].push_back({at.client, lines_.at(at).connection, std::move(each.content)});
        world_.post(scenarios::host_of(at.broker), 0);
        if (parcels_[at.broker].back().content) continue;
        lines_.erase(at);
        callers_.erase(caller);
    }
}

/// A client that has opened another connection wants nothing of the one before.
BrokerDoors::Line& BrokerDoors::line_of(Caller caller, std::uint32_t connection) {
    const auto known = lines_.find(caller);
    if (known != lines_.end() && known->second.connection == connection) return known->second;
    if (known != lines_.end()) {
        wires_.close(known->second.wire);
        callers_.erase(known->second.wire);
        lines_.erase(known);
    }
    const WireId wire = wires_.open(addresses_[static_cast<std::size_t>(caller.broker.value - 1)]);
    callers_[wire] = caller;
    return lines_[caller] = Line{wire, connection};
}

void BrokerDoors::on_frame(BrokerId broker, sim::Host& host, const sim::FrameArrived& arrived) {
    const Caller caller{broker, arrived.from};
    if (const std::optional<Bytes> content = scenarios::decode_kafka_frame(arrived.frame))
        return wires_.send(line_of(caller, arrived.connection).wire, *content);
    const auto request = scenarios::decode_request_frame(arrived.frame);
    if (!request) return;
    // What the Kafka wire has no words for nobody here answers. But who leads can be asked, and then the broker says
    // what it takes for true (V22); its answer is one that the client waits for no more.
    if (std::holds_alternative<clients::StatusRequest>(request->body)) {
        kafka::FindCoordinatorRequest who_leads;
        who_leads.key = "anybody";
        const kafka::Request asked{0, next_question_++, "status", std::move(who_leads)};
        wires_.send(line_of(caller, arrived.connection).wire, kafka::encode_request(asked).content());
    }
    const clients::Answer refused = clients::refusal_of(*request, clients::ErrorCode::kInvalidConfig);
    host.send(arrived.from, scenarios::encode_client_frame(refused), kAnswerTag);
}

void BrokerDoors::on_closed(BrokerId broker, const sim::ConnectionBroken& closed) {
    const auto line = lines_.find(Caller{broker, closed.peer});
    if (line == lines_.end() || line->second.connection != closed.connection) return;
    wires_.close(line->second.wire);
    callers_.erase(line->second.wire);
    lines_.erase(line);
}

void BrokerDoors::hand_out(BrokerId broker, sim::Host& host) {
    std::deque<Parcel> parcels = std::exchange(parcels_[broker], {});
    for (const Parcel& parcel : parcels) {
        const auto line = lines_.find(Caller{broker, parcel.client});
        const bool is_newer_open = line != lines_.end() && line->second.connection != parcel.connection;
        if (is_newer_open) continue;
        if (parcel.content)
            host.send(parcel.client, scenarios::encode_kafka_frame(*parcel.content), kAnswerTag);
        else
            host.close_connection(parcel.client);
    }
}

}  // namespace tidelock::live
