#include "tools/bench/load/payload.h"

#include <cstring>

namespace tidelock::load {

Payload::Payload(std::uint64_t run, std::uint32_t record_bytes) : run_(run), bytes_(record_bytes, '\0') {
    std::uint64_t state = run | 1U;
    for (char& byte : bytes_) {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        byte = static_cast<char>(state >> 56U);
    }
}

std::span<const std::byte> Payload::of(std::uint64_t record, std::int64_t made_ns) {
    const Stamp stamp{run_, record, made_ns};
    std::memcpy(bytes_.data(), &stamp.run, 8);
    std::memcpy(bytes_.data() + 8, &stamp.record, 8);
    std::memcpy(bytes_.data() + 16, &stamp.made_ns, 8);
    return std::as_bytes(std::span(bytes_));
}

std::optional<Stamp> stamp_of(std::span<const std::byte> payload) {
    if (payload.size() < kPayloadBytesMin) return std::nullopt;
    Stamp stamp;
    std::memcpy(&stamp.run, payload.data(), 8);
    std::memcpy(&stamp.record, payload.data() + 8, 8);
    std::memcpy(&stamp.made_ns, payload.data() + 16, 8);
    return stamp;
}

}  // namespace tidelock::load
