/// The leader's side of a follower's requests (F3, F4): who is refused, what a fetch gets, which fetches wait and what
/// wakes them. Pure decisions; the owner reads the records and sends the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/base/digest.h"
#include "protocol/base/time.h"
#include "protocol/replication/messages.h"

namespace tidelock::replication {

/// The leader's copy of one partition, as judged against a follower's. The span must outlive the call.
struct LeaderView {
    TopicPartition partition;
    std::span<const EpochStart> history;
    Offset log_start_offset;
    Offset log_end_offset;  // appended, not necessarily durable
    Offset high_watermark;
    bool is_readable = true;  // false: damaged or failed, answers kStorageError (L4, L9)
};

/// F3 for every request that carries a header. kNone: go on. `is_leading` false means no claim of this broker holds.
[[nodiscard]] ErrorCode check_epoch(LeaderEpoch asked, bool is_leading, LeaderEpoch own);

/// Answers one question of the truncation handshake (L5). `view` null: no such partition here.
[[nodiscard]] PartitionEpochEnd answer_epoch_end(const EpochEndQuestion& question, const LeaderView* view,
                                                 EpochEndRule rule = EpochEndRule::kLargestAtOrBelow);

/// What the leader makes of one partition of a fetch.
struct PartitionJudgement {
    ErrorCode code = ErrorCode::kNone;
    bool has_records = false;        // records at or past the asked offset
    bool has_other_news = false;     // the high watermark or log start moved past what the follower knows
    bool is_position_valid = false;  // may be counted (I1): verified to be a prefix of the leader's log
    bool operator==(const PartitionJudgement&) const = default;
};
/// A follower past the leader's end or off its history is diverging: refused, and its position counts for nothing
/// (KAFKA-13141, RocketMQ#3015). Divergence is looked at before the range (KAFKA-12996).
[[nodiscard]] PartitionJudgement judge_partition(const FetchPartition& asked, const LeaderView* view);
/// The same test for a position told without a fetch.
[[nodiscard]] bool is_position_valid(Offset durable_end_offset, LeaderEpoch last_fetched_epoch, const LeaderView* view);

/// A fetch that waits for news. One a follower: a newer fetch of the same follower replaces it, as its sender has given
/// up.
struct ParkedFetch {
    FetchRequest request;
    Instant deadline;  // answered then, with or without news
    bool operator==(const ParkedFetch&) const = default;
};

class ParkedFetches {
  public:
    /// `news_delay`: how long news without records (high watermark, log start) may wait for records to travel with. 0:
    /// none.
    explicit ParkedFetches(std::size_t parked_max = 64, Duration news_delay = milliseconds(5))
        : parked_max_(parked_max), news_delay_(news_delay) {}

    /// Parks a fetch that has nothing to answer yet; `has_other_news` shortens its wait to news_delay. False: the bound
    /// is reached, answer it at once. The wait is the request's, capped by `wait_max`.
    bool park(FetchRequest request, bool has_other_news, Duration wait_max, Instant now);
    /// Records were appended: fetches that want them are taken out and returned through `woken`.
    void on_appended(TopicPartition partition, Offset log_end_offset, std::vector<FetchRequest>& woken);
    /// The high watermark or log start moved: answered after news_delay at the latest; at once when that is 0.
    void on_news(TopicPartition partition, Offset high_watermark, Offset log_start_offset, Instant now,
                 std::vector<FetchRequest>& woken);
    /// The set of topics changed: all are answered, to say so.
    void on_manifest_changed(std::vector<FetchRequest>& woken);
    /// Takes out those whose time has come.
    void expire(Instant now, std::vector<FetchRequest>& woken);
    /// The follower's connection is gone, or it lives another life.
    void drop(BrokerId follower);
    /// When expire must be called next; empty: nothing is parked.
    [[nodiscard]] std::optional<Instant> next_deadline() const;
    [[nodiscard]] std::size_t size() const { return parked_.size(); }
    /// By follower's broker id.
    [[nodiscard]] std::span<const ParkedFetch> fetches() const { return parked_; }

    bool operator==(const ParkedFetches&) const = default;

  private:
    template <typename Predicate>
    void take_if(Predicate&& predicate, std::vector<FetchRequest>& woken);

    std::size_t parked_max_;
    Duration news_delay_;
    std::vector<ParkedFetch> parked_;  // sorted by follower's broker id
};

/// What to read for one partition of a fetch.
struct PartitionPlan {
    TopicPartition partition;
    PartitionJudgement judgement;
    Offset read_from;
    bool operator==(const PartitionPlan&) const = default;
};
struct FetchPlan {
    std::vector<PartitionPlan> partitions;  // those with anything to say, in the request's order
    bool has_records = false;
    bool has_error = false;
    bool has_other_news = false;
    /// Nothing but waiting is called for.
    [[nodiscard]] bool may_park() const { return !has_records && !has_error; }
    bool operator==(const FetchPlan&) const = default;
};
/// Judges every partition. `views` is parallel to request.partitions, null where there is no such partition. Count the
/// valid positions of the request first: they may move the high watermark, which is news to answer. How much is read
/// for each is the caller's affair: the request's `bytes_max` is one budget for all of them.
[[nodiscard]] FetchPlan plan_fetch(const FetchRequest& request, std::span<const LeaderView* const> views);

}  // namespace tidelock::replication
