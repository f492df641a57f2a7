// What a broker is seen doing is read back as it was written, whatever the kind.
#include "protocol/broker/observation_wire.h"

#include <catch2/catch.hpp>

#include "protocol/base/aggregate.h"

namespace tidelock::broker {
namespace {

/// Puts a number of its own into every field.
struct Filler {
    std::int64_t& next;

    template <typename Type>
    void operator()(Type& value) const {
        if constexpr (requires { typename Type::rep; }) {
            (*this)(value.value);
        } else if constexpr (std::is_same_v<Type, bool>) {
            value = ++next % 2 == 0;
        } else if constexpr (std::is_enum_v<Type>) {
            value = static_cast<Type>(++next % 3);
        } else if constexpr (std::is_integral_v<Type>) {
            value = static_cast<Type>(++next);
        } else {
            for_each_field(value, *this);
        }
    }
    void operator()(std::uint64_t& value) const { value = ~static_cast<std::uint64_t>(++next); }
    void operator()(std::int64_t& value) const { value = -++next; }
    void operator()(std::string& text) const { text = "text " + std::to_string(++next); }
    template <typename Type>
    void operator()(std::optional<Type>& value) const {
        if (++next % 2 == 0) (*this)(value.emplace());
    }
    template <typename Type>
    void operator()(std::vector<Type>& values) const {
        values.resize(static_cast<std::size_t>(++next % 3));
        for (Type& value : values) (*this)(value);
    }
};

template <std::size_t kind = 0>
void add_each_kind(std::int64_t& next, std::vector<ObservedAt>& all) {
    if constexpr (kind < std::variant_size_v<Observation>) {
        std::variant_alternative_t<kind, Observation> observation{};
        Filler{next}(observation);
        all.push_back({Instant(++next), observation});
        add_each_kind<kind + 1>(next, all);
    }
}

std::vector<ObservedAt> some_of_each_kind() {
    std::vector<ObservedAt> all;
    std::int64_t next = 0;
    for (int i = 0; i < 5; ++i) add_each_kind(next, all);
    return all;
}

Bytes written(const std::vector<ObservedAt>& all) {
    ByteWriter out;
    for (const ObservedAt& each : all) encode(each, out);
    return out.take();
}

}  // namespace

TEST_CASE("every kind of observation is read back as it was written", "[broker]") {
    const std::vector<ObservedAt> all = some_of_each_kind();
    const auto read = decode_observations(written(all).span());
    REQUIRE(read);
    REQUIRE(read->size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) REQUIRE((*read)[i] == all[i]);
}

TEST_CASE("a log that its process did not end goes as far as its last whole record", "[broker]") {
    const std::vector<ObservedAt> all = some_of_each_kind();
    const Bytes log = written(all);
    const std::size_t last = written({all.back()}).size();
    for (std::size_t missing = 1; missing < last; ++missing) {
        const auto read = decode_observations(log.span().first(log.size() - missing));
        REQUIRE(read);
        REQUIRE(read->size() == all.size() - 1);
    }
}

TEST_CASE("bytes that no broker writes are no observations", "[broker]") {
    ByteWriter out;
    encode({Instant(1), LeaderServing{LeaderEpoch(3)}}, out);
    std::vector<std::byte> bytes(out.span().begin(), out.span().end());
    bytes[12] = std::byte{0xFF};  // no such kind
    REQUIRE_FALSE(decode_observations(bytes));
    bytes = {out.span().begin(), out.span().end()};
    bytes.back() = std::byte{0x7F};  // no epoch is so large
    REQUIRE_FALSE(decode_observations(bytes));
}

}  // namespace tidelock::broker
