// Fills any message with arbitrary values: one more visitor of its fields. What a version lacks keeps its default, so
// that a filled message survives the wire of that version.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/kafka/field_types.h"
#include "protocol/kafka/messages.h"

namespace tidelock::kafka {

class FieldFiller {
  public:
    FieldFiller(std::uint64_t seed, Version version) : state_(seed), version_(version) {}

    template <typename T>
    void field(const char* /*name*/, T& value, Presence presence = kAlways) {
        if (presence.has(version_)) fill(value, presence.is_nullable(version_));
    }
    template <typename T>
    void tagged(std::uint32_t /*tag*/, const char* /*name*/, T& value, Presence presence,
                const std::type_identity_t<T>& /*absent*/ = T()) {
        if (presence.has(version_) && below(2) == 0) fill(value, presence.is_nullable(version_));
    }

    // SplitMix64.
    std::uint64_t below(std::uint64_t bound) {
        state_ += 0x9E37'79B9'7F4A'7C15ULL;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
        x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
        return (x ^ (x >> 31)) % bound;
    }

  private:
    template <typename T>
    void fill(T& value, bool is_nullable) {
        if constexpr (Composite<T>) {
            T::fields(value, *this);
        } else if constexpr (kIsOptional<T>) {
            value.reset();
            if (!is_nullable || below(3) > 0) fill(value.emplace(), false);
        } else if constexpr (kIsVector<T>) {
            value.resize(below(4));
            for (auto& element : value) fill(element, false);
        } else if constexpr (StrongNumber<T>) {
            fill(value.value, false);
        } else {
            fill_word(value);
        }
    }
    template <std::integral T>
    void fill_word(T& value) {
        // Small numbers and full ones, both signs.
        const std::uint64_t bits = below(UINT64_MAX) >> (below(2) == 0 ? 0 : 56);
        value = static_cast<T>(bits);
    }
    void fill_word(bool& value) { value = below(2) == 0; }
    void fill_word(ErrorCode& value) { value = static_cast<ErrorCode>(static_cast<std::int16_t>(below(130)) - 200); }
    void fill_word(Uuid& value) {
        for (std::uint8_t& byte : value.bytes) byte = static_cast<std::uint8_t>(below(256));
    }
    void fill_word(std::string& value) {
        value.resize(below(20) == 0 ? 200 : below(6));
        for (char& c : value) c = static_cast<char>(below(256));
    }
    void fill_word(Bytes& value) {
        // Beyond the size from which on bytes are shared with the frame, and beyond one varint byte.
        constexpr std::uint64_t kSizes[] = {0, 1, 30, 200, 1023, 1024, 3000};
        std::string content(kSizes[below(std::size(kSizes))], '\0');
        for (char& c : content) c = static_cast<char>(below(256));
        value = Bytes::copy_of(content);
    }

    std::uint64_t state_;
    Version version_;
};

/// The alternative of that number, with arbitrary fields of that version.
template <typename Body>
Body filled_body(std::size_t index, Version version, std::uint64_t seed) {
    Body body;
    const auto take = [&]<std::size_t kIndex>(std::integral_constant<std::size_t, kIndex> /*which*/) {
        if (kIndex != index) return;
        auto& message = body.template emplace<kIndex>();
        FieldFiller filler(seed, version);
        std::remove_reference_t<decltype(message)>::fields(message, filler);
    };
    [&]<std::size_t... kIndexes>(std::index_sequence<kIndexes...>) {
        (take(std::integral_constant<std::size_t, kIndexes>()), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Body>>());
    return body;
}

inline Request filled_request(std::size_t index, Version version, std::uint64_t seed) {
    Request request{version, static_cast<std::int32_t>(seed * 7919), std::nullopt,
                    filled_body<RequestBody>(index, version, seed)};
    if (seed % 3 != 0) request.client_id = std::string(seed % 5, 'c');
    return request;
}

inline Response filled_response(std::size_t index, Version version, std::uint64_t seed) {
    return {version, static_cast<std::int32_t>(seed * 7907), filled_body<ResponseBody>(index, version, seed)};
}

/// Calls `use(index, version)` for every version of every API.
template <typename Use>
void for_each_version(const Use& use) {
    for (std::size_t index = 0; index < kApis.size(); ++index)
        for (Version version = kApis[index].first; version <= kApis[index].last; ++version) use(index, version);
}

}  // namespace tidelock::kafka
