/// As much of AMQP 0-9-1 as a producer with confirms and a consumer need: frames, and methods as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/bytes.h"
#include "protocol/base/result.h"
#include "tools/bench/load/channel.h"

namespace tidelock::load {

enum class AmqpFrameKind : std::uint8_t { kMethod = 1, kHeader = 2, kBody = 3, kHeartbeat = 8 };

struct AmqpFrame {
    AmqpFrameKind kind = AmqpFrameKind::kMethod;
    std::uint16_t channel = 0;
    Bytes payload;
};
/// The next whole frame, if one came.
Result<std::optional<AmqpFrame>, std::string> take_amqp(Channel& channel);
void put_amqp(Channel& channel, AmqpFrameKind kind, std::uint16_t number, std::span<const std::byte> payload);

/// A method's class and number, as the wire has them side by side.
enum class AmqpMethod : std::uint32_t {
    kConnectionStart = (10U << 16U) | 10U,
    kConnectionStartOk = (10U << 16U) | 11U,
    kConnectionTune = (10U << 16U) | 30U,
    kConnectionTuneOk = (10U << 16U) | 31U,
    kConnectionOpen = (10U << 16U) | 40U,
    kConnectionOpenOk = (10U << 16U) | 41U,
    kConnectionClose = (10U << 16U) | 50U,
    kChannelOpen = (20U << 16U) | 10U,
    kChannelOpenOk = (20U << 16U) | 11U,
    kChannelClose = (20U << 16U) | 40U,
    kQueueDeclare = (50U << 16U) | 10U,
    kQueueDeclareOk = (50U << 16U) | 11U,
    kBasicConsume = (60U << 16U) | 20U,
    kBasicConsumeOk = (60U << 16U) | 21U,
    kBasicPublish = (60U << 16U) | 40U,
    kBasicDeliver = (60U << 16U) | 60U,
    kBasicAck = (60U << 16U) | 80U,
    kBasicNack = (60U << 16U) | 120U,
    kConfirmSelect = (85U << 16U) | 10U,
    kConfirmSelectOk = (85U << 16U) | 11U,
};

/// A method on its way out.
class AmqpArguments {
  public:
    explicit AmqpArguments(AmqpMethod method) { out_.u32_be(static_cast<std::uint32_t>(method)); }
    AmqpArguments& u8(std::uint8_t v) { return out_.u8(v), *this; }
    AmqpArguments& u16(std::uint16_t v) { return out_.i16_be(static_cast<std::int16_t>(v)), *this; }
    AmqpArguments& u32(std::uint32_t v) { return out_.u32_be(v), *this; }
    AmqpArguments& short_text(std::string_view text);
    AmqpArguments& long_text(std::string_view text);
    /// Empty or with one entry, whose value is a text.
    AmqpArguments& table(std::string_view key = {}, std::string_view value = {});
    [[nodiscard]] std::span<const std::byte> span() const { return out_.span(); }

  private:
    ByteWriter out_;
};

/// The method in a frame; what follows it is read from behind.
AmqpMethod method_of(const AmqpFrame& frame);
/// What a peer says when it closes.
std::string closing_text(const AmqpFrame& frame);

}  // namespace tidelock::load
