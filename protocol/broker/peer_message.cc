#include "protocol/broker/peer_message.h"

#include "protocol/base/crc32c.h"
#include "protocol/raft/text.h"

namespace tidelock::broker {
namespace {

constexpr std::uint8_t kRaftChannel = 1;
constexpr std::uint8_t kReplicationChannel = 2;

}  // namespace

Bytes encode_frame(const PeerMessage& message) {
    ByteWriter out;
    out.u32(0);
    if (const raft::Message* raft_message = std::get_if<raft::Message>(&message)) {
        out.u8(kRaftChannel);
        out.raw(raft::encode(*raft_message).span());
    } else {
        out.u8(kReplicationChannel);
        replication::encode(std::get<replication::Message>(message), out);
    }
    out.patch_u32(0, crc32c(out.span().subspan(sizeof(std::uint32_t))));
    return out.take();
}

Result<PeerMessage, DecodeError> decode_frame(const Bytes& frame) {
    ByteReader in(frame);
    const std::uint32_t crc = in.u32();
    const std::uint8_t channel = in.u8();
    if (in.failed()) return decode_failure("peer frame: too short");
    if (crc != crc32c(frame.span().subspan(sizeof crc))) return decode_failure("peer frame: wrong checksum");
    const Bytes body = frame.slice(in.position(), in.left());
    if (channel == kRaftChannel)
        return raft::decode_message(body).map([](raft::Message&& m) { return PeerMessage(std::move(m)); });
    if (channel == kReplicationChannel)
        return replication::decode_message(body).map(
            [](replication::Message&& m) { return PeerMessage(std::move(m)); });
    return decode_failure("peer frame: unknown channel");
}

std::uint8_t kind_number(const PeerMessage& message) {
    if (const raft::Message* raft_message = std::get_if<raft::Message>(&message))
        return static_cast<std::uint8_t>(raft_message->index());
    return static_cast<std::uint8_t>(std::variant_size_v<raft::Message> +
                                     std::get<replication::Message>(message).index());
}

bool is_answer(const PeerMessage& message) {
    if (const raft::Message* m = std::get_if<raft::Message>(&message))
        return std::holds_alternative<raft::PreVoteAnswer>(*m) || std::holds_alternative<raft::VoteAnswer>(*m) ||
               std::holds_alternative<raft::AppendAnswer>(*m) || std::holds_alternative<raft::SnapshotAnswer>(*m);
    const replication::Message& m = std::get<replication::Message>(message);
    return std::holds_alternative<replication::ManifestAnswer>(m) ||
           std::holds_alternative<replication::EpochEndAnswer>(m) ||
           std::holds_alternative<replication::FetchAnswer>(m);
}

std::string to_text(const PeerMessage& message) {
    if (const raft::Message* raft_message = std::get_if<raft::Message>(&message)) return raft::to_text(*raft_message);
    return replication::to_text(std::get<replication::Message>(message));
}

}  // namespace tidelock::broker
