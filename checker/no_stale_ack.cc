#include "checker/no_stale_ack.h"

#include <fmt/format.h>

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kNoStaleAck;

void judge_authority(const Context& context, const BrokerView& broker, const TopicPartition& partition,
                     LeaderEpoch leader_epoch, const std::string& deed) {
    const std::string now = broker.leadership ? fmt::format("it leads epoch {}", broker.leadership->leader_epoch.value)
                                              : std::string("it leads nothing");
    context.log.report(kThis, context.time_ns,
                       fmt::format("{}: broker {} {} under epoch {}, but {} (A6)", context.view.name_of(partition),
                                   broker.id.value, deed, leader_epoch.value, now));
}

bool leads(const BrokerView& broker, LeaderEpoch leader_epoch) {
    return broker.leadership && broker.leadership->leader_epoch == leader_epoch;
}

/// The newest leader has the record, or had it until a fault took it.
bool is_safe_with(const ClusterView& view, const BrokerView& newest, PartitionNumber number, BatchNumber batch,
                  Offset last_offset) {
    const CopyView& copy = view.copy(newest, number);
    return view.holds(copy, view.partition(number), batch) || ClusterView::has_lost(copy, last_offset);
}

}  // namespace

void NoStaleAck::judge(const Context& context, const BrokerView& broker,
                       const broker::RecordsAcknowledged& acknowledged) {
    if (context.view.settings().preset == broker::Preset::kStatic) return;
    if (acknowledged.by == broker::AcknowledgedBy::kNothing) return;
    if (!leads(broker, acknowledged.leader_epoch)) {
        judge_authority(
            context, broker, acknowledged.partition, acknowledged.leader_epoch,
            fmt::format("acknowledged offsets {}..{}", acknowledged.base_offset.value, acknowledged.last_offset.value));
    }
    const ClaimView& newest = context.view.newest_claim();
    if (acknowledged.by != broker::AcknowledgedBy::kPolicy || newest.leader_epoch <= acknowledged.leader_epoch) return;
    const std::optional<PartitionNumber> number = context.view.find(acknowledged.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& copy = context.view.copy(broker, *number);
    const BatchNumber batch = copy.batches.holding(partition.table, acknowledged.last_offset);
    const BrokerView& newest_leader = context.view.broker(newest.leader);
    if (batch == kNoBatch || acknowledged.last_offset < partition.legal_start || partition.may_vanish) return;
    if (is_safe_with(context.view, newest_leader, *number, batch, acknowledged.last_offset)) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("{}: broker {} acknowledged offsets {}..{} under epoch {} after broker {}'s claim of epoch {} "
                    "committed, and "
                    "that leader's log [{}, {}) does not have them: they will be cut (A1)",
                    partition.name, broker.id.value, acknowledged.base_offset.value, acknowledged.last_offset.value,
                    acknowledged.leader_epoch.value, newest.leader.value, newest.leader_epoch.value,
                    context.view.copy(newest_leader, *number).log_start_offset.value,
                    context.view.copy(newest_leader, *number).log_end_offset.value));
}

void NoStaleAck::judge(const Context& context, const BrokerView& broker, const broker::RecordsServed& served) {
    if (context.view.settings().preset == broker::Preset::kStatic || leads(broker, served.leader_epoch)) return;
    judge_authority(context, broker, served.partition, served.leader_epoch,
                    fmt::format("served offsets [{}, {})", served.from.value, served.to.value));
}

void NoStaleAck::judge(const Context& context, const BrokerView& broker, const broker::BoundsTold& told) {
    if (context.view.settings().preset == broker::Preset::kStatic || leads(broker, told.leader_epoch)) return;
    judge_authority(context, broker, told.partition, told.leader_epoch, "told a consumer the bounds of the log");
}

}  // namespace tidelock::checker
