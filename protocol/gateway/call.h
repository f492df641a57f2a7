/// The inside of `gateway.h`: one request under way, and who takes it apart and puts its answer together. A pair of
/// functions an API: `ask` sends its parts to the broker, `take` fills in what the broker says to one of them.
#pragma once

#include "protocol/gateway/gateway.h"

namespace tidelock::gateway {

struct Call {
    const GatewayConfig& config;
    Instant now;
    ConnectionId connection_id;
    Connection& connection;
    Pending& pending;
    Effects& effects;

    /// One part; its answer comes to the slot.
    void ask(Slot slot, clients::RequestBody body);
};

/// The answer of an API to fill in.
template <typename Response>
Response& answer_of(Call& call) {
    return std::get<Response>(call.pending.answer);
}

/// Who may be asked instead, with kNotLeaderOrFollower (KIP-951).
kafka::CurrentLeader current_leader(const clients::Answer& answer);
/// Says once where the leader is reached.
void note_endpoint(const GatewayConfig& config, const kafka::CurrentLeader& leader,
                   std::vector<kafka::NodeEndpoint>& endpoints);

// produce.cc
void ask(Call& call, kafka::ProduceRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::ProduceRequest& request);
void ask(Call& call, kafka::InitProducerIdRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::InitProducerIdRequest& request);

// fetch.cc
void ask(Call& call, kafka::FetchRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::FetchRequest& request);

// log_offsets.cc
void ask(Call& call, kafka::ListOffsetsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::ListOffsetsRequest& request);
void ask(Call& call, kafka::OffsetForLeaderEpochRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetForLeaderEpochRequest& request);

// cluster.cc
void ask(Call& call, kafka::ApiVersionsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::ApiVersionsRequest& request);
void ask(Call& call, kafka::MetadataRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::MetadataRequest& request);
void ask(Call& call, kafka::DescribeClusterRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DescribeClusterRequest& request);
void ask(Call& call, kafka::FindCoordinatorRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::FindCoordinatorRequest& request);

// group_offsets.cc
void ask(Call& call, kafka::OffsetCommitRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetCommitRequest& request);
void ask(Call& call, kafka::OffsetFetchRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::OffsetFetchRequest& request);

// groups.cc
void ask(Call& call, kafka::JoinGroupRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::JoinGroupRequest& request);
void ask(Call& call, kafka::SyncGroupRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::SyncGroupRequest& request);
void ask(Call& call, kafka::HeartbeatRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::HeartbeatRequest& request);
void ask(Call& call, kafka::LeaveGroupRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::LeaveGroupRequest& request);
void ask(Call& call, kafka::DescribeGroupsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DescribeGroupsRequest& request);
void ask(Call& call, kafka::ListGroupsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::ListGroupsRequest& request);

// topics.cc
void ask(Call& call, kafka::CreateTopicsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::CreateTopicsRequest& request);
void ask(Call& call, kafka::DeleteTopicsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DeleteTopicsRequest& request);
void ask(Call& call, kafka::CreatePartitionsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::CreatePartitionsRequest& request);
void ask(Call& call, kafka::DescribeConfigsRequest& request);
void take(Call& call, Slot slot, const clients::Answer& answer, const kafka::DescribeConfigsRequest& request);

}  // namespace tidelock::gateway
