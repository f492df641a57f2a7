/// How a message that names its fields once is written and read: `fields(m, v)` hands all of them to `v`, in the order
/// of the wire. Numbers little endian, strings and lists behind a u32 length.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/tagged.h"
#include "protocol/clients/error_code.h"

namespace tidelock::clients {

struct NoFieldVisitor {
    template <typename... Fields>
    void operator()(Fields&... /*fields*/) {}
};
template <typename T>
concept HasFields = requires(T& m, NoFieldVisitor& v) {
    T::fields(m, v);
};

class FieldWriter {
  public:
    explicit FieldWriter(ByteWriter& out) : out_(out) {}
    template <typename... Fields>
    void operator()(const Fields&... fields) {
        (put(fields), ...);
    }

  private:
    void put(bool value) { out_.boolean(value); }
    void put(std::int32_t value) { out_.i32(value); }
    void put(std::int64_t value) { out_.i64(value); }
    void put(const std::string& text) { out_.string(text); }
    void put(const Bytes& bytes) { out_.blob(bytes.span()); }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void put(Enum value) { out_.u16(static_cast<std::uint16_t>(value)); }
    template <typename Strong>
    requires requires { typename Strong::rep; }
    void put(const Strong& value) { out_.i64(static_cast<std::int64_t>(value.value)); }
    template <HasFields T>
    void put(const T& value) {
        T::fields(value, *this);
    }
    template <typename T>
    void put(const std::vector<T>& list) {
        out_.u32(static_cast<std::uint32_t>(list.size()));
        for (const T& each : list) put(each);
    }

    ByteWriter& out_;
};

class FieldReader {
  public:
    explicit FieldReader(ByteReader& in) : in_(in) {}
    template <typename... Fields>
    void operator()(Fields&... fields) {
        (get(fields), ...);
    }

  private:
    void get(bool& value) { value = in_.boolean(); }
    void get(std::int32_t& value) { value = in_.i32(); }
    void get(std::int64_t& value) { value = in_.i64(); }
    void get(std::string& text) { text = in_.string(); }
    void get(Bytes& bytes) { bytes = in_.blob(); }
    /// `last_of(Enum)` says where the enum ends; a number past it fails.
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void get(Enum& value) {
        const std::uint16_t number = in_.u16();
        if (number > static_cast<std::uint16_t>(last_of(Enum{}))) return in_.fail();
        value = static_cast<Enum>(number);
    }
    template <typename Strong>
    requires requires { typename Strong::rep; }
    void get(Strong& value) {
        const std::int64_t wide = in_.i64();
        value = Strong(static_cast<typename Strong::rep>(wide));
        if (static_cast<std::int64_t>(value.value) != wide) in_.fail();
    }
    template <HasFields T>
    void get(T& value) {
        T::fields(value, *this);
    }
    template <typename T>
    void get(std::vector<T>& list) {
        // An element takes two bytes at least; what is allocated stays within a multiple of what came.
        const std::uint32_t count = in_.count(2);
        for (std::uint32_t i = 0; i < count && !in_.failed(); ++i) get(list.emplace_back());
    }

    ByteReader& in_;
};

[[nodiscard]] constexpr ErrorCode last_of(ErrorCode) {
    return kLastErrorCode;
}

}  // namespace tidelock::clients
