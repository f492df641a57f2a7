/// The visitor that prints a message in one line, for traces and failing tests.
#pragma once

#include <string>
#include <string_view>

#include "protocol/kafka/error_code.h"
#include "protocol/kafka/field_types.h"

namespace tidelock::kafka {

/// Prints the fields that the version has; tagged ones that say nothing are left out, and of bytes only the size shows.
class FieldText {
  public:
    explicit FieldText(Version version) : version_(version) {}

    template <Composite T>
    void message(const T& m) {
        text_ += '{';
        T::fields(m, *this);
        text_ += '}';
    }

    template <typename T>
    void field(const char* name, const T& value, Presence presence = kAlways) {
        if (!presence.has(version_)) return;
        if (text_.back() != '{') text_ += ' ';
        text_ += name;
        text_ += '=';
        print(value);
    }

    template <typename T>
    void tagged(std::uint32_t /*tag*/, const char* name, const T& value, Presence presence,
                const std::type_identity_t<T>& absent = T()) {
        if (!(value == absent)) field(name, value, presence);
    }

    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    template <typename T>
    void print(const T& value) {
        if constexpr (Composite<T>) {
            message(value);
        } else if constexpr (kIsOptional<T>) {
            if (value) {
                print(*value);
            } else {
                text_ += "null";
            }
        } else if constexpr (kIsVector<T>) {
            print_list(value);
        } else if constexpr (StrongNumber<T>) {
            print(value.value);
        } else if constexpr (std::integral<T>) {
            text_ += std::to_string(value);
        } else {
            print_word(value);
        }
    }
    template <typename T>
    void print_list(const std::vector<T>& list) {
        text_ += '[';
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i > 0) text_ += ' ';
            print(list[i]);
        }
        text_ += ']';
    }
    void print_word(ErrorCode error) { text_ += name_of(error); }
    void print_word(const Bytes& content) { text_ += "<" + std::to_string(content.size()) + " bytes>"; }
    void print_word(const Uuid& uuid);
    /// In quotes; what is not printable ASCII, and the quote, as \xNN.
    void print_word(std::string_view word);

    Version version_;
    std::string text_;
};

}  // namespace tidelock::kafka
