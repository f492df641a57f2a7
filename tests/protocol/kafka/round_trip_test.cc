// Every message in every version it is spoken in: what is written is read back equal, nothing shorter is accepted, and
// every request has an answer that refuses it.
#include <catch2/catch.hpp>

#include "tests/law.h"
#include "tests/protocol/kafka/filler.h"

namespace tidelock::kafka {
namespace {

void require_request_survives(std::size_t index, Version version, std::uint64_t seed) {
    const Request request = filled_request(index, version, seed);
    const auto again = decode_request(encode_request(request).content());
    if (!again) RC_FAIL(to_text(again.error().error) + " of " + to_text(request));
    RC_ASSERT(*again == request);
    RC_ASSERT(to_text(request).starts_with(kApis[index].name));
}

void require_response_survives(std::size_t index, Version version, std::uint64_t seed) {
    const Response response = filled_response(index, version, seed);
    const auto again = decode_response(kApis[index].key, version, encode_response(response).content());
    if (!again) RC_FAIL(to_text(again.error()) + " of " + to_text(response));
    RC_ASSERT(*again == response);
    RC_ASSERT(to_text(response).starts_with(kApis[index].name));
}

}  // namespace

TEST_CASE("what is written is read back equal, in every version of every API") {
    check_law([](std::uint64_t seed) {
        for_each_version([=](std::size_t index, Version version) {
            require_request_survives(index, version, seed);
            require_response_survives(index, version, seed);
        });
    });
}

TEST_CASE("no message is accepted before its last byte") {
    for_each_version([](std::size_t index, Version version) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const Request request = filled_request(index, version, seed);
            const Response response = filled_response(index, version, seed);
            INFO(to_text(request) << "\n" << to_text(response));
            const Bytes asked = encode_request(request).content();
            for (std::size_t size = 0; size < asked.size(); ++size) {
                const auto cut = decode_request(asked.slice(0, size));
                if (cut.has_value()) FAIL("accepted after " << size << " bytes");
            }
            const Bytes answered = encode_response(response).content();
            for (std::size_t size = 0; size < answered.size(); ++size) {
                const auto cut = decode_response(kApis[index].key, version, answered.slice(0, size));
                if (cut.has_value()) FAIL("accepted after " << size << " bytes");
            }
        }
    });
}

TEST_CASE("a byte behind the last field is passed over in requests and refused in answers") {
    const auto longer = [](const Frame& frame) {
        ByteWriter out;
        out.raw(frame.content().span());
        out.u8(0);
        return out.take();
    };
    for_each_version([&](std::size_t index, Version version) {
        const Request request = filled_request(index, version, 5);
        REQUIRE(decode_request(longer(encode_request(request))) == request);
        const Bytes answer = longer(encode_response(filled_response(index, version, 5)));
        const auto response = decode_response(kApis[index].key, version, answer);
        REQUIRE_FALSE(response.has_value());
        REQUIRE(response.error() ==
                WireError{static_cast<std::int16_t>(kApis[index].key), version, false, WireFault::kTrailingBytes, ""});
    });
}

TEST_CASE("any damaged message decodes to a value that is stable, or to an error") {
    check_law([](std::uint64_t seed) {
        FieldFiller dice(seed, 0);
        for_each_version([&](std::size_t index, Version version) {
            ByteWriter damaged;
            damaged.raw(encode_response(filled_response(index, version, seed)).content().span());
            for (int damage = 0; damage < 2 && damaged.size() >= 4; ++damage)
                damaged.patch_u32(dice.below(damaged.size() - 3), static_cast<std::uint32_t>(dice.below(UINT32_MAX)));
            const auto response = decode_response(kApis[index].key, version, damaged.take());
            if (!response) return;
            const Bytes written = encode_response(*response).content();
            const auto again = decode_response(kApis[index].key, response->version, written);
            RC_ASSERT(again.has_value());
            RC_ASSERT(*again == *response);
        });
    });
}

TEST_CASE("every request can be refused, in the form that its version answers in") {
    for_each_version([](std::size_t index, Version version) {
        const Request request = filled_request(index, version, 11);
        const Response refusal = refusal_of(request, ErrorCode::kCoordinatorLoadInProgress);
        INFO(to_text(refusal));
        REQUIRE(api_key(refusal.body) == api_key(request.body));
        REQUIRE(refusal.correlation_id == request.correlation_id);
        const auto read = decode_response(kApis[index].key, version, encode_response(refusal).content());
        REQUIRE(read.has_value());
        REQUIRE(read->version == version);
    });
}

TEST_CASE("a refusal says its error wherever the request waits for a result") {
    const auto text_of_refusal = [](RequestBody body, Version version) {
        const Response refusal = refusal_of({version, 1, {}, std::move(body)}, ErrorCode::kNotCoordinator);
        const auto read = decode_response(api_key(refusal.body), version, encode_response(refusal).content());
        REQUIRE(read.has_value());
        return to_text(*read);
    };
    ProduceRequest produce;
    produce.topics = {{"t", {{PartitionIndex(4), std::nullopt}}}};
    REQUIRE(text_of_refusal(produce, 3) ==
            "Produce v3 #1 {topics=[{name=\"t\" partitions=[{index=4 error_code=NOT_COORDINATOR base_offset=-1 "
            "log_append_time_ms=-1}]}] throttle_time_ms=0}");
    OffsetFetchRequest offsets;
    offsets.group_id = "g";
    offsets.topics = {{"t", {PartitionIndex(4)}}};
    REQUIRE(text_of_refusal(offsets, 1) ==
            "OffsetFetch v1 #1 {topics=[{name=\"t\" partitions=[{partition_index=4 committed_offset=-1 metadata=null "
            "error_code=NOT_COORDINATOR}]}]}");
    REQUIRE(text_of_refusal(offsets, 2) == "OffsetFetch v2 #1 {topics=[] error_code=NOT_COORDINATOR}");
    offsets.groups = {{"g", std::nullopt}};
    REQUIRE(text_of_refusal(offsets, 8) ==
            "OffsetFetch v8 #1 {throttle_time_ms=0 groups=[{group_id=\"g\" topics=[] error_code=NOT_COORDINATOR}]}");
    DeleteTopicsRequest deletion;
    deletion.topics = {{"new", {}}};
    deletion.topic_names = {"old"};
    REQUIRE(text_of_refusal(deletion, 5).find("name=\"old\" error_code=NOT_COORDINATOR") != std::string::npos);
    REQUIRE(text_of_refusal(deletion, 6).find("name=\"new\"") != std::string::npos);
    REQUIRE(text_of_refusal(FetchRequest(), 7).find("error_code=NOT_COORDINATOR") != std::string::npos);
}

TEST_CASE("a leader that is not there leaves no trace, one that is there a tagged field") {
    ProduceResponse answer;
    answer.topics = {{"t", {ProducePartitionResult()}}};
    const std::size_t bare = encode_response({10, 1, answer}).size();
    answer.topics[0].partitions[0].current_leader = {BrokerId(2), LeaderEpoch(7)};
    answer.node_endpoints = {{BrokerId(2), "b2", 9092, std::nullopt}};
    const Bytes told = encode_response({10, 1, answer}).content();
    REQUIRE(told.size() > bare);
    REQUIRE(std::get<ProduceResponse>(decode_response(ApiKey::kProduce, 10, told)->body) == answer);
    // The version before has no place for it.
    REQUIRE(to_text(Response{9, 1, answer}).find("leader") == std::string::npos);
}

}  // namespace tidelock::kafka
