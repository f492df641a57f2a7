#include "protocol/broker/marks.h"

namespace tidelock::broker {

std::string_view name_of(Mark mark) {
    switch (mark) {
        case Mark::kGroupFormed:
            return "group-formed";
        case Mark::kReplicaAdmitted:
            return "replica-admitted";
        case Mark::kCaretakerElected:
            return "caretaker-elected";
        case Mark::kCaretakerHandedOver:
            return "caretaker-handed-over";
        case Mark::kLeadershipTransferred:
            return "leadership-transferred";
        case Mark::kCheckQuorumStepDown:
            return "check-quorum-step-down";
        case Mark::kPreVoteRefused:
            return "pre-vote-refused";
        case Mark::kSuspectedByReset:
            return "suspected-by-reset";
        case Mark::kRaftLogCompacted:
            return "raft-log-compacted";
        case Mark::kRaftSnapshotInstalled:
            return "raft-snapshot-installed";
        case Mark::kRaftEntriesOverwritten:
            return "raft-entries-overwritten";
        case Mark::kInSyncSetShrunk:
            return "in-sync-set-shrunk";
        case Mark::kInSyncSetExpanded:
            return "in-sync-set-expanded";
        case Mark::kMemberReplaced:
            return "member-replaced";
        case Mark::kShrinkWithheld:
            return "shrink-withheld";
        case Mark::kExpandWaitsForEpochStart:
            return "expand-waits-for-epoch-start";
        case Mark::kRefusedNotEnoughReplicas:
            return "refused-not-enough-replicas";
        case Mark::kAckedUnderPendingChange:
            return "acked-under-pending-change";
        case Mark::kHandshakeCut:
            return "handshake-cut";
        case Mark::kHandshakeTookTwoRounds:
            return "handshake-took-two-rounds";
        case Mark::kFollowerReset:
            return "follower-reset";
        case Mark::kDamageFoundAtRecovery:
            return "damage-found-at-recovery";
        case Mark::kDamageFoundAtRead:
            return "damage-found-at-read";
        case Mark::kTornTailCut:
            return "torn-tail-cut";
        case Mark::kDamagedCopyRecopied:
            return "damaged-copy-recopied";
        case Mark::kHistoryRebuilt:
            return "history-rebuilt";
        case Mark::kLogReopenedAfterFailedSync:
            return "log-reopened-after-failed-sync";
        case Mark::kLeaderResignedOnStalledDisk:
            return "leader-resigned-on-stalled-disk";
        case Mark::kLeaderResignedOnFullDisk:
            return "leader-resigned-on-full-disk";
        case Mark::kLeaderResignedOnFailedSync:
            return "leader-resigned-on-failed-sync";
        case Mark::kDiskFull:
            return "disk-full";
        case Mark::kFetchFencedOldEpoch:
            return "fetch-fenced-old-epoch";
        case Mark::kTopicRecopied:
            return "topic-recopied";
        case Mark::kTopicGrownOnFollower:
            return "topic-grown-on-follower";
        case Mark::kDuplicateProduceAnswered:
            return "duplicate-produce-answered";
        case Mark::kOutOfOrderProduceRefused:
            return "out-of-order-produce-refused";
        case Mark::kProduceTimedOut:
            return "produce-timed-out";
        case Mark::kProduceOutcomeUnknown:
            return "produce-outcome-unknown";
        case Mark::kOffsetsWrittenAnew:
            return "offsets-written-anew";
        case Mark::kOffsetsRebuilt:
            return "offsets-rebuilt";
        case Mark::kAnswerUnconfirmed:
            return "answer-unconfirmed";
        case Mark::kServingWaitedForHighWatermark:
            return "serving-waited-for-high-watermark";
        case Mark::kRetentionPassedFollower:
            return "retention-passed-follower";
        case Mark::kRefusedToStartDamaged:
            return "refused-to-start-damaged";
        case Mark::kMayNotStand:
            return "may-not-stand";
        case Mark::kStatusUnderReplicated:
            return "status-under-replicated";
        case Mark::kRepeatedRequestDropped:
            return "repeated-request-dropped";
        case Mark::kCount:
            break;
    }
    return "?";
}

}  // namespace tidelock::broker
