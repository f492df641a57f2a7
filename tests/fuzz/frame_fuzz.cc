// Any bytes as a frame between brokers or from a client: decoded or refused. Almost no input has a good checksum by
// chance, so each is tried with its own first and with a good one then; what decodes makes the same frame again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "protocol/base/crc32c.h"
#include "protocol/broker/peer_message.h"
#include "scenarios/broker_host.h"

namespace {

using namespace tidelock;

void require(bool fact) {
    if (!fact) std::abort();
}

void try_frame(const Bytes& frame) {
    if (const auto message = broker::decode_frame(frame)) {
        require(broker::encode_frame(*message) == frame);
        require(broker::kind_number(*message) < broker::kPeerKindCount);
        require(!broker::to_text(*message).empty());
    }
    if (const auto request = scenarios::decode_request_frame(frame))
        require(scenarios::encode_client_frame(*request) == frame);
    if (const auto answer = scenarios::decode_answer_frame(frame))
        require(scenarios::encode_client_frame(*answer) == frame);
}

Bytes with_good_checksum(const Bytes& frame) {
    ByteWriter out;
    out.u32(crc32c(frame.span().subspan(sizeof(std::uint32_t))));
    out.raw(frame.span().subspan(sizeof(std::uint32_t)));
    return out.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes frame = Bytes::copy_of(std::as_bytes(std::span(data, size)));
    try_frame(frame);
    if (size >= sizeof(std::uint32_t)) try_frame(with_good_checksum(frame));
    return 0;
}
