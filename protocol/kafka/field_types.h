/// What kinds of field there are, and the fewest bytes that each takes: what the visitors of `fields` share.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/base/tagged.h"
#include "protocol/kafka/presence.h"

namespace tidelock::kafka {

/// A visitor that does nothing, to ask whether a type can be visited.
struct NoVisitor {};

/// A struct that describes itself by `fields`.
template <typename T>
concept Composite = requires(T& m, NoVisitor& v) {
    T::fields(m, v);
};

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// An id or offset of protocol/base: on the wire, its number.
template <typename T>
concept StrongNumber = requires {
    typename T::rep;
};
/// An array element that is no larger in memory than on the wire.
template <typename T>
concept PlainNumber = std::integral<T> || StrongNumber<T> || std::is_enum_v<T>;

/// The fewest bytes a `T` takes: what bounds the count of an array of them.
template <typename T>
std::size_t bytes_min(Dialect dialect);

/// Adds up the fewest bytes of a struct's fields.
class FieldSizer {
  public:
    explicit FieldSizer(Dialect dialect) : dialect_(dialect), size_(dialect.is_flexible ? 1 : 0) {}
    template <typename T>
    void field(const char* /*name*/, const T& /*value*/, Presence presence = kAlways) {
        if (presence.has(dialect_.version)) size_ += bytes_min<T>(dialect_);
    }
    template <typename T>
    void tagged(std::uint32_t /*tag*/, const char* /*name*/, const T& /*value*/, Presence /*presence*/,
                const std::type_identity_t<T>& /*absent*/ = T()) {}
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    Dialect dialect_;
    std::size_t size_;
};

template <typename T>
std::size_t bytes_min(Dialect dialect) {
    if constexpr (Composite<T>) {
        const T blank{};
        FieldSizer sizer(dialect);
        T::fields(blank, sizer);
        return sizer.size();
    } else if constexpr (kIsOptional<T>) {
        return bytes_min<typename T::value_type>(dialect);
    } else if constexpr (StrongNumber<T>) {
        return sizeof(typename T::rep);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return dialect.is_flexible ? 1 : 2;
    } else if constexpr (kIsVector<T> || std::is_same_v<T, Bytes>) {
        return dialect.is_flexible ? 1 : 4;
    } else {
        return sizeof(T);  // numbers, error codes, UUIDs
    }
}

}  // namespace tidelock::kafka
