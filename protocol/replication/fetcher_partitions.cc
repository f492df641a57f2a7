// What the fetcher does about single partitions: their handshakes, what a fetch says of them, what an answer brings
// them.
#include <algorithm>
#include <utility>

#include "protocol/replication/fetcher.h"

namespace tidelock::replication {
namespace {

/// Epoch of the last record of a log, 0 without records. An entry that starts at the log end has none yet.
LeaderEpoch last_epoch_of(const LocalPartition& local) {
    if (local.log_start_offset == local.log_end_offset) return LeaderEpoch{};
    for (auto entry = local.history.rbegin(); entry != local.history.rend(); ++entry)
        if (entry->start_offset < local.log_end_offset) return entry->leader_epoch;
    return LeaderEpoch{};
}

LocalEnds ends_of(const LocalPartition& local) {
    return {local.partition,      last_epoch_of(local),     local.log_start_offset,
            local.log_end_offset, local.durable_end_offset, local.high_watermark};
}

}  // namespace

Fetcher::Partition* Fetcher::find(TopicPartition partition) {
    const auto at = std::lower_bound(
        partitions_.begin(), partitions_.end(), partition,
        [](const Partition& known, const TopicPartition& wanted) { return known.ends.partition < wanted; });
    return at != partitions_.end() && at->ends.partition == partition ? &*at : nullptr;
}

Offset Fetcher::position_of(const Partition& partition) const {
    return config_.positions_as_received ? partition.ends.log_end_offset : partition.ends.durable_end_offset;
}

bool Fetcher::is_all_durable() const {
    return std::all_of(partitions_.begin(), partitions_.end(), [this](const Partition& partition) {
        return partition.phase != PartitionPhase::kReady || position_of(partition) == partition.ends.log_end_offset;
    });
}

// --- handshakes ----------------------------------------------------------------------------------------------

/// A partition that keeps its handshake; its copy may have been reset meanwhile, so its ends are as they are now.
Fetcher::Partition Fetcher::renewed(const Partition& known, const LocalPartition& local) {
    Partition partition = known;
    partition.ends = ends_of(local);
    partition.told_position = Offset{-1};
    return partition;
}

Fetcher::Partition Fetcher::begin_partition(const LocalPartition& local, FetchEffects& effects) {
    Partition partition;
    partition.ends = ends_of(local);
    partition.handshake = TruncationHandshake(config_.truncation_rule);
    const LocalCopy copy{local.history, local.log_start_offset, local.log_end_offset, local.high_watermark};
    take_step(partition, partition.handshake.begin(copy), effects);
    return partition;
}

void Fetcher::take_step(Partition& partition, const TruncationStep& step, FetchEffects& effects) {
    const TopicPartition name = partition.ends.partition;
    if (const auto* ask = std::get_if<AskEpochEnd>(&step)) {
        partition.phase = PartitionPhase::kAsking;
        partition.asked_epoch = ask->leader_epoch;
    } else if (const auto* cut = std::get_if<TruncateTo>(&step)) {
        partition.phase = PartitionPhase::kCutting;
        effects.push_back(Truncate{name, cut->offset, partition.handshake.round_count()});
    } else if (const auto* reset = std::get_if<ResetTo>(&step)) {
        partition.phase = PartitionPhase::kCutting;
        effects.push_back(Reset{name, reset->log_start_offset});
    } else if (std::holds_alternative<DiscardAll>(step)) {
        partition.phase = PartitionPhase::kCutting;
        effects.push_back(Discard{name});
    } else if (const auto* refused = std::get_if<CutRefused>(&step)) {
        partition.phase = PartitionPhase::kRefused;
        effects.push_back(CutWasRefused{name, *refused});
    } else {
        partition.phase = PartitionPhase::kReady;
    }
}

/// Asks all open questions in one request; waits for cuts; fetches when neither is left.
void Fetcher::go_on_truncating(Instant now, FetchEffects& effects) {
    phase_ = FetchPhase::kTruncating;
    if (is_request_outstanding_) return;
    EpochEndRequest request;
    bool is_cutting = false;
    for (Partition& partition : partitions_) {
        is_cutting = is_cutting || partition.phase == PartitionPhase::kCutting;
        if (partition.paused_until && *partition.paused_until <= now) partition.paused_until.reset();
        if (partition.phase == PartitionPhase::kAsking && !partition.paused_until)
            request.questions.push_back({partition.ends.partition, partition.asked_epoch});
    }
    if (!request.questions.empty()) {
        request.header = next_header();
        send_request(std::move(request), FetchPhase::kTruncating, config_.request_timeout, now, effects);
    } else if (!is_cutting) {
        fetch_next(now, effects);
    }
}

Fetcher::Next Fetcher::take_epoch_end(const PartitionEpochEnd& end, Instant now, FetchEffects& effects) {
    if (end.code == ErrorCode::kUnknownPartition) return Next::kAskManifest;
    if (end.code == ErrorCode::kStorageError || end.code == ErrorCode::kNotReady) {
        find(end.partition)->paused_until = now + config_.retry_min;  // this one waits, not all of them (L4)
        return Next::kGoOn;
    }
    if (end.code != ErrorCode::kNone) return Next::kBackOff;
    Partition* partition = find(end.partition);
    take_step(*partition, partition->handshake.on_answer(end.answer), effects);
    return Next::kGoOn;
}

void Fetcher::on_log_cut(const LocalEnds& ends, Instant now, FetchEffects& effects) {
    Partition* partition = find(ends.partition);
    if (partition == nullptr) return;
    partition->ends = ends;
    partition->told_position = Offset{-1};
    if (partition->phase != PartitionPhase::kCutting) return;
    partition->phase = PartitionPhase::kReady;
    if (phase_ == FetchPhase::kTruncating) go_on_truncating(now, effects);
}

// --- fetches -------------------------------------------------------------------------------------------------

void Fetcher::fetch_next(Instant now, FetchEffects& effects) {
    const bool has_new = std::any_of(partitions_.begin(), partitions_.end(), [](const Partition& partition) {
        return partition.phase == PartitionPhase::kNew;
    });
    if (has_new) return ask_manifest(now, effects);  // no fetch before the handshake (F1)
    const bool has_question = std::any_of(partitions_.begin(), partitions_.end(), [now](const Partition& partition) {
        return partition.phase == PartitionPhase::kAsking && partition.paused_until && *partition.paused_until <= now;
    });
    if (has_question) return go_on_truncating(now, effects);  // of one that the leader could not read
    FetchRequest request;
    request.header = next_header();
    request.manifest_digest = manifest_digest_;
    request.wait_max = config_.fetch_wait_max;
    request.bytes_max = config_.fetch_bytes_max;
    request.partitions.reserve(partitions_.size());
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
        Partition& partition = partitions_[(i + rotation_) % partitions_.size()];
        if (partition.paused_until && *partition.paused_until <= now) partition.paused_until.reset();
        if (partition.phase != PartitionPhase::kReady || partition.paused_until) continue;
        const LocalEnds& ends = partition.ends;
        partition.told_position = position_of(partition);
        request.partitions.push_back({ends.partition, ends.log_end_offset, ends.last_epoch, partition.told_position,
                                      ends.high_watermark, ends.log_start_offset});
    }
    const Duration timeout = config_.fetch_wait_max + config_.request_timeout;
    send_request(std::move(request), FetchPhase::kFetching, timeout, now, effects);
}

Fetcher::Next Fetcher::take_partition_answer(const PartitionAnswer& answer, Instant now, FetchEffects& effects) {
    Partition* partition = find(answer.partition);
    if (partition == nullptr || partition->phase != PartitionPhase::kReady) return Next::kGoOn;
    switch (answer.code) {
        case ErrorCode::kNone:
            take_records(*partition, answer, effects);
            return Next::kGoOn;
        case ErrorCode::kBehindLogStart:
            if (!is_behind_log_start(partition->ends.log_end_offset, answer.log_start_offset)) return Next::kBackOff;
            partition->phase = PartitionPhase::kCutting;
            effects.push_back(Reset{answer.partition, answer.log_start_offset});
            return Next::kGoOn;
        case ErrorCode::kDiverging:
            partition->phase = PartitionPhase::kNew;
            return Next::kBackOff;
        case ErrorCode::kUnknownPartition:
            // With the same manifest as before, asking at once would ask for ever.
            return leader_digest_ != manifest_digest_ ? Next::kAskManifest : Next::kBackOff;
        case ErrorCode::kStorageError:
        case ErrorCode::kNotReady:
            partition->paused_until = now + config_.retry_min;
            return Next::kGoOn;
        case ErrorCode::kNotLeader:
        case ErrorCode::kFencedEpoch:
        case ErrorCode::kUnknownEpoch:
            return Next::kBackOff;
    }
    return Next::kBackOff;
}

void Fetcher::take_records(Partition& partition, const PartitionAnswer& answer, FetchEffects& effects) {
    LocalEnds& ends = partition.ends;
    effects.push_back(
        Append{answer.partition, ends.log_end_offset, answer.batches, answer.high_watermark, answer.log_start_offset});
    if (!answer.batches.empty()) return;  // the owner reports the new ends
    ends.high_watermark = std::max(ends.high_watermark, std::min(answer.high_watermark, ends.log_end_offset));
    ends.log_start_offset = std::max(ends.log_start_offset, std::min(answer.log_start_offset, ends.high_watermark));
}

void Fetcher::on_local_logs_changed(std::span<const LocalEnds> changed, Instant now, FetchEffects& effects) {
    if (phase_ == FetchPhase::kIdle) return;
    for (const LocalEnds& ends : changed)
        if (Partition* partition = find(ends.partition)) partition->ends = ends;
    if (is_applying_) return;
    if (phase_ == FetchPhase::kSyncing && is_all_durable()) return fetch_next(now, effects);
    if (phase_ == FetchPhase::kFetching) tell_positions(effects);
}

/// A parked fetch says an old position; the acknowledgements that wait for the new one should not wait for its end.
void Fetcher::tell_positions(FetchEffects& effects) {
    PositionUpdate update{config_.self, leader_epoch_, {}};
    for (Partition& partition : partitions_) {
        const Offset position = position_of(partition);
        if (partition.phase != PartitionPhase::kReady || position == partition.told_position) continue;
        partition.told_position = position;
        update.positions.push_back({partition.ends.partition, partition.ends.last_epoch, position});
    }
    if (!update.positions.empty()) effects.push_back(SendToLeader{leader_, std::move(update)});
}

}  // namespace tidelock::replication
