// A small world of Raft replicas for random schedules: messages that are lost, repeated, late and out of order, disks
// that forget what was not synced, crashes, wiped disks, replicas that may not lead. One seed, one schedule. It judges
// every step by V8.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "protocol/raft/raft.h"

namespace tidelock::raft {

/// Splitmix64: the same numbers everywhere.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    /// In [min, max].
    std::int64_t between(std::int64_t min, std::int64_t max);
    bool one_in(std::int64_t n) { return between(1, n) == 1; }

  private:
    std::uint64_t state_;
};

/// What may go wrong, as one in so many; 0 is never.
struct Faults {
    std::int64_t loss = 0;
    std::int64_t duplicate = 0;
    std::int64_t very_late = 0;  // a message, by up to a second
    std::int64_t crash = 0;      // per nemesis tick
    std::int64_t wipe = 0;       // per crash, within the budget
    std::int64_t cut = 0;        // per nemesis tick: links are cut or mended
    std::int64_t eligibility = 0;
    std::int64_t transfer = 0;
    std::int64_t disk_stall = 0;
    std::int64_t power_loss = 0;                 // per nemesis tick: all at once
    std::int64_t aim = 0;                        // per nemesis tick: at the moment in which two believe that they lead
    std::int64_t isolate = 0;                    // per nemesis tick: the leader, alone or with one other
    std::int64_t slow_claim = 0;                 // an owner takes its time to propose its claim
    std::int64_t disk_microseconds_max = 5'000;  // of an ordinary write
};

struct Replica {
    Node node;
    bool is_up = false;
    std::int64_t boots = 0;
    PersistentState durable;
    struct Write {
        PersistSequence sequence;
        PersistentState state;
    };
    std::vector<Write> writes;  // asked for, not durable for certain
    Instant disk_free_at;
    std::uint64_t timer_generation[4] = {};
    LogIndex applied;
    std::uint64_t applied_digest = 0;
    Eligibility eligibility = Eligibility::kMayLead;
};

class Network {
  public:
    Network(std::uint64_t seed, int member_count, Faults faults, Config config = {});

    /// Runs for `span` of virtual time or until something is broken.
    void run(Duration span);
    /// No more faults: everybody up, all links mended. `eligible`: who may lead from now on.
    void heal(const std::vector<int>& eligible);
    void propose();
    /// The replica that leads for all to see: leader, not caretaker, of the highest term among those up.
    int leader() const;
    /// All are voters, one leads, and all have applied as much as was ever committed.
    bool is_settled() const;

    const std::string& broken() const { return broken_; }  // empty: nothing
    std::string text() const;
    std::uint64_t steps() const { return steps_; }
    LogIndex committed() const { return LogIndex(static_cast<std::int64_t>(committed_.size())); }
    const Replica& replica(int i) const { return replicas_[static_cast<std::size_t>(i)]; }
    const std::map<std::string, std::uint64_t>& marks() const { return marks_; }
    void crash(int i, bool wipe);
    void boot(int i);

  private:
    struct Happening {
        Instant at;
        std::uint64_t sequence;
        int to;
        std::int64_t boot;  // 0: whatever boot is running (messages)
        Event event;
        std::uint64_t timer_generation;
        bool operator>(const Happening& other) const {
            return at != other.at ? at > other.at : sequence > other.sequence;
        }
    };
    struct CommittedEntry {
        Entry entry;
        Term seen_in_term;
        std::uint64_t digest;  // of everything up to here
    };

    void apply(int i, const Event& event);
    void carry_out(int i, const Effect& effect);
    void schedule(Instant at, int to, std::int64_t boot, Event event, std::uint64_t timer_generation = 0);
    void deliver(int from, const Send& send);
    void write(int i, PersistSequence sequence);
    void on_durable(int i, PersistSequence sequence);
    void on_committed(int i, const Entry& entry);
    void on_elected(int i, const BecameLeader& elected);
    void on_voted(int i, const VoteGranted& vote);
    void on_installed(int i, const SnapshotInstalled& installed);
    void nemesis();
    void crash_some(int victim);
    void cut_some();
    void isolate_leader();
    void aim_at_two_leaders();
    /// Only members of one side hear each other.
    void split(const std::vector<bool>& side);
    bool may_wipe(int i) const;
    void set_eligibility(int i, Eligibility eligibility);
    void tell_eligible_members();
    void check_log_matching();
    void fail(const std::string& what);
    int index_of(BrokerId broker) const { return broker.value - 1; }

    Chance chance_;
    Faults faults_;
    Config config_;
    Instant now_;
    Instant next_nemesis_;
    std::uint64_t happenings_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t lives_ = 0;
    std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
    std::vector<Replica> replicas_;
    std::vector<std::vector<bool>> is_cut_;
    std::vector<CommittedEntry> committed_;
    std::map<Term, Member> leaders_;
    std::map<std::pair<Member, Term>, Member> votes_;
    std::map<std::string, std::uint64_t> marks_;
    std::string broken_;
};

}  // namespace tidelock::raft
