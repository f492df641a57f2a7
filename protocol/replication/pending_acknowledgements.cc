#include "protocol/replication/pending_acknowledgements.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock::replication {
namespace {

/// What a reject means to a producer whose record is appended already.
WaiterOutcome outcome_of(RejectReason reason) {
    if (reason == RejectReason::kNotEnoughInSync) return NotEnoughInSync{};
    return OutcomeUnknown{};
}

}  // namespace

PendingAcknowledgements::Lane& PendingAcknowledgements::lane_of(const AckPolicy& policy) {
    for (Lane& lane : lanes_)
        if (lane.policy == policy) return lane;
    lanes_.push_back(Lane{policy, 0, {}});
    return lanes_.back();
}

/// Drops the finished front once it is the larger part, so that each waiter is moved about once.
void PendingAcknowledgements::compact(Lane& lane) {
    if (lane.first * 2 < lane.waiters.size()) return;
    lane.waiters.erase(lane.waiters.begin(), lane.waiters.begin() + static_cast<std::ptrdiff_t>(lane.first));
    lane.first = 0;
}

void PendingAcknowledgements::add(const Waiter& waiter, const AckPolicy& policy, const WriteAuthority& authority) {
    CHECK(!is_full());
    CHECK(is_empty() || authority == authority_);
    authority_ = authority;
    Lane& lane = lane_of(policy);
    // Appends come in order; only a duplicate's waiter looks back.
    auto at = lane.waiters.end();
    const auto live = lane.waiters.begin() + static_cast<std::ptrdiff_t>(lane.first);
    while (at != live && std::prev(at)->required_end_offset > waiter.required_end_offset) --at;
    lane.waiters.insert(at, waiter);
    earliest_deadline_ = is_empty() ? waiter.deadline : std::min(earliest_deadline_, waiter.deadline);
    ++size_;
}

void PendingAcknowledgements::resolve(Observation observation, std::vector<ResolvedWaiter>& resolved) {
    observation.expected = authority_;
    for (Lane& lane : lanes_) {
        while (lane.first < lane.waiters.size()) {
            const Waiter& waiter = lane.waiters[lane.first];
            observation.required_end_offset = waiter.required_end_offset;
            const Decision decision = decide_replication(observation, lane.policy);
            if (std::holds_alternative<Wait>(decision)) break;  // those behind it ask for more
            if (const auto* acknowledged = std::get_if<ReplicationAcknowledgement>(&decision)) {
                resolved.push_back({waiter.id, *acknowledged});
            } else {
                resolved.push_back({waiter.id, outcome_of(std::get<Reject>(decision).reason)});
            }
            ++lane.first;
            --size_;
        }
        compact(lane);
    }
}

void PendingAcknowledgements::expire(Instant now, std::vector<ResolvedWaiter>& resolved) {
    if (is_empty() || earliest_deadline_ > now) return;
    std::optional<Instant> earliest;
    for (Lane& lane : lanes_) {
        const auto live = lane.waiters.begin() + static_cast<std::ptrdiff_t>(lane.first);
        const auto is_over = [&](const Waiter& waiter) {
            if (waiter.deadline > now) {
                earliest = earliest ? std::min(*earliest, waiter.deadline) : waiter.deadline;
                return false;
            }
            resolved.push_back({waiter.id, TimedOut{}});
            --size_;
            return true;
        };
        lane.waiters.erase(std::remove_if(live, lane.waiters.end(), is_over), lane.waiters.end());
    }
    if (earliest) earliest_deadline_ = *earliest;
}

std::optional<Instant> PendingAcknowledgements::next_deadline() const {
    return is_empty() ? std::nullopt : std::optional(earliest_deadline_);
}

void PendingAcknowledgements::end_all(std::vector<ResolvedWaiter>& resolved) {
    for (const Lane& lane : lanes_)
        for (std::size_t i = lane.first; i < lane.waiters.size(); ++i)
            resolved.push_back({lane.waiters[i].id, OutcomeUnknown{}});
    lanes_.clear();
    size_ = 0;
}

void PendingAcknowledgements::add_to(Digest& digest) const {
    digest.add(size_);
    digest.add(authority_.broker);
    digest.add(authority_.leader_epoch);
    for (const Lane& lane : lanes_) {
        for (std::size_t i = lane.first; i < lane.waiters.size(); ++i) {
            digest.add(lane.waiters[i].id);
            digest.add(lane.waiters[i].required_end_offset);
            digest.add(lane.waiters[i].deadline);
        }
    }
}

}  // namespace tidelock::replication
