#include "protocol/kafka/group_offsets.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<OffsetCommitRequest>;
template struct Codec<OffsetCommitResponse>;
template struct Codec<OffsetFetchRequest>;
template struct Codec<OffsetFetchResponse>;

}  // namespace tidelock::kafka
