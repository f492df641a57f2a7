/// The fields of a plain struct, one after the other, without naming them: what a codec of many small structs is made
/// of. For aggregates of up to ten fields, no base classes and no C arrays.
#pragma once

#include <cstddef>
#include <type_traits>

namespace tidelock {

namespace aggregate {

/// Stands for a value of any type where nothing is evaluated. An optional would take it for its content as well.
struct Anything {
    template <typename Type>
    operator Type() const;
};

template <typename Struct, typename... Fields>
consteval std::size_t field_count() {
    if constexpr (requires { Struct{Fields{}..., Anything{}}; })
        return field_count<Struct, Fields..., Anything>();
    else
        return sizeof...(Fields);
}

}  // namespace aggregate

/// Calls `visit(field)` for each field in the order of declaration.
template <typename Struct, typename Visit>
constexpr void for_each_field(Struct& value, Visit&& visit) {
    constexpr std::size_t count = aggregate::field_count<std::remove_const_t<Struct>>();
    static_assert(count <= 10, "a struct of more fields: add its size here");
    const auto all = [&visit](auto&... fields) { (visit(fields), ...); };
    if constexpr (count == 1) {
        auto& [a] = value;
        all(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = value;
        all(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = value;
        all(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = value;
        all(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = value;
        all(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = value;
        all(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, f, g] = value;
        all(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, f, g, h] = value;
        all(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = value;
        all(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = value;
        all(a, b, c, d, e, f, g, h, i, j);
    }
}

}  // namespace tidelock
