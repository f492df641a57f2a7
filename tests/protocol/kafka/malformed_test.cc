// What a broker is sent that is no request: what is said of it, and what can still be answered.
#include <catch2/catch.hpp>

#include "protocol/kafka/messages.h"
#include "tests/protocol/kafka/hex.h"

namespace tidelock::kafka {
namespace {

const std::string kClient = "0001 63";

/// What is wrong with the request, in words.
std::string complaint_about(const std::string& hex) {
    const auto request = decode_request(bytes_of(hex));
    return request ? "nothing" : to_text(request.error().error);
}

}  // namespace

TEST_CASE("an API that is not spoken is refused by its number") {
    const auto refused = decode_request(bytes_of("0011 0001 00000009" + kClient + "0005 504c41494e"));
    REQUIRE(refused.error().error == WireError{17, 1, true, WireFault::kApiUnknown, "header.api_key"});
    REQUIRE(refused.error().correlation_id == 9);
    REQUIRE(to_text(refused.error().error) == "API 17 v1 request: header.api_key names no API of this broker");
    REQUIRE_FALSE(answer_to(refused.error()).has_value());
}

TEST_CASE("a version that is not spoken is refused") {
    REQUIRE(complaint_about("0000 0002 00000009" + kClient) ==
            "Produce v2 request: header.api_version names no version of this API");
    REQUIRE(complaint_about("0000 000b 00000009" + kClient) ==
            "Produce v11 request: header.api_version names no version of this API");
    REQUIRE(complaint_about("0003 ffff 00000009" + kClient) ==
            "Metadata v-1 request: header.api_version names no version of this API");
    REQUIRE_FALSE(answer_to(decode_request(bytes_of("0000 0002 00000009")).error()).has_value());
}

TEST_CASE("ApiVersions in a version that is not spoken gets the versions that are") {
    const auto refused = decode_request(bytes_of("0012 0009 00000009 ffff 00 whatever it is"));
    const std::optional<Response> answer = answer_to(refused.error());
    REQUIRE(answer.has_value());
    REQUIRE(hex_of(encode_response(*answer).content()) == "00000009 0023 00000001 0012 0000 0004"_hex);
    // And the asker understands it, whatever it had asked in.
    const auto read = decode_response(ApiKey::kApiVersions, 4, encode_response(*answer).content());
    REQUIRE(read == *answer);
}

TEST_CASE("the answer to ApiVersions is the table, with Produce from version 0 on") {
    const ApiVersionsResponse answer = supported_versions();
    REQUIRE(answer.error_code == ErrorCode::kNone);
    REQUIRE(answer.api_keys.size() == kApis.size());
    REQUIRE(answer.api_keys.front() == ApiVersionRange{0, 0, 10});
    REQUIRE(answer.api_keys.back() == ApiVersionRange{60, 0, 1});
}

TEST_CASE("an error names API, version and field") {
    const std::string produce = "0000 0003 00000003" + kClient + "ffff ffff 00007530";
    REQUIRE(complaint_about("") == "Produce v0 request: header ends too early");
    REQUIRE(complaint_about("0000 0003 00000003 0005 63") == "Produce v3 request: header ends too early");
    REQUIRE(complaint_about("0000 0003 00000003" + kClient + "ffff") == "Produce v3 request: acks ends too early");
    REQUIRE(complaint_about(produce + "00000001 0001 74 00000001 00000002 00000004 616263") ==
            "Produce v3 request: topics[0].partitions[0].records ends too early");
    REQUIRE(complaint_about(produce + "00000002 0001 74 00000000 ffff 00000000") ==
            "Produce v3 request: topics[1].name must not be null");
    REQUIRE(complaint_about(produce + "ffffffff") == "Produce v3 request: topics must not be null");
}

TEST_CASE("a count is held against the bytes that its elements would take") {
    // A topic takes 6 bytes at least, a partition 8.
    const std::string produce = "0000 0003 00000003" + kClient + "ffff ffff 00007530";
    REQUIRE(complaint_about(produce + "7fffffff 0001 74 00000000") ==
            "Produce v3 request: topics announces more elements than there are bytes");
    REQUIRE(complaint_about(produce + "00000002 0001 74 00000000") ==
            "Produce v3 request: topics announces more elements than there are bytes");
    REQUIRE(complaint_about(produce + "00000001 0001 74 00000002 00000001 00000000") ==
            "Produce v3 request: topics[0].partitions announces more elements than there are bytes");
    REQUIRE(complaint_about("0003 0009 00000003" + kClient + "00 ffffffff0f") ==
            "Metadata v9 request: topics announces more elements than there are bytes");
}

TEST_CASE("a message has no more elements than a broker cares to hold") {
    const std::size_t too_many = kElementsMax + 1;
    WireWriter out;
    out.i16(15);  // DescribeGroups v0
    out.i16(0);
    out.i32(1);
    out.null_string(LengthForm::kClassic);
    out.count(LengthForm::kClassic, too_many);
    for (std::size_t i = 0; i < too_many; ++i) out.string(LengthForm::kClassic, "");
    const auto request = decode_request(out.to_frame().content());
    REQUIRE(to_text(request.error().error) ==
            "DescribeGroups v0 request: groups has more elements than a message may have");
}

TEST_CASE("tagged fields that nobody knows are skipped") {
    const std::string header = "0012 0003 00000001" + kClient;
    const std::string body = "02 61 02 62";
    const auto plain = decode_request(bytes_of(header + "00" + body + "00"));
    REQUIRE(plain.has_value());
    // One in the header, two in the body: tags 5 and 300.
    const auto tagged = decode_request(bytes_of(header + "01 07 02 ffff" + body + "02 05 00 ac02 03 000000"));
    REQUIRE(tagged == plain);
    // Beside known ones, in a struct inside.
    const auto known = decode_response(ApiKey::kProduce, 10,
                                       bytes_of("00000003 00 02 02 74 02 00000002 0006 ffffffffffffffff"
                                                "ffffffffffffffff ffffffffffffffff 01 00"
                                                "02 00 0c 00000003 00000008 01 09 01 aa 04 01 bb"
                                                "00 00000000 00"));
    REQUIRE(known.has_value());
    REQUIRE(std::get<ProduceResponse>(known->body).topics[0].partitions[0].current_leader ==
            CurrentLeader{BrokerId(3), LeaderEpoch(8)});
}

TEST_CASE("tagged fields that break the rules are refused") {
    const std::string start = "0012 0003 00000001" + kClient + "00 02 61 02 62";
    REQUIRE(complaint_about(start + "02 05 00 05 00") == "ApiVersions v3 request: has tags that do not rise");
    REQUIRE(complaint_about(start + "02 05 00 04 00") == "ApiVersions v3 request: has tags that do not rise");
    REQUIRE(complaint_about(start + "01 05 04 000000") == "ApiVersions v3 request: ends too early");
    REQUIRE(complaint_about(start + "ffffffff0f 05 00") == "ApiVersions v3 request: ends too early");
    REQUIRE(complaint_about(start + "01 ffffffffff") == "ApiVersions v3 request: has a varint of more than 32 bits");
    // A known one that is longer or shorter than its field: replica_state, 13 bytes.
    const std::string fetch =
        "0001 000f 00000004" + kClient + "00 000001f4 00000001 03200000 00 00000000 00000000 01 01 01";
    REQUIRE(complaint_about(fetch + "01 01 0d 00000001 0000000000000002 00") == "nothing");
    REQUIRE(complaint_about(fetch + "01 01 0e 00000001 0000000000000002 00 00") ==
            "Fetch v15 request: replica_state is shorter than its tagged size");
    REQUIRE(complaint_about(fetch + "01 01 0c 00000001 0000000000000002") ==
            "Fetch v15 request: replica_state ends too early");
}

TEST_CASE("an answer in a version that is not spoken is refused") {
    const auto refused = decode_response(ApiKey::kFetch, 17, bytes_of("00000001 00"));
    REQUIRE(to_text(refused.error()) == "Fetch v17 response: names no version of this API");
    REQUIRE(to_text(decode_response(ApiKey::kFetch, 16, bytes_of("0000")).error()) ==
            "Fetch v16 response: header ends too early");
}

}  // namespace tidelock::kafka
