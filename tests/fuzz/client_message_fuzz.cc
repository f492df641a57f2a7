// Any bytes at all: a client's request, an answer, an offset record or a producer table decodes or is refused; what
// decodes encodes to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "protocol/clients/messages.h"
#include "protocol/clients/offsets.h"
#include "protocol/clients/producers.h"

namespace tidelock::clients {
namespace {

void require(bool fact) {
    if (!fact) std::abort();
}

template <typename Encodable>
Bytes bytes_of(const Encodable& value) {
    ByteWriter out;
    encode(value, out);
    return out.take();
}

void try_messages(const Bytes& content) {
    if (const auto request = decode_request(content)) {
        require(bytes_of(*request) == content);
        require(!to_text(*request).empty());
        require(error_of(refusal_of(*request, ErrorCode::kThrottled)) == ErrorCode::kThrottled);
    }
    if (const auto answer = decode_answer(content)) {
        require(bytes_of(*answer) == content);
        require(!to_text(*answer).empty());
    }
}

void try_records(const Bytes& content) {
    if (const auto key = decode_key(content)) require(encode_key(*key) == content);
    const auto value = decode_value(content);
    if (value && *value) require(encode_value(**value) == content);
    if (const auto block = decode_block(content)) require(encode_block(*block) == content);
    if (const auto key = decode_state_key(content)) require(encode_state_key(*key) == content);
    if (const auto state = decode_state(content)) require(encode_state(*state) == content);
    // An older version of it is written anew as the newest.
    if (const auto log_start = decode_log_start(content))
        require(decode_log_start(encode_log_start(*log_start)) == log_start);
}

}  // namespace
}  // namespace tidelock::clients

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const tidelock::Bytes content = tidelock::Bytes::copy_of(std::as_bytes(std::span(data, size)));
    tidelock::clients::try_messages(content);
    tidelock::clients::try_records(content);
    return 0;
}
