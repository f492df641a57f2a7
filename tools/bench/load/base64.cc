#include "tools/bench/load/base64.h"

#include <array>
#include <cstdint>

namespace tidelock::load {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values_of_letters() {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kLetters.size(); ++i)
        values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
    return values;
}
constexpr auto kValues = values_of_letters();

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        for (std::size_t j = i; j < i + 3; ++j)
            word = (word << 8U) | (j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[j]) : 0);
        for (unsigned j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kLetters[(word >> (18 - 6 * j)) & 0x3FU];
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t word = 0;
    unsigned bits = 0;
    for (const char letter : text) {
        const std::int8_t value = kValues[static_cast<unsigned char>(letter)];
        if (value < 0) return std::nullopt;
        word = (word << 6U) | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>((word >> bits) & 0xFFU);
    }
    return bytes;
}

}  // namespace tidelock::load
