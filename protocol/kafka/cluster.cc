#include "protocol/kafka/cluster.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<ApiVersionsRequest>;
template struct Codec<ApiVersionsResponse>;
template struct Codec<MetadataRequest>;
template struct Codec<MetadataResponse>;
template struct Codec<DescribeClusterRequest>;
template struct Codec<DescribeClusterResponse>;

}  // namespace tidelock::kafka
