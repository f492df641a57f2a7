/// What happens to consumer groups, for operators (T4). Apart from the machine, so that who watches brokers needs no
/// more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidelock::clients {

enum class GroupChange : std::uint8_t {
    kMemberJoined,
    kMemberLeft,
    kMemberSilent,    // past its session
    kMemberTooLate,   // did not join, or sync, in the time of the rebalance
    kMemberReplaced,  // a static member came again; the id is the one that is fenced
    kRebalance,
    kGeneration,  // formed, waits for its assignments
    kAssigned,
    kEmpty,
};
[[nodiscard]] std::string_view to_text(GroupChange change);
/// Something that operators want to know.
struct GroupNews {
    GroupChange change{};
    std::string group;
    std::string member;  // where it is about one
    std::int32_t generation = 0;
    std::int32_t member_count = 0;
    bool operator==(const GroupNews&) const = default;
};

}  // namespace tidelock::clients
