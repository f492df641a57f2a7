#include "protocol/kafka/produce.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<ProduceRequest>;
template struct Codec<ProduceResponse>;
template struct Codec<InitProducerIdRequest>;
template struct Codec<InitProducerIdResponse>;

}  // namespace tidelock::kafka
