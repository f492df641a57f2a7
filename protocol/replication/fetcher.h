/// The follower's side of copying (F1-F4): manifest, truncation handshake, fetch loop, all under one leader epoch.
///
/// One request is outstanding at a time, known by its id; an answer with another id or epoch is stale and changes
/// nothing. After records came in, the next fetch leaves when they are durable, or when position_wait has passed, or at
/// once when the leader has more; so a record costs two messages a follower (answer, next fetch) when the disk is
/// quick, and fetching still runs ahead of a slow one. A durable end that moves while a fetch is parked is told by a
/// PositionUpdate.
///
/// The owner carries effects out in order. Those about the local log (ApplyManifest, Truncate, Reset, Discard, Append)
/// are reported back by the on_... call that each names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "protocol/base/digest.h"
#include "protocol/base/time.h"
#include "protocol/replication/messages.h"
#include "protocol/replication/truncation.h"

namespace tidelock::replication {

struct FetcherConfig {
    Replica self;
    Duration fetch_wait_max = milliseconds(500);
    Duration position_wait = milliseconds(100);     // longest wait for a sync before fetching on
    Duration request_timeout = milliseconds(1000);  // on top of fetch_wait_max for a fetch
    Duration retry_min = milliseconds(50);          // back-off after an error, drawn from [min, max] by the host
    Duration retry_max = milliseconds(100);
    std::int32_t fetch_bytes_max = 1 << 20;
    TruncationRule truncation_rule = TruncationRule::kIterative;
    bool positions_as_received = false;  // D5: tells the log end as its position
    bool operator==(const FetcherConfig&) const = default;
};

/// The local copy of one partition when reconciling is done; what the handshake and the fetches start from.
struct LocalPartition {
    TopicPartition partition;
    std::vector<EpochStart> history;
    Offset log_start_offset;
    Offset log_end_offset;
    Offset durable_end_offset;
    Offset high_watermark;
    bool operator==(const LocalPartition&) const = default;
};
/// The local copy's ends after something changed. `last_epoch` is the epoch of the last record, 0 without one.
struct LocalEnds {
    TopicPartition partition;
    LeaderEpoch last_epoch;
    Offset log_start_offset;
    Offset log_end_offset;
    Offset durable_end_offset;
    Offset high_watermark;
    bool operator==(const LocalEnds&) const = default;
};

// --- effects -------------------------------------------------------------------------------------------------

struct SendToLeader {
    BrokerId leader;
    Message message;
    bool operator==(const SendToLeader&) const = default;
};
/// Make the local topics like this manifest: names, lives, partition counts and settings. Then call on_reconciled with
/// every partition it has, or on_reconcile_failed (F2).
struct ApplyManifest {
    Manifest manifest;
    bool operator==(const ApplyManifest&) const = default;
};
/// Cut the log to `offset` (L6), then call on_log_cut. Nothing is told of the new end before it is durable.
struct Truncate {
    TopicPartition partition;
    Offset offset;
    std::int32_t round_count;  // of the handshake; more than one is the case of KIP-279
    bool operator==(const Truncate&) const = default;
};
/// Drop all records, restart at `log_start_offset` (L7), then call on_log_cut.
struct Reset {
    TopicPartition partition;
    Offset log_start_offset;
    bool operator==(const Reset&) const = default;
};
/// Records without a history: renew the data incarnation durably (I10), drop them, restart at 0, then call on_log_cut
/// (L3).
struct Discard {
    TopicPartition partition;
    bool operator==(const Discard&) const = default;
};
/// Append these batches at exactly `at` (F4), take over high watermark and log start as far as the own log reaches. All
/// of one answer come together; then AnswerApplied.
struct Append {
    TopicPartition partition;
    Offset at;
    Bytes batches;  // may be empty: only the bounds below
    Offset leader_high_watermark;
    Offset leader_log_start_offset;
    bool operator==(const Append&) const = default;
};
/// Follows the last Append of an answer: call on_answer_applied once all of them are carried out.
struct AnswerApplied {
    bool operator==(const AnswerApplied&) const = default;
};
/// Call on_timer between `min` and `max` from now, replacing the timer set before.
struct SetFetchTimer {
    Duration min;
    Duration max;
    bool operator==(const SetFetchTimer&) const = default;
};
/// A partition cannot be made like the leader's without cutting below its high watermark. It is left alone in this
/// epoch (L8).
struct CutWasRefused {
    TopicPartition partition;
    CutRefused refusal;
    bool operator==(const CutWasRefused&) const = default;
};
using FetchEffect = std::variant<SendToLeader, ApplyManifest, Truncate, Reset, Discard, Append, AnswerApplied,
                                 SetFetchTimer, CutWasRefused>;
using FetchEffects = std::vector<FetchEffect>;

// --- the machine ---------------------------------------------------------------------------------------------

enum class FetchPhase : std::uint8_t {
    kIdle,         // no leader to follow
    kManifest,     // asked for the manifest
    kReconciling,  // the owner applies it
    kTruncating,   // handshakes and cuts
    kFetching,     // one fetch outstanding
    kSyncing,      // records came in, the next fetch waits for their sync
    kBackingOff,   // restarts at F1 when the timer fires
};
std::string_view to_text(FetchPhase phase);

class Fetcher {
  public:
    explicit Fetcher(FetcherConfig config) : config_(std::move(config)) {}

    /// Follow `leader` at `leader_epoch`. An older epoch than the followed one, or the same again: changes nothing.
    void follow(BrokerId leader, LeaderEpoch leader_epoch, Instant now, FetchEffects& effects);
    /// No leader is known, or this broker leads: everything outstanding is forgotten. The epoch is remembered.
    void stop();
    /// Ids of this life's requests follow `id`, which no former life drew: answers to a former one's are nobody's.
    void number_requests_from(RequestId id) { last_request_id_ = id; }
    /// The data incarnation was renewed (I10). Requests carry the new one from now on, and say of no partition what
    /// they said in the former life: the loop restarts at F1 with its next step, where on_reconciled reads every copy's
    /// ends anew.
    void on_incarnation_renewed(Incarnation incarnation);

    void on_manifest_answer(const ManifestAnswer& answer, Instant now, FetchEffects& effects);
    /// The manifest of the last ApplyManifest is in place. Partitions that had their handshake in this epoch keep it;
    /// their ends are taken anew.
    void on_reconciled(std::vector<LocalPartition> partitions, Instant now, FetchEffects& effects);
    /// Applying failed on the local disk: tried again from F1 after a back-off.
    void on_reconcile_failed(Instant now, FetchEffects& effects);
    void on_epoch_end_answer(const EpochEndAnswer& answer, Instant now, FetchEffects& effects);
    /// A Truncate, Reset or Discard counts from now on; the durable end in `ends` is what is durable of it.
    void on_log_cut(const LocalEnds& ends, Instant now, FetchEffects& effects);
    void on_fetch_answer(const FetchAnswer& answer, Instant now, FetchEffects& effects);
    /// All Appends of the last answer are carried out and their new ends were reported by on_local_logs_changed.
    void on_answer_applied(Instant now, FetchEffects& effects);
    /// An Append did not fit exactly (gap, overlap, bad batch) or could not be written: restarts at F1 after a back-off
    /// (F4).
    void on_append_failed(TopicPartition partition, Instant now, FetchEffects& effects);
    /// Ends moved by an append or a sync. Give all partitions of one group commit in one call: one position update
    /// tells them.
    void on_local_logs_changed(std::span<const LocalEnds> changed, Instant now, FetchEffects& effects);
    /// The request could not be sent or its connection broke: as an error answer.
    void on_connection_lost(BrokerId leader, Instant now, FetchEffects& effects);
    /// The timer of SetFetchTimer. One that is no longer needed does no harm.
    void on_timer(Instant now, FetchEffects& effects);

    [[nodiscard]] FetchPhase phase() const { return phase_; }
    [[nodiscard]] BrokerId leader() const { return leader_; }
    [[nodiscard]] LeaderEpoch leader_epoch() const { return leader_epoch_; }

    void add_to(Digest& digest) const;
    bool operator==(const Fetcher&) const = default;

  private:
    enum class PartitionPhase : std::uint8_t { kNew, kAsking, kCutting, kReady, kRefused };
    struct Partition {
        LocalEnds ends;
        PartitionPhase phase = PartitionPhase::kNew;
        TruncationHandshake handshake;
        LeaderEpoch asked_epoch;              // the handshake's open question
        Offset told_position{-1};             // by the last fetch or position update
        std::optional<Instant> paused_until;  // the leader cannot read it now: left out of fetches so long
        bool operator==(const Partition&) const = default;
    };

    /// What an answer calls for once its records are in.
    enum class Next : std::uint8_t { kGoOn, kAskManifest, kBackOff };

    [[nodiscard]] Partition* find(TopicPartition partition);
    [[nodiscard]] bool is_expected(RequestId request_id, FetchPhase phase) const;
    [[nodiscard]] bool accept_answer(ErrorCode code, LeaderEpoch leader_epoch, Instant now, FetchEffects& effects);
    [[nodiscard]] FollowerHeader next_header();
    void send_request(Message message, FetchPhase phase, Duration timeout, Instant now, FetchEffects& effects);
    void ask_manifest(Instant now, FetchEffects& effects);
    [[nodiscard]] Partition begin_partition(const LocalPartition& local, FetchEffects& effects);
    [[nodiscard]] static Partition renewed(const Partition& known, const LocalPartition& local);
    void take_step(Partition& partition, const TruncationStep& step, FetchEffects& effects);
    void go_on_truncating(Instant now, FetchEffects& effects);
    [[nodiscard]] Next take_epoch_end(const PartitionEpochEnd& end, Instant now, FetchEffects& effects);
    [[nodiscard]] Next take_partition_answer(const PartitionAnswer& answer, Instant now, FetchEffects& effects);
    void take_records(Partition& partition, const PartitionAnswer& answer, FetchEffects& effects);
    void fetch_next(Instant now, FetchEffects& effects);
    void tell_positions(FetchEffects& effects);
    [[nodiscard]] bool is_all_durable() const;
    [[nodiscard]] Offset position_of(const Partition& partition) const;
    void back_off(Instant now, FetchEffects& effects);
    void set_deadline(Instant deadline, Instant now, FetchEffects& effects);
    void forget_requests();

    FetcherConfig config_;
    FetchPhase phase_ = FetchPhase::kIdle;
    BrokerId leader_;
    LeaderEpoch leader_epoch_;
    RequestId last_request_id_;
    bool is_request_outstanding_ = false;
    std::optional<Instant> deadline_;  // of what is waited for
    std::optional<Instant>
        timer_at_;  // when the host's timer fires at the earliest; left alone when that is soon enough
    std::uint64_t manifest_digest_ = 0;
    std::uint64_t leader_digest_ = 0;  // as the last answer said
    std::uint64_t reconciling_digest_ = 0;
    bool has_more_ = false;
    bool is_applying_ = false;           // between Append effects and on_answer_applied
    Next next_ = Next::kGoOn;            // once applied
    std::size_t rotation_ = 0;           // where the next fetch's list starts, so that no partition starves
    std::vector<Partition> partitions_;  // sorted by partition
};

}  // namespace tidelock::replication
