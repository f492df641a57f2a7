#include "checker/cluster_view.h"

#include <algorithm>
#include <utility>

#include "protocol/clients/offsets.h"
#include "protocol/clients/producers.h"

namespace tidelock::checker {
namespace {

const CopyView kNoCopy{};

/// Raft's state says nothing about records: every other file that is not one partition's does.
bool is_shared_by_copies(const std::string& file) {
    return !file.starts_with("raft.");
}

bool is_internal(const PartitionView& partition) {
    return partition.name.starts_with("__");
}

void shorten(StablePrefix& prefix, const BatchTable& table, Offset from) {
    prefix.batches.cut_tail(table, from);
    prefix.end = std::min(prefix.end, from);
}

}  // namespace

std::int32_t majority_of(const Settings& settings) {
    return static_cast<std::int32_t>(settings.members.size() / 2 + 1);
}

std::int32_t destroyed_copies_tolerated(const Settings& settings) {
    return std::max(0, std::min(settings.min_insync_replicas, majority_of(settings)) - 1);
}

void LostRange::add_below(Offset end) {
    below = empty() ? end : std::max(below, end);
    from = Offset(0);
}

void LostRange::get_back(Offset end) {
    from = std::max(from, end);
}

ClusterView::ClusterView(Settings settings) : settings_(std::move(settings)) {
    for (const BrokerId member : settings_.members) {
        BrokerView broker;
        broker.id = member;
        brokers_.push_back(std::move(broker));
    }
}

BrokerView& ClusterView::broker_of(BrokerId id) {
    const auto at = std::lower_bound(brokers_.begin(), brokers_.end(), id,
                                     [](const BrokerView& broker, BrokerId wanted) { return broker.id < wanted; });
    if (at != brokers_.end() && at->id == id) return *at;
    BrokerView broker;
    broker.id = id;
    return *brokers_.insert(at, std::move(broker));
}

const BrokerView& ClusterView::broker(BrokerId id) const {
    static const BrokerView kNoBroker{};
    const auto at = std::lower_bound(brokers_.begin(), brokers_.end(), id,
                                     [](const BrokerView& broker, BrokerId wanted) { return broker.id < wanted; });
    return at != brokers_.end() && at->id == id ? *at : kNoBroker;
}

std::optional<PartitionNumber> ClusterView::find(const TopicPartition& partition) const {
    if (last_found_ && last_found_->first == partition) return last_found_->second;
    const auto at = numbers_.find(partition);
    if (at == numbers_.end()) return std::nullopt;
    last_found_.emplace(partition, PartitionNumber(at->second));
    return last_found_->second;
}

PartitionNumber ClusterView::number_of(const TopicPartition& partition) {
    if (const std::optional<PartitionNumber> known = find(partition)) return *known;
    const PartitionNumber number(static_cast<std::uint32_t>(partitions_.size()));
    PartitionView view;
    view.partition = partition;
    view.name = name_of(partition);
    for (const TopicView& topic : topics_) {
        if (topic.topic == partition.topic) view.may_vanish = topic.deletion_count > 0;
    }
    partitions_.push_back(std::move(view));
    numbers_.emplace(partition, number.value);
    return number;
}

CopyView& ClusterView::copy_of(BrokerView& broker, PartitionNumber number) {
    if (broker.copies.size() <= number.value) broker.copies.resize(number.value + 1);
    return broker.copies[number.value];
}

const CopyView& ClusterView::copy(const BrokerView& broker, PartitionNumber number) const {
    return number.value < broker.copies.size() ? broker.copies[number.value] : kNoCopy;
}

std::string ClusterView::name_of(const TopicPartition& partition) const {
    std::string name = "topic " + std::to_string(partition.topic.value);
    for (const TopicView& topic : topics_) {
        if (topic.topic == partition.topic && !topic.name.empty()) name = topic.name;
    }
    return name + "-" + std::to_string(partition.partition.value);
}

std::string ClusterView::name_of(ClientTopic topic) const {
    const auto known = client_topics_.find(topic);
    return known == client_topics_.end() ? std::string() : known->second;
}

bool ClusterView::holds(const CopyView& copy, const PartitionView& partition, BatchNumber batch) const {
    if (!copy.exists || batch == kNoBatch) return false;
    return copy.batches.holding(partition.table, partition.table.summary(batch).base_offset) == batch ||
           copy.batches.holding(partition.table, partition.table.summary(batch).last_offset) == batch;
}

bool ClusterView::holds_durably(const CopyView& copy, const PartitionView& partition, BatchNumber batch) const {
    if (copy.damaged || !holds(copy, partition, batch)) return false;
    if (!settings_.durable_positions) return true;
    return copy.durable_end_offset > partition.table.summary(batch).last_offset;
}

bool ClusterView::has_lost(const CopyView& copy, Offset offset) {
    return copy.destroyed.contains(offset) || copy.gave_up.contains(offset);
}

bool ClusterView::once_held_as(const Replica& member, const CopyView& copy, Offset offset) const {
    const bool is_former = member.incarnation != broker(member.broker).data_incarnation;
    if (is_former) return copy.once_held_below > offset;
    return member.incarnation == copy.lost_under && has_lost(copy, offset);
}

bool ClusterView::has_dropped_as(const Replica& member, const CopyView& copy, Offset offset,
                                 const BrokerView& leader) const {
    const bool is_over = leader.leadership && superseded_at(leader.leadership->leader_epoch) != nullptr;
    return is_over && !copy.exists && copy.dropped_under == member.incarnation && copy.dropped_below > offset;
}

bool ClusterView::has_retained_past(const CopyView& copy, const PartitionView& partition, BatchNumber batch,
                                    const BrokerView& leader) const {
    const Offset last_offset = partition.table.summary(batch).last_offset;
    const bool is_over = leader.leadership && superseded_at(leader.leadership->leader_epoch) != nullptr;
    const bool is_gone =
        copy.exists && last_offset < copy.log_start_offset && copy.log_start_offset <= partition.legal_start;
    const auto is_another = [&](const StablePrefix& prefix) {
        const BatchNumber there = prefix.batches.holding(partition.table, last_offset);
        return there != kNoBatch && there != batch;
    };
    return is_over && is_gone && !is_another(partition.confirmed) && !is_another(partition.served);
}

const ClaimMoment* ClusterView::superseded_at(LeaderEpoch leader_epoch) const {
    const auto at =
        std::upper_bound(claim_moments_.begin(), claim_moments_.end(), leader_epoch,
                         [](LeaderEpoch wanted, const ClaimMoment& moment) { return wanted < moment.leader_epoch; });
    return at == claim_moments_.end() ? nullptr : &*at;
}

void ClusterView::take_claim(LeaderEpoch leader_epoch, BrokerId leader) {
    if (leader_epoch <= newest_claim_.leader_epoch) return;
    newest_claim_ = {leader_epoch, leader};
    ClaimMoment& moment = claim_moments_.emplace_back(ClaimMoment{leader_epoch, {}});
    for (const PartitionView& partition : partitions_)
        moment.ends.push_back(ClaimMoment::Ends{partition.confirmed.end, partition.served.end});
}

void ClusterView::begin_life(BrokerId id, std::uint32_t life) {
    BrokerView& broker = broker_of(id);
    broker.life = life;
    broker.running = true;
    broker.started = false;
    broker.journal_damage.clear();
    broker.leadership.reset();
    broker.following.reset();
    for (CopyView& copy : broker.copies) {
        copy.recovered = copy.is_told = false;
        copy.high_watermark = Offset(0);
        copy.leader_epoch.reset();
        copy.told_under.reset();
    }
}

void ClusterView::destroy(CopyView& copy, Incarnation data_incarnation) {
    lose(copy, data_incarnation);
    CopyView lost;
    lost.destroyed = copy.destroyed;
    lost.gave_up = copy.gave_up;
    lost.once_held_below = copy.once_held_below;
    lost.lost_under = copy.lost_under;
    lost.is_entry_destroyed = copy.exists || copy.is_entry_destroyed;
    copy = std::move(lost);
}

void ClusterView::lose(CopyView& copy, Incarnation data_incarnation) {
    copy.destroyed.add_below(copy.durable_end_offset);
    copy.once_held_below = std::max(copy.once_held_below, copy.durable_end_offset);
    copy.lost_under = data_incarnation;
}

bool ClusterView::follows(const CopyView& copy, const PartitionView& partition, const StablePrefix& prefix) const {
    const Offset end = std::min(prefix.end, copy.durable_end_offset);
    if (end <= std::max(copy.log_start_offset, partition.legal_start)) return true;
    const BatchNumber last = prefix.batches.holding(partition.table, end - 1);
    return last == kNoBatch || holds(copy, partition, last);
}

void ClusterView::get_back(CopyView& copy, const PartitionView& partition) const {
    if (copy.destroyed.empty() && copy.gave_up.empty()) {
        copy.lost_under = Incarnation(0);
        return;
    }
    // What was lost for good is still to be accounted for when a leader opens without it.
    if (!follows(copy, partition, partition.confirmed) || !follows(copy, partition, partition.served)) return;
    copy.destroyed.get_back(copy.durable_end_offset);
    copy.gave_up.get_back(copy.durable_end_offset);
    if (copy.destroyed.empty() && copy.gave_up.empty()) copy.lost_under = Incarnation(0);
}

void ClusterView::destroy_disk(BrokerView& broker) {
    broker.disk_fault_pending = broker.shared_fault_pending = broker.raft_fault_pending = false;
    broker.is_emptied = true;
    for (CopyView& copy : broker.copies) destroy(copy, broker.data_incarnation);
}

void ClusterView::damage_disk(const DiskDamaged& fact) {
    BrokerView& broker = broker_of(fact.broker);
    broker.disk_fault_pending = true;
    if (!fact.partition && !is_shared_by_copies(fact.file)) {
        broker.raft_fault_pending = true;
        return;
    }
    if (!fact.partition) broker.shared_fault_pending = true;
    for (std::size_t at = 0; at < broker.copies.size(); ++at) {
        if (fact.partition && partitions_[at].partition != *fact.partition) continue;
        // What the damage hit is not known before the broker reads it: the log stays in the view until then.
        CopyView& copy = broker.copies[at];
        lose(copy, broker.data_incarnation);
        if (!fact.partition) continue;
        copy.fault_pending = true;
        copy.reset_pending = false;  // what is copied anew already is not whole again when it is durable
    }
}

/// What the broker has found damaged, or has not found at all, is excused until it is copied anew; what a copy that is
/// whole holds was not lost.
void ClusterView::settle_disk(BrokerView& broker) {
    for (std::size_t at = 0; at < broker.copies.size(); ++at) {
        CopyView& copy = broker.copies[at];
        const bool was_hit = copy.fault_pending || broker.shared_fault_pending;
        const bool is_there = copy.recovered || copy.durable_end_offset <= copy.log_start_offset;
        const bool is_whole = is_there && !copy.damaged && !copy.reset_pending;
        copy.fault_pending = was_hit && copy.exists && !is_whole;
        if (is_whole) get_back(copy, partitions_[at]);
    }
    broker.disk_fault_pending = broker.shared_fault_pending = broker.raft_fault_pending = false;
}

void ClusterView::count_deletion(TopicView& topic, std::int32_t change) {
    topic.deletion_count += change;
    for (PartitionView& partition : partitions_) {
        if (partition.partition.topic == topic.topic) partition.may_vanish = topic.deletion_count > 0;
    }
}

void ClusterView::ask_topic_deletion(const std::string& topic_name) {
    // The creation may still be under way: then it is the next topic of that name that may vanish.
    TopicDeletion& deletion = deletions_.emplace_back(TopicDeletion{topic_name, {}, true});
    for (TopicView& topic : topics_) {
        if (topic.name != topic_name) continue;
        if (topic.deletion_count == 0) deletion.takes_next = false;
        deletion.may_take.push_back(topic.topic);
        count_deletion(topic, 1);
    }
}

void ClusterView::end_topic_deletion(const std::string& topic_name, Outcome outcome) {
    const auto deletion = std::ranges::find_if(
        deletions_, [&](const TopicDeletion& each) { return each.topic_name == topic_name && !each.has_ended; });
    if (deletion == deletions_.end()) return;
    deletion->has_ended = true;
    for (TopicView& topic : topics_) {
        if (std::ranges::find(deletion->may_take, topic.topic) == deletion->may_take.end()) continue;
        if (outcome == Outcome::kFailed) count_deletion(topic, -1);
        if (outcome == Outcome::kOk) topic.is_deleted = true;
    }
    if (outcome != Outcome::kUnknown || !deletion->takes_next) deletions_.erase(deletion);
}

std::vector<TopicId> ClusterView::topics_named(std::string_view name) const {
    std::vector<TopicId> named;
    for (const TopicView& topic : topics_)
        if (topic.name == name) named.push_back(topic.topic);
    return named;
}

ClusterView::TopicView& ClusterView::topic_of(TopicId id, const std::string& name) {
    for (TopicView& topic : topics_) {
        if (topic.topic == id) return topic;
    }
    TopicView& topic = topics_.emplace_back(TopicView{id, name});
    // A broker may have recovered its logs before anybody told what they are called.
    for (PartitionView& partition : partitions_) {
        if (partition.partition.topic == id) partition.name = name_of(partition.partition);
    }
    const auto deletion = std::ranges::find_if(
        deletions_, [&](const TopicDeletion& each) { return each.topic_name == name && each.takes_next; });
    if (deletion == deletions_.end()) return topic;
    count_deletion(topic, 1);
    deletion->takes_next = false;
    deletion->may_take.push_back(id);
    if (deletion->has_ended) deletions_.erase(deletion);
    return topic;
}

void ClusterView::create_partitions(BrokerView& broker, TopicId topic, std::int32_t partitions) {
    for (std::int32_t index = 0; index < partitions; ++index) {
        // A topic told again at boot changes nothing; after a lost disk the copies are new and empty.
        CopyView& copy = copy_of(broker, number_of(TopicPartition{topic, PartitionIndex(index)}));
        copy.exists = copy.is_told = true;
    }
}

void ClusterView::accept_confirmed_loss(PartitionNumber number, Offset from) {
    PartitionView& partition = partitions_[number.value];
    shorten(partition.confirmed, partition.table, from);
    ++partition.confirmed_cuts;
    for (ClaimMoment& moment : claim_moments_) {
        if (number.value < moment.ends.size())
            moment.ends[number.value].confirmed = std::min(moment.ends[number.value].confirmed, from);
    }
}

void ClusterView::accept_served_loss(PartitionNumber number, Offset from) {
    shorten(partitions_[number.value].served, partitions_[number.value].table, from);
    for (ClaimMoment& moment : claim_moments_) {
        if (number.value < moment.ends.size())
            moment.ends[number.value].served = std::min(moment.ends[number.value].served, from);
    }
}

void ClusterView::note_excused_loss(PartitionNumber number, const BrokerView& leader) {
    has_excused_ = true;
    partitions_[number.value].has_excused_loss = true;
    if (!copy(leader, number).exists) partitions_[number.value].has_excused_absence = true;
}

/// Brokers from which a disk fault took the record at `offset`, or the very partition, and which have not got it back.
std::int32_t ClusterView::destroyed_entry_count(PartitionNumber number, Offset offset) const {
    return static_cast<std::int32_t>(std::ranges::count_if(brokers_, [&](const BrokerView& broker) {
        const CopyView& each = copy(broker, number);
        const BatchNumber held = each.batches.holding(partition(number).table, offset);
        const bool has_lost_record = each.destroyed.contains(offset) && !holds_durably(each, partition(number), held);
        return has_lost_record || (each.is_entry_destroyed && !each.exists);
    }));
}

void ClusterView::note_excused_gaps(const BrokerView& leader) {
    for (std::uint32_t at = 0; at < partitions_.size(); ++at) {
        PartitionView& each = partitions_[at];
        const CopyView& held = copy(leader, PartitionNumber(at));
        const bool is_short = is_internal(each) && held.exists &&
                              std::min(held.epoch_start_offset, held.log_end_offset) < each.high_watermark_max;
        if (each.may_vanish || (held.exists && !is_short)) continue;
        const Offset from = held.exists ? std::min(held.epoch_start_offset, held.log_end_offset) : each.legal_start;
        if (destroyed_entry_count(PartitionNumber(at), from) > destroyed_copies_tolerated(settings_))
            note_excused_loss(PartitionNumber(at), leader);
    }
}

std::vector<ClientPartition> ClusterView::client_names_of(PartitionNumber number) const {
    std::vector<ClientPartition> names;
    const TopicPartition& partition = this->partition(number).partition;
    const auto topic = std::ranges::find(topics_, partition.topic, &TopicView::topic);
    if (topic == topics_.end()) return names;
    for (const auto& [client_topic, name] : client_topics_)
        if (name == topic->name) names.push_back(ClientPartition{client_topic, partition.partition});
    return names;
}

ExcusedLosses ClusterView::excused_losses() const {
    ExcusedLosses losses;
    if (!has_excused_) return losses;
    for (const PartitionView& each : partitions_) {
        const auto topic = std::ranges::find(topics_, each.partition.topic, &TopicView::topic);
        if (!each.has_excused_loss || topic == topics_.end() || topic->is_deleted) continue;
        if (topic->name == clients::kConsumerOffsetsTopic) losses.offsets = true;
        if (topic->name == clients::kProducerIdsTopic) losses.producers = true;
        for (const auto& [number, name] : client_topics_) {
            if (name != topic->name) continue;
            losses.partitions.push_back(ClientPartition{number, each.partition.partition});
            if (each.has_excused_absence) losses.topics.push_back(number);
        }
    }
    return losses;
}

void ClusterView::on_fact(const HostFact& fact) {
    struct Visitor {
        ClusterView& view;
        void operator()(const BrokerBooted& f) const { view.begin_life(f.broker, f.life); }
        void operator()(const BrokerKilled& f) const {
            view.broker_of(f.broker).running = false;
            view.broker_of(f.broker).leadership.reset();
        }
        void operator()(const DiskEmptied& f) const { view.destroy_disk(view.broker_of(f.broker)); }
        void operator()(const OperatorRejoinedEmpty& f) const { view.destroy_disk(view.broker_of(f.broker)); }
        void operator()(const DiskDamaged& f) const { view.damage_disk(f); }
        void operator()(const DiskSound& f) const { view.settle_disk(view.broker_of(f.broker)); }
        void operator()(const ClientTopicNamed& f) const { view.client_topics_.insert_or_assign(f.topic, f.name); }
        void operator()(const TopicDeletionAsked& f) const { view.ask_topic_deletion(f.topic_name); }
        void operator()(const RecordDeletionAsked& f) const {
            for (PartitionView& partition : view.partitions_) {
                const bool is_meant = partition.partition.partition == f.partition &&
                                      partition.name == f.topic_name + "-" + std::to_string(f.partition.value);
                if (is_meant) partition.deletion_asked_below = std::max(partition.deletion_asked_below, f.before);
            }
        }
        void operator()(const HealBegan&) const {}
        void operator()(const RequestOverdue&) const {}
        void operator()(const TopicChangeTold&) const {}
        void operator()(const PeerAnswered&) const {}
        void operator()(const LeaderActed&) const {}
        void operator()(const PromiseNotDurable&) const {}
        void operator()(const MatchNotHeld&) const {}
        void operator()(const OpenedBeforeDeletion&) const {}
        void operator()(const PositionNotHeld&) const {}
        void operator()(const ClaimNotMade&) const {}
        void operator()(const GroupFormationTold&) const {}
        void operator()(const DamageForgotten&) const {}
        void operator()(const JournalFoundBad& f) const { view.broker_of(f.broker).journal_damage = f.what; }
    };
    std::visit(Visitor{*this}, fact);
}

}  // namespace tidelock::checker
