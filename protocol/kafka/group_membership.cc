#include "protocol/kafka/group_membership.h"

#include "protocol/kafka/codec_from_fields.h"

namespace tidelock::kafka {

template struct Codec<FindCoordinatorRequest>;
template struct Codec<FindCoordinatorResponse>;
template struct Codec<JoinGroupRequest>;
template struct Codec<JoinGroupResponse>;
template struct Codec<SyncGroupRequest>;
template struct Codec<SyncGroupResponse>;
template struct Codec<HeartbeatRequest>;
template struct Codec<HeartbeatResponse>;
template struct Codec<LeaveGroupRequest>;
template struct Codec<LeaveGroupResponse>;

}  // namespace tidelock::kafka
