#include "protocol/broker/observation_wire.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "protocol/base/aggregate.h"

namespace tidelock::broker {
namespace {

template <typename Type>
concept Number = requires(Type number) {
    typename Type::rep;
    number.value;
};

struct Writer {
    ByteWriter& out;

    template <typename Type>
    void operator()(const Type& value) const {
        if constexpr (Number<Type>) {
            (*this)(value.value);
        } else if constexpr (std::is_enum_v<Type>) {
            (*this)(static_cast<std::underlying_type_t<Type>>(value));
        } else if constexpr (std::is_same_v<Type, bool>) {
            out.boolean(value);
        } else if constexpr (std::is_integral_v<Type>) {
            out.u64(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
        } else {
            for_each_field(value, *this);
        }
    }
    void operator()(const std::string& text) const { out.string(text); }
    template <typename Type>
    void operator()(const std::optional<Type>& value) const {
        out.boolean(value.has_value());
        if (value) (*this)(*value);
    }
    template <typename Type>
    void operator()(const std::vector<Type>& values) const {
        out.u32(static_cast<std::uint32_t>(values.size()));
        for (const Type& value : values) (*this)(value);
    }
};

struct Reader {
    ByteReader& in;

    template <typename Type>
    void operator()(Type& value) const {
        if constexpr (Number<Type>) {
            (*this)(value.value);
        } else if constexpr (std::is_enum_v<Type>) {
            std::underlying_type_t<Type> number{};
            (*this)(number);
            value = static_cast<Type>(number);
        } else if constexpr (std::is_same_v<Type, bool>) {
            value = in.boolean();
        } else if constexpr (std::is_integral_v<Type>) {
            const auto number = static_cast<std::int64_t>(in.u64());
            value = static_cast<Type>(number);
            if (static_cast<std::int64_t>(value) != number) in.fail();
        } else {
            for_each_field(value, *this);
        }
    }
    void operator()(std::string& text) const { text = in.string(); }
    template <typename Type>
    void operator()(std::optional<Type>& value) const {
        if (in.boolean()) (*this)(value.emplace());
    }
    template <typename Type>
    void operator()(std::vector<Type>& values) const {
        values.resize(in.count(1));
        for (Type& value : values) (*this)(value);
    }
};

template <std::size_t kind = 0>
std::optional<Observation> decode_kind(std::size_t wanted, ByteReader& in) {
    if constexpr (kind < std::variant_size_v<Observation>) {
        if (wanted != kind) return decode_kind<kind + 1>(wanted, in);
        std::variant_alternative_t<kind, Observation> observation{};
        Reader{in}(observation);
        return Observation(std::move(observation));
    } else {
        return std::nullopt;
    }
}

std::optional<ObservedAt> decode_record(std::span<const std::byte> record) {
    ByteReader in(record);
    const Instant at(in.i64());
    const std::size_t kind = in.u8();
    std::optional<Observation> observation = decode_kind(kind, in);
    if (!observation || !in.at_end()) return std::nullopt;
    return ObservedAt{at, *std::move(observation)};
}

}  // namespace

void encode(const ObservedAt& observed, ByteWriter& out) {
    const std::size_t begin = out.size();
    out.u32(0);
    out.i64(observed.at.value);
    out.u8(static_cast<std::uint8_t>(observed.observation.index()));
    std::visit(Writer{out}, observed.observation);
    out.patch_u32(begin, static_cast<std::uint32_t>(out.size() - begin - sizeof(std::uint32_t)));
}

Result<std::vector<ObservedAt>, DecodeError> decode_observations(std::span<const std::byte> log) {
    std::vector<ObservedAt> all;
    for (ByteReader in(log); in.left() > 0;) {
        const std::size_t begin = in.position();
        const std::uint32_t size = in.u32();
        if (in.failed() || size > in.left()) break;
        std::optional<ObservedAt> observed = decode_record(in.raw(size));
        if (!observed) return decode_failure(fmt::format("observations: byte {} begins no record", begin));
        all.push_back(*std::move(observed));
    }
    return all;
}

}  // namespace tidelock::broker
