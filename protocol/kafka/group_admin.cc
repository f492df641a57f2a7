#include "protocol/kafka/group_admin.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<DescribeGroupsRequest>;
template struct Codec<DescribeGroupsResponse>;
template struct Codec<ListGroupsRequest>;
template struct Codec<ListGroupsResponse>;

}  // namespace tidelock::kafka
