// Who is to join or leave the set (I2, I4, I5, I10, I11), and what is proposed for it.
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/replication/in_sync_set.h"

namespace tidelock::replication {
namespace {

constexpr Offset kUnknown{-1};

}  // namespace

bool InSyncSet::is_within_bounds(const Follower& follower, Instant now) const {
    // A process that dies takes its connections with it. One that is cut off for a moment comes back at once.
    const bool is_gone = config_.disconnect_grace && follower.disconnected_at &&
                         since(*follower.disconnected_at, now) >= *config_.disconnect_grace;
    if (is_gone) return false;
    if (config_.isr_lag && !is_at_log_end(follower) && since(follower.caught_up_at, now) > *config_.isr_lag)
        return false;
    if (config_.replica_lag_timeout && since(follower.heard_at, now) > *config_.replica_lag_timeout) return false;
    if (!config_.replica_lag_records_max) return true;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
        // A member that has not fetched in this epoch yet holds what is below the high watermark.
        const Offset known = follower.copies[i].durable_end_offset;
        const Offset position = known == kUnknown ? copies_[i].high_watermark : known;
        if (copies_[i].log_end_offset - position > *config_.replica_lag_records_max) return false;
    }
    return true;
}

bool InSyncSet::has_reached(const Follower& follower, bool epoch_start_counts) const {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
        const LeaderCopy& copy = copies_[i];
        const Offset needed =
            epoch_start_counts ? std::max(copy.high_watermark, copy.epoch_start_offset) : copy.high_watermark;
        const Offset position = follower.copies[i].durable_end_offset;
        if (position == kUnknown || position < needed) return false;
    }
    return true;
}

bool InSyncSet::may_expand(Follower& follower, Instant now, InSyncEffects& effects) const {
    switch (config_.expand_rule) {
        case ExpandRule::kHighWatermarkOnly:
            return has_reached(follower, false);
        case ExpandRule::kLagBound:
            return std::none_of(follower.copies.begin(), follower.copies.end(),
                                [](const FollowerCopy& copy) { return copy.durable_end_offset == kUnknown; }) &&
                   is_within_bounds(follower, now);
        case ExpandRule::kEpochStartAndHighWatermark:
            break;
    }
    if (!has_reached(follower, false)) return false;
    if (!has_reached(follower, true)) {
        if (!follower.waits_for_epoch_start_reported)
            effects.push_back(ExpandWaitsForEpochStart{Replica{follower.broker, follower.incarnation}});
        follower.waits_for_epoch_start_reported = true;
        return false;
    }
    // One that would be removed again at the next tick is not let in: at a high watermark that the set itself holds
    // back, it would join and leave for ever (KAFKA-19996).
    return (!config_.isr_lag || follower.has_caught_up) && is_within_bounds(follower, now);
}

void InSyncSet::consider_expand(Follower& follower, Instant now, InSyncEffects& effects) {
    if (pending_ || !may_expand(follower, now, effects)) return;  // I3: one change in flight
    const bool holds_another_life =
        std::any_of(committed_.members.begin(), committed_.members.end(),
                    [&](const Replica& member) { return member.broker == follower.broker; });
    propose(holds_another_life ? ChangeKind::kReplace : ChangeKind::kExpand,
            Replica{follower.broker, follower.incarnation}, effects);
}

bool InSyncSet::is_lagging(Replica member, Instant now) const {
    if (member.broker == config_.self.broker) return false;
    const Follower* follower = find_follower(member.broker);
    if (follower == nullptr) return true;  // no longer assigned
    if (config_.counts_incarnations) {
        const std::vector<Incarnation>& past = follower->past_incarnations;
        if (std::find(past.begin(), past.end(), member.incarnation) != past.end()) return true;
        if (follower->incarnation != Incarnation{} && follower->incarnation != member.incarnation) return true;
    }
    return !is_within_bounds(*follower, now);
}

bool InSyncSet::is_alive_as(Replica member) const {
    if (member.broker == config_.self.broker) return true;
    const Follower* follower = find_follower(member.broker);
    return follower != nullptr && (follower->incarnation == Incarnation{} || is_same_life(*follower, member));
}

void InSyncSet::refresh_lagging(Instant now, InSyncEffects& effects) {
    std::vector<Replica> lagging;
    for (const Replica& member : committed_.members)
        if (is_lagging(member, now)) lagging.push_back(member);
    if (lagging != lagging_) {
        lagging_ = std::move(lagging);
        std::erase_if(withheld_, [this](const Replica& member) { return !is_in(lagging_, member); });
        report_under_replication(effects);
    }
    if (!pending_ && !lagging_.empty()) consider_shrink(effects);
}

void InSyncSet::consider_shrink(InSyncEffects& effects) {
    const auto is_over = [this](const Replica& member) { return !is_alive_as(member); };
    const auto size_after = static_cast<std::int32_t>(committed_.members.size()) - 1;
    if (config_.keeps_minimum && size_after < config_.min_insync_replicas) {  // I11
        for (const Replica& member : lagging_) {
            if (is_in(withheld_, member)) continue;
            withheld_.push_back(member);
            effects.push_back(ShrinkWithheld{member});
        }
        return;
    }
    const auto over = std::find_if(lagging_.begin(), lagging_.end(), is_over);
    propose(ChangeKind::kShrink, over != lagging_.end() ? *over : lagging_.front(), effects);
}

void InSyncSet::propose(ChangeKind kind, Replica subject, InSyncEffects& effects) {
    CHECK(!pending_);
    CHECK(subject.broker != config_.self.broker);
    ProposeChange change{
        leader_epoch_, kind, {SyncStateSetEpoch(committed_.version.value + 1), committed_.members}, subject};
    std::vector<Replica>& members = change.set.members;
    std::erase_if(members, [&](const Replica& member) { return member.broker == subject.broker; });
    if (kind != ChangeKind::kShrink) {
        members.push_back(subject);
        std::sort(members.begin(), members.end());
    }
    pending_ = change;
    rebuild_acknowledgement_set(effects);  // I4: waited for from before the proposal
    effects.push_back(std::move(change));
}

void InSyncSet::rebuild_acknowledgement_set(InSyncEffects& effects) {
    std::vector<Replica> set = committed_.members;
    if (pending_ && pending_->kind != ChangeKind::kShrink) {
        set.push_back(pending_->subject);
        std::sort(set.begin(), set.end());
    }
    if (set == acknowledgement_set_) return;
    acknowledgement_set_ = std::move(set);
    effects.push_back(AcknowledgementSetChanged{});
}

void InSyncSet::report_under_replication(InSyncEffects& effects) {
    const std::int32_t in_step = in_step_count();
    if (in_step == reported_in_step_) return;
    reported_in_step_ = in_step;
    effects.push_back(UnderReplicationChanged{is_under_replicated(), in_step,
                                              static_cast<std::int32_t>(config_.assigned_replicas.size())});
}

}  // namespace tidelock::replication
