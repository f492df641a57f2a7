/// Whole requests and answers of the Kafka wire, as values: what brokers decode and answer, and what test clients and
/// load generators send and read. Any bytes decode to a value or to an error that names API, version and field.
#pragma once

#include <variant>

#include "protocol/kafka/cluster.h"
#include "protocol/kafka/codec.h"
#include "protocol/kafka/fetch.h"
#include "protocol/kafka/group_admin.h"
#include "protocol/kafka/group_membership.h"
#include "protocol/kafka/group_offsets.h"
#include "protocol/kafka/log_offsets.h"
#include "protocol/kafka/produce.h"
#include "protocol/kafka/topics.h"

namespace tidelock::kafka {

/// Both in the order of kApis: a request and its answer take the same place.
using RequestBody =
    std::variant<ProduceRequest, FetchRequest, ListOffsetsRequest, MetadataRequest, OffsetCommitRequest,
                 OffsetFetchRequest, FindCoordinatorRequest, JoinGroupRequest, HeartbeatRequest, LeaveGroupRequest,
                 SyncGroupRequest, DescribeGroupsRequest, ListGroupsRequest, ApiVersionsRequest, CreateTopicsRequest,
                 DeleteTopicsRequest, InitProducerIdRequest, OffsetForLeaderEpochRequest, DescribeConfigsRequest,
                 CreatePartitionsRequest, DescribeClusterRequest>;
using ResponseBody =
    std::variant<ProduceResponse, FetchResponse, ListOffsetsResponse, MetadataResponse, OffsetCommitResponse,
                 OffsetFetchResponse, FindCoordinatorResponse, JoinGroupResponse, HeartbeatResponse, LeaveGroupResponse,
                 SyncGroupResponse, DescribeGroupsResponse, ListGroupsResponse, ApiVersionsResponse,
                 CreateTopicsResponse, DeleteTopicsResponse, InitProducerIdResponse, OffsetForLeaderEpochResponse,
                 DescribeConfigsResponse, CreatePartitionsResponse, DescribeClusterResponse>;

/// A request and what its header says.
struct Request {
    Version version = 0;  // one that the API speaks
    std::int32_t correlation_id = 0;
    std::optional<std::string> client_id;
    RequestBody body;
    bool operator==(const Request&) const = default;
};

/// Goes out in the version that its request came in.
struct Response {
    Version version = 0;
    std::int32_t correlation_id = 0;
    ResponseBody body;
    bool operator==(const Response&) const = default;
};

/// Why a frame is no request, and what of its header could be read all the same.
struct RequestRefusal {
    WireError error;
    std::int32_t correlation_id = 0;
    std::optional<std::string> client_id;
    bool operator==(const RequestRefusal&) const = default;
};

ApiKey api_key(const RequestBody& body);
ApiKey api_key(const ResponseBody& body);

/// `content` is a frame without its size. Byte fields of the request share its storage.
Result<Request, RequestRefusal> decode_request(const Bytes& content);
/// The same for an answer to a request of that API and version. The answer to an ApiVersions request that the broker
/// does not speak comes in version 0, whatever was asked, and is decoded as that.
Result<Response, WireError> decode_response(ApiKey key, Version version, const Bytes& content);

/// The frame, its size included. The version must be one that the API speaks (checked).
Frame encode_request(const Request& request);
Frame encode_response(const Response& response);

/// Whether the asker waits for an answer: no Produce with acks 0 is answered.
bool is_answered(const RequestBody& body);

/// The protocol's own answer to a frame that was refused: to ApiVersions in a version that is not spoken, the versions
/// that are (KIP-511). Empty for all else: there is nothing that the client could read, and the connection is closed.
std::optional<Response> answer_to(const RequestRefusal& refusal);

/// An answer that says `error` wherever this request waits for a result.
Response refusal_of(const Request& request, ErrorCode error);

/// One line for traces: `Produce v9 #17 {transactional_id=null acks=-1 ...}`.
std::string to_text(const Request& request);
std::string to_text(const Response& response);

}  // namespace tidelock::kafka
