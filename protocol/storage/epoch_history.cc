#include "protocol/storage/epoch_history.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::storage {
namespace {

Failure<HistoryRefusal> refusal(HistoryRefusal reason) {
    return Failure<HistoryRefusal>(reason);
}

constexpr std::size_t kEntryBytes = sizeof(std::int32_t) + sizeof(std::int64_t);

}  // namespace

Result<void, HistoryRefusal> EpochHistory::assign(const EpochStart& entry) {
    if (entry.leader_epoch.value <= 0) return refusal(HistoryRefusal::kEpochNotPositive);
    if (entries_.empty()) {
        entries_.push_back(entry);
        return {};
    }
    const EpochStart latest_entry = entries_.back();
    if (entry == latest_entry) return {};
    if (entry.leader_epoch <= latest_entry.leader_epoch) return refusal(HistoryRefusal::kEpochWentBack);
    if (entry.start_offset < latest_entry.start_offset) return refusal(HistoryRefusal::kOffsetWentBack);
    if (entry.start_offset == latest_entry.start_offset) entries_.pop_back();
    entries_.push_back(entry);
    return {};
}

LeaderEpoch EpochHistory::epoch_at(Offset offset) const {
    if (!entries_.empty() && entries_.back().start_offset <= offset) return entries_.back().leader_epoch;
    const auto above = std::upper_bound(entries_.begin(), entries_.end(), offset,
                                        [](Offset o, const EpochStart& entry) { return o < entry.start_offset; });
    return above == entries_.begin() ? LeaderEpoch(0) : std::prev(above)->leader_epoch;
}

std::optional<EpochStart> EpochHistory::latest() const {
    return entries_.empty() ? std::nullopt : std::optional<EpochStart>(entries_.back());
}

LeaderEpoch EpochHistory::latest_epoch() const {
    return entries_.empty() ? LeaderEpoch(0) : entries_.back().leader_epoch;
}

void EpochHistory::truncate_from_end(Offset log_end_offset) {
    while (!entries_.empty() && entries_.back().start_offset >= log_end_offset) entries_.pop_back();
}

void EpochHistory::drop_past(Offset log_end_offset) {
    while (!entries_.empty() && entries_.back().start_offset > log_end_offset) entries_.pop_back();
}

void EpochHistory::truncate_from_start(Offset log_start_offset) {
    std::size_t dropped = 0;
    while (dropped + 1 < entries_.size() && entries_[dropped + 1].start_offset <= log_start_offset) ++dropped;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(dropped));
}

void EpochHistory::fold(Digest& digest) const {
    digest.add(entries_.size());
    for (const EpochStart& entry : entries_) {
        digest.add(entry.leader_epoch);
        digest.add(entry.start_offset);
    }
}

void encode(const EpochHistory& history, ByteWriter& out) {
    out.u32(static_cast<std::uint32_t>(history.entries().size()));
    for (const EpochStart& entry : history.entries()) {
        out.i32(entry.leader_epoch.value);
        out.i64(entry.start_offset.value);
    }
}

Result<EpochHistory, DecodeError> decode_epoch_history(ByteReader& in) {
    EpochHistory history;
    const std::uint32_t count = in.count(kEntryBytes);
    for (std::uint32_t i = 0; i < count; ++i) {
        const LeaderEpoch leader_epoch(in.i32());
        const EpochStart entry{leader_epoch, Offset(in.i64())};
        if (entry.start_offset.value < 0) return decode_failure("epoch history: negative offset");
        if (!history.assign(entry)) return decode_failure("epoch history: not rising");
        if (history.entries().size() != i + 1) return decode_failure("epoch history: two epochs at one offset");
    }
    if (in.failed()) return decode_failure("epoch history: cut short");
    return history;
}

}  // namespace tidelock::storage
