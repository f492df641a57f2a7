/// V8: Raft as it must be whatever happens: one leader and one durable vote a term, terms that never fall, logs that
/// match, committed entries that stay, and every elected leader holding them (Raft thesis 3.6; R1-R11).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/hash_index.h"
#include "checker/host_fact.h"
#include "checker/invariant.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class RaftSafety {
  public:
    void on_disk_emptied(BrokerId broker);

    void judge(const Context& context, const GroupFormationTold& told);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftRecovered& recovered);
    void judge(const Context& context, const BrokerView& broker, const broker::VoteGranted& granted);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftLeaderElected& elected);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftEntryAppended& appended);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftEntriesTruncated& truncated);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftEntryCommitted& committed);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftReplicaAdmitted& admitted);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftVoterChanged& changed);
    void judge(const Context& context, const BrokerView& broker, const broker::RaftSnapshotInstalled& installed);

  private:
    struct Entry {
        Term term;
        std::uint64_t content = 0;
    };
    struct Vote {
        BrokerId candidate;
        Incarnation voter_incarnation;
    };
    /// Where a log ends: what votes compare (Raft thesis 3.6.1).
    struct LogEnd {
        Term last_term;
        LogIndex last_index;
        constexpr auto operator<=>(const LogEnd&) const = default;
    };
    /// The log a candidate stood with.
    struct Candidacy {
        Term term;
        std::uint32_t life;
        LogEnd log_end;
    };
    /// Committed entries that left a log: fine if the snapshot that covers them comes next, as an install does both at
    /// once.
    struct Removal {
        LogIndex last_committed;
        std::int64_t time_ns;
        std::string message;
    };
    /// Whether a replica's votes count. A learner's never did in this life of its state.
    enum class Standing : std::uint8_t { kUnknown, kLearner, kVoter };
    struct Admission {
        LogIndex index;
        BrokerId broker;
        Incarnation incarnation;
    };
    /// What a destroyed disk held: an answer that tells of it may still be under way, and be counted.
    struct LostLog {
        LogIndex snapshot_index;
        std::vector<Entry> entries;  // from snapshot_index + 1
    };
    /// One broker's Raft state as far as it is known.
    struct Replica {
        BrokerId broker;
        std::uint32_t life = 0;  // of the last observation
        Standing standing = Standing::kUnknown;
        Term term_max;                   // of the current incarnation
        FlatMap<Term, Vote> votes;       // over all incarnations
        Incarnation voter_life;          // the latest that knew itself admitted; 0: none seen
        LogIndex snapshot_index;         // entries up to it are in a snapshot
        Term snapshot_term;              // of the entry at snapshot_index; 0: not known
        std::vector<Entry> entries;      // from snapshot_index + 1
        LogIndex committed_index;        // reported in this life; 0: none yet
        std::vector<LostLog> lost_logs;  // as they were each time the disk was destroyed
        std::string formed_with;         // as it told others; empty: not yet, on this disk
        std::optional<Removal> removal;
        std::optional<Candidacy> candidacy;  // the latest
        [[nodiscard]] LogIndex last_index() const;
        [[nodiscard]] const Entry* entry_at(LogIndex index) const;
    };
    /// A committed entry, and the lowest term in which anybody learned that it is: it was committed in that term or
    /// before. Rises with the index.
    struct Committed {
        Entry entry;
        Term learned_in;
    };
    struct KnownEntry {
        LogIndex index;
        Entry entry;
        Term previous_term;
        bool has_previous;
    };

    Replica& replica_of(const BrokerView& broker);
    Replica& replica_of(BrokerId broker);
    [[nodiscard]] const Committed* committed_at(LogIndex index) const;
    /// The last index at which the replica holds the committed entry; 0: none known.
    [[nodiscard]] LogIndex last_committed_held(const Replica& replica) const;
    /// Reports a removal that no snapshot up to `covered` explains. First in every judgement.
    static void settle_removal(const Context& context, Replica& replica, LogIndex covered);
    /// How many brokers hold the entry, destroyed disks that held it included.
    [[nodiscard]] std::int64_t holder_count(LogIndex index, Term term) const;
    [[nodiscard]] static bool holds(const Replica& replica, LogIndex index, Term term);
    [[nodiscard]] static bool has_lost(const LostLog& lost, LogIndex index, Term term);
    void judge_forgotten_entry(const Context& context, const Replica& replica, LogIndex held_before);
    static void judge_standing(const Context& context, const Replica& replica, const broker::VoteGranted& granted);
    /// Whether another life of that broker was admitted before `term` began: every leader elected in it knows (R11).
    [[nodiscard]] bool is_superseded(BrokerId broker, Incarnation life, Term term) const;
    void judge_term(const Context& context, Replica& replica, Term term, const char* deed);
    void judge_match(const Context& context, const Replica& replica, const broker::RaftEntryAppended& appended);
    void judge_kept_suffix(const Context& context, const Replica& replica,
                           const broker::RaftSnapshotInstalled& installed);
    void judge_completeness(const Context& context, const Replica& replica, const broker::RaftLeaderElected& elected);
    /// Leaders elected after the term in which the entry is known to have been committed hold it, whenever that is
    /// learned.
    void judge_newer_leaders(const Context& context, const broker::RaftEntryCommitted& committed);
    void judge_election_quorum(const Context& context, const broker::RaftLeaderElected& elected, BrokerId leader) const;
    /// A leader counts copies of entries of its own term only; older ones follow (Raft thesis 3.6.2).
    void judge_commit_rule(const Context& context, const Replica& replica,
                           const broker::RaftEntryCommitted& committed) const;
    void judge_candidate(const Context& context, const Replica& voter, const broker::VoteGranted& granted) const;
    /// Where the log ends when entries of `term` and newer are left out: they came after the votes of that term, which
    /// are told when they are durable.
    [[nodiscard]] std::optional<LogEnd> log_end_before(const Replica& replica, Term term) const;
    void take_committed(const broker::RaftEntryCommitted& committed);
    void judge_majority(const Context& context, const broker::RaftEntryCommitted& committed);
    void judge_commit_order(const Context& context, const Replica& replica,
                            const broker::RaftEntryCommitted& committed);

    struct Leader {
        BrokerId broker;
        std::uint32_t life;
    };
    struct Snapshot {
        Term last_term;
        std::uint64_t content;
    };
    std::vector<Replica> replicas_;
    FlatMap<Term, Leader> leaders_;
    Term newest_leader_term_;
    std::vector<Committed> committed_;  // committed_[i] is index i + 1
    std::vector<KnownEntry> known_;
    HashIndex known_by_name_;
    FlatMap<LogIndex, Snapshot> snapshots_;
    std::vector<Admission> admissions_;        // by rising index
    LogIndex newest_admission_;                // the last one whose commit was judged
    FlatMap<BrokerId, Incarnation> admitted_;  // the life that it, or one before it, admitted
};

}  // namespace tidelock::checker
