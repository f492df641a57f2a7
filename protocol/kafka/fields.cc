#include "protocol/kafka/field_reader.h"
#include "protocol/kafka/field_text.h"

namespace tidelock::kafka {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void put_hex(std::uint8_t byte, std::string& text) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 0x0F];
}

}  // namespace

void FieldReader::note_fault() {
    if (!in_->failed() || !fault_path_.empty()) return;
    for (std::size_t i = 0; i < depth_; ++i) {
        if (i > 0) fault_path_ += '.';
        fault_path_ += steps_[i].name;
        if (steps_[i].index >= 0) fault_path_ += "[" + std::to_string(steps_[i].index) + "]";
    }
}

void FieldText::print_word(const Uuid& uuid) {
    for (const std::uint8_t byte : uuid.bytes) put_hex(byte, text_);
}

void FieldText::print_word(std::string_view word) {
    text_ += '"';
    for (const char c : word) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\') {
            text_ += c;
        } else {
            text_ += "\\x";
            put_hex(byte, text_);
        }
    }
    text_ += '"';
}

}  // namespace tidelock::kafka
