#include "protocol/base/digest.h"

#include <xxhash.h>

namespace tidelock {

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

void Digest::add(std::span<const std::byte> bytes) {
    mix(bytes.size());
    mix(hash_bytes(bytes));
}

void Digest::add(std::string_view text) {
    add(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace tidelock
