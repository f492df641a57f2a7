#include "protocol/replication/fetch_answer.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock::replication {

ErrorCode check_epoch(LeaderEpoch asked, bool is_leading, LeaderEpoch own) {
    if (!is_leading) return ErrorCode::kNotLeader;
    if (asked < own) return ErrorCode::kFencedEpoch;
    if (asked > own) return ErrorCode::kUnknownEpoch;
    return ErrorCode::kNone;
}

PartitionEpochEnd answer_epoch_end(const EpochEndQuestion& question, const LeaderView* view, EpochEndRule rule) {
    PartitionEpochEnd answer;
    answer.partition = question.partition;
    if (view == nullptr) {
        answer.code = ErrorCode::kUnknownPartition;
    } else if (!view->is_readable) {
        answer.code = ErrorCode::kStorageError;
    } else {
        answer.answer = {epoch_end(view->history, view->log_end_offset, question.asked_epoch, rule),
                         view->log_start_offset, view->log_end_offset};
    }
    return answer;
}

/// Whether a log that ends at `end_offset` with a record of `last_epoch` can be a prefix of the leader's.
static bool is_prefix(Offset end_offset, LeaderEpoch last_epoch, const LeaderView& view) {
    if (end_offset > view.log_end_offset) return false;
    if (last_epoch == LeaderEpoch{}) return true;  // no records: nothing that could differ
    const std::optional<EpochEnd> end = epoch_end(view.history, view.log_end_offset, last_epoch);
    // The leader's retention may have taken the whole epoch; what is below its log start it cannot contradict.
    if (!end) return end_offset <= view.log_start_offset;
    return end->leader_epoch == last_epoch && end_offset <= end->end_offset;
}

PartitionJudgement judge_partition(const FetchPartition& asked, const LeaderView* view) {
    PartitionJudgement judgement;
    if (view == nullptr) {
        judgement.code = ErrorCode::kUnknownPartition;
    } else if (!view->is_readable) {
        judgement.code = ErrorCode::kStorageError;
    } else if (is_behind_log_start(asked.fetch_offset, view->log_start_offset)) {
        // Whatever it holds is dropped with the reset, so it need not be compared; its position is no part of this log.
        judgement.code = ErrorCode::kBehindLogStart;
    } else if (!is_prefix(asked.fetch_offset, asked.last_fetched_epoch, *view) ||
               asked.durable_end_offset > asked.fetch_offset) {
        judgement.code = ErrorCode::kDiverging;
    } else {
        judgement.is_position_valid = true;
        judgement.has_records = asked.fetch_offset < view->log_end_offset;
        // The follower takes a watermark as far as its own log reaches; beyond that it is no news to it yet.
        judgement.has_other_news = std::min(view->high_watermark, asked.fetch_offset) > asked.high_watermark ||
                                   view->log_start_offset > asked.log_start_offset;
    }
    return judgement;
}

bool is_position_valid(Offset durable_end_offset, LeaderEpoch last_fetched_epoch, const LeaderView* view) {
    return view != nullptr && view->is_readable && durable_end_offset >= view->log_start_offset &&
           is_prefix(durable_end_offset, last_fetched_epoch, *view);
}

// --- parked fetches ------------------------------------------------------------------------------------------

template <typename Predicate>
void ParkedFetches::take_if(Predicate&& predicate, std::vector<FetchRequest>& woken) {
    auto kept = parked_.begin();
    for (auto at = parked_.begin(); at != parked_.end(); ++at) {
        if (predicate(*at)) {
            woken.push_back(std::move(at->request));
        } else {
            if (kept != at) *kept = std::move(*at);
            ++kept;
        }
    }
    parked_.erase(kept, parked_.end());
}

static const FetchPartition* find_partition(const FetchRequest& request, TopicPartition partition) {
    for (const FetchPartition& asked : request.partitions)
        if (asked.partition == partition) return &asked;
    return nullptr;
}

bool ParkedFetches::park(FetchRequest request, bool has_other_news, Duration wait_max, Instant now) {
    const BrokerId follower = request.header.follower.broker;
    drop(follower);
    Duration wait = std::min(request.wait_max, wait_max);
    if (has_other_news) wait = std::min(wait, news_delay_);
    if (wait <= Duration(0) || parked_.size() >= parked_max_) return false;
    const auto at = std::lower_bound(
        parked_.begin(), parked_.end(), follower,
        [](const ParkedFetch& parked, BrokerId wanted) { return parked.request.header.follower.broker < wanted; });
    parked_.insert(at, ParkedFetch{std::move(request), now + wait});
    return true;
}

void ParkedFetches::on_appended(TopicPartition partition, Offset log_end_offset, std::vector<FetchRequest>& woken) {
    take_if(
        [&](const ParkedFetch& parked) {
            const FetchPartition* asked = find_partition(parked.request, partition);
            return asked != nullptr && asked->fetch_offset < log_end_offset;
        },
        woken);
}

void ParkedFetches::on_news(TopicPartition partition, Offset high_watermark, Offset log_start_offset, Instant now,
                            std::vector<FetchRequest>& woken) {
    const auto is_news = [&](const ParkedFetch& parked) {
        const FetchPartition* asked = find_partition(parked.request, partition);
        return asked != nullptr && (std::min(high_watermark, asked->fetch_offset) > asked->high_watermark ||
                                    log_start_offset > asked->log_start_offset);
    };
    if (news_delay_ <= Duration(0)) return take_if(is_news, woken);
    for (ParkedFetch& parked : parked_)
        if (is_news(parked)) parked.deadline = std::min(parked.deadline, now + news_delay_);
}

void ParkedFetches::on_manifest_changed(std::vector<FetchRequest>& woken) {
    take_if([](const ParkedFetch&) { return true; }, woken);
}

void ParkedFetches::expire(Instant now, std::vector<FetchRequest>& woken) {
    take_if([now](const ParkedFetch& parked) { return parked.deadline <= now; }, woken);
}

void ParkedFetches::drop(BrokerId follower) {
    std::erase_if(parked_,
                  [follower](const ParkedFetch& parked) { return parked.request.header.follower.broker == follower; });
}

std::optional<Instant> ParkedFetches::next_deadline() const {
    std::optional<Instant> earliest;
    for (const ParkedFetch& parked : parked_)
        earliest = earliest ? std::min(*earliest, parked.deadline) : parked.deadline;
    return earliest;
}

FetchPlan plan_fetch(const FetchRequest& request, std::span<const LeaderView* const> views) {
    CHECK(views.size() == request.partitions.size());
    FetchPlan plan;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const FetchPartition& asked = request.partitions[i];
        const PartitionJudgement judgement = judge_partition(asked, views[i]);
        const bool has_error = judgement.code != ErrorCode::kNone;
        plan.has_records = plan.has_records || judgement.has_records;
        plan.has_error = plan.has_error || has_error;
        plan.has_other_news = plan.has_other_news || judgement.has_other_news;
        if (!judgement.has_records && !has_error && !judgement.has_other_news) continue;
        plan.partitions.push_back({asked.partition, judgement, asked.fetch_offset});
    }
    return plan;
}

}  // namespace tidelock::replication
