#include "protocol/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace tidelock {
namespace {

constexpr std::uint32_t kPolynomialReflected = 0x82F63B78U;

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kPolynomialReflected : 0U);
        table[i] = crc;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t extend_sse42(std::uint32_t crc, std::span<const std::byte> bytes) {
    std::uint64_t state = ~crc;
    const std::byte* data = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, data += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, data, sizeof word);
        state = _mm_crc32_u64(state, word);
    }
    auto narrow = static_cast<std::uint32_t>(state);
    for (; left > 0; --left, ++data) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*data));
    return ~narrow;
}
#endif

}  // namespace

std::uint32_t crc32c_extend_portable(std::uint32_t crc, std::span<const std::byte> bytes) {
    std::uint32_t state = ~crc;
    for (const std::byte b : bytes) state = (state >> 8) ^ kTable[(state ^ static_cast<std::uint32_t>(b)) & 0xFFU];
    return ~state;
}

std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return extend_sse42(crc, bytes);
#endif
    return crc32c_extend_portable(crc, bytes);
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
    return crc32c_extend(0, bytes);
}

}  // namespace tidelock
