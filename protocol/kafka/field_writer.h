/// The visitor that writes a message.
#pragma once

#include "protocol/kafka/field_types.h"

namespace tidelock::kafka {

/// Null in a version that has none is written as empty.
class FieldWriter {
  public:
    /// Appends to `out`, which must outlive the writer.
    FieldWriter(WireWriter& out, Dialect dialect) : out_(&out), dialect_(dialect) {}

    template <Composite T>
    void message(const T& m) {
        const Place outer = place_;
        place_ = {};
        T::fields(m, *this);
        if (dialect_.is_flexible) write_tags(m);
        place_ = outer;
    }

    template <typename T>
    void field(const char* /*name*/, const T& value, Presence presence = kAlways) {
        if (place_.pass == Pass::kPlain && presence.has(dialect_.version))
            write(value, presence.is_nullable(dialect_.version));
    }

    template <typename T>
    void tagged(std::uint32_t tag, const char* /*name*/, const T& value, Presence presence,
                const std::type_identity_t<T>& absent = T()) {
        if (place_.pass == Pass::kPlain || !presence.has(dialect_.version) || value == absent) return;
        if (place_.pass == Pass::kCountTags) {
            ++place_.tag_count;
            return;
        }
        WireWriter content;
        WireWriter* const outer = out_;
        out_ = &content;
        write(value, presence.is_nullable(dialect_.version));
        out_ = outer;
        out_->uvarint(tag);
        out_->uvarint(static_cast<std::uint32_t>(content.size()));
        out_->append(content);
    }

  private:
    enum class Pass : std::uint8_t { kPlain, kCountTags, kWriteTags };
    struct Place {
        Pass pass = Pass::kPlain;
        std::uint32_t tag_count = 0;
    };

    template <typename T>
    void write_tags(const T& m) {
        place_.pass = Pass::kCountTags;
        T::fields(m, *this);
        out_->uvarint(place_.tag_count);
        if (place_.tag_count == 0) return;
        place_.pass = Pass::kWriteTags;
        T::fields(m, *this);
    }

    template <typename T>
    void write(const T& value, bool is_nullable) {
        if constexpr (Composite<T>) {
            message(value);
        } else if constexpr (kIsOptional<T>) {
            write_optional(value, is_nullable);
        } else if constexpr (std::is_same_v<T, std::string>) {
            out_->string(dialect_.form(), value);
        } else if constexpr (std::is_same_v<T, Bytes>) {
            out_->bytes(dialect_.form(), value);
        } else if constexpr (kIsVector<T>) {
            out_->count(dialect_.form(), value.size());
            for (const auto& element : value) write(element, false);
        } else if constexpr (StrongNumber<T>) {
            number(value.value);
        } else if constexpr (std::is_enum_v<T>) {
            number(static_cast<std::underlying_type_t<T>>(value));
        } else {
            number(value);
        }
    }

    template <typename T>
    void write_optional(const std::optional<T>& value, bool is_nullable) {
        if (value) {
            write(*value, false);
        } else if (!is_nullable) {
            write(T(), false);
        } else if constexpr (std::is_same_v<T, std::string>) {
            out_->null_string(dialect_.form());
        } else {
            out_->null(dialect_.form());
        }
    }

    void number(bool v) { out_->boolean(v); }
    void number(std::int8_t v) { out_->i8(v); }
    void number(std::int16_t v) { out_->i16(v); }
    void number(std::int32_t v) { out_->i32(v); }
    void number(std::int64_t v) { out_->i64(v); }
    void number(std::uint32_t v) { out_->u32(v); }
    void number(const Uuid& v) { out_->uuid(v); }

    WireWriter* out_;
    Dialect dialect_;
    Place place_;
};

}  // namespace tidelock::kafka
