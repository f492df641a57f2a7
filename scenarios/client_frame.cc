#include "scenarios/client_frame.h"

#include "protocol/base/crc32c.h"

namespace tidelock::scenarios {

namespace {

constexpr std::size_t kChecksumBytes = 4;
static_assert(kFirstRequestTag + std::variant_size_v<clients::RequestBody> <= kFirstAnswerTag);
static_assert(kFirstAnswerTag + std::variant_size_v<clients::AnswerBody> <= sim::kFrameKindCount);

template <typename Message>
Bytes checksummed(const Message& message) {
    ByteWriter out;
    out.reserve(256);
    out.u32(0);
    clients::encode(message, out);
    out.patch_u32(0, crc32c(out.span().subspan(kChecksumBytes)));
    return out.take();
}

/// The message behind a checksum that holds.
Result<Bytes, DecodeError> content_of(const Bytes& frame) {
    ByteReader in(frame.span());
    const std::uint32_t checksum = in.u32();
    if (in.failed()) return decode_failure("frame: shorter than its checksum");
    Bytes content = frame.slice(kChecksumBytes, frame.size() - kChecksumBytes);
    if (crc32c(content.span()) != checksum) return decode_failure("frame: checksum");
    return content;
}

}  // namespace

sim::FrameTag tag_of(const clients::Request& request) {
    return {static_cast<std::uint8_t>(kFirstRequestTag + request.body.index()), false};
}

sim::FrameTag tag_of(const clients::Answer& answer) {
    return {static_cast<std::uint8_t>(kFirstAnswerTag + answer.body.index()), true};
}

Bytes frame_of(const clients::Request& request) {
    return checksummed(request);
}

Bytes frame_of(const clients::Answer& answer) {
    return checksummed(answer);
}

Result<clients::Request, DecodeError> request_in(const Bytes& frame) {
    const Result<Bytes, DecodeError> content = content_of(frame);
    if (!content) return Failure<DecodeError>(content.error());
    return clients::decode_request(*content);
}

Result<clients::Answer, DecodeError> answer_in(const Bytes& frame) {
    const Result<Bytes, DecodeError> content = content_of(frame);
    if (!content) return Failure<DecodeError>(content.error());
    return clients::decode_answer(*content);
}

}  // namespace tidelock::scenarios
