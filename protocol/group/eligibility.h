/// Who may lead the data of a group (G2, G5, G9).
#pragma once

#include "protocol/base/ids.h"
#include "protocol/group/metadata.h"

namespace tidelock::group {

enum class Standing : std::uint8_t {
    kMayLead,
    /// May win Raft only to hand over to a member of the in-sync set (G9).
    kCaretaker,
    /// May not stand at all: no set exists yet and its configured role is follower (G2).
    kNone,
};

/// `in_log` is the fold over this replica's own log, uncommitted entries included (G2). `configured_to_lead` is the
/// role `leader` or `both`; it counts only before any in-sync set exists.
Standing standing(const Metadata& in_log, Replica self, bool configured_to_lead);

/// The set a claim continues with: the one in the log, or, for the first claim ever, the replicas the group formed with
/// (all equally empty). Always holds the claimant, whatever incarnation the set knew.
std::vector<Replica> set_to_claim(const Metadata& in_log, Replica self, const std::vector<Replica>& formed_with);

}  // namespace tidelock::group
