#include "protocol/kafka/wire.h"

#include <algorithm>
#include <limits>

#include "protocol/base/check.h"

namespace tidelock::kafka {
namespace {

// Below this, copying is cheaper than one more piece to write.
constexpr std::size_t kSharedBytesMin = 1024;
constexpr std::size_t kWireLengthMax = std::numeric_limits<std::int32_t>::max();
constexpr unsigned kVarintShiftMax = 28;

// The first half of every topic id; the second is the topic life.
constexpr std::array<std::uint8_t, 8> kTopicIdSpace = {'t', 'i', 'd', 'e', 'l', 'o', 'c', 'k'};

}  // namespace

Uuid uuid_of(TopicId topic) {
    Uuid uuid;
    if (topic == TopicId()) return uuid;
    std::copy(kTopicIdSpace.begin(), kTopicIdSpace.end(), uuid.bytes.begin());
    for (std::size_t i = 0; i < 8; ++i) uuid.bytes[8 + i] = static_cast<std::uint8_t>(topic.value >> (56 - 8 * i));
    return uuid;
}

std::optional<TopicId> topic_id_of(const Uuid& uuid) {
    std::uint64_t value = 0;
    for (std::size_t i = 8; i < uuid.bytes.size(); ++i) value = value << 8 | uuid.bytes[i];
    const TopicId topic(value);
    if (topic == TopicId() || uuid_of(topic) != uuid) return std::nullopt;
    return topic;
}

std::string_view text_of(WireFault fault) {
    switch (fault) {
        case WireFault::kNone:
            return "no fault";
        case WireFault::kTruncated:
            return "ends too early";
        case WireFault::kLengthBelowNull:
            return "has a negative length";
        case WireFault::kNullForbidden:
            return "must not be null";
        case WireFault::kStringTooLong:
            return "is longer than a string may be";
        case WireFault::kCountTooLarge:
            return "announces more elements than there are bytes";
        case WireFault::kTooManyElements:
            return "has more elements than a message may have";
        case WireFault::kVarintTooLong:
            return "has a varint of more than 32 bits";
        case WireFault::kTagsOutOfOrder:
            return "has tags that do not rise";
        case WireFault::kTagSizeWrong:
            return "is shorter than its tagged size";
        case WireFault::kTrailingBytes:
            return "is followed by bytes that belong to nothing";
        case WireFault::kApiUnknown:
            return "names no API of this broker";
        case WireFault::kVersionUnsupported:
            return "names no version of this API";
    }
    return "no such fault";
}

// --- reading -------------------------------------------------------------------------------------------------

std::uint32_t WireReader::uvarint() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift <= kVarintShiftMax; shift += 7) {
        const std::uint8_t part = checked(in_.u8());
        if (failed()) return 0;
        if (shift == kVarintShiftMax && part > 0x0F) break;
        value |= static_cast<std::uint32_t>(part & 0x7FU) << shift;
        if ((part & 0x80U) == 0) return value;
    }
    fail(WireFault::kVarintTooLong);
    return 0;
}

Uuid WireReader::uuid() {
    Uuid uuid;
    const std::span<const std::byte> content = checked(in_.raw(uuid.bytes.size()));
    for (std::size_t i = 0; i < content.size(); ++i) uuid.bytes[i] = std::to_integer<std::uint8_t>(content[i]);
    return uuid;
}

std::int64_t WireReader::length(LengthForm form, std::int64_t classic) {
    const std::int64_t length = form == LengthForm::kCompact ? std::int64_t{uvarint()} - 1 : classic;
    if (length < -1) fail(WireFault::kLengthBelowNull);
    return failed() ? -1 : length;
}

std::optional<std::string> WireReader::string(LengthForm form) {
    const std::int64_t size = length(form, form == LengthForm::kClassic ? i16() : 0);
    if (size < 0) return std::nullopt;
    if (static_cast<std::size_t>(size) > kStringBytesMax) {
        fail(WireFault::kStringTooLong);
        return std::nullopt;
    }
    const std::span<const std::byte> content = checked(in_.raw(static_cast<std::size_t>(size)));
    return std::string(reinterpret_cast<const char*>(content.data()), content.size());
}

std::optional<Bytes> WireReader::bytes(LengthForm form) {
    const std::int64_t size = length(form, form == LengthForm::kClassic ? i32() : 0);
    if (size < 0) return std::nullopt;
    return part(static_cast<std::size_t>(size));
}

std::optional<std::uint32_t> WireReader::count(LengthForm form, std::size_t element_bytes_min) {
    CHECK(element_bytes_min > 0);
    const std::int64_t count = length(form, form == LengthForm::kClassic ? i32() : 0);
    if (count < 0) return std::nullopt;
    if (static_cast<std::size_t>(count) > in_.left() / element_bytes_min) {
        fail(WireFault::kCountTooLarge);
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(count);
}

Bytes WireReader::part(std::size_t size) {
    const std::size_t from = in_.position();
    static_cast<void>(checked(in_.raw(size)));
    return failed() || size == 0 ? Bytes() : source_.slice(from, size);
}

// --- writing -------------------------------------------------------------------------------------------------

std::size_t Frame::size() const {
    std::size_t size = 0;
    for (const Bytes& part : parts) size += part.size();
    return size;
}

Bytes Frame::flat() const {
    if (parts.size() == 1) return parts.front();
    return Bytes::build(size(), [this](std::span<std::byte> into) {
        std::size_t at = 0;
        for (const Bytes& part : parts) {
            std::copy(part.span().begin(), part.span().end(), into.begin() + static_cast<std::ptrdiff_t>(at));
            at += part.size();
        }
    });
}

Bytes Frame::content() const {
    return flat().slice(kFrameSizeBytes, size() - kFrameSizeBytes);
}

void WireWriter::uvarint(std::uint32_t v) {
    for (; v >= 0x80; v >>= 7) out_.u8(static_cast<std::uint8_t>(v | 0x80U));
    out_.u8(static_cast<std::uint8_t>(v));
}

void WireWriter::uuid(const Uuid& v) {
    out_.raw(std::as_bytes(std::span(v.bytes)));
}

void WireWriter::string(LengthForm form, std::string_view text) {
    CHECK(text.size() <= kStringBytesMax);
    if (form == LengthForm::kClassic) i16(static_cast<std::int16_t>(text.size()));
    if (form == LengthForm::kCompact) uvarint(static_cast<std::uint32_t>(text.size() + 1));
    out_.raw(std::as_bytes(std::span(text.data(), text.size())));
}

void WireWriter::null_string(LengthForm form) {
    if (form == LengthForm::kClassic) i16(-1);
    if (form == LengthForm::kCompact) uvarint(0);
}

void WireWriter::count(LengthForm form, std::size_t count) {
    CHECK(count < kWireLengthMax);
    if (form == LengthForm::kClassic) i32(static_cast<std::int32_t>(count));
    if (form == LengthForm::kCompact) uvarint(static_cast<std::uint32_t>(count + 1));
}

void WireWriter::null(LengthForm form) {
    if (form == LengthForm::kClassic) i32(-1);
    if (form == LengthForm::kCompact) uvarint(0);
}

void WireWriter::bytes(LengthForm form, const Bytes& content) {
    count(form, content.size());
    put(content);
}

void WireWriter::put(const Bytes& content) {
    if (content.size() < kSharedBytesMin) {
        out_.raw(content.span());
    } else {
        splices_.push_back({out_.size(), content});
    }
}

void WireWriter::append(const WireWriter& other) {
    std::size_t from = 0;
    for (const Splice& splice : other.splices_) {
        out_.raw(other.out_.span().subspan(from, splice.at - from));
        put(splice.content);
        from = splice.at;
    }
    out_.raw(other.out_.span().subspan(from));
}

std::size_t WireWriter::size() const {
    std::size_t size = out_.size();
    for (const Splice& splice : splices_) size += splice.content.size();
    return size;
}

Frame WireWriter::to_frame() const {
    CHECK(size() <= kWireLengthMax);
    const Bytes own = Bytes::build(kFrameSizeBytes + out_.size(), [this](std::span<std::byte> into) {
        ByteWriter prefix;
        prefix.u32_be(static_cast<std::uint32_t>(size()));
        std::copy(prefix.span().begin(), prefix.span().end(), into.begin());
        std::copy(out_.span().begin(), out_.span().end(), into.begin() + kFrameSizeBytes);
    });
    Frame frame;
    std::size_t from = 0;
    for (const Splice& splice : splices_) {
        const std::size_t to = kFrameSizeBytes + splice.at;
        if (from < to) frame.parts.push_back(own.slice(from, to - from));
        frame.parts.push_back(splice.content);
        from = to;
    }
    if (from < own.size()) frame.parts.push_back(own.slice(from, own.size() - from));
    return frame;
}

std::optional<std::size_t> frame_size(std::span<const std::byte, kFrameSizeBytes> prefix, std::size_t frame_bytes_max) {
    const std::int32_t size = ByteReader(prefix).i32_be();
    if (size < 0 || static_cast<std::size_t>(size) > frame_bytes_max) return std::nullopt;
    return static_cast<std::size_t>(size);
}

}  // namespace tidelock::kafka
