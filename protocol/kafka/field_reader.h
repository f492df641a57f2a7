/// The visitor that reads a message. It stops at the first fault and knows in which field that was.
#pragma once

#include <array>
#include <string>

#include "protocol/kafka/field_types.h"

namespace tidelock::kafka {

class FieldReader {
  public:
    /// Reads from `in`, which must outlive the reader.
    FieldReader(WireReader& in, Dialect dialect) : in_(&in), dialect_(dialect) {}

    /// The field of the first fault, as topics[2].name; empty when there was none or it was in no field.
    [[nodiscard]] const std::string& fault_path() const { return fault_path_; }

    template <Composite T>
    void message(T& m) {
        const Place outer = place_;
        place_ = {};
        T::fields(m, *this);
        if (dialect_.is_flexible) read_tags(m);
        place_ = outer;
    }

    template <typename T>
    void field(const char* name, T& value, Presence presence = kAlways) {
        if (place_.is_in_tags || !presence.has(dialect_.version) || in_->failed()) return;
        read_named(name, value, presence);
    }

    template <typename T>
    void tagged(std::uint32_t tag, const char* name, T& value, Presence presence,
                const std::type_identity_t<T>& /*absent*/ = T()) {
        if (!place_.is_in_tags || place_.tag != tag || !presence.has(dialect_.version)) return;
        read_named(name, value, presence);
    }

  private:
    /// Where in a struct the reader is.
    struct Place {
        bool is_in_tags = false;
        std::uint32_t tag = 0;
    };
    struct Step {
        const char* name = nullptr;
        std::int64_t index = -1;  // in an array, else -1
    };

    template <typename T>
    void read_named(const char* name, T& value, Presence presence) {
        steps_[depth_++] = {name, -1};
        read(value, presence.is_nullable(dialect_.version));
        if (place_.is_in_tags && in_->left() > 0) in_->fail(WireFault::kTagSizeWrong);
        note_fault();
        --depth_;
    }

    /// The tagged fields at the end of a struct. Unknown ones are skipped; tags rise, so none comes twice.
    template <typename T>
    void read_tags(T& m) {
        const std::uint32_t count = in_->uvarint();
        for (std::uint32_t i = 0; i < count && !in_->failed(); ++i) {
            const std::uint32_t tag = in_->uvarint();
            if (i > 0 && tag <= place_.tag) in_->fail(WireFault::kTagsOutOfOrder);
            const Bytes value = in_->part(in_->uvarint());
            place_ = {true, tag};
            if (!in_->failed()) read_tag(m, value);
        }
        note_fault();
    }
    template <typename T>
    void read_tag(T& m, const Bytes& value) {
        WireReader part(value);
        WireReader* const outer = in_;
        in_ = &part;
        T::fields(m, *this);
        in_ = outer;
        if (part.failed()) in_->fail(part.fault());
    }

    template <typename T>
    void read(T& value, bool is_nullable) {
        if constexpr (Composite<T>) {
            message(value);
        } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Bytes> || kIsVector<T>) {
            std::optional<T> present;
            read_optional(present, false);
            if (present) value = std::move(*present);
        } else if constexpr (kIsOptional<T>) {
            read_optional(value, is_nullable);
        } else if constexpr (StrongNumber<T>) {
            read(value.value, false);
        } else if constexpr (std::is_enum_v<T>) {
            std::underlying_type_t<T> number{};
            read(number, false);
            value = static_cast<T>(number);
        } else {
            value = number<T>();
        }
    }

    template <typename T>
    T number() {
        if constexpr (std::is_same_v<T, bool>) return in_->boolean();
        if constexpr (std::is_same_v<T, std::int8_t>) return in_->i8();
        if constexpr (std::is_same_v<T, std::int16_t>) return in_->i16();
        if constexpr (std::is_same_v<T, std::int32_t>) return in_->i32();
        if constexpr (std::is_same_v<T, std::int64_t>) return in_->i64();
        if constexpr (std::is_same_v<T, std::uint32_t>) return in_->u32();
        if constexpr (std::is_same_v<T, Uuid>) return in_->uuid();
    }

    template <typename T>
    void read_optional(std::optional<T>& value, bool is_nullable) {
        if constexpr (std::is_same_v<T, std::string>) {
            value = in_->string(dialect_.form());
        } else if constexpr (std::is_same_v<T, Bytes>) {
            value = in_->bytes(dialect_.form());
        } else {
            read_array(value);
        }
        if (!value && !is_nullable) in_->fail(WireFault::kNullForbidden);
    }

    template <typename T>
    void read_array(std::optional<std::vector<T>>& value) {
        const std::optional<std::uint32_t> count = in_->count(dialect_.form(), bytes_min<T>(dialect_));
        value.reset();
        if (!count || !spend_elements<T>(*count)) return;
        value.emplace();
        value->reserve(*count);
        Step& step = steps_[depth_ - 1];
        for (std::uint32_t i = 0; i < *count && !in_->failed(); ++i) {
            step.index = i;
            read(value->emplace_back(), false);
        }
        note_fault();
        step.index = -1;
    }
    template <typename T>
    bool spend_elements(std::uint32_t count) {
        if (PlainNumber<T>) return true;
        if (count > elements_left_) in_->fail(WireFault::kTooManyElements);
        elements_left_ -= in_->failed() ? 0 : count;
        return !in_->failed();
    }

    void note_fault();

    WireReader* in_;
    Dialect dialect_;
    Place place_;
    std::size_t elements_left_ = kElementsMax;
    std::array<Step, 8> steps_{};
    std::size_t depth_ = 0;
    std::string fault_path_;
};

}  // namespace tidelock::kafka
