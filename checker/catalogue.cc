#include "checker/catalogue.h"

#include <array>
#include <cstddef>

namespace tidelock::checker {
namespace {

constexpr std::array kCatalogue{
    InvariantInfo{InvariantId::kAckedSurvival, "V1", "acked-survival",
                  "a confirmed record stays readable with its content, unless more copies were destroyed than its "
                  "policy survives"},
    InvariantInfo{InvariantId::kSingleLeaderPerEpoch, "V2", "single-leader-per-epoch",
                  "at most one broker ever acts as leader of an epoch, and none without a committed claim"},
    InvariantInfo{
        InvariantId::kLogMatching, "V4", "log-matching",
        "two copies that agree on an epoch and offset agree on everything before it; what was told durable is, and is "
        "recovered"},
    InvariantInfo{
        InvariantId::kCommittedStable, "V5", "committed-stable",
        "what a consumer was served stays in the log; the high watermark of a leadership never falls, nor passes its "
        "own log"},
    InvariantInfo{InvariantId::kLeaderCompleteness, "V6", "leader-completeness",
                  "a leader that serves holds every confirmed record, and answers clients only while it serves"},
    InvariantInfo{InvariantId::kIsrComplete, "V7", "isr-complete",
                  "every member of the acknowledgement set durably holds everything below the high watermark"},
    InvariantInfo{
        InvariantId::kRaftSafety, "V8", "raft-safety",
        "one leader and one vote a term, votes for logs no older, committed entries never change, nothing promised "
        "unsynced, no leader without a majority that answers"},
    InvariantInfo{InvariantId::kProducerOrder, "V10", "producer-order",
                  "per idempotent producer the confirmed log has no duplicate, no gap and no reordering"},
    InvariantInfo{InvariantId::kOffsetsMonotonic, "V14", "offsets-monotonic",
                  "a committed group offset never goes back except by an explicit commit of a lower one"},
    InvariantInfo{InvariantId::kGroupFencing, "T4", "group-fencing",
                  "nothing is done in the name of a membership that a later generation of its group has left behind, "
                  "and members are told what their leader gave them"},
    InvariantInfo{
        InvariantId::kProgress, "V16", "progress",
        "once faults stop: a leader, a full in-sync set, writable partitions, copies level, consumers at the end, "
        "nothing kept without need; at any time: nobody waits beyond his time, or for what is there"},
    InvariantInfo{InvariantId::kDeterministic, "V17", "deterministic",
                  "one seed, one digest, wherever and however often it runs"},
    InvariantInfo{
        InvariantId::kNoStaleAck, "V18", "no-stale-ack",
        "no acknowledgement under an authority that was superseded or given up while the record could be lost"},
    InvariantInfo{
        InvariantId::kCutSafe, "V20", "cut-safe",
        "no copy is cut below its own high watermark or confirmed records that it holds; log starts stop at the high "
        "watermark"},
    InvariantInfo{
        InvariantId::kClientHistory, "V21", "client-history",
        "from client calls alone: nothing lost, unseen, duplicated, renumbered, reordered, skipped or made up"},
    InvariantInfo{
        InvariantId::kStatusHonest, "V22", "status-honest",
        "role, leader, epoch, in-sync set and durability in a status answer are what the broker itself last saw"},
};

}  // namespace

std::span<const InvariantInfo> catalogue() {
    return kCatalogue;
}

const InvariantInfo& info_of(InvariantId invariant) {
    return kCatalogue[static_cast<std::size_t>(invariant)];
}

std::string_view name_of(InvariantId invariant) {
    return info_of(invariant).name;
}

}  // namespace tidelock::checker
