/// The produces of one partition that wait for their policy (A5, A6), each bound to the authority it was accepted
/// under.
///
/// Waiters of one policy stand in the order of their offsets, so a resolution looks at those it ends and one more.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/base/digest.h"
#include "protocol/base/time.h"
#include "protocol/replication/acknowledgement.h"

namespace tidelock::replication {

/// Names a waiting request; the owner chooses it and keeps what is needed to answer.
using WaiterId = Tagged<struct WaiterIdTag, std::uint64_t>;

struct Waiter {
    WaiterId id;
    Offset required_end_offset;  // exclusive
    Instant deadline;
    bool operator==(const Waiter&) const = default;
};

/// The set shrank below min_insync_replicas after the append; the record stays in the log (I8).
struct NotEnoughInSync {
    bool operator==(const NotEnoughInSync&) const = default;
};
/// The authority it was accepted under is over: may or may not survive (A6).
struct OutcomeUnknown {
    bool operator==(const OutcomeUnknown&) const = default;
};
/// The deadline passed; the record stays in the log (A5).
struct TimedOut {
    bool operator==(const TimedOut&) const = default;
};
using WaiterOutcome = std::variant<ReplicationAcknowledgement, NotEnoughInSync, OutcomeUnknown, TimedOut>;

struct ResolvedWaiter {
    WaiterId id;
    WaiterOutcome outcome;
    bool operator==(const ResolvedWaiter&) const = default;
};

class PendingAcknowledgements {
  public:
    PendingAcknowledgements() = default;
    explicit PendingAcknowledgements(std::size_t waiters_max) : waiters_max_(waiters_max) {}

    /// Full queues refuse up front, before anything is appended.
    [[nodiscard]] bool is_full() const { return size_ >= waiters_max_; }
    [[nodiscard]] bool is_empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// `authority` is the one the record was appended under. A waiter for a duplicate may ask for an offset below
    /// others'. The queue must not be full, and must hold no waiter of another authority (end_all comes with the role
    /// change).
    void add(const Waiter& waiter, const AckPolicy& policy, const WriteAuthority& authority);
    /// Decides every waiter it can. `observation.expected` and `.required_end_offset` are filled in from each waiter.
    void resolve(Observation observation, std::vector<ResolvedWaiter>& resolved);
    /// Times out waiters whose deadline is at or before `now`.
    void expire(Instant now, std::vector<ResolvedWaiter>& resolved);
    /// The earliest deadline, a moment at which expire must be called; empty: none waits.
    [[nodiscard]] std::optional<Instant> next_deadline() const;
    /// The role changed: every waiter ends as unknown, even if the same broker leads again later.
    void end_all(std::vector<ResolvedWaiter>& resolved);

    void add_to(Digest& digest) const;
    bool operator==(const PendingAcknowledgements&) const = default;

  private:
    /// Waiters of one policy, those before `first` are done. Sorted by required_end_offset from `first` on.
    struct Lane {
        AckPolicy policy;
        std::size_t first = 0;
        std::vector<Waiter> waiters;
        bool operator==(const Lane&) const = default;
    };
    Lane& lane_of(const AckPolicy& policy);
    static void compact(Lane& lane);

    std::size_t waiters_max_ = 10'000;
    std::size_t size_ = 0;
    WriteAuthority authority_;
    Instant earliest_deadline_;  // not later than any waiter's; may be early
    std::vector<Lane> lanes_;
};

}  // namespace tidelock::replication
