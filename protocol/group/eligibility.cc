#include "protocol/group/eligibility.h"

#include <algorithm>

namespace tidelock::group {

Standing standing(const Metadata& in_log, Replica self, bool configured_to_lead) {
    const bool set_exists = in_log.in_sync_set_version > 0;
    if (!set_exists) return configured_to_lead ? Standing::kMayLead : Standing::kNone;
    return is_in_sync(in_log, self) ? Standing::kMayLead : Standing::kCaretaker;
}

std::vector<Replica> set_to_claim(const Metadata& in_log, Replica self, const std::vector<Replica>& formed_with) {
    std::vector<Replica> members = in_log.in_sync_set_version > 0 ? in_log.in_sync_replicas : formed_with;
    std::erase_if(members, [&](const Replica& member) { return member.broker == self.broker; });
    members.push_back(self);
    std::ranges::sort(members);
    return members;
}

}  // namespace tidelock::group
