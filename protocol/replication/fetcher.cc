// The loop of F1: requests, answers, time-outs. What it does about single partitions is in fetcher_partitions.cc.
#include "protocol/replication/fetcher.h"

#include <algorithm>
#include <utility>

namespace tidelock::replication {

std::string_view to_text(FetchPhase phase) {
    switch (phase) {
        case FetchPhase::kIdle:
            return "idle";
        case FetchPhase::kManifest:
            return "manifest";
        case FetchPhase::kReconciling:
            return "reconciling";
        case FetchPhase::kTruncating:
            return "truncating";
        case FetchPhase::kFetching:
            return "fetching";
        case FetchPhase::kSyncing:
            return "syncing";
        case FetchPhase::kBackingOff:
            return "backing off";
    }
    return "?";
}

void Fetcher::follow(BrokerId leader, LeaderEpoch leader_epoch, Instant now, FetchEffects& effects) {
    if (leader_epoch < leader_epoch_) return;
    if (leader_epoch == leader_epoch_ && leader == leader_ && phase_ != FetchPhase::kIdle) return;
    forget_requests();
    partitions_.clear();  // a new epoch asks the truncation question anew
    manifest_digest_ = 0;
    leader_ = leader;
    leader_epoch_ = leader_epoch;
    ask_manifest(now, effects);
}

void Fetcher::stop() {
    forget_requests();
    partitions_.clear();
    phase_ = FetchPhase::kIdle;
}

void Fetcher::forget_requests() {
    is_request_outstanding_ = false;
    is_applying_ = false;
    next_ = Next::kGoOn;
    has_more_ = false;
    deadline_.reset();
}

void Fetcher::on_incarnation_renewed(Incarnation incarnation) {
    if (config_.self.incarnation == incarnation) return;
    config_.self.incarnation = incarnation;
    // What was told of the former life's copies must not be told of this one's (I10): all are looked at again.
    for (Partition& partition : partitions_)
        if (partition.phase != PartitionPhase::kCutting) partition.phase = PartitionPhase::kNew;
}

// --- answers -------------------------------------------------------------------------------------------------

bool Fetcher::is_expected(RequestId request_id, FetchPhase phase) const {
    return phase_ == phase && is_request_outstanding_ && request_id == last_request_id_;
}

/// The common part of every expected answer. False: it was an error, and a retry is under way.
bool Fetcher::accept_answer(ErrorCode code, LeaderEpoch leader_epoch, Instant now, FetchEffects& effects) {
    is_request_outstanding_ = false;
    deadline_.reset();
    if (code == ErrorCode::kNone && leader_epoch == leader_epoch_) return true;
    // Asked again rather than given up, when it is about the epoch too: the leader may just not know its own claim yet
    // (KAFKA-7786).
    back_off(now, effects);
    return false;
}

void Fetcher::on_manifest_answer(const ManifestAnswer& answer, Instant now, FetchEffects& effects) {
    if (!is_expected(answer.request_id, FetchPhase::kManifest)) return;
    if (!accept_answer(answer.code, answer.leader_epoch, now, effects)) return;
    phase_ = FetchPhase::kReconciling;
    reconciling_digest_ = digest_of(answer.manifest);
    effects.push_back(ApplyManifest{answer.manifest});
}

void Fetcher::on_reconciled(std::vector<LocalPartition> locals, Instant now, FetchEffects& effects) {
    if (phase_ != FetchPhase::kReconciling) return;
    manifest_digest_ = reconciling_digest_;
    std::sort(locals.begin(), locals.end(),
              [](const LocalPartition& a, const LocalPartition& b) { return a.partition < b.partition; });
    std::vector<Partition> partitions;
    partitions.reserve(locals.size());
    for (const LocalPartition& local : locals) {
        const Partition* known = find(local.partition);
        const bool keeps_phase =
            known != nullptr && (known->phase == PartitionPhase::kReady || known->phase == PartitionPhase::kRefused ||
                                 known->phase == PartitionPhase::kCutting);
        partitions.push_back(keeps_phase ? renewed(*known, local) : begin_partition(local, effects));
    }
    partitions_ = std::move(partitions);
    go_on_truncating(now, effects);
}

void Fetcher::on_reconcile_failed(Instant now, FetchEffects& effects) {
    if (phase_ == FetchPhase::kReconciling) back_off(now, effects);
}

void Fetcher::on_epoch_end_answer(const EpochEndAnswer& answer, Instant now, FetchEffects& effects) {
    if (!is_expected(answer.request_id, FetchPhase::kTruncating)) return;
    if (!accept_answer(answer.code, answer.leader_epoch, now, effects)) return;
    std::vector<TopicPartition> open;
    for (const Partition& partition : partitions_)
        if (partition.phase == PartitionPhase::kAsking && !partition.paused_until)
            open.push_back(partition.ends.partition);
    Next next = Next::kGoOn;
    for (const PartitionEpochEnd& end : answer.ends) {
        if (std::erase(open, end.partition) == 0) continue;  // not asked, or answered twice
        next = std::max(next, take_epoch_end(end, now, effects));
    }
    if (!open.empty()) next = Next::kBackOff;  // an answer that leaves a question open would be asked for for ever
    if (next == Next::kBackOff) return back_off(now, effects);
    if (next == Next::kAskManifest) return ask_manifest(now, effects);
    go_on_truncating(now, effects);
}

void Fetcher::on_fetch_answer(const FetchAnswer& answer, Instant now, FetchEffects& effects) {
    if (!is_expected(answer.request_id, FetchPhase::kFetching)) return;
    if (!accept_answer(answer.code, answer.leader_epoch, now, effects)) return;
    leader_digest_ = answer.manifest_digest;
    has_more_ = answer.has_more;
    if (has_more_) ++rotation_;
    next_ = Next::kGoOn;
    const std::size_t effects_before = effects.size();
    for (const PartitionAnswer& partition : answer.partitions)
        next_ = std::max(next_, take_partition_answer(partition, now, effects));
    is_applying_ = true;
    const bool has_effects = effects.size() != effects_before;
    if (has_effects) {
        effects.push_back(AnswerApplied{});
    } else {
        on_answer_applied(now, effects);
    }
}

void Fetcher::on_answer_applied(Instant now, FetchEffects& effects) {
    if (!is_applying_) return;
    is_applying_ = false;
    const Next next = std::exchange(next_, Next::kGoOn);
    if (next == Next::kBackOff) return back_off(now, effects);
    if (next == Next::kAskManifest || leader_digest_ != manifest_digest_) return ask_manifest(now, effects);
    const bool is_cutting = std::any_of(partitions_.begin(), partitions_.end(), [](const Partition& partition) {
        return partition.phase == PartitionPhase::kCutting;
    });
    if (is_cutting) return go_on_truncating(now, effects);
    if (has_more_ || is_all_durable()) return fetch_next(now, effects);
    phase_ = FetchPhase::kSyncing;
    set_deadline(now + config_.position_wait, now, effects);
}

void Fetcher::on_append_failed(TopicPartition partition, Instant now, FetchEffects& effects) {
    if (phase_ == FetchPhase::kIdle) return;
    if (Partition* known = find(partition)) known->phase = PartitionPhase::kNew;  // never a guess: asks again (F4)
    is_applying_ = false;
    next_ = Next::kGoOn;
    back_off(now, effects);
}

void Fetcher::on_connection_lost(BrokerId leader, Instant now, FetchEffects& effects) {
    if (leader == leader_ && is_request_outstanding_) back_off(now, effects);
}

// --- time ----------------------------------------------------------------------------------------------------

void Fetcher::set_deadline(Instant deadline, Instant now, FetchEffects& effects) {
    deadline_ = deadline;
    if (timer_at_ && *timer_at_ <= deadline) return;
    timer_at_ = deadline;
    const Duration wait = since(now, deadline);
    effects.push_back(SetFetchTimer{wait, wait});
}

void Fetcher::back_off(Instant now, FetchEffects& effects) {
    is_request_outstanding_ = false;
    phase_ = FetchPhase::kBackingOff;
    deadline_ = now + config_.retry_min;
    timer_at_ = deadline_;
    effects.push_back(SetFetchTimer{config_.retry_min, config_.retry_max});
}

void Fetcher::on_timer(Instant now, FetchEffects& effects) {
    timer_at_.reset();
    if (!deadline_) return;
    if (now < *deadline_) return set_deadline(*deadline_, now, effects);
    deadline_.reset();
    switch (phase_) {
        case FetchPhase::kIdle:
        case FetchPhase::kReconciling:
            return;
        case FetchPhase::kManifest:
        case FetchPhase::kTruncating:
        case FetchPhase::kFetching:
            if (is_request_outstanding_) back_off(now, effects);
            return;
        case FetchPhase::kSyncing:
            return fetch_next(now, effects);
        case FetchPhase::kBackingOff:
            return ask_manifest(now, effects);
    }
}

// --- requests ------------------------------------------------------------------------------------------------

FollowerHeader Fetcher::next_header() {
    ++last_request_id_.value;
    return {last_request_id_, config_.self, leader_epoch_};
}

void Fetcher::send_request(Message message, FetchPhase phase, Duration timeout, Instant now, FetchEffects& effects) {
    phase_ = phase;
    is_request_outstanding_ = true;
    effects.push_back(SendToLeader{leader_, std::move(message)});
    set_deadline(now + timeout, now, effects);
}

void Fetcher::ask_manifest(Instant now, FetchEffects& effects) {
    send_request(ManifestRequest{next_header()}, FetchPhase::kManifest, config_.request_timeout, now, effects);
}

void Fetcher::add_to(Digest& digest) const {
    digest.add(static_cast<std::uint8_t>(phase_));
    digest.add(leader_);
    digest.add(leader_epoch_);
    digest.add(last_request_id_);
    digest.add(is_request_outstanding_);
    digest.add(deadline_ ? deadline_->value : -1);
    digest.add(timer_at_ ? timer_at_->value : -1);
    digest.add(manifest_digest_);
    digest.add(has_more_);
    digest.add(is_applying_);
    digest.add(partitions_.size());
    for (const Partition& partition : partitions_) {
        digest.add(partition.ends.partition.topic);
        digest.add(partition.ends.partition.partition);
        digest.add(static_cast<std::uint8_t>(partition.phase));
        digest.add(partition.ends.log_end_offset);
        digest.add(partition.ends.durable_end_offset);
        digest.add(partition.ends.high_watermark);
        digest.add(partition.told_position);
    }
}

}  // namespace tidelock::replication
