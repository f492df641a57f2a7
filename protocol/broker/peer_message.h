/// What brokers say to each other, and its frame: CRC-32C (u32) of the rest, then a channel byte, then the message.
/// Bytes that were hurt on the way are an error, never another message.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/base/bytes.h"
#include "protocol/base/result.h"
#include "protocol/raft/message.h"
#include "protocol/replication/messages.h"

namespace tidelock::broker {

using PeerMessage = std::variant<raft::Message, replication::Message>;

Bytes encode_frame(const PeerMessage& message);
/// Errors: too short, a wrong checksum, an unknown channel, or whatever the message's own decoder finds.
Result<PeerMessage, DecodeError> decode_frame(const Bytes& frame);

/// A small number for the message's kind, the same for every build: hosts use it to sort traffic. Below kPeerKindCount.
std::uint8_t kind_number(const PeerMessage& message);
inline constexpr std::uint8_t kPeerKindCount =
    std::variant_size_v<raft::Message> + std::variant_size_v<replication::Message>;
/// Whether the message answers a request that was carried out.
bool is_answer(const PeerMessage& message);
std::string to_text(const PeerMessage& message);

}  // namespace tidelock::broker
