// Any bytes as a request of a Kafka client, or as an answer to one: a value or an error that says where. What decodes
// is written in a form that decodes to the same value and is written alike again; every request can be refused. Tagged
// fields nobody knows are dropped, and a varint may be longer than it must: so the first bytes need not come back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "protocol/kafka/messages.h"

namespace tidelock::kafka {
namespace {

void require(bool fact) {
    if (!fact) std::abort();
}

void try_request(const Bytes& content) {
    const auto request = decode_request(content);
    if (!request) {
        require(request.error().error.fault != WireFault::kNone && !to_text(request.error().error).empty());
        if (const auto answer = answer_to(request.error())) require(encode_response(*answer).size() > kFrameSizeBytes);
        return;
    }
    const Bytes written = encode_request(*request).content();
    const auto again = decode_request(written);
    require(again && *again == *request && encode_request(*again).content() == written);
    require(!to_text(*request).empty());
    const Response refusal = refusal_of(*request, ErrorCode::kNotCoordinator);
    const Bytes refused = encode_response(refusal).content();
    require(decode_response(api_key(refusal.body), refusal.version, refused).has_value());
}

/// The first two bytes pick API and version, so that answers need no name of their own.
void try_response(const Bytes& input) {
    if (input.size() < 2) return;
    const Api& api = kApis[std::to_integer<std::size_t>(input.span()[0]) % kApis.size()];
    const int version = api.first + std::to_integer<int>(input.span()[1]) % (api.last - api.first + 1);
    const auto response = decode_response(api.key, static_cast<Version>(version), input.slice(2, input.size() - 2));
    if (!response) {
        require(response.error().fault != WireFault::kNone && !to_text(response.error()).empty());
        return;
    }
    const Bytes written = encode_response(*response).content();
    const auto again = decode_response(api.key, response->version, written);
    require(again && *again == *response && encode_response(*again).content() == written);
    require(!to_text(*response).empty());
}

}  // namespace
}  // namespace tidelock::kafka

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const tidelock::Bytes content = tidelock::Bytes::copy_of(std::as_bytes(std::span(data, size)));
    tidelock::kafka::try_request(content);
    tidelock::kafka::try_response(content);
    return 0;
}
