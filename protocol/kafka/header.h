/// What goes before every request and every answer. The client id keeps its classic length even in the flexible header:
/// a broker must be able to read it before it knows whether it speaks the version (KIP-482).
#pragma once

#include "protocol/kafka/api.h"

namespace tidelock::kafka {

/// Before every request.
struct RequestHeader {
    std::int16_t api_key = 0;
    Version api_version = 0;
    std::int32_t correlation_id = 0;  // repeated in the answer
    std::optional<std::string> client_id;
    bool operator==(const RequestHeader&) const = default;
};

/// The part that is the same in all header versions, and with it which version it is.
RequestHeader read_request_header_start(WireReader& in);
/// The rest: the client id since version 1, tagged fields since version 2, of which none is known.
void read_request_header_rest(RequestHeader& header, Version header_version, WireReader& in);
/// Header versions 0 to 2.
void write_request_header(const RequestHeader& header, Version header_version, WireWriter& out);

/// The correlation id; tagged fields since version 1, of which none is known.
std::int32_t read_response_header(Version header_version, WireReader& in);
/// Header versions 0 and 1.
void write_response_header(std::int32_t correlation_id, Version header_version, WireWriter& out);

}  // namespace tidelock::kafka
