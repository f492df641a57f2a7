/// What the brokers are known to hold and to be, rebuilt from their observations and the host's facts: the shadow that
/// the invariants compare each new observation with. Invariants see it as it was before the observation they judge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/excused_losses.h"
#include "checker/host_fact.h"
#include "checker/log_history.h"
#include "checker/settings.h"
#include "protocol/base/flat_map.h"
#include "protocol/base/ids.h"
#include "protocol/broker/observation.h"

namespace tidelock::checker {

/// Number of a partition in the view.
using PartitionNumber = Tagged<struct PartitionNumberTag, std::uint32_t>;

/// Durable records that a copy lost and has not got back: [from, below).
struct LostRange {
    Offset from;
    Offset below;

    [[nodiscard]] bool empty() const { return from >= below; }
    [[nodiscard]] bool contains(Offset offset) const { return from <= offset && offset < below; }
    /// All below `end` is lost, besides what was lost before.
    void add_below(Offset end);
    /// The copy holds all below `end` again.
    void get_back(Offset end);
};

/// One broker's copy of one partition. A broker that is down still has its copies.
struct CopyView {
    bool exists = false;
    bool damaged = false;    // the broker says so (L4); counts for nothing until recopied
    bool recovered = false;  // seen in this life
    bool is_told = false;    // in this life the broker has said that it has the partition, records or not
    Offset log_start_offset;
    Offset log_end_offset;
    Offset durable_end_offset;
    Offset high_watermark;                    // as this life of the broker knows it
    std::optional<LeaderEpoch> leader_epoch;  // under which it last reported a high watermark as leader, in this life
    Offset leader_high_watermark;             // ... and that high watermark
    Offset epoch_start_offset;                // its log end when its broker's last claim committed
    std::optional<LeaderEpoch> told_under;    // in this life, under which it last told a consumer ...
    Offset told_high_watermark;               // ... the highest high watermark
    Offset told_log_start_offset;             // ... and the highest log start
    Incarnation durable_under;                // data incarnation when the durable end last rose; 0: not seen
    LostRange destroyed;                      // a disk fault took them, as far as anybody knows
    LostRange gave_up;                        // the broker itself dropped them (L3, L4)
    Offset once_held_below;      // below it a former life of the data held records that are in a range above, or were
    Incarnation lost_under;      // data incarnation when a disk fault last took records; 0: nothing is lost
    bool fault_pending = false;  // a fault hit this copy's files; it was not copied anew, nor found whole, since
    bool is_entry_destroyed = false;  // a disk fault took the very topic; until it exists again
    bool reset_pending = false;       // it is being copied anew; not durably so far
    Offset dropped_below;             // what it held durably when it went with its deleted topic ...
    Incarnation dropped_under;        // ... in that life of the data
    BatchRun batches;
};

/// What a broker that leads has said about its claim and its sets.
struct LeadershipView {
    LeaderEpoch leader_epoch;
    bool claimed = false;  // its claim committed (R4); the sets may be told a moment before
    bool serving = false;
    std::optional<std::vector<Replica>> committed_set;
    std::optional<std::vector<Replica>> proposed_set;  // while pending
    std::uint64_t proposed_content = 0;                // of the Raft entry it becomes
    bool proposal_entered = false;  // it is in the leader's Raft log; until then Raft may have refused it
    std::optional<std::vector<Replica>> acknowledgement_set;
};

struct BrokerView {
    BrokerId id;
    std::uint32_t life = 0;
    bool running = false;
    bool started = false;
    Incarnation raft_incarnation;
    Incarnation data_incarnation;
    bool disk_fault_pending = false;    // a fault hit any of its files, and the disk was not emptied or sound since
    bool shared_fault_pending = false;  // ... a file that all copies hang on
    bool raft_fault_pending = false;    // ... the files of Raft's state, on which no copy hangs
    bool is_emptied = false;            // ... or took all of them; no life has begun on the empty disk
    std::string journal_damage;  // that this life has read and not answered with another data incarnation; empty: none
    std::optional<LeadershipView> leadership;
    std::optional<broker::FollowingLeader> following;
    std::vector<CopyView> copies;  // by PartitionNumber
    std::vector<TopicId> hidden;   // topics it is deleting
    [[nodiscard]] bool shows(TopicId topic) const { return std::ranges::find(hidden, topic) == hidden.end(); }
};

struct PartitionView {
    TopicPartition partition;
    std::string name;         // "x-0"
    bool may_vanish = false;  // a deletion that did not fail for sure may take it
    BatchTable table;
    StablePrefix confirmed;            // acknowledged by policy
    StablePrefix served;               // shown to consumers
    bool has_excused_loss = false;     // faults beyond the promise took records that were confirmed or served
    bool has_excused_absence = false;  // ... or the very partition
    std::uint32_t confirmed_cuts = 0;  // how often a loss was accounted for by shortening `confirmed`
    Offset legal_start;                // records below it may be gone: some leader moved its log start there
    Offset deletion_asked_below;       // an administrator asked for it
    Offset high_watermark_max;         // highest any leader reported
};

struct ClaimView {
    LeaderEpoch leader_epoch;
    BrokerId leader;
};

/// What was promised when a claim with a higher epoch than any before it committed: all that leaders of earlier epochs
/// can be asked for.
struct ClaimMoment {
    struct Ends {
        Offset confirmed;
        Offset served;
    };
    LeaderEpoch leader_epoch;
    std::vector<Ends> ends;  // by PartitionNumber; partitions that came later are not in it
};

class ClusterView {
  public:
    explicit ClusterView(Settings settings);

    [[nodiscard]] const Settings& settings() const { return settings_; }
    /// What is known of the broker; nothing, with id 0, when it was never heard of.
    [[nodiscard]] const BrokerView& broker(BrokerId id) const;
    [[nodiscard]] const std::vector<BrokerView>& brokers() const { return brokers_; }
    [[nodiscard]] const std::vector<PartitionView>& partitions() const { return partitions_; }
    [[nodiscard]] const PartitionView& partition(PartitionNumber number) const { return partitions_[number.value]; }
    [[nodiscard]] std::optional<PartitionNumber> find(const TopicPartition& partition) const;
    /// The copy; an empty one that does not exist when the broker never had it.
    [[nodiscard]] const CopyView& copy(const BrokerView& broker, PartitionNumber number) const;
    /// The claim with the highest leader epoch seen so far.
    [[nodiscard]] const ClaimView& newest_claim() const { return newest_claim_; }
    /// The first claim newer than `leader_epoch`, as it committed; null when there is none.
    [[nodiscard]] const ClaimMoment* superseded_at(LeaderEpoch leader_epoch) const;
    /// "x-0", or numbers when the topic's creation was not seen.
    [[nodiscard]] std::string name_of(const TopicPartition& partition) const;

    /// True when the copy's log has that very batch.
    [[nodiscard]] bool holds(const CopyView& copy, const PartitionView& partition, BatchNumber batch) const;
    /// ... and the batch is durable there and the copy is not damaged. (Received is enough where positions are not
    /// durable.)
    [[nodiscard]] bool holds_durably(const CopyView& copy, const PartitionView& partition, BatchNumber batch) const;
    /// True when the copy held `offset` durably, lost it by a fault or by a discard that renews the incarnation, and
    /// has not got it back.
    [[nodiscard]] static bool has_lost(const CopyView& copy, Offset offset);
    /// True when it held `offset` while it was the life of the data that a set names as `member`, and lost it so: a
    /// position told before may still be under way. A later life has to hold it again, and so has one that got it back.
    [[nodiscard]] bool once_held_as(const Replica& member, const CopyView& copy, Offset offset) const;

    /// True when it held `offset` durably, as the life of the data that a set names as `member`, until it dropped the
    /// topic that a newer leader than `leader` had deleted: `leader` does not know yet, and was told before.
    [[nodiscard]] bool has_dropped_as(const Replica& member, const CopyView& copy, Offset offset,
                                      const BrokerView& leader) const;
    /// A later leader's retention took the batch from the copy, once it was confirmed there and as far as known as the
    /// very same: a deposed leader may learn late that it was copied.
    [[nodiscard]] bool has_retained_past(const CopyView& copy, const PartitionView& partition, BatchNumber batch,
                                         const BrokerView& leader) const;

    void on_fact(const HostFact& fact);
    /// The deletion of topics of that name that is under way has returned. What failed for sure takes nothing; one that
    /// found no topic to take may take a later one only if nobody knows how it ended.
    void end_topic_deletion(const std::string& topic_name, Outcome outcome);
    /// Every topic that ever had that name, by creation.
    [[nodiscard]] std::vector<TopicId> topics_named(std::string_view name) const;
    /// What clients call the topic of that number; empty when nobody told.
    [[nodiscard]] std::string name_of(ClientTopic topic) const;
    /// What clients call the partition, whichever life of the topic it belongs to.
    [[nodiscard]] std::vector<ClientPartition> client_names_of(PartitionNumber number) const;
    /// A life begins without its host fact having been told.
    void begin_life(BrokerId id, std::uint32_t life);
    /// Takes the observation in; call after the invariants have judged it.
    void apply(BrokerId id, const broker::Observation& observation);
    /// The loss of what `prefix` holds at and past `from` is accounted for: it is not asked for again.
    void accept_confirmed_loss(PartitionNumber number, Offset from);
    void accept_served_loss(PartitionNumber number, Offset from);
    /// Faults beyond the promise account for a loss that `leader` settles.
    void note_excused_loss(PartitionNumber number, const BrokerView& leader);
    /// ... for what `leader`, which opens or leads at the end, lacks besides confirmed and served records: whole
    /// partitions, and what internal topics held below a high watermark.
    void note_excused_gaps(const BrokerView& leader);
    /// All that was noted so far in topics that are not known to be deleted.
    [[nodiscard]] ExcusedLosses excused_losses() const;

  private:
    friend struct ViewUpdate;

    BrokerView& broker_of(BrokerId id);
    PartitionNumber number_of(const TopicPartition& partition);
    CopyView& copy_of(BrokerView& broker, PartitionNumber number);
    void create_partitions(BrokerView& broker, TopicId topic, std::int32_t partitions);
    /// A fault took the copy, while `data_incarnation` was the life of the data.
    static void destroy(CopyView& copy, Incarnation data_incarnation);
    /// A fault took what the copy holds durably, or may have; its log stays in the view.
    static void lose(CopyView& copy, Incarnation data_incarnation);
    /// What the copy holds durably, if that is all that was confirmed and served so far, is lost no longer.
    void get_back(CopyView& copy, const PartitionView& partition) const;
    [[nodiscard]] bool follows(const CopyView& copy, const PartitionView& partition, const StablePrefix& prefix) const;
    void destroy_disk(BrokerView& broker);
    void damage_disk(const DiskDamaged& fact);
    void settle_disk(BrokerView& broker);
    void take_claim(LeaderEpoch leader_epoch, BrokerId leader);
    void ask_topic_deletion(const std::string& topic_name);

    struct TopicView {
        TopicId topic;
        std::string name;
        std::int32_t deletion_count = 0;  // that were asked for and did not fail for sure
        bool is_deleted = false;          // one of them took it for sure
    };
    /// A deletion that was asked for, and may still change what it takes.
    struct TopicDeletion {
        std::string topic_name;
        std::vector<TopicId> may_take;
        bool takes_next;         // no topic of that name was there: it is the next one that it may take
        bool has_ended = false;  // nobody knows how
    };
    TopicView& topic_of(TopicId topic, const std::string& name);
    void count_deletion(TopicView& topic, std::int32_t change);
    [[nodiscard]] std::int32_t destroyed_entry_count(PartitionNumber number, Offset offset) const;

    Settings settings_;
    std::vector<BrokerView> brokers_;  // sorted by id
    std::vector<PartitionView> partitions_;
    FlatMap<TopicPartition, std::uint32_t> numbers_;
    mutable std::optional<std::pair<TopicPartition, PartitionNumber>> last_found_;  // most lookups repeat
    std::vector<TopicView> topics_;                                                 // by creation
    bool has_excused_ = false;
    std::vector<TopicDeletion> deletions_;
    FlatMap<ClientTopic, std::string> client_topics_;
    ClaimView newest_claim_;
    std::vector<ClaimMoment> claim_moments_;  // by rising leader epoch
};

}  // namespace tidelock::checker
