// Bytes as people read them: "0003 61ff"; white space means nothing.
#pragma once

#include <string>
#include <string_view>

#include "protocol/base/bytes.h"

namespace tidelock::kafka {

inline int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

inline Bytes bytes_of(std::string_view hex) {
    std::string content;
    int high = -1;
    for (const char c : hex) {
        const int digit = digit_of(c);
        if (digit < 0) continue;
        if (high >= 0) content += static_cast<char>(high * 16 + digit);
        high = high >= 0 ? -1 : digit;
    }
    return Bytes::copy_of(content);
}

inline std::string hex_of(const Bytes& bytes) {
    std::string hex;
    for (const std::byte byte : bytes.span()) {
        hex += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
        hex += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
    }
    return hex;
}

/// Without the white space, to compare with hex_of.
inline std::string operator""_hex(const char* text, std::size_t size) {
    return hex_of(bytes_of({text, size}));
}

}  // namespace tidelock::kafka
