#include "protocol/kafka/header.h"

#include "protocol/kafka/field_reader.h"

namespace tidelock::kafka {
namespace {

/// The tagged fields of a header, all unknown.
struct HeaderTags {
    template <class Self, class V>
    static void fields(Self& /*m*/, V& /*v*/) {}
};

void skip_tags(WireReader& in) {
    HeaderTags tags;
    FieldReader(in, {0, true}).message(tags);
}

}  // namespace

RequestHeader read_request_header_start(WireReader& in) {
    RequestHeader header;
    header.api_key = in.i16();
    header.api_version = in.i16();
    header.correlation_id = in.i32();
    return header;
}

void read_request_header_rest(RequestHeader& header, Version header_version, WireReader& in) {
    if (header_version >= 1) header.client_id = in.string(LengthForm::kClassic);
    if (header_version >= 2) skip_tags(in);
}

void write_request_header(const RequestHeader& header, Version header_version, WireWriter& out) {
    out.i16(header.api_key);
    out.i16(header.api_version);
    out.i32(header.correlation_id);
    if (header_version >= 1) {
        if (header.client_id) {
            out.string(LengthForm::kClassic, *header.client_id);
        } else {
            out.null_string(LengthForm::kClassic);
        }
    }
    if (header_version >= 2) out.uvarint(0);
}

std::int32_t read_response_header(Version header_version, WireReader& in) {
    const std::int32_t correlation_id = in.i32();
    if (header_version >= 1) skip_tags(in);
    return correlation_id;
}

void write_response_header(std::int32_t correlation_id, Version header_version, WireWriter& out) {
    out.i32(correlation_id);
    if (header_version >= 1) out.uvarint(0);
}

}  // namespace tidelock::kafka
