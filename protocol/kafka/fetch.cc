#include "protocol/kafka/fetch.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<FetchRequest>;
template struct Codec<FetchResponse>;

}  // namespace tidelock::kafka
