#include "checker/isr_complete.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kIsrComplete;

bool contains(const std::vector<Replica>& set, const Replica& replica) {
    return std::find(set.begin(), set.end(), replica) != set.end();
}

bool contains_broker(const std::vector<Replica>& set, BrokerId broker) {
    return std::any_of(set.begin(), set.end(), [&](const Replica& member) { return member.broker == broker; });
}

/// A committed member that nobody stands for in `set`. A broker whose data incarnation changed may stand for its former
/// self: that one cannot hold or lose anything any more.
const Replica* unrepresented_in(const std::vector<Replica>& set, const std::vector<Replica>& committed) {
    for (const Replica& replica : committed) {
        if (!contains_broker(set, replica.broker)) return &replica;
    }
    return nullptr;
}

/// A member of `wanted` that `set` lacks.
const Replica* missing_in(const std::vector<Replica>& set, const std::vector<Replica>& wanted) {
    for (const Replica& replica : wanted) {
        if (!contains(set, replica)) return &replica;
    }
    return nullptr;
}

/// The acknowledgement set is the committed set and whoever is being added, the leader always included (I4, I8).
void judge_set(const Context& context, const BrokerView& broker, const LeadershipView& leadership) {
    const std::vector<Replica>& set = *leadership.acknowledgement_set;
    const Replica* missing = leadership.committed_set ? unrepresented_in(set, *leadership.committed_set) : nullptr;
    const bool is_pending = leadership.proposed_set && leadership.proposal_entered;
    if (missing == nullptr && is_pending) missing = missing_in(set, *leadership.proposed_set);
    if (missing != nullptr) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format(
                "broker {} counts acknowledgements over {} under epoch {}, without broker {} of its committed set {} "
                "or pending set {} (I4)",
                broker.id.value, text_of(set), leadership.leader_epoch.value, missing->broker.value,
                leadership.committed_set ? text_of(*leadership.committed_set) : "unknown",
                leadership.proposed_set ? text_of(*leadership.proposed_set) : "none"));
    }
    if (contains_broker(set, broker.id)) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} leads epoch {} but is not in its own acknowledgement set {} (I8)",
                                   broker.id.value, leadership.leader_epoch.value, text_of(set)));
}

bool has_below(const ClusterView& view, const Replica& member, const CopyView& copy, const PartitionView& partition,
               BatchNumber batch, Offset high_watermark) {
    if (view.holds_durably(copy, partition, batch)) return true;
    // A former leader deleted everything below: the member's log begins past it (L7).
    const bool starts_past = copy.log_start_offset >= high_watermark && copy.log_start_offset <= partition.legal_start;
    if (starts_past && copy.exists && !copy.damaged) return true;
    return view.once_held_as(member, copy, high_watermark - 1);
}

}  // namespace

void IsrComplete::judge(const Context& context, const BrokerView& broker,
                        const broker::HighWatermarkAdvanced& advanced) {
    if (!advanced.as_leader || !broker.leadership || !broker.leadership->acknowledgement_set) return;
    if (broker.leadership->leader_epoch != advanced.leader_epoch) return;
    judge_set(context, broker, *broker.leadership);

    const std::optional<PartitionNumber> number = context.view.find(advanced.partition);
    if (!number) return;
    const PartitionView& partition = context.view.partition(*number);
    const CopyView& leader_copy = context.view.copy(broker, *number);
    if (advanced.high_watermark <= leader_copy.log_start_offset) return;
    const BatchNumber batch = leader_copy.batches.holding(partition.table, advanced.high_watermark - 1);
    if (batch == kNoBatch) return;  // past the log end: V5 says so
    for (const Replica& member : broker.leadership->acknowledgement_set.value()) {
        const BrokerView& member_view = context.view.broker(member.broker);
        const CopyView& copy = context.view.copy(member_view, *number);
        if (has_below(context.view, member, copy, partition, batch, advanced.high_watermark)) continue;
        if (context.view.has_dropped_as(member, copy, advanced.high_watermark - 1, broker)) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format(
                "{}: broker {} moved its high watermark to {} under epoch {}, but broker {} of its acknowledgement set "
                "{} durably holds [{}, {}){} and its log ends at {} (I6, L2)",
                partition.name, broker.id.value, advanced.high_watermark.value, advanced.leader_epoch.value,
                member.broker.value, text_of(*broker.leadership->acknowledgement_set), copy.log_start_offset.value,
                copy.durable_end_offset.value, copy.damaged ? ", damaged," : "", copy.log_end_offset.value));
        return;
    }
}

namespace {

/// What a member that joins must have reached (I5): the high watermark and the start of the leader's epoch.
Offset needed_to_join(const CopyView& leader_copy, LeaderEpoch leader_epoch) {
    const Offset high_watermark =
        leader_copy.leader_epoch == leader_epoch ? leader_copy.leader_high_watermark : leader_copy.high_watermark;
    return std::max(high_watermark, leader_copy.epoch_start_offset);
}

void judge_joining(const Context& context, const BrokerView& broker, LeaderEpoch leader_epoch, const Replica& joining) {
    const ClusterView& view = context.view;
    for (std::uint32_t at = 0; at < view.partitions().size(); ++at) {
        const PartitionNumber number(at);
        const CopyView& leader_copy = view.copy(broker, number);
        if (!leader_copy.exists) continue;
        const Offset needed = needed_to_join(leader_copy, leader_epoch);
        const CopyView& copy = view.copy(view.broker(joining.broker), number);
        // Where received positions are offered, and said to be, they are what a member is counted by (L2).
        const Offset position = view.settings().durable_positions ? copy.durable_end_offset : copy.log_end_offset;
        const bool has_reached = copy.exists && !copy.damaged && position >= needed;
        if (has_reached || needed == Offset(0) || view.once_held_as(joining, copy, needed - 1)) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format("{}: broker {} lets broker {} into the in-sync set under epoch {} though it durably holds [{}, "
                        "{}){} and {} is needed (high watermark, start of the epoch {}) (I5)",
                        view.partition(number).name, broker.id.value, joining.broker.value, leader_epoch.value,
                        copy.log_start_offset.value, copy.durable_end_offset.value, copy.damaged ? ", damaged," : "",
                        needed.value, leader_copy.epoch_start_offset.value));
        return;
    }
}

/// I5 and I11 against the set that the leader has committed.
void judge_change(const Context& context, const BrokerView& broker, const broker::InSyncSetProposed& proposed) {
    const std::vector<Replica>& committed = *broker.leadership->committed_set;
    const auto minimum = static_cast<std::size_t>(context.view.settings().min_insync_replicas);
    if (proposed.members.size() < committed.size() && proposed.members.size() < minimum) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("broker {} wants to shrink the in-sync set {} to {} under epoch {}, below the "
                                       "minimum of {} (I11)",
                                       broker.id.value, text_of(committed), text_of(proposed.members),
                                       proposed.leader_epoch.value, minimum));
    }
    // A leader of the past may still count positions of followers that follow another one now.
    if (context.view.superseded_at(proposed.leader_epoch) != nullptr) return;
    for (const Replica& member : proposed.members) {
        if (!contains(committed, member)) judge_joining(context, broker, proposed.leader_epoch, member);
    }
}

}  // namespace

void IsrComplete::judge(const Context& context, const BrokerView& broker, const broker::InSyncSetCommitted& committed) {
    if (!broker.leadership || broker.leadership->leader_epoch != committed.leader_epoch) return;
    const LeadershipView& leadership = *broker.leadership;
    if (!leadership.committed_set || *leadership.committed_set == committed.members) return;
    if (leadership.proposed_set == committed.members) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("broker {} learned under epoch {} that the in-sync set {} is committed, which it did "
                    "not propose after {} (I3)",
                    broker.id.value, committed.leader_epoch.value, text_of(committed.members),
                    text_of(*leadership.committed_set)));
}

void IsrComplete::judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving) {
    if (!broker.leadership || !broker.leadership->committed_set) return;
    if (context.view.settings().preset != broker::Preset::kGroup) return;
    if (contains(*broker.leadership->committed_set, Replica{broker.id, broker.data_incarnation})) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("broker {} begins to serve under epoch {} though its data's life is not in the in-sync "
                    "set {} (G2, I10)",
                    broker.id.value, serving.leader_epoch.value, text_of(*broker.leadership->committed_set)));
}

void IsrComplete::judge(const Context& context, const BrokerView& broker, const broker::InSyncSetProposed& proposed) {
    if (!broker.leadership || broker.leadership->leader_epoch != proposed.leader_epoch) return;
    if (broker.leadership->committed_set) judge_change(context, broker, proposed);
    const bool is_pending = broker.leadership->proposed_set && broker.leadership->proposal_entered;
    if (is_pending && *broker.leadership->proposed_set != proposed.members) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} proposed the in-sync set {} under epoch {} while {} is still pending (I3)",
                        broker.id.value, text_of(proposed.members), proposed.leader_epoch.value,
                        text_of(*broker.leadership->proposed_set)));
    }
    if (!broker.leadership->acknowledgement_set) return;
    const Replica* missing = missing_in(*broker.leadership->acknowledgement_set, proposed.members);
    if (missing == nullptr) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} proposed the in-sync set {} under epoch {} before broker {} was in its "
                                   "acknowledgement set {} (I4)",
                                   broker.id.value, text_of(proposed.members), proposed.leader_epoch.value,
                                   missing->broker.value, text_of(*broker.leadership->acknowledgement_set)));
}

void IsrComplete::judge(const Context& context, const BrokerView& broker, const broker::Started& started) {
    if (broker.journal_damage.empty()) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} starts under the data incarnation {} though its journal is damaged: {}; "
                                   "it is renewed first (L4, I10)",
                                   broker.id.value, started.data_incarnation.value, broker.journal_damage));
}

void IsrComplete::judge(const Context& context, const BrokerView& broker, const broker::LogReset& reset) {
    if (reset.reason == broker::ResetReason::kBehindLogStart) return;
    const std::optional<PartitionNumber> number = context.view.find(reset.partition);
    if (!number) return;
    const CopyView& copy = context.view.copy(broker, *number);
    const bool has_data = copy.durable_end_offset > copy.log_start_offset;
    if (!has_data || copy.durable_under == Incarnation(0) || copy.durable_under != broker.data_incarnation) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("{}: broker {} dropped records [{}, {}) under the data incarnation {} that had "
                                   "promised them: it is renewed "
                                   "first (I10)",
                                   context.view.partition(*number).name, broker.id.value, copy.log_start_offset.value,
                                   copy.durable_end_offset.value, broker.data_incarnation.value));
}

}  // namespace tidelock::checker
