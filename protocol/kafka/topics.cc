#include "protocol/kafka/topics.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<CreateTopicsRequest>;
template struct Codec<CreateTopicsResponse>;
template struct Codec<DeleteTopicsRequest>;
template struct Codec<DeleteTopicsResponse>;
template struct Codec<CreatePartitionsRequest>;
template struct Codec<CreatePartitionsResponse>;
template struct Codec<DescribeConfigsRequest>;
template struct Codec<DescribeConfigsResponse>;

}  // namespace tidelock::kafka
