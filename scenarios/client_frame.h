/// What travels between a client's host and a broker's: a checksum and one request or answer (protocol/clients). Both ends
/// of the simulated wire use these functions. A frame that does not decode is treated as a broken connection.
#pragma once

#include "protocol/base/bytes.h"
#include "protocol/base/result.h"
#include "protocol/clients/messages.h"
#include "sim/arrival.h"

namespace tidelock::scenarios {

/// Frame tags of client traffic; peer frames keep to those below.
inline constexpr std::uint8_t kFirstRequestTag = 32;
inline constexpr std::uint8_t kFirstAnswerTag = 48;

sim::FrameTag tag_of(const clients::Request& request);
sim::FrameTag tag_of(const clients::Answer& answer);

/// u32 CRC-32C of the rest, then the message.
Bytes frame_of(const clients::Request& request);
Bytes frame_of(const clients::Answer& answer);
Result<clients::Request, DecodeError> request_in(const Bytes& frame);
Result<clients::Answer, DecodeError> answer_in(const Bytes& frame);

}  // namespace tidelock::scenarios
