#include "tools/bench/load/amqp_frames.h"

#include <fmt/format.h>

namespace tidelock::load {
namespace {

constexpr std::uint8_t kFrameEnd = 0xCE;
constexpr std::size_t kHeadBytes = 7;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

}  // namespace

Result<std::optional<AmqpFrame>, std::string> take_amqp(Channel& channel) {
    const std::string_view input = channel.input();
    if (input.size() < kHeadBytes) return std::optional<AmqpFrame>();
    if (input.starts_with("AMQP")) return Failure<std::string>("the broker speaks another version of AMQP");
    ByteReader head(bytes_of(input.substr(0, kHeadBytes)));
    AmqpFrame frame;
    frame.kind = static_cast<AmqpFrameKind>(head.u8());
    frame.channel = static_cast<std::uint16_t>(head.i16_be());
    const std::size_t size = head.u32_be();
    if (input.size() < kHeadBytes + size + 1) return std::optional<AmqpFrame>();
    if (static_cast<std::uint8_t>(input[kHeadBytes + size]) != kFrameEnd)
        return Failure<std::string>("the broker sent no frame");
    frame.payload = Bytes::copy_of(input.substr(kHeadBytes, size));
    channel.consume(kHeadBytes + size + 1);
    return std::optional<AmqpFrame>(std::move(frame));
}

void put_amqp(Channel& channel, AmqpFrameKind kind, std::uint16_t number, std::span<const std::byte> payload) {
    ByteWriter head;
    head.u8(static_cast<std::uint8_t>(kind));
    head.i16_be(static_cast<std::int16_t>(number));
    head.u32_be(static_cast<std::uint32_t>(payload.size()));
    channel.put(head.span());
    channel.put(payload);
    const std::byte end{kFrameEnd};
    channel.put(std::span(&end, 1));
}

AmqpArguments& AmqpArguments::short_text(std::string_view text) {
    out_.u8(static_cast<std::uint8_t>(text.size()));
    out_.raw(bytes_of(text));
    return *this;
}

AmqpArguments& AmqpArguments::long_text(std::string_view text) {
    out_.u32_be(static_cast<std::uint32_t>(text.size()));
    out_.raw(bytes_of(text));
    return *this;
}

AmqpArguments& AmqpArguments::table(std::string_view key, std::string_view value) {
    if (key.empty()) return u32(0);
    u32(static_cast<std::uint32_t>(1 + key.size() + 1 + 4 + value.size()));
    short_text(key);
    out_.u8('S');
    return long_text(value);
}

AmqpMethod method_of(const AmqpFrame& frame) {
    ByteReader in(frame.payload);
    return static_cast<AmqpMethod>(in.u32_be());
}

std::string closing_text(const AmqpFrame& frame) {
    ByteReader in(frame.payload);
    in.u32_be();
    const std::int16_t code = in.i16_be();
    const std::size_t size = in.u8();
    const auto text = in.raw(size);
    return fmt::format("the broker closes: {} {}", code,
                       std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
}

}  // namespace tidelock::load
