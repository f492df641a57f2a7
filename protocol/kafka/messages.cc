#include "protocol/kafka/messages.h"

#include <type_traits>
#include <utility>

#include "protocol/kafka/header.h"

namespace tidelock::kafka {
namespace {

template <typename Body, std::size_t... kIndexes>
constexpr bool is_in_table_order(std::index_sequence<kIndexes...> /*indexes*/) {
    return ((std::variant_alternative_t<kIndexes, Body>::kApi == kApis[kIndexes].key) && ...);
}
using Indexes = std::make_index_sequence<kApis.size()>;
static_assert(std::variant_size_v<RequestBody> == kApis.size() && is_in_table_order<RequestBody>(Indexes()));
static_assert(std::variant_size_v<ResponseBody> == kApis.size() && is_in_table_order<ResponseBody>(Indexes()));

/// The body of the alternative that belongs to the API.
template <typename Body>
Result<Body, WireError> read_body(ApiKey key, Version version, WireReader& in) {
    Result<Body, WireError> body{};
    const auto read_if_it_is = [&]<typename Message>(std::type_identity<Message> /*which*/) {
        if (Message::kApi != key) return false;
        Result<Message, WireError> message = Codec<Message>::read(version, in);
        if (message) {
            body = Body(std::move(*message));
        } else {
            body = Failure<WireError>(std::move(message.error()));
        }
        return true;
    };
    [&]<std::size_t... kIndexes>(std::index_sequence<kIndexes...>) {
        static_cast<void>((read_if_it_is(std::type_identity<std::variant_alternative_t<kIndexes, Body>>()) || ...));
    }
    (Indexes());
    return body;
}

template <typename Body>
void write_body(const Body& body, Version version, WireWriter& out) {
    std::visit([&]<typename Message>(const Message& m) { Codec<Message>::write(m, version, out); }, body);
}

template <typename Body>
std::string line_of(const Body& body, Version version, std::int32_t correlation_id) {
    const auto fields = [=]<typename Message>(const Message& m) { return Codec<Message>::text(m, version); };
    return std::string(api_of(api_key(body)).name) + " v" + std::to_string(version) + " #" +
           std::to_string(correlation_id) + " " + std::visit(fields, body);
}

Failure<RequestRefusal> refuse(RequestHeader header, WireFault fault, std::string field) {
    return Failure<RequestRefusal>(RequestRefusal{{header.api_key, header.api_version, true, fault, std::move(field)},
                                                  header.correlation_id,
                                                  std::move(header.client_id)});
}

/// Whether an answer to ApiVersions is the one to a version that the broker does not speak.
bool says_version_unsupported(const Bytes& content) {
    WireReader in(content);
    static_cast<void>(in.i32());
    return static_cast<ErrorCode>(in.i16()) == ErrorCode::kUnsupportedVersion;
}

}  // namespace

ApiKey api_key(const RequestBody& body) {
    return kApis[body.index()].key;
}
ApiKey api_key(const ResponseBody& body) {
    return kApis[body.index()].key;
}

Result<Request, RequestRefusal> decode_request(const Bytes& content) {
    WireReader in(content);
    RequestHeader header = read_request_header_start(in);
    if (in.failed()) return refuse(std::move(header), in.fault(), "header");
    const Api* api = find_api(header.api_key);
    if (api == nullptr) return refuse(std::move(header), WireFault::kApiUnknown, "header.api_key");
    if (!api->speaks(header.api_version))
        return refuse(std::move(header), WireFault::kVersionUnsupported, "header.api_version");
    read_request_header_rest(header, request_header_version(*api, header.api_version), in);
    if (in.failed()) return refuse(std::move(header), in.fault(), "header");
    Result<RequestBody, WireError> body = read_body<RequestBody>(api->key, header.api_version, in);
    if (!body) return refuse(std::move(header), body.error().fault, std::move(body.error().field));
    return Request{header.api_version, header.correlation_id, std::move(header.client_id), std::move(*body)};
}

Result<Response, WireError> decode_response(ApiKey key, Version version, const Bytes& content) {
    const Api& api = api_of(key);
    if (key == ApiKey::kApiVersions && says_version_unsupported(content)) version = 0;
    WireError error{static_cast<std::int16_t>(key), version, false, WireFault::kVersionUnsupported, ""};
    if (!api.speaks(version)) return Failure<WireError>(std::move(error));
    WireReader in(content);
    const std::int32_t correlation_id = read_response_header(response_header_version(api, version), in);
    if (in.failed()) {
        error.fault = in.fault();
        error.field = "header";
        return Failure<WireError>(std::move(error));
    }
    Result<ResponseBody, WireError> body = read_body<ResponseBody>(key, version, in);
    if (!body) return Failure<WireError>(std::move(body.error()));
    return Response{version, correlation_id, std::move(*body)};
}

Frame encode_request(const Request& request) {
    const Api& api = api_of(api_key(request.body));
    const RequestHeader header{static_cast<std::int16_t>(api.key), request.version, request.correlation_id,
                               request.client_id};
    WireWriter out;
    write_request_header(header, request_header_version(api, request.version), out);
    write_body(request.body, request.version, out);
    return out.to_frame();
}

Frame encode_response(const Response& response) {
    const Api& api = api_of(api_key(response.body));
    WireWriter out;
    write_response_header(response.correlation_id, response_header_version(api, response.version), out);
    write_body(response.body, response.version, out);
    return out.to_frame();
}

bool is_answered(const RequestBody& body) {
    const auto* produce = std::get_if<ProduceRequest>(&body);
    return produce == nullptr || produce->acks != 0;
}

std::string to_text(const Request& request) {
    return line_of(request.body, request.version, request.correlation_id);
}
std::string to_text(const Response& response) {
    return line_of(response.body, response.version, response.correlation_id);
}

}  // namespace tidelock::kafka
