/// A message's way to and from the wire and into text, made of its `fields`. Declared here for everybody; made in the
/// family's .cc by including codec_from_fields.h and instantiating Codec<Message>.
#pragma once

#include <string>

#include "protocol/base/result.h"
#include "protocol/kafka/api.h"

namespace tidelock::kafka {

/// Why bytes are no message: which API and version they were read as, and which field was wrong in what way.
struct WireError {
    std::int16_t api_key = 0;
    Version version = 0;
    bool is_request = true;
    WireFault fault = WireFault::kNone;
    std::string field;  // topics[2].name; empty when it is no field's fault
    bool operator==(const WireError&) const = default;
};
/// As `Produce v9 request: topics[0].partitions[1].records ends too early`.
std::string to_text(const WireError& error);

/// Message::kApi says which API it belongs to, Message::kIsRequest on which side.
template <typename Message>
struct Codec {
    /// Appends the body. The version must be one the API speaks (checked).
    static void write(const Message& message, Version version, WireWriter& out);
    /// Reads a body. An answer must fill the rest of `in`; behind a request there may be bytes that are nobody's: some
    /// clients send one (@platformatic/kafka in Metadata 11), and Kafka's brokers never look.
    static Result<Message, WireError> read(Version version, WireReader& in);
    /// The fields of this version, in braces.
    static std::string text(const Message& message, Version version);
};

}  // namespace tidelock::kafka
