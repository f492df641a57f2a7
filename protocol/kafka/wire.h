/// The primitive types of the Kafka wire: big-endian numbers, length-prefixed strings and bytes in the classic and the
/// compact form (KIP-482), counted arrays, UUIDs. Nothing is allocated on the word of a length: each is first held
/// against the bytes that are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"

namespace tidelock::kafka {

/// Version of an API, a header or a field.
using Version = std::int16_t;

/// Longest string in either form, in bytes.
inline constexpr std::size_t kStringBytesMax = 32'767;
/// Most array elements in one message, plain numbers apart: a decoded element is larger than its bytes on the wire.
inline constexpr std::size_t kElementsMax = 1'000'000;
/// The size that goes before every frame, in bytes. It does not count itself.
inline constexpr std::size_t kFrameSizeBytes = 4;

/// A topic's id as clients see it; all zero means none.
struct Uuid {
    std::array<std::uint8_t, 16> bytes{};
    auto operator<=>(const Uuid&) const = default;
};
/// The id of one life of a topic (F2) as clients see it: the same on every broker, none for none.
Uuid uuid_of(TopicId topic);
/// The topic life that such an id names; empty for ids that `uuid_of` does not make.
std::optional<TopicId> topic_id_of(const Uuid& uuid);

/// How lengths are written: classic in a fixed width, -1 for null; compact as a varint of length + 1, 0 for null.
enum class LengthForm : std::uint8_t { kClassic, kCompact };

/// What can be wrong with bytes.
enum class WireFault : std::uint8_t {
    kNone,
    kTruncated,        // fewer bytes than the field takes
    kLengthBelowNull,  // a length under -1
    kNullForbidden,    // null where the version has none
    kStringTooLong,    // more than kStringBytesMax
    kCountTooLarge,    // more elements than the bytes left can hold
    kTooManyElements,  // more than kElementsMax in one message
    kVarintTooLong,    // more than 32 bits
    kTagsOutOfOrder,   // tags must rise
    kTagSizeWrong,     // a tagged value that is longer than its field
    kTrailingBytes,    // bytes behind the last field of an answer
    kApiUnknown,
    kVersionUnsupported,
};
std::string_view text_of(WireFault fault);

/// Reads primitives from any bytes. The first fault sticks, and everything read after it is zero or empty. `source`
/// must outlive the reader; byte fields share its storage.
class WireReader {
  public:
    explicit WireReader(const Bytes& source) : source_(source), in_(source) {}
    WireReader(const WireReader&) = delete;
    WireReader& operator=(const WireReader&) = delete;

    std::int8_t i8() { return checked(static_cast<std::int8_t>(in_.u8())); }
    std::int16_t i16() { return checked(in_.i16_be()); }
    std::int32_t i32() { return checked(in_.i32_be()); }
    std::int64_t i64() { return checked(in_.i64_be()); }
    std::uint32_t u32() { return checked(in_.u32_be()); }
    /// Any byte but 0 is true, as brokers and clients take it.
    bool boolean() { return i8() != 0; }
    /// At most 32 bits in at most five bytes.
    std::uint32_t uvarint();
    Uuid uuid();
    /// Null is empty.
    std::optional<std::string> string(LengthForm form);
    std::optional<Bytes> bytes(LengthForm form);
    /// The element count of an array, null is empty. Each element must take at least `element_bytes_min` > 0 bytes.
    std::optional<std::uint32_t> count(LengthForm form, std::size_t element_bytes_min);
    /// The next `size` bytes.
    Bytes part(std::size_t size);

    [[nodiscard]] std::size_t left() const { return failed() ? 0 : in_.left(); }
    [[nodiscard]] bool failed() const { return fault_ != WireFault::kNone; }
    [[nodiscard]] WireFault fault() const { return fault_; }
    void fail(WireFault fault) {
        if (!failed()) fault_ = fault;
        in_.fail();
    }

  private:
    /// -1 is null. `classic` is what a classic length reads as.
    std::int64_t length(LengthForm form, std::int64_t classic);
    template <typename Number>
    Number checked(Number number) {
        if (in_.failed()) fail(WireFault::kTruncated);
        return number;
    }

    const Bytes& source_;
    ByteReader in_;
    WireFault fault_ = WireFault::kNone;
};

/// Bytes on their way out, in pieces so that record batches are not copied: to be written one after the other.
struct Frame {
    std::vector<Bytes> parts;

    [[nodiscard]] std::size_t size() const;
    /// Everything in one piece; copies unless it is one piece already.
    [[nodiscard]] Bytes flat() const;
    /// What is behind the frame size, in one piece: what the decoders take.
    [[nodiscard]] Bytes content() const;
};

/// Writes primitives. Strings and byte fields must fit the wire's lengths (checked).
class WireWriter {
  public:
    void i8(std::int8_t v) { out_.u8(static_cast<std::uint8_t>(v)); }
    void i16(std::int16_t v) { out_.i16_be(v); }
    void i32(std::int32_t v) { out_.i32_be(v); }
    void i64(std::int64_t v) { out_.i64_be(v); }
    void u32(std::uint32_t v) { out_.u32_be(v); }
    void boolean(bool v) { i8(v ? 1 : 0); }
    void uvarint(std::uint32_t v);
    void uuid(const Uuid& v);
    void string(LengthForm form, std::string_view text);
    void null_string(LengthForm form);
    /// Large contents are shared, not copied.
    void bytes(LengthForm form, const Bytes& content);
    void count(LengthForm form, std::size_t count);
    /// What stands for null bytes and null arrays.
    void null(LengthForm form);
    /// All that `other` has written.
    void append(const WireWriter& other);

    [[nodiscard]] std::size_t size() const;
    /// What was written, behind its frame size.
    [[nodiscard]] Frame to_frame() const;

  private:
    struct Splice {
        std::size_t at;  // in out_
        Bytes content;
    };

    void put(const Bytes& content);

    ByteWriter out_;
    std::vector<Splice> splices_;
};

/// The size of the frame whose first bytes are `prefix`, without the prefix itself; empty when negative or above
/// `frame_bytes_max`: the connection is then beyond repair, and nothing must be allocated for it.
std::optional<std::size_t> frame_size(std::span<const std::byte, kFrameSizeBytes> prefix, std::size_t frame_bytes_max);

}  // namespace tidelock::kafka
