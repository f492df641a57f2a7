#include "protocol/kafka/log_offsets.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<ListOffsetsRequest>;
template struct Codec<ListOffsetsResponse>;
template struct Codec<OffsetForLeaderEpochRequest>;
template struct Codec<OffsetForLeaderEpochResponse>;

}  // namespace tidelock::kafka
