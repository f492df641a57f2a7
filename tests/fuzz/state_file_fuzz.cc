// Any bytes as one copy of a state file, and as the contents of each kind: a value that encodes to what it was, or an
// error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "protocol/storage/identity.h"
#include "protocol/storage/state_file.h"
#include "protocol/storage/topic_catalogue.h"

namespace {

using namespace tidelock;
using namespace tidelock::storage;

template <typename Value>
void require_same(const Value& value, const Bytes& content) {
    ByteWriter out;
    encode(value, out);
    if (out.take() != content) std::abort();
}

/// The same bytes behind a good checksum: as the content of one copy, the other one torn at a place the content names.
void try_as_content(const Bytes& content) {
    const Bytes whole = encode_state_copy("raft", {StateSequence(7), content});
    const Result<StateFileContent, DecodeError> copy = decode_state_copy("raft", whole);
    if (!copy || copy->content != content || copy->sequence != StateSequence(7)) std::abort();
    const std::size_t torn_at = content.empty() ? 0 : std::to_integer<std::size_t>(content.span()[0]) % whole.size();
    const DirectoryImage image{{"raft.a", whole.slice(0, torn_at)}, {"raft.b", whole}};
    const StateFileRecovery recovery = recover_state_file(image, "raft", FileOwner::kRaft);
    if (recovery.condition != StateFileCondition::kValue || recovery.content != content) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(data, size)));
    if (const Result<TopicCatalogue, DecodeError> catalogue = decode_topic_catalogue(bytes))
        require_same(*catalogue, bytes);
    if (const Result<Identity, DecodeError> identity = decode_identity(bytes)) require_same(*identity, bytes);
    if (const Result<StateFileContent, DecodeError> copy = decode_state_copy("raft", bytes)) {
        const Bytes again = encode_state_copy("raft", *copy);
        if (again != bytes.slice(0, again.size())) std::abort();
    }
    try_as_content(bytes);
    const DirectoryImage image{{"raft.a", bytes}, {"raft.b", bytes}};
    StateFileRecovery recovery = recover_state_file(image, "raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    recovery.file.start_repair(effects);
    recovery.file.write(bytes, effects);
    return 0;
}
