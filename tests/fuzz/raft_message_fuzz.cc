// Any bytes at all: a Raft message or state decodes or is refused; what decodes encodes to the same bytes, and a
// replica survives it. Build: clang++ -fsanitize=fuzzer,address,undefined with the sources of protocol/base and
// protocol/raft.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "protocol/group/metadata.h"
#include "protocol/raft/raft.h"

namespace tidelock::raft {
namespace {

void require(bool fact) {
    if (!fact) std::abort();
}

/// A voter of three with a short log, so that a decoded message meets more than an empty replica.
Node some_voter() {
    Config config;
    config.self = BrokerId(1);
    config.members = {BrokerId(1), BrokerId(2), BrokerId(3)};
    PersistentState state = fresh_state(Incarnation(1));
    state.snapshot.membership = {
        {BrokerId(1), Incarnation(1)}, {BrokerId(2), Incarnation(2)}, {BrokerId(3), Incarnation(3)}};
    state.voter = true;
    state.term = Term(2);
    state.entries = {{LogIndex(1), Term(1), EntryKind::kClaim, {}}, {LogIndex(2), Term(2), EntryKind::kCommand, {}}};
    return make_node(config, state, {}, 7);
}

void try_message(const Bytes& content) {
    const Result<Message, DecodeError> message = decode_message(content);
    if (!message) return;
    require(encode(*message) == content);
    Effects effects;
    Node voter = some_voter();
    step(voter, Instant(1), MessageReceived{BrokerId(2), *message}, effects);
    Config config = voter.config;
    Node empty = make_node(config, fresh_state(Incarnation(9)), {}, 8);
    step(empty, Instant(1), MessageReceived{BrokerId(2), *message}, effects);
}

void try_state(const Bytes& content) {
    const Result<PersistentState, DecodeError> state = decode_persistent_state(content);
    if (state) require(encode(*state) == content);
    static_cast<void>(decode_admission(content));
}

/// What Raft carries for the group, opaque to it.
void try_group(const Bytes& content) {
    if (const auto entry = group::decode_entry(content)) require(group::encode(*entry) == content);
    if (const auto metadata = group::decode_metadata(content)) require(group::encode(*metadata) == content);
}

}  // namespace
}  // namespace tidelock::raft

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const tidelock::Bytes content = tidelock::Bytes::copy_of(std::as_bytes(std::span(data, size)));
    tidelock::raft::try_message(content);
    tidelock::raft::try_state(content);
    tidelock::raft::try_group(content);
    return 0;
}
