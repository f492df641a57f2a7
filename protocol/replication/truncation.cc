#include "protocol/replication/truncation.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::replication {

std::optional<EpochEnd> epoch_end(std::span<const EpochStart> history, Offset log_end_offset, LeaderEpoch asked,
                                  EpochEndRule rule) {
    const auto above =
        std::upper_bound(history.begin(), history.end(), asked,
                         [](LeaderEpoch wanted, const EpochStart& entry) { return wanted < entry.leader_epoch; });
    const Offset end = above == history.end() ? log_end_offset : above->start_offset;
    const bool has_any = above != history.begin();
    if (rule == EpochEndRule::kExactOrLogEnd) {
        const bool has_exact = has_any && std::prev(above)->leader_epoch == asked;
        return EpochEnd{asked, has_exact ? end : log_end_offset};
    }
    if (!has_any) return std::nullopt;
    return EpochEnd{std::prev(above)->leader_epoch, end};
}

bool is_behind_log_start(Offset own_log_end_offset, Offset leader_log_start_offset) {
    return own_log_end_offset < leader_log_start_offset;
}

TruncationStep TruncationHandshake::begin(const LocalCopy& copy) {
    CHECK(copy.log_start_offset <= copy.log_end_offset);
    history_.assign(copy.history.begin(), copy.history.end());
    log_end_offset_ = copy.log_end_offset;
    log_start_offset_ = copy.log_start_offset;
    drops_epochs_ = false;
    candidate_end_ = copy.log_end_offset;
    high_watermark_ = copy.high_watermark;
    round_count_ = 0;
    if (!history_.empty()) return ask_latest();
    // L3: whose records these are cannot be told.
    if (copy.log_start_offset < copy.log_end_offset) return DiscardAll{};
    return HandshakeDone{};
}

TruncationStep TruncationHandshake::ask_latest() {
    ++round_count_;
    return AskEpochEnd{history_.back().leader_epoch};
}

TruncationStep TruncationHandshake::on_answer(const LeaderEpochEnd& answer) {
    CHECK(!history_.empty());
    if (is_behind_log_start(log_end_offset_, answer.log_start_offset)) return reset(answer.log_start_offset);
    if (rule_ == TruncationRule::kSingleShot)
        return finish(answer.end ? std::min(candidate_end_, answer.end->end_offset) : candidate_end_);
    // Without an epoch in common nothing below the leader's log start can be compared with anybody's (osiris#42).
    if (!answer.end) {
        drops_epochs_ = true;
        const bool is_empty_at_start =
            log_start_offset_ == log_end_offset_ && log_end_offset_ == answer.log_start_offset;
        return is_empty_at_start ? finish(log_end_offset_) : reset(answer.log_start_offset);
    }

    const auto above =
        std::upper_bound(history_.begin(), history_.end(), answer.end->leader_epoch,
                         [](LeaderEpoch wanted, const EpochStart& entry) { return wanted < entry.leader_epoch; });
    if (above != history_.end()) {
        candidate_end_ = std::min(candidate_end_, above->start_offset);
        drops_epochs_ = true;
    }
    const bool has_answered_epoch =
        above != history_.begin() && std::prev(above)->leader_epoch == answer.end->leader_epoch;
    if (has_answered_epoch) return finish(std::min(candidate_end_, answer.end->end_offset));
    history_.erase(above, history_.end());
    if (history_.empty()) return finish(candidate_end_);
    return ask_latest();  // KIP-279: the epochs have not met yet
}

TruncationStep TruncationHandshake::finish(Offset target) const {
    if (target < high_watermark_) return CutRefused{target, high_watermark_};  // L8
    // Only where nothing is protected: a topic that is being deleted. What is below the own start is not here to be
    // kept.
    if (target < log_start_offset_) return ResetTo{target};
    // An epoch this copy led without writing ends where its log ends: no record goes, but its entry has to (F5,
    // FINDING-1).
    if (target < log_end_offset_ || drops_epochs_) return TruncateTo{target};
    return HandshakeDone{};
}

/// Allowed by L8 because the leader's log start never passes its high watermark (L7): what it no longer has was
/// confirmed.
TruncationStep TruncationHandshake::reset(Offset leader_log_start_offset) const {
    if (leader_log_start_offset < high_watermark_) return CutRefused{leader_log_start_offset, high_watermark_};
    return ResetTo{leader_log_start_offset};
}

}  // namespace tidelock::replication
