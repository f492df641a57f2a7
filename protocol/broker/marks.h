/// Interesting states of the protocol that a campaign must reach. A mark never seen means a missing fault or workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidelock::broker {

enum class Mark : std::uint8_t {
    kGroupFormed,
    kReplicaAdmitted,        // R11: an empty replica was admitted by the others
    kCaretakerElected,       // G9
    kCaretakerHandedOver,    // G9: transfer to a member done
    kCaretakerGaveUp,        // G9: nobody took over, somebody else may try
    kLeadershipTransferred,  // R10
    kCheckQuorumStepDown,    // R5
    kPreVoteRefused,         // R6
    kSuspectedByReset,       // R6: a broken connection made a follower stand
    kRaftLogCompacted,       // R8
    kRaftSnapshotInstalled,  // R8
    kRaftEntriesOverwritten,
    kInSyncSetShrunk,
    kInSyncSetExpanded,
    kMemberReplaced,            // I10: same broker, new incarnation
    kShrinkWithheld,            // I11
    kExpandWaitsForEpochStart,  // I5: at the HW already, not yet at the epoch start
    kRefusedNotEnoughReplicas,  // I8
    kAckedUnderPendingChange,   // I4
    kHandshakeCut,              // L6 cut records
    kHandshakeTookTwoRounds,    // L6, KIP-279
    kFollowerReset,             // L7
    kDamageFoundAtRecovery,     // L4
    kDamageFoundAtRead,
    kTornTailCut,  // L4
    kDamagedCopyRecopied,
    kHistoryRebuilt,              // L3
    kLogReopenedAfterFailedSync,  // L9
    kLeaderResignedOnFailedSync,  // L9
    kDiskFull,
    kLeaderResignedOnStalledDisk,    // L9
    kLeaderResignedOnFullDisk,       // L9, I10: a member in step may lead instead
    kFetchFencedOldEpoch,            // F3
    kTopicRecopied,                  // F2
    kTopicGrownOnFollower,           // F2
    kDuplicateProduceAnswered,       // T2
    kOutOfOrderProduceRefused,       // T2
    kProduceTimedOut,                // A5
    kProduceOutcomeUnknown,          // A6: role change ended a waiting produce
    kOffsetsWrittenAnew,             // T1: the topic of offsets was made short again
    kOffsetsRebuilt,                 // G3
    kAnswerUnconfirmed,              // T1, T2: not told, as no majority stood behind the leader any more
    kServingWaitedForHighWatermark,  // G3
    kRetentionPassedFollower,
    kRefusedToStartDamaged,  // R8
    kMayNotStand,            // G2: out of the set in its own log
    kStatusUnderReplicated,  // I9
    kRepeatedRequestDropped,
    kSealedSegmentsTrusted,   // L4: recovery did not verify them
    kTrustWithheldForDamage,  // L4: ... it would have, but for damage on record
    kCount
};

inline constexpr std::size_t kMarkCount = static_cast<std::size_t>(Mark::kCount);

/// The mark's stable name, as results and `tidelock list marks` print it.
std::string_view name_of(Mark mark);

}  // namespace tidelock::broker
