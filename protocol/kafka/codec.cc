#include "protocol/kafka/codec.h"

#include "protocol/base/check.h"
#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

std::string to_text(const WireError& error) {
    const Api* api = find_api(error.api_key);
    std::string text = api == nullptr ? "API " + std::to_string(error.api_key) : std::string(api->name);
    text += " v" + std::to_string(error.version) + (error.is_request ? " request: " : " response: ");
    if (!error.field.empty()) text += error.field + " ";
    return text.append(text_of(error.fault));
}

Dialect spoken_dialect(ApiKey key, Version version) {
    CHECK(api_of(key).speaks(version));
    return api_of(key).dialect(version);
}

}  // namespace tidelock::kafka
