/// Defines Codec<Message> for the source files that instantiate it.
#pragma once

#include "protocol/kafka/codec.h"
#include "protocol/kafka/field_reader.h"
#include "protocol/kafka/field_text.h"
#include "protocol/kafka/field_writer.h"

namespace tidelock::kafka {

/// The dialect of a version that the API must speak (checked).
Dialect spoken_dialect(ApiKey key, Version version);

template <typename Message>
void Codec<Message>::write(const Message& message, Version version, WireWriter& out) {
    FieldWriter writer(out, spoken_dialect(Message::kApi, version));
    writer.message(message);
}

template <typename Message>
Result<Message, WireError> Codec<Message>::read(Version version, WireReader& in) {
    Message message;
    FieldReader reader(in, spoken_dialect(Message::kApi, version));
    reader.message(message);
    if (!Message::kIsRequest && in.left() > 0) in.fail(WireFault::kTrailingBytes);
    if (!in.failed()) return message;
    return Failure<WireError>(WireError{static_cast<std::int16_t>(Message::kApi), version, Message::kIsRequest,
                                        in.fault(), reader.fault_path()});
}

template <typename Message>
std::string Codec<Message>::text(const Message& message, Version version) {
    FieldText text(version);
    text.message(message);
    return text.take();
}

}  // namespace tidelock::kafka
