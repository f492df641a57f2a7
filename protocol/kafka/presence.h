/// In which versions a field is on the wire, and in which it may be null: what a message's `fields` says beside its
/// fields' names. A message is described once, by
///
///     template <class Self, class V>
///     static void fields(Self& m, V& v) {
///         v.field("name", m.name);                                 // every version
///         v.field("rack", m.rack, since(1).nullable_since(2));     // std::optional: may be null
///         v.tagged(0, "leader", m.leader, since(10));              // in the tagged fields, left out when it says
///         nothing
///     }
///
/// and read, written, printed and filled for tests by visitors of that. Fields come in the order of the wire, tagged
/// ones last and rising. A field that a version lacks keeps its default when read and is left out when written.
#pragma once

#include <limits>

#include "protocol/kafka/wire.h"

namespace tidelock::kafka {

/// Versions, inclusive at both ends.
struct Presence {
    Version first = 0;
    Version last = std::numeric_limits<Version>::max();
    /// Null may stand from here on; only optional fields can be null at all.
    Version nullable_from = 0;

    [[nodiscard]] constexpr bool has(Version version) const { return first <= version && version <= last; }
    [[nodiscard]] constexpr bool is_nullable(Version version) const { return version >= nullable_from; }
    [[nodiscard]] constexpr Presence nullable_since(Version version) const { return {first, last, version}; }
};

inline constexpr Presence kAlways{};
constexpr Presence since(Version first) {
    return {first, std::numeric_limits<Version>::max(), 0};
}
constexpr Presence until(Version last) {
    return {0, last, 0};
}
constexpr Presence between(Version first, Version last) {
    return {first, last, 0};
}

/// A version of one API, and with it the form of every length in it.
struct Dialect {
    Version version = 0;
    bool is_flexible = false;

    [[nodiscard]] constexpr LengthForm form() const {
        return is_flexible ? LengthForm::kCompact : LengthForm::kClassic;
    }
};

}  // namespace tidelock::kafka
