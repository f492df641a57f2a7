#include "checker/leader_completeness.h"

#include <fmt/format.h>

#include "checker/loss.h"

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kLeaderCompleteness;

/// A broker that holds the epoch's claim but has not opened yet (G3). One that holds no claim at all is V18's.
void judge_open(const Context& context, const BrokerView& broker, const TopicPartition& partition,
                LeaderEpoch leader_epoch, const std::string& deed) {
    if (context.view.settings().preset == broker::Preset::kStatic) return;
    const bool is_early =
        broker.leadership && broker.leadership->leader_epoch == leader_epoch && !broker.leadership->serving;
    if (!is_early) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("{}: broker {} {} under epoch {} before it opened to clients (R4, G3)",
                                   context.view.name_of(partition), broker.id.value, deed, leader_epoch.value));
}

/// What a leader answers from internal topics must be below its high watermark when it opens (G3).
void judge_internal(const Context& context, const BrokerView& broker, LeaderEpoch leader_epoch) {
    for (std::uint32_t at = 0; at < context.view.partitions().size(); ++at) {
        const PartitionView& partition = context.view.partitions()[at];
        const CopyView& copy = context.view.copy(broker, PartitionNumber(at));
        if (!partition.name.starts_with("__") || !copy.exists) continue;
        const Offset high_watermark =
            copy.leader_epoch == leader_epoch ? copy.leader_high_watermark : copy.high_watermark;
        if (high_watermark >= copy.epoch_start_offset) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} begins to serve under epoch {} at the high watermark {}, before it "
                        "has passed {}, where its log ended at the claim (G3)",
                        partition.name, broker.id.value, leader_epoch.value, high_watermark.value,
                        copy.epoch_start_offset.value));
    }
}

}  // namespace

void LeaderCompleteness::judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving) {
    if (context.view.settings().preset == broker::Preset::kGroup) judge_internal(context, broker, serving.leader_epoch);
    const bool is_claimed =
        broker.leadership && broker.leadership->claimed && broker.leadership->leader_epoch == serving.leader_epoch;
    if (context.view.settings().preset == broker::Preset::kGroup && !is_claimed) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("broker {} begins to serve under epoch {} before its claim committed (R4)",
                                       broker.id.value, serving.leader_epoch.value));
    }
    const ClaimMoment* superseded = context.view.superseded_at(serving.leader_epoch);
    const std::size_t count = superseded != nullptr ? superseded->ends.size() : context.view.partitions().size();
    for (std::uint32_t at = 0; at < count; ++at) {
        const PartitionView& partition = context.view.partitions()[at];
        // A leader that wakes up late is asked for what was confirmed before a newer claim committed.
        const Offset end = superseded != nullptr ? superseded->ends[at].confirmed : partition.confirmed.end;
        const std::optional<Loss> loss = find_loss(context.view, broker, PartitionNumber(at), partition.confirmed, end);
        if (!loss || loss->is_excused) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} begins to serve under epoch {} without the confirmed records up to {}: {}",
                        partition.name, broker.id.value, serving.leader_epoch.value, end.value, loss->explanation));
    }
}

void LeaderCompleteness::judge(const Context& context, const BrokerView& broker,
                               const broker::RecordsAcknowledged& acknowledged) {
    if (broker.leadership && broker.leadership->serving) return;
    judge_open(
        context, broker, acknowledged.partition, acknowledged.leader_epoch,
        fmt::format("acknowledged offsets {}..{}", acknowledged.base_offset.value, acknowledged.last_offset.value));
}

void LeaderCompleteness::judge(const Context& context, const BrokerView& broker, const broker::RecordsServed& served) {
    if (broker.leadership && broker.leadership->serving) return;
    judge_open(context, broker, served.partition, served.leader_epoch,
               fmt::format("served offsets [{}, {})", served.from.value, served.to.value));
}

}  // namespace tidelock::checker
