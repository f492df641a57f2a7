// What the leader learns: roles, positions, lives and commits. Who joins or leaves because of it is in
// in_sync_membership.cc.
#include "protocol/replication/in_sync_set.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock::replication {
namespace {

// Lives of one broker remembered as over. A delayed message of an older one than these could only come after this many
// data losses of one broker within one leadership.
constexpr std::size_t kPastIncarnationsMax = 16;
constexpr Offset kUnknown{-1};
// Without a bound on lag there is nothing else to go by.
constexpr Duration kSilenceMax = milliseconds(10'000);

/// For how long a life that counts may say nothing before another one, taken for over, may be the present one.
Duration silence_max(const InSyncConfig& config) {
    // Who is in step may be silent for a whole parked fetch, which the second bound leaves time for.
    if (!config.isr_lag && !config.replica_lag_timeout) return kSilenceMax;
    return std::max(config.isr_lag.value_or(Duration(0)), config.replica_lag_timeout.value_or(Duration(0)));
}

}  // namespace

InSyncSet::InSyncSet(InSyncConfig config) : config_(std::move(config)) {
    for (const BrokerId broker : config_.assigned_replicas) {
        if (broker == config_.self.broker) continue;
        Follower follower;
        follower.broker = broker;
        followers_.push_back(std::move(follower));
    }
}

void InSyncSet::become_leader(LeaderEpoch leader_epoch, VersionedSet committed, std::vector<LeaderCopy> copies,
                              Instant now, InSyncEffects& effects) {
    std::sort(committed.members.begin(), committed.members.end());
    std::sort(copies.begin(), copies.end(),
              [](const LeaderCopy& a, const LeaderCopy& b) { return a.partition < b.partition; });
    is_leading_ = true;
    leader_epoch_ = leader_epoch;
    committed_ = std::move(committed);
    copies_ = std::move(copies);
    pending_.reset();
    acknowledgement_set_.clear();
    lagging_.clear();
    withheld_.clear();
    reported_in_step_ = -1;
    for (Follower& follower : followers_) {
        Follower fresh;
        fresh.broker = follower.broker;
        fresh.past_incarnations = std::move(follower.past_incarnations);  // a life that is over stays over
        fresh.caught_up_at = fresh.marked_at = fresh.heard_at = now;      // the bounds of I2 count from here
        // Whoever is gone has the grace from here on. Followers have nothing to say to each other: that one was not
        // heard since its connection ended says little.
        if (follower.disconnected_at) fresh.disconnected_at = now;
        fresh.copies.resize(copies_.size());
        if (config_.counts_incarnations) know_named_life(fresh);
        follower = std::move(fresh);
    }
    CHECK(is_in(committed_.members, config_.self));
    rebuild_acknowledgement_set(effects);
    report_under_replication(effects);
}

/// The life that the committed set names is known, heard in this epoch or not: another one ends it for good.
void InSyncSet::know_named_life(Follower& follower) const {
    const std::vector<Incarnation>& past = follower.past_incarnations;
    for (const Replica& member : committed_.members)
        if (member.broker == follower.broker && std::ranges::find(past, member.incarnation) == past.end())
            follower.incarnation = member.incarnation;
}

void InSyncSet::step_down() {
    is_leading_ = false;
    committed_ = {};
    pending_.reset();
    acknowledgement_set_.clear();
    lagging_.clear();
    withheld_.clear();
    copies_.clear();
    for (Follower& follower : followers_) follower.copies.clear();
}

void InSyncSet::on_follower_fetched(Replica replica, LeaderEpoch leader_epoch,
                                    std::span<const FollowerPosition> positions, Instant now, InSyncEffects& effects) {
    if (!is_leading_ || leader_epoch != leader_epoch_) return;  // I1: positions of other epochs count for nothing
    on_replica_seen(replica, now, effects);
    Follower* follower = find_follower(replica.broker);
    if (follower == nullptr || follower->incarnation != replica.incarnation)
        return;  // not assigned, or a life that is over
    follower->heard_at = now;
    record_positions(*follower, positions);
    update_caught_up(*follower, now);
    if (!is_in(committed_.members, replica)) {
        consider_expand(*follower, now, effects);
    } else if (is_in(lagging_, replica)) {
        refresh_lagging(now, effects);
    }
}

void InSyncSet::on_replica_seen(Replica replica, Instant now, InSyncEffects& effects) {
    Follower* follower = find_follower(replica.broker);
    if (!is_leading_ || follower == nullptr || replica.incarnation == Incarnation{}) return;
    const bool ends_another = begin_life(*follower, replica.incarnation, now);
    if (follower->incarnation == replica.incarnation) follower->has_spoken = true;
    if (ends_another) refresh_lagging(now, effects);
}

bool InSyncSet::on_disconnected(BrokerId broker, Instant now) {
    Follower* follower = find_follower(broker);
    if (follower == nullptr || follower->disconnected_at) return false;
    follower->disconnected_at = now;
    return true;
}

void InSyncSet::on_heard(BrokerId broker) {
    if (Follower* follower = find_follower(broker)) follower->disconnected_at.reset();
}

bool InSyncSet::is_anybody_disconnected() const {
    return std::ranges::any_of(followers_, [](const Follower& each) { return each.disconnected_at.has_value(); });
}

void InSyncSet::on_manifest_asked(Replica replica) {
    Follower* follower = find_follower(replica.broker);
    if (!is_leading_ || follower == nullptr || !config_.counts_incarnations) return;
    std::vector<Incarnation>& asking = follower->asking_incarnations;
    if (std::ranges::find(asking, replica.incarnation) != asking.end()) return;  // or its request comes once more
    if (asking.size() == kPastIncarnationsMax) asking.erase(asking.begin());
    asking.push_back(replica.incarnation);
}

bool InSyncSet::is_former_life(Replica replica) const {
    const Follower* follower = find_follower(replica.broker);
    // A life that has spoken was answered when it asked; what an older one asked may come late, and only then first.
    if (follower == nullptr || !follower->has_spoken || follower->incarnation == replica.incarnation) return false;
    const std::vector<Incarnation>& asking = follower->asking_incarnations;
    const auto own = std::ranges::find(asking, replica.incarnation);
    return own != asking.end() && std::find(own, asking.end(), follower->incarnation) != asking.end();
}

void InSyncSet::on_leader_log_changed(TopicPartition partition, Offset log_end_offset, Offset durable_end_offset) {
    const std::size_t index = index_of(partition);
    if (index == copies_.size()) return;
    copies_[index].log_end_offset = log_end_offset;
    copies_[index].durable_end_offset = durable_end_offset;
}

void InSyncSet::on_high_watermark_moved(TopicPartition partition, Offset high_watermark) {
    const std::size_t index = index_of(partition);
    if (index != copies_.size()) copies_[index].high_watermark = high_watermark;
}

void InSyncSet::on_partition_added(const LeaderCopy& copy) {
    if (!is_leading_) return;
    const auto at = std::lower_bound(
        copies_.begin(), copies_.end(), copy.partition,
        [](const LeaderCopy& existing, const TopicPartition& partition) { return existing.partition < partition; });
    if (at != copies_.end() && at->partition == copy.partition) return;
    const auto index = at - copies_.begin();
    copies_.insert(at, copy);
    for (Follower& follower : followers_) {
        // A follower must hold what the partition has now before it counts as caught up again.
        follower.copies.insert(follower.copies.begin() + index, FollowerCopy{kUnknown, copy.log_end_offset});
    }
}

void InSyncSet::on_partition_removed(TopicPartition partition) {
    const std::size_t index = index_of(partition);
    if (index == copies_.size()) return;
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(index));
    for (Follower& follower : followers_)
        follower.copies.erase(follower.copies.begin() + static_cast<std::ptrdiff_t>(index));
}

void InSyncSet::on_change_committed(LeaderEpoch leader_epoch, const VersionedSet& set, InSyncEffects& effects) {
    if (!is_leading_ || leader_epoch != leader_epoch_ || set.version <= committed_.version) return;  // I3
    committed_ = set;
    std::sort(committed_.members.begin(), committed_.members.end());
    // A commit of an earlier version than the one in flight would not decide it (KAFKA-12686).
    if (pending_ && pending_->set.version <= set.version) pending_.reset();
    const auto left = [this](const Replica& replica) { return !is_in(committed_.members, replica); };
    std::erase_if(lagging_, left);
    std::erase_if(withheld_, left);
    rebuild_acknowledgement_set(effects);
    report_under_replication(effects);
}

void InSyncSet::on_change_failed(LeaderEpoch leader_epoch, SyncStateSetEpoch version, InSyncEffects& effects) {
    if (!is_leading_ || leader_epoch != leader_epoch_ || !pending_ || pending_->set.version != version) return;
    pending_.reset();
    rebuild_acknowledgement_set(effects);
}

void InSyncSet::on_tick(Instant now, InSyncEffects& effects) {
    if (is_leading_) refresh_lagging(now, effects);
}

std::optional<Offset> InSyncSet::lowest_position(TopicPartition partition) const {
    const std::size_t index = index_of(partition);
    if (index == copies_.size()) return std::nullopt;
    Offset lowest = copies_[index].durable_end_offset;
    for (const Replica& replica : acknowledgement_set_) {
        if (replica.broker == config_.self.broker) continue;
        const Follower* follower = find_follower(replica.broker);
        if (follower == nullptr || !is_same_life(*follower, replica)) return std::nullopt;
        const Offset position = follower->copies[index].durable_end_offset;
        if (position == kUnknown) return std::nullopt;
        lowest = std::min(lowest, position);
    }
    return lowest;
}

std::optional<Offset> InSyncSet::position(Replica replica, TopicPartition partition) const {
    const std::size_t index = index_of(partition);
    if (index == copies_.size()) return std::nullopt;
    if (replica.broker == config_.self.broker) return copies_[index].durable_end_offset;
    const Follower* follower = find_follower(replica.broker);
    if (follower == nullptr || !is_same_life(*follower, replica)) return std::nullopt;
    const Offset position = follower->copies[index].durable_end_offset;
    return position == kUnknown ? std::nullopt : std::optional(position);
}

std::int32_t InSyncSet::in_step_count() const {
    return static_cast<std::int32_t>(committed_.members.size() - lagging_.size());
}

bool InSyncSet::is_under_replicated() const {
    return is_leading_ && in_step_count() < static_cast<std::int32_t>(config_.assigned_replicas.size());
}

std::size_t InSyncSet::index_of(TopicPartition partition) const {
    const auto at =
        std::lower_bound(copies_.begin(), copies_.end(), partition,
                         [](const LeaderCopy& copy, const TopicPartition& wanted) { return copy.partition < wanted; });
    if (at == copies_.end() || at->partition != partition) return copies_.size();
    return static_cast<std::size_t>(at - copies_.begin());
}

const InSyncSet::Follower* InSyncSet::find_follower(BrokerId broker) const {
    for (const Follower& follower : followers_)
        if (follower.broker == broker) return &follower;
    return nullptr;
}

InSyncSet::Follower* InSyncSet::find_follower(BrokerId broker) {
    return const_cast<Follower*>(std::as_const(*this).find_follower(broker));
}

bool InSyncSet::is_same_life(const Follower& follower, Replica replica) const {
    return follower.incarnation != Incarnation{} &&
           (!config_.counts_incarnations || follower.incarnation == replica.incarnation);
}

bool InSyncSet::is_in(const std::vector<Replica>& set, Replica replica) const {
    return std::any_of(set.begin(), set.end(), [&](const Replica& member) {
        return member.broker == replica.broker &&
               (!config_.counts_incarnations || member.incarnation == replica.incarnation);
    });
}

/// Takes note of a life. True: it ends another one, known from before or named by the committed set.
bool InSyncSet::begin_life(Follower& follower, Incarnation incarnation, Instant now) {
    if (follower.incarnation == incarnation || is_former_life({follower.broker, incarnation})) return false;
    std::vector<Incarnation>& past = follower.past_incarnations;
    if (const auto known = std::find(past.begin(), past.end(), incarnation);
        config_.counts_incarnations && known != past.end()) {
        // Lives have no order. If a word of a former one came late, and only then first, it is the present one that
        // was taken for over: it goes on speaking when the other has fallen silent (I2).
        if (since(follower.heard_at, now) <= silence_max(config_)) return false;
        past.erase(known);
    }
    const bool is_another = follower.incarnation != Incarnation{};
    if (is_another) {
        if (past.size() == kPastIncarnationsMax) past.erase(past.begin());
        past.push_back(follower.incarnation);
    }
    follower.incarnation = incarnation;
    if (is_another && config_.counts_incarnations) {
        for (FollowerCopy& copy : follower.copies)
            copy.durable_end_offset = kUnknown;  // another life's positions (I10)
        follower.has_fetched = false;
        follower.has_spoken = false;
        follower.has_caught_up = false;
        follower.waits_for_epoch_start_reported = false;
        follower.heard_at = now;
    }
    return is_another || std::any_of(committed_.members.begin(), committed_.members.end(), [&](const Replica& member) {
               return member.broker == follower.broker && member.incarnation != incarnation;
           });
}

void InSyncSet::record_positions(Follower& follower, std::span<const FollowerPosition> positions) {
    for (const FollowerPosition& position : positions) {
        const std::size_t index = index_of(position.partition);
        if (index == copies_.size()) continue;
        // A position past the leader's own end cannot be of this log (RocketMQ#3015).
        if (position.durable_end_offset > copies_[index].log_end_offset) continue;
        follower.copies[index].durable_end_offset = position.durable_end_offset;
    }
}

void InSyncSet::update_caught_up(Follower& follower, Instant now) {
    bool reached_marks = follower.has_fetched;
    for (const FollowerCopy& copy : follower.copies)
        reached_marks = reached_marks && copy.durable_end_offset != kUnknown && copy.durable_end_offset >= copy.mark;
    const bool is_at_end = is_at_log_end(follower);
    if (is_at_end || reached_marks) {
        follower.caught_up_at = is_at_end ? now : follower.marked_at;
        follower.has_caught_up = true;
    }
    if (is_at_end || reached_marks || !follower.has_fetched) {
        for (std::size_t i = 0; i < copies_.size(); ++i) follower.copies[i].mark = copies_[i].log_end_offset;
        follower.marked_at = now;
        follower.has_fetched = true;
    }
}

bool InSyncSet::is_at_log_end(const Follower& follower) const {
    for (std::size_t i = 0; i < copies_.size(); ++i)
        if (follower.copies[i].durable_end_offset != copies_[i].log_end_offset) return false;
    return true;
}

void InSyncSet::add_to(Digest& digest) const {
    const auto add_set = [&digest](const std::vector<Replica>& set) {
        digest.add(set.size());
        for (const Replica& replica : set) {
            digest.add(replica.broker);
            digest.add(replica.incarnation);
        }
    };
    digest.add(is_leading_);
    digest.add(leader_epoch_);
    digest.add(committed_.version);
    add_set(committed_.members);
    digest.add(pending_.has_value());
    if (pending_) add_set(pending_->set.members);
    add_set(acknowledgement_set_);
    add_set(lagging_);
    digest.add(copies_.size());
    for (const LeaderCopy& copy : copies_) {
        digest.add(copy.partition.topic);
        digest.add(copy.partition.partition);
        digest.add(copy.log_end_offset);
        digest.add(copy.durable_end_offset);
        digest.add(copy.high_watermark);
        digest.add(copy.epoch_start_offset);
    }
    for (const Follower& follower : followers_) {
        digest.add(follower.incarnation);
        digest.add(follower.caught_up_at);
        digest.add(follower.marked_at);
        digest.add(follower.heard_at);
        digest.add(follower.has_caught_up);
        digest.add(follower.has_fetched);
        for (const FollowerCopy& copy : follower.copies) {
            digest.add(copy.durable_end_offset);
            digest.add(copy.mark);
        }
    }
}

void InSyncSet::check_invariants() const {
    if (!is_leading_) return;
    CHECK(is_in(committed_.members, config_.self));
    CHECK(std::is_sorted(committed_.members.begin(), committed_.members.end()));
    CHECK(std::is_sorted(acknowledgement_set_.begin(), acknowledgement_set_.end()));
    for (std::size_t i = 1; i < committed_.members.size(); ++i)
        CHECK(committed_.members[i - 1].broker < committed_.members[i].broker);
    CHECK(std::includes(acknowledgement_set_.begin(), acknowledgement_set_.end(), committed_.members.begin(),
                        committed_.members.end()));
    if (pending_ && pending_->kind != ChangeKind::kShrink) CHECK(is_in(acknowledgement_set_, pending_->subject));
    if (pending_) CHECK(pending_->set.version > committed_.version);
    for (const Replica& replica : lagging_)
        CHECK(is_in(committed_.members, replica) && replica.broker != config_.self.broker);
    for (const Follower& follower : followers_) CHECK(follower.copies.size() == copies_.size());
}

}  // namespace tidelock::replication
