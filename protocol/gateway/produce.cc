// Produce and InitProducerId.
#include <algorithm>

#include "protocol/gateway/call.h"
#include "protocol/gateway/error_mapping.h"

namespace tidelock::gateway {
namespace {

std::optional<clients::Acks> acks_of(std::int16_t acks) {
    switch (acks) {
        case -1:
            return clients::Acks::kAll;
        case 0:
            return clients::Acks::kNone;
        case 1:
            return clients::Acks::kLeader;
        default:
            return std::nullopt;
    }
}

/// A producer that waits for no answer hears of an error by the end of its connection, and looks for the leader anew.
void note_error(Call& call, kafka::ErrorCode error) {
    if (!call.pending.is_answered && error != kafka::ErrorCode::kNone)
        call.pending.close_with = "a produce with acks 0 failed: " + kafka::name_of(error);
}

void refuse_all(Call& call, kafka::ErrorCode error) {
    note_error(call, error);
    for (kafka::ProduceTopicResult& topic : answer_of<kafka::ProduceResponse>(call).topics)
        for (kafka::ProducePartitionResult& partition : topic.partitions) partition.error_code = error;
}

kafka::ProducePartitionResult& result_at(kafka::ProduceResponse& answer, Slot slot) {
    return answer.topics[slot.outer].partitions[slot.inner];
}

}  // namespace

void ask(Call& call, kafka::ProduceRequest& request) {
    auto& answer = answer_of<kafka::ProduceResponse>(call);
    const auto acks = acks_of(request.acks);
    if (!acks) return refuse_all(call, kafka::ErrorCode::kInvalidRequiredAcks);
    if (request.transactional_id)  // none was given a producer id by this broker
        return refuse_all(call, kafka::ErrorCode::kInvalidProducerIdMapping);
    for (std::uint32_t t = 0; t < request.topics.size(); ++t) {
        for (std::uint32_t p = 0; p < request.topics[t].partitions.size(); ++p) {
            kafka::ProducePartition& partition = request.topics[t].partitions[p];
            if (!partition.records || partition.records->empty()) {
                result_at(answer, {t, p}).error_code = kafka::ErrorCode::kInvalidRecord;
                note_error(call, kafka::ErrorCode::kInvalidRecord);
                continue;
            }
            clients::ProduceRequest produce;
            produce.partition = {request.topics[t].name, TopicId(0), partition.index};
            produce.acks = *acks;
            produce.timeout = std::min(milliseconds(std::max(request.timeout_ms, 0)), call.config.ack_timeout_max);
            produce.batches = std::move(*partition.records);
            partition.records.reset();
            call.ask({t, p}, std::move(produce));
        }
    }
}

void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::ProduceRequest& /*request*/) {
    auto& response = answer_of<kafka::ProduceResponse>(call);
    kafka::ProducePartitionResult& result = result_at(response, slot);
    result.error_code = kafka_error(clients::error_of(answer), AskedOf::kPartition);
    note_error(call, result.error_code);
    if (result.error_code == kafka::ErrorCode::kNotLeaderOrFollower) {
        result.current_leader = current_leader(answer);
        note_endpoint(call.config, result.current_leader, response.node_endpoints);
    }
    const auto* produced = std::get_if<clients::ProduceAnswer>(&answer.body);
    if (produced == nullptr || produced->error != clients::ErrorCode::kNone) return;
    result.base_offset = produced->base_offset;
    result.log_start_offset = produced->log_start_offset;
}

void ask(Call& call, kafka::InitProducerIdRequest& request) {
    // Transactions have no coordinator here yet; whoever asks for one is told so, and asks no further.
    if (request.transactional_id) {
        answer_of<kafka::InitProducerIdResponse>(call).error_code =
            kafka::ErrorCode::kTransactionalIdAuthorizationFailed;
        return;
    }
    call.ask({}, clients::InitProducerIdRequest{request.producer_id, request.producer_epoch});
}

void take(Call& call, Slot /*slot*/, const clients::Answer& answer, const kafka::InitProducerIdRequest& /*request*/) {
    auto& response = answer_of<kafka::InitProducerIdResponse>(call);
    const clients::ErrorCode error = clients::error_of(answer);
    response.error_code = kafka_error(error, AskedOf::kCoordinator);
    // Producers without transactions ask any broker, and have no coordinator. Told of one that is another or not there,
    // some would look for it; told that one is busy, they ask again, but some of them ask whomever they are connected
    // to. So one that asks a broker that does not lead is let go as well: it asks another one, and comes to the leader.
    if (response.error_code == kafka::ErrorCode::kNotCoordinator) {
        call.pending.close_with = "producer ids are given out by the leader";
        call.pending.is_answered_before_close = true;
    }
    const bool is_to_ask_again = response.error_code == kafka::ErrorCode::kNotCoordinator ||
                                 response.error_code == kafka::ErrorCode::kCoordinatorNotAvailable;
    if (is_to_ask_again) response.error_code = kafka::ErrorCode::kCoordinatorLoadInProgress;
    const auto* given = std::get_if<clients::InitProducerIdAnswer>(&answer.body);
    if (given == nullptr || given->error != clients::ErrorCode::kNone) return;
    response.producer_id = given->producer_id;
    response.producer_epoch = given->producer_epoch;
}

}  // namespace tidelock::gateway
