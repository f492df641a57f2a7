// Messages byte by byte, as clients and brokers put them on the wire: laid out by hand from the protocol's schemas, the
// first as librdkafka 2.0.2 sends it.
#include <catch2/catch.hpp>

#include "protocol/kafka/messages.h"
#include "tests/protocol/kafka/hex.h"

namespace tidelock::kafka {
namespace {

/// The request these bytes are; they must be exactly what it is written as.
Request request_of(const std::string& hex) {
    const auto request = decode_request(bytes_of(hex));
    if (!request) FAIL(to_text(request.error().error));
    REQUIRE(hex_of(encode_request(*request).content()) == hex_of(bytes_of(hex)));
    return *request;
}
Response response_of(ApiKey key, Version version, const std::string& hex) {
    const auto response = decode_response(key, version, bytes_of(hex));
    if (!response) FAIL(to_text(response.error()));
    REQUIRE(hex_of(encode_response(*response).content()) == hex_of(bytes_of(hex)));
    return *response;
}

const std::string kClient = "0001 63";  // "c"

}  // namespace

TEST_CASE("ApiVersions v3 as librdkafka asks it") {
    const Request request = request_of(
        "0012 0003 00000001"       // API 18, version 3, correlation id 1
        "0007 72646b61666b61 00"   // client id "rdkafka" in classic form, no tagged fields
        "0b 6c696272646b61666b61"  // "librdkafka"
        "06 322e302e32"            // "2.0.2"
        "00");
    REQUIRE(request.client_id == "rdkafka");
    REQUIRE(to_text(request) ==
            "ApiVersions v3 #1 {client_software_name=\"librdkafka\" client_software_version=\"2.0.2\"}");
}

TEST_CASE("the answer to ApiVersions v3 has the old header") {
    ApiVersionsResponse answer;
    answer.api_keys = {{0, 0, 10}, {18, 0, 4}};
    REQUIRE(hex_of(encode_response({3, 7, answer}).flat()) ==
            "0000001a 00000007"  // size, correlation id, and no tagged fields behind it
            "0000 03"            // no error, two APIs
            "0000 0000 000a 00"
            "0012 0000 0004 00"
            "00000000 00"_hex);
    const Response full = response_of(ApiKey::kApiVersions, 3,
                                      "00000007 0000 02 0000 0000 000a 00 00000000"
                                      "04"                           // tagged fields
                                      "00 08 02 02 66 0001 0002 00"  // one supported feature "f", 1 to 2
                                      "01 08 0000000000000005"       // finalized as of epoch 5
                                      "02 08 02 02 66 0002 0001 00"  // at levels 2 down to 1
                                      "03 01 01");
    REQUIRE(to_text(full) ==
            "ApiVersions v3 #7 {error_code=NONE api_keys=[{api_key=0 min_version=0 max_version=10}] throttle_time_ms=0 "
            "supported_features=[{name=\"f\" min_version=1 max_version=2}] finalized_features_epoch=5 "
            "finalized_features=[{name=\"f\" max_version_level=2 min_version_level=1}] zk_migration_ready=1}");
}

TEST_CASE("Metadata v1, for all topics and for one") {
    const Request all = request_of("0003 0001 00000002" + kClient + "ffffffff");
    REQUIRE_FALSE(std::get<MetadataRequest>(all.body).topics.has_value());
    const Request one = request_of("0003 0001 00000002" + kClient + "00000001 0006 6f7264657273");
    REQUIRE(to_text(one) == "Metadata v1 #2 {topics=[{name=\"orders\"}]}");
    const Response answer = response_of(ApiKey::kMetadata, 1,
                                        "00000002"
                                        "00000001 00000001 0002 6231 00002384 ffff"  // broker 1 at b1:9092, no rack
                                        "00000001"                                   // controller
                                        "00000001 0000 0006 6f7264657273 00"         // topic, not internal
                                        "00000001 0000 00000000 00000001"            // partition 0, leader 1
                                        "00000002 00000001 00000002"                 // replicas
                                        "00000001 00000001");                        // in sync
    REQUIRE(to_text(answer) ==
            "Metadata v1 #2 {brokers=[{node_id=1 host=\"b1\" port=9092 rack=null}] controller_id=1 "
            "topics=[{error_code=NONE name=\"orders\" is_internal=0 partitions=[{error_code=NONE partition_index=0 "
            "leader_id=1 replica_nodes=[1 2] isr_nodes=[1]}]}]}");
}

TEST_CASE("Metadata v12 names topics by id") {
    const std::string id = "74696465 6c6f636b 00000000 00000003";
    const Request request = request_of("0003 000c 00000002" + kClient + "00 02" + id + "00 00 01 00 00");
    const MetadataRequest& body = std::get<MetadataRequest>(request.body);
    REQUIRE(topic_id_of(body.topics->front().topic_id) == TopicId(3));
    REQUIRE_FALSE(body.topics->front().name.has_value());
    response_of(ApiKey::kMetadata, 12,
                "00000002 00 00000000"
                "02 00000001 03 6231 00002384 00 00"  // broker
                "02 63 00000001"                      // cluster "c", controller 1
                "02 0000 07 6f7264657273" +
                    id +
                    "00"                                      // topic
                    "02 0000 00000000 00000001 00000005"      // partition 0, leader 1 in epoch 5
                    "03 00000001 00000002 02 00000001 01 00"  // replicas, in sync, none offline
                    "80000000 00 00");
}

TEST_CASE("Produce v3") {
    const Request request = request_of("0000 0003 00000003" + kClient +
                                       "ffff ffff 00007530"  // not transactional, acks all, 30 s
                                       "00000001 0001 74"    // topic "t"
                                       "00000001 00000002"   // partition 2
                                       "00000003 616263");   // records
    REQUIRE(to_text(request) ==
            "Produce v3 #3 {transactional_id=null acks=-1 timeout_ms=30000 topics=[{name=\"t\" "
            "partitions=[{index=2 records=<3 bytes>}]}]}");
    REQUIRE(is_answered(request.body));
    response_of(ApiKey::kProduce, 3,
                "00000003 00000001 0001 74 00000001 00000002 0000 0000000000000009 ffffffffffffffff 00000000");
}

TEST_CASE("Produce v9 and v10") {
    const std::string body = "00 0000 00007530 02 02 74 02 00000002 04 616263 00 00 00";
    const Request request = request_of("0000 0009 00000003" + kClient + "00" + body);
    REQUIRE(to_text(request) ==
            "Produce v9 #3 {transactional_id=null acks=0 timeout_ms=30000 topics=[{name=\"t\" "
            "partitions=[{index=2 records=<3 bytes>}]}]}");
    REQUIRE_FALSE(is_answered(request.body));
    const Response moved = response_of(ApiKey::kProduce, 10,
                                       "00000003 00"
                                       "02 02 74 02 00000002 0006 ffffffffffffffff ffffffffffffffff ffffffffffffffff"
                                       "01 00"                          // no record errors, no message
                                       "01 00 09 00000003 00000008 00"  // the leader is 3, in epoch 8
                                       "00 00000000"
                                       "01 00 0e 02 00000003 03 6233 00002384 00 00");  // 3 is at b3:9092
    REQUIRE(to_text(moved).find("current_leader={leader_id=3 leader_epoch=8}") != std::string::npos);
    REQUIRE(to_text(moved).find("node_endpoints=[{node_id=3 host=\"b3\" port=9092 rack=null}]") != std::string::npos);
}

TEST_CASE("Fetch v4") {
    const Request request = request_of("0001 0004 00000004" + kClient +
                                       "ffffffff 000001f4 00000001 03200000 00"  // consumer, 500 ms, 1 byte, 50 MiB
                                       "00000001 0001 74"
                                       "00000001 00000002 0000000000000007 00100000");
    REQUIRE(to_text(request) ==
            "Fetch v4 #4 {replica_id=-1 max_wait_ms=500 min_bytes=1 max_bytes=52428800 isolation_level=0 "
            "topics=[{topic=\"t\" partitions=[{partition=2 fetch_offset=7 partition_max_bytes=1048576}]}]}");
    const Response answer = response_of(ApiKey::kFetch, 4,
                                        "00000004 00000000"
                                        "00000001 0001 74 00000001 00000002 0000"
                                        "0000000000000009 0000000000000009"  // high watermark, last stable
                                        "ffffffff"                           // no aborted transactions
                                        "00000003 616263");
    const FetchPartitionResult& partition = std::get<FetchResponse>(answer.body).topics[0].partitions[0];
    REQUIRE(partition.records == Bytes::copy_of("abc"));
    REQUIRE(partition.log_start_offset == kNoOffset);  // not in this version
}

TEST_CASE("Fetch v12 with a diverging epoch and a leader elsewhere") {
    request_of("0001 000c 00000004" + kClient +
               "00"
               "ffffffff 000001f4 00000001 03200000 01 00000000 ffffffff"  // no session
               "02 02 74 02 00000002 00000005 0000000000000007 00000004 ffffffffffffffff 00100000 00 00"
               "01 01 00");  // nothing forgotten, no rack
    const Response answer = response_of(ApiKey::kFetch, 12,
                                        "00000004 00 00000000 0000 00000000"
                                        "02 02 74 02 00000002 0000"
                                        "0000000000000009 0000000000000009 0000000000000001"
                                        "00 ffffffff 01"                         // no records
                                        "02 00 0d 00000003 0000000000000006 00"  // histories part at 6, epoch 3
                                        "01 09 00000002 00000005 00"             // the leader is 2, in epoch 5
                                        "00 00");
    const FetchPartitionResult& partition = std::get<FetchResponse>(answer.body).topics[0].partitions[0];
    REQUIRE(partition.diverging_epoch == DivergingEpoch{LeaderEpoch(3), Offset(6)});
    REQUIRE(partition.current_leader == CurrentLeader{BrokerId(2), LeaderEpoch(5)});
    REQUIRE(partition.records == Bytes());
}

TEST_CASE("a partition without records has none of them, and not null, which librdkafka does not read") {
    FetchResponse answer;
    answer.topics = {{"t", {}, {FetchPartitionResult()}}};
    const std::string written = hex_of(encode_response({11, 1, answer}).content());
    REQUIRE(written.ends_with("ffffffff ffffffff 00000000"_hex));  // no transactions, no other replica, 0 bytes
}

TEST_CASE("Fetch v16 goes by topic id") {
    request_of("0001 0010 00000004" + kClient +
               "00"
               "000001f4 00000001 03200000 00 00000000 00000000"
               "02 74696465 6c6f636b 00000000 00000003"
               "02 00000002 00000005 0000000000000007 ffffffff ffffffffffffffff 00100000 00 00"
               "01 01 00");
}

TEST_CASE("JoinGroup v5 and v9") {
    const Request old = request_of("000b 0005 00000005" + kClient +
                                   "0001 67 00007530 0000ea60"  // group "g", session 30 s, rebalance 60 s
                                   "0000 ffff"                  // no member yet, not static
                                   "0008 636f6e73756d6572"      // "consumer"
                                   "00000001 0005 72616e6765 00000002 0001");  // "range"
    REQUIRE(to_text(old) ==
            "JoinGroup v5 #5 {group_id=\"g\" session_timeout_ms=30000 rebalance_timeout_ms=60000 member_id=\"\" "
            "group_instance_id=null protocol_type=\"consumer\" protocols=[{name=\"range\" metadata=<2 bytes>}]}");
    request_of("000b 0009 00000005" + kClient +
               "00"
               "02 67 00007530 0000ea60 01 00 09 636f6e73756d6572"
               "02 06 72616e6765 03 0001 00"
               "04 6e6577 00");  // reason "new"
    const Response answer = response_of(ApiKey::kJoinGroup, 9,
                                        "00000005 00 00000000 0000 00000001"
                                        "09 636f6e73756d6572 06 72616e6765 03 6d31 00 03 6d31"
                                        "02 03 6d31 00 03 0001 00 00");
    REQUIRE(to_text(answer) ==
            "JoinGroup v9 #5 {throttle_time_ms=0 error_code=NONE generation_id=1 protocol_type=\"consumer\" "
            "protocol_name=\"range\" leader=\"m1\" skip_assignment=0 member_id=\"m1\" members=[{member_id=\"m1\" "
            "group_instance_id=null metadata=<2 bytes>}]}");
}

}  // namespace tidelock::kafka
