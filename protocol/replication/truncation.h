/// How a follower brings its log onto its leader's history before it fetches (L3, L5-L8, KIP-101, KIP-279).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/base/epoch_start.h"
#include "protocol/base/ids.h"

namespace tidelock::replication {

/// How a leader answers for an epoch it never had. The second is D2's reading of seed 000.
enum class EpochEndRule : std::uint8_t { kLargestAtOrBelow, kExactOrLogEnd };

/// L5: the largest epoch at or below `asked` in `history` and where it ends (start of the next one, or
/// `log_end_offset`). Empty: the history has no such epoch, so nothing of it can be compared.
[[nodiscard]] std::optional<EpochEnd> epoch_end(std::span<const EpochStart> history, Offset log_end_offset,
                                                LeaderEpoch asked, EpochEndRule rule = EpochEndRule::kLargestAtOrBelow);

/// Ours iterates (L6); the seed's asks once and cuts to whatever end it is told (D2).
enum class TruncationRule : std::uint8_t { kIterative, kSingleShot };

/// The follower's copy of one partition when the handshake starts. Ends are exclusive.
struct LocalCopy {
    std::span<const EpochStart> history;
    Offset log_start_offset;
    Offset log_end_offset;
    Offset high_watermark;  // the confirmed prefix that L8 protects; 0 where nothing is to be kept (F2)
};

/// The leader's answer for one partition: epoch_end of the asked epoch, and its own bounds.
struct LeaderEpochEnd {
    std::optional<EpochEnd> end;
    Offset log_start_offset;
    Offset log_end_offset;
    bool operator==(const LeaderEpochEnd&) const = default;
};

/// Ask the leader for the end of this epoch.
struct AskEpochEnd {
    LeaderEpoch leader_epoch;
    bool operator==(const AskEpochEnd&) const = default;
};
/// Cut to `offset`, then fetch from there. Never below the high watermark. May be the log end: then only entries of the
/// epoch history that start there go.
struct TruncateTo {
    Offset offset;
    bool operator==(const TruncateTo&) const = default;
};
/// Drop every record and restart empty at `log_start_offset` (L7, or no epoch in common).
struct ResetTo {
    Offset log_start_offset;
    bool operator==(const ResetTo&) const = default;
};
/// Records without any history: drop them all and recopy (L3). The data incarnation is renewed before (I10).
struct DiscardAll {
    bool operator==(const DiscardAll&) const = default;
};
/// The log is a prefix of the leader's.
struct HandshakeDone {
    bool operator==(const HandshakeDone&) const = default;
};
/// Following the leader would cut this copy below its high watermark: a violation, nothing is cut (L8).
struct CutRefused {
    Offset asked_offset;
    Offset high_watermark;
    bool operator==(const CutRefused&) const = default;
};
using TruncationStep = std::variant<AskEpochEnd, TruncateTo, ResetTo, DiscardAll, HandshakeDone, CutRefused>;

/// L7: a follower whose log end is below the leader's log start has nothing the leader could continue.
[[nodiscard]] bool is_behind_log_start(Offset own_log_end_offset, Offset leader_log_start_offset);

/// The handshake of one partition under one leader epoch. The log must not change between begin and its last step. A
/// step other than AskEpochEnd is the last.
class TruncationHandshake {
  public:
    explicit TruncationHandshake(TruncationRule rule = TruncationRule::kIterative) : rule_(rule) {}
    [[nodiscard]] TruncationStep begin(const LocalCopy& copy);
    [[nodiscard]] TruncationStep on_answer(const LeaderEpochEnd& answer);
    /// Questions asked so far; more than one is the case of KIP-279.
    [[nodiscard]] std::int32_t round_count() const { return round_count_; }
    bool operator==(const TruncationHandshake&) const = default;

  private:
    [[nodiscard]] TruncationStep ask_latest();
    [[nodiscard]] TruncationStep finish(Offset target) const;
    [[nodiscard]] TruncationStep reset(Offset leader_log_start_offset) const;

    TruncationRule rule_;
    std::vector<EpochStart> history_;  // entries at or past candidate_end_ are dropped as the rounds go
    Offset log_end_offset_;
    Offset high_watermark_;
    bool drops_epochs_ = false;  // it holds entries of epochs that the leader never had
    Offset log_start_offset_;
    Offset candidate_end_;  // what is known to be past it is not the leader's
    std::int32_t round_count_ = 0;
};

}  // namespace tidelock::replication
