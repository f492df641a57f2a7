#include "checker/topic_changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

/// How many partitions of the topic the broker has and shows.
std::int32_t shown_partitions(const ClusterView& view, const BrokerView& broker, TopicId topic) {
    if (!broker.shows(topic)) return 0;
    std::int32_t count = 0;
    for (std::uint32_t at = 0; at < view.partitions().size(); ++at) {
        const CopyView& copy = view.copy(broker, PartitionNumber(at));
        // A write of topics that nobody waited for may be the one that a boot finds.
        const bool is_there = copy.exists && (copy.is_told || !broker.started);
        if (is_there && view.partitions()[at].partition.topic == topic) ++count;
    }
    return count;
}

bool may_vanish(const ClusterView& view, TopicId topic) {
    return std::ranges::any_of(
        view.partitions(), [&](const PartitionView& each) { return each.partition.topic == topic && each.may_vanish; });
}

}  // namespace

std::string TopicChanges::text_of(const Change& change) {
    if (change.partitions == 0) return fmt::format("the deletion of topic {}", change.name);
    return fmt::format("topic {} with {} partition(s)", change.name, change.partitions);
}

bool TopicChanges::has_made(const ClusterView& view, const BrokerView& broker, const Change& change) {
    if (change.partitions == 0) return shown_partitions(view, broker, change.topic) == 0;
    // A later deletion makes a creation nobody's business.
    return may_vanish(view, change.topic) || shown_partitions(view, broker, change.topic) >= change.partitions;
}

void TopicChanges::judge_member(const Context& context, const BrokerView& leader, const Replica& member,
                                const Change& change, const char* which) {
    const BrokerView& broker = context.view.broker(member.broker);
    // Another life of the data is no member, and a fault may have taken the catalogue.
    if (broker.data_incarnation != member.incarnation || broker.shared_fault_pending || broker.is_emptied) return;
    if (has_made(context.view, broker, change)) return;
    context.log.report(InvariantId::kIsrComplete, context.time_ns,
                       fmt::format("broker {} leads, and a client was told of {}, but broker {} {} has not made that "
                                   "change (F2)",
                                   leader.id.value, text_of(change), member.broker.value, which));
}

void TopicChanges::judge(const Context& context, const TopicChangeTold& told) {
    const BrokerView& leader = context.view.broker(told.broker);
    for (const TopicId topic : context.view.topics_named(told.topic_name)) {
        const std::int32_t shown = shown_partitions(context.view, leader, topic);
        // Another life of the name is not meant: a deleted one, or one that was created since.
        if ((shown > 0) != (told.partitions > 0)) continue;
        const Change change{topic, told.topic_name, told.partitions};
        if (leader.leadership && leader.leadership->acknowledgement_set)
            for (const Replica& member : *leader.leadership->acknowledgement_set)
                judge_member(context, leader, member, change, "of its acknowledgement set");
        const auto known = std::ranges::find(told_, topic, &Change::topic);
        if (known == told_.end())
            told_.push_back(change);
        else
            known->partitions = change.partitions == 0 ? 0 : std::max(known->partitions, change.partitions);
    }
}

void TopicChanges::judge(const Context& context, const BrokerView& broker,
                         const broker::InSyncSetProposed& proposed) const {
    if (!broker.leadership || !broker.leadership->committed_set) return;
    // A leader of the past knows nothing of what was told since.
    if (context.view.superseded_at(proposed.leader_epoch) != nullptr) return;
    const std::vector<Replica>& committed = *broker.leadership->committed_set;
    for (const Replica& member : proposed.members) {
        if (std::ranges::find(committed, member) != committed.end()) continue;
        for (const Change& change : told_) {
            // What the leader itself lacks, or shows again, is another matter.
            if (has_made(context.view, broker, change))
                judge_member(context, broker, member, change, "that it lets into the set");
        }
    }
}

void TopicChanges::judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving) const {
    // A static leader leads by command, whatever it missed.
    if (context.view.settings().preset == broker::Preset::kStatic) return;
    if (context.view.superseded_at(serving.leader_epoch) != nullptr) return;
    for (const Change& change : told_) {
        if (change.partitions > 0 || has_made(context.view, broker, change)) continue;
        context.log.report(InvariantId::kLeaderCompleteness, context.time_ns,
                           fmt::format("broker {} begins to serve under epoch {} and shows topic {} again, of whose "
                                       "deletion a client was told (F2)",
                                       broker.id.value, serving.leader_epoch.value, change.name));
    }
}

}  // namespace tidelock::checker
