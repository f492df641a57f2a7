#include "checker/raft_safety.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kRaftSafety;

std::uint64_t key_of(LogIndex index, Term term) {
    return (static_cast<std::uint64_t>(term.value) << 40) ^ static_cast<std::uint64_t>(index.value);
}

}  // namespace

LogIndex RaftSafety::Replica::last_index() const {
    return snapshot_index + static_cast<std::int64_t>(entries.size());
}

const RaftSafety::Entry* RaftSafety::Replica::entry_at(LogIndex index) const {
    if (index <= snapshot_index || index > last_index()) return nullptr;
    return &entries[static_cast<std::size_t>(index - snapshot_index - 1)];
}

RaftSafety::Replica& RaftSafety::replica_of(BrokerId broker) {
    const auto at =
        std::find_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) { return r.broker == broker; });
    if (at != replicas_.end()) return *at;
    replicas_.emplace_back().broker = broker;
    return replicas_.back();
}

RaftSafety::Replica& RaftSafety::replica_of(const BrokerView& broker) {
    Replica& replica = replica_of(broker.id);
    if (replica.life != broker.life) {
        replica.life = broker.life;
        replica.committed_index = LogIndex(0);
    }
    return replica;
}

const RaftSafety::Committed* RaftSafety::committed_at(LogIndex index) const {
    if (index.value < 1 || index.value > static_cast<std::int64_t>(committed_.size())) return nullptr;
    const Committed& committed = committed_[static_cast<std::size_t>(index.value - 1)];
    return committed.entry.term == Term(0) ? nullptr : &committed;
}

void RaftSafety::on_disk_emptied(BrokerId broker) {
    Replica& replica = replica_of(broker);
    // Its votes are remembered: an earlier life's vote may still be counted by somebody (R11).
    if (replica.last_index() > LogIndex(0))
        replica.lost_logs.push_back(LostLog{replica.snapshot_index, std::move(replica.entries)});
    replica.entries.clear();
    replica.snapshot_index = LogIndex(0);
    replica.snapshot_term = Term(0);
    replica.term_max = Term(0);
    replica.candidacy.reset();
    replica.standing = Standing::kLearner;
    replica.formed_with.clear();
}

/// Two line-ups would be two groups, each with majorities of its own.
void RaftSafety::judge(const Context& context, const GroupFormationTold& told) {
    for (const Replica& other : replicas_) {
        if (other.broker == told.broker || other.formed_with.empty() || other.formed_with == told.members) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} formed the group with {}, broker {} with {}: a group forms once (R11)",
                        told.broker.value, told.members, other.broker.value, other.formed_with));
    }
    replica_of(told.broker).formed_with = told.members;
}

void RaftSafety::judge_term(const Context& context, Replica& replica, Term term, const char* deed) {
    if (term < replica.term_max) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("broker {} {} in term {} after it was in term {}: a term never falls (R2)",
                                       replica.broker.value, deed, term.value, replica.term_max.value));
    }
    replica.term_max = std::max(replica.term_max, term);
}

void RaftSafety::judge_forgotten_entry(const Context& context, const Replica& replica, LogIndex held_before) {
    if (std::max(last_committed_held(replica), replica.snapshot_index) >= held_before) return;
    const Committed* committed = committed_at(held_before);
    const std::int64_t holders = holder_count(held_before, committed->entry.term);
    if (holders >= majority_of(context.view.settings())) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("broker {} restarted without the committed entry {} of term {}: {} brokers still hold it, {} are "
                    "needed (R2)",
                    replica.broker.value, held_before.value, committed->entry.term.value, holders,
                    majority_of(context.view.settings())));
}

/// What a life begins with: unsynced entries of the one before may be gone, promises may not.
void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::RaftRecovered& recovered) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    judge_term(context, replica, recovered.term, "restarted");
    replica.term_max = recovered.term;
    const auto vote = replica.votes.find(recovered.term);
    const bool has_voted = vote != replica.votes.end() && vote->second.voter_incarnation == recovered.incarnation;
    if (has_voted && vote->second.candidate != recovered.voted_for) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("broker {} restarted in term {} with its vote for broker {}, but it voted for "
                                       "broker {}: a vote is durable before it counts (R2)",
                                       replica.broker.value, recovered.term.value, recovered.voted_for.value,
                                       vote->second.candidate.value));
    }
    const bool is_empty =
        recovered.term == Term(0) && recovered.snapshot_last_index == LogIndex(0) && recovered.entries.empty();
    if (is_empty && replica.standing == Standing::kUnknown) replica.standing = Standing::kLearner;
    const LogIndex held_before = last_committed_held(replica);
    if (replica.snapshot_index != recovered.snapshot_last_index) replica.snapshot_term = Term(0);
    replica.snapshot_index = recovered.snapshot_last_index;
    replica.entries.clear();
    for (const broker::RaftEntrySummary& entry : recovered.entries)
        replica.entries.push_back(Entry{entry.term, entry.content});
    if (held_before != LogIndex(0)) judge_forgotten_entry(context, replica, held_before);
}

/// Who does not count has nothing to vote with (R11).
void RaftSafety::judge_standing(const Context& context, const Replica& replica, const broker::VoteGranted& granted) {
    if (replica.standing != Standing::kLearner) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} voted for broker {} in term {}, though its life {:x} does not count: the "
                                   "group did not form with it, nor was it admitted (R11)",
                                   replica.broker.value, granted.candidate.value, granted.term.value,
                                   granted.voter_incarnation.value));
}

void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::VoteGranted& granted) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    judge_term(context, replica, granted.term, "voted");
    judge_standing(context, replica, granted);
    // A vote told after its term has a leader elects nobody, and what that leader sent since is in the voter's log.
    if (leaders_.find(granted.term) == leaders_.end()) judge_candidate(context, replica, granted);
    if (granted.candidate == broker.id) {
        const std::optional<LogEnd> log_end = log_end_before(replica, granted.term);
        replica.candidacy.reset();
        if (log_end) replica.candidacy = Candidacy{granted.term, broker.life, *log_end};
    }
    const auto [vote, is_first] =
        replica.votes.try_emplace(granted.term, Vote{granted.candidate, granted.voter_incarnation});
    if (is_first) return;
    // A vote for itself under a former incarnation elects nobody: that candidate is gone.
    const bool was_for_former_self =
        vote->second.candidate == replica.broker && vote->second.voter_incarnation != granted.voter_incarnation;
    // Nor does any vote of a former life, once this one is admitted by a majority of the others (R11): whoever stood
    // with it has a log without that admission. From here on it counts for nobody, and who is elected by it is seen.
    const bool is_admitted_since =
        vote->second.voter_incarnation != granted.voter_incarnation && replica.voter_life == granted.voter_incarnation;
    if (was_for_former_self || is_admitted_since || vote->second.candidate == granted.candidate) {
        vote->second = Vote{granted.candidate, granted.voter_incarnation};
        return;
    }
    context.log.report(
        kThis, context.time_ns,
        fmt::format(
            "broker {} voted for broker {} in term {} (incarnation {}), after it had voted for broker {} in that term "
            "(incarnation {}): one durable vote a term (R2, R11)",
            replica.broker.value, granted.candidate.value, granted.term.value, granted.voter_incarnation.value,
            vote->second.candidate.value, vote->second.voter_incarnation.value));
}

std::optional<RaftSafety::LogEnd> RaftSafety::log_end_before(const Replica& replica, Term term) const {
    for (LogIndex index = replica.last_index(); index > replica.snapshot_index; index += -1) {
        const Term held = replica.entry_at(index)->term;
        if (held < term) return LogEnd{held, index};
    }
    if (replica.snapshot_index == LogIndex(0)) return LogEnd{};
    const Committed* committed = committed_at(replica.snapshot_index);
    Term held = replica.snapshot_term;
    if (held == Term(0) && committed != nullptr) held = committed->entry.term;
    // A snapshot that took in entries of that term leaves no trace of where the log ended before them.
    if (held == Term(0) || held >= term) return std::nullopt;
    return LogEnd{held, replica.snapshot_index};
}

/// A vote is for a log that is no older than the voter's own. Its candidate's own vote tells what it stood with.
void RaftSafety::judge_candidate(const Context& context, const Replica& voter,
                                 const broker::VoteGranted& granted) const {
    const auto candidate = std::find_if(replicas_.begin(), replicas_.end(),
                                        [&](const Replica& r) { return r.broker == granted.candidate; });
    if (candidate == replicas_.end() || candidate->broker == voter.broker) return;
    const bool is_known = candidate->candidacy && candidate->candidacy->term == granted.term &&
                          candidate->candidacy->life == candidate->life;
    const std::optional<LogEnd> own = log_end_before(voter, granted.term);
    if (!is_known || !own || *own <= candidate->candidacy->log_end) return;
    const LogEnd& stood_with = candidate->candidacy->log_end;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("broker {} voted for broker {} in term {}, whose log ends at entry {} of term {}; its own ends at "
                    "entry {} of term {}: a vote is for a log that is no older (election restriction)",
                    voter.broker.value, granted.candidate.value, granted.term.value, stood_with.last_index.value,
                    stood_with.last_term.value, own->last_index.value, own->last_term.value));
}

void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::RaftLeaderElected& elected) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    judge_term(context, replica, elected.term, "was elected");
    const auto [leader, is_first] = leaders_.try_emplace(elected.term, Leader{broker.id, broker.life});
    const bool is_same = leader->second.broker == broker.id && leader->second.life == broker.life;
    if (!is_first && !is_same) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} (life {}) was elected in term {}, which broker {} (life {}) leads: election safety",
                        broker.id.value, broker.life, elected.term.value, leader->second.broker.value,
                        leader->second.life));
    }
    judge_election_quorum(context, elected, broker.id);
    judge_completeness(context, replica, elected);
    newest_leader_term_ = std::max(newest_leader_term_, elected.term);
}

bool RaftSafety::is_superseded(BrokerId broker, Incarnation life, Term term) const {
    for (auto admission = admissions_.rbegin(); admission != admissions_.rend(); ++admission) {
        if (admission->broker != broker) continue;
        if (admission->incarnation == life) return false;
        const Committed* committed = committed_at(admission->index);
        if (committed != nullptr && committed->learned_in < term) return true;
    }
    return false;
}

void RaftSafety::judge_election_quorum(const Context& context, const broker::RaftLeaderElected& elected,
                                       BrokerId leader) const {
    const auto votes = std::count_if(replicas_.begin(), replicas_.end(), [&](const Replica& replica) {
        const auto vote = replica.votes.find(elected.term);
        return vote != replica.votes.end() && vote->second.candidate == leader &&
               !is_superseded(replica.broker, vote->second.voter_incarnation, elected.term);
    });
    if (votes >= majority_of(context.view.settings())) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} was elected in term {} with {} votes of {} brokers: a majority elects",
                                   leader.value, elected.term.value, votes, context.view.settings().members.size()));
}

void RaftSafety::judge_completeness(const Context& context, const Replica& replica,
                                    const broker::RaftLeaderElected& elected) {
    // Entries that are known to have been committed in an earlier term.
    const auto end = std::partition_point(committed_.begin(), committed_.end(),
                                          [&](const Committed& c) { return c.learned_in < elected.term; });
    if (end == committed_.begin()) return;
    const LogIndex index(end - committed_.begin());
    if (index <= replica.snapshot_index) return;
    const Committed* expected = committed_at(index);
    const Entry* held = replica.entry_at(index);
    if (expected == nullptr || (held != nullptr && held->term == expected->entry.term)) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format(
            "broker {} was elected in term {} without the committed entry {} (term {}): its log ends at {}{} (leader "
            "completeness)",
            replica.broker.value, elected.term.value, index.value, expected->entry.term.value,
            replica.last_index().value,
            held != nullptr ? fmt::format(" and has term {} there", held->term.value) : ""));
}

void RaftSafety::judge_match(const Context& context, const Replica& replica,
                             const broker::RaftEntryAppended& appended) {
    const Entry* previous = replica.entry_at(appended.index - 1);
    const KnownEntry now{appended.index, Entry{appended.term, appended.content},
                         previous != nullptr ? previous->term : Term(0), previous != nullptr};
    const std::uint64_t key = key_of(appended.index, appended.term);
    const std::optional<std::uint32_t> number = known_by_name_.find(key);
    if (!number) {
        known_by_name_.put(key, static_cast<std::uint32_t>(known_.size()));
        known_.push_back(now);
    } else {
        KnownEntry& known = known_[*number];
        if (known.entry.content != now.entry.content) {
            context.log.report(
                kThis, context.time_ns,
                fmt::format("broker {} appended entry {} of term {} with content {:016x}, elsewhere it is "
                            "{:016x}: same index and term, same command",
                            replica.broker.value, appended.index.value, appended.term.value, appended.content,
                            known.entry.content));
        }
        if (known.has_previous && now.has_previous && known.previous_term != now.previous_term) {
            context.log.report(
                kThis, context.time_ns,
                fmt::format("broker {} appended entry {} of term {} after an entry of term {}, elsewhere it "
                            "follows one of term {}: log matching",
                            replica.broker.value, appended.index.value, appended.term.value, now.previous_term.value,
                            known.previous_term.value));
        }
        if (!known.has_previous) known = now;
    }
    if (previous != nullptr && previous->term > appended.term) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} appended entry {} of term {} after an entry of term {}", replica.broker.value,
                        appended.index.value, appended.term.value, previous->term.value));
    }
}

void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::RaftEntryAppended& appended) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    if (appended.index != replica.last_index() + 1) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("broker {} appended entry {} while its log ends at {}", replica.broker.value,
                                       appended.index.value, replica.last_index().value));
        // Start over from what it says.
        replica.entries.clear();
        replica.snapshot_index = appended.index - 1;
    }
    judge_match(context, replica, appended);
    const Committed* committed = committed_at(appended.index);
    // A leader that woke up after a newer one was elected may still write where that one's entries are committed.
    if (committed != nullptr && committed->entry.term < appended.term && committed->learned_in <= appended.term) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format(
                "broker {} appended entry {} of term {} where the entry of term {} is committed, as was learned "
                "in term {}",
                replica.broker.value, appended.index.value, appended.term.value, committed->entry.term.value,
                committed->learned_in.value));
    }
    replica.entries.push_back(Entry{appended.term, appended.content});
}

LogIndex RaftSafety::last_committed_held(const Replica& replica) const {
    const LogIndex known(static_cast<std::int64_t>(committed_.size()));
    for (LogIndex index = std::min(replica.last_index(), known); index > replica.snapshot_index; index += -1) {
        const Committed* committed = committed_at(index);
        if (committed != nullptr && committed->entry.term == replica.entry_at(index)->term) return index;
    }
    return LogIndex(0);
}

void RaftSafety::settle_removal(const Context& context, Replica& replica, LogIndex covered) {
    if (!replica.removal) return;
    if (replica.removal->last_committed > covered) {
        context.log.report(kThis, replica.removal->time_ns, replica.removal->message);
    }
    replica.removal.reset();
}

void RaftSafety::judge(const Context& context, const BrokerView& broker,
                       const broker::RaftEntriesTruncated& truncated) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    const LogIndex held = last_committed_held(replica);
    // Who was not counted for it, and is still in a term before the one it was committed in, obeys that term's leader.
    if (held >= truncated.from && committed_at(truncated.from)->learned_in <= truncated.term) {
        replica.removal = Removal{
            held, context.time_ns,
            fmt::format(
                "broker {} removed entries from {} on, but its entry {} (term {}) is committed, and no snapshot "
                "took its place",
                replica.broker.value, truncated.from.value, held.value, replica.entry_at(held)->term.value)};
    }
    if (truncated.from <= replica.snapshot_index) return;
    const auto kept = static_cast<std::size_t>(truncated.from - replica.snapshot_index - 1);
    if (kept < replica.entries.size()) replica.entries.resize(kept);
}

bool RaftSafety::holds(const Replica& replica, LogIndex index, Term term) {
    const Entry* held = replica.entry_at(index);
    if ((held != nullptr && held->term == term) || replica.snapshot_index >= index) return true;
    return std::ranges::any_of(replica.lost_logs, [&](const LostLog& lost) { return has_lost(lost, index, term); });
}

bool RaftSafety::has_lost(const LostLog& lost, LogIndex index, Term term) {
    if (index <= lost.snapshot_index) return true;
    const auto at = static_cast<std::size_t>(index - lost.snapshot_index - 1);
    return at < lost.entries.size() && lost.entries[at].term == term;
}

std::int64_t RaftSafety::holder_count(LogIndex index, Term term) const {
    return std::count_if(replicas_.begin(), replicas_.end(),
                         [&](const Replica& replica) { return holds(replica, index, term); });
}

void RaftSafety::judge_majority(const Context& context, const broker::RaftEntryCommitted& committed) {
    const std::int64_t holders = holder_count(committed.index, committed.term);
    if (holders >= majority_of(context.view.settings())) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("entry {} of term {} was committed while {} of {} brokers hold it, {} are needed",
                                   committed.index.value, committed.term.value, holders,
                                   context.view.settings().members.size(), majority_of(context.view.settings())));
}

void RaftSafety::judge_commit_rule(const Context& context, const Replica& replica,
                                   const broker::RaftEntryCommitted& committed) const {
    const auto leader = leaders_.find(committed.learned_in);
    const bool leads =
        leader != leaders_.end() && leader->second.broker == replica.broker && leader->second.life == replica.life;
    if (!leads || committed.term >= committed.learned_in || committed_at(committed.index) != nullptr) return;
    for (LogIndex index = committed.index + 1; index <= replica.last_index(); index += 1) {
        const Entry* entry = replica.entry_at(index);
        if (entry == nullptr || entry->term != committed.learned_in) continue;
        if (holder_count(index, entry->term) >= majority_of(context.view.settings())) return;
        break;
    }
    context.log.report(
        kThis, context.time_ns,
        fmt::format("broker {}, leader of term {}, committed entry {} of term {} while no entry of its own "
                    "term is on a majority (Raft thesis 3.6.2)",
                    replica.broker.value, committed.learned_in.value, committed.index.value, committed.term.value));
}

void RaftSafety::judge_commit_order(const Context& context, const Replica& replica,
                                    const broker::RaftEntryCommitted& committed) {
    const bool skips = replica.committed_index != LogIndex(0) && committed.index != replica.committed_index + 1 &&
                       committed.index > replica.snapshot_index + 1;
    const bool repeats = committed.index <= replica.committed_index;
    if (!skips && !repeats) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} reported entry {} committed after entry {}: each once, in order",
                                   replica.broker.value, committed.index.value, replica.committed_index.value));
}

void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::RaftEntryCommitted& committed) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    judge_commit_order(context, replica, committed);
    replica.committed_index = committed.index;
    const Entry* held = replica.entry_at(committed.index);
    if (held != nullptr && (held->term != committed.term || held->content != committed.content)) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} committed entry {} of term {}, but its log has term {} there", replica.broker.value,
                        committed.index.value, committed.term.value, held->term.value));
    }
    judge_newer_leaders(context, committed);
    judge_commit_rule(context, replica, committed);
    if (const Committed* known = committed_at(committed.index)) {
        take_committed(committed);
        if (known->entry.term == committed.term && known->entry.content == committed.content) return;
        context.log.report(
            kThis, context.time_ns,
            fmt::format(
                "broker {} committed entry {} of term {} (content {:016x}), which was committed as term {} (content "
                "{:016x}): committed entries never change",
                replica.broker.value, committed.index.value, committed.term.value, committed.content,
                known->entry.term.value, known->entry.content));
        return;
    }
    judge_majority(context, committed);
    take_committed(committed);
}

void RaftSafety::take_committed(const broker::RaftEntryCommitted& committed) {
    // An index nobody reported before stays unknown: term 0.
    const auto size = static_cast<std::size_t>(committed.index.value);
    if (committed_.size() < size) committed_.resize(size, Committed{Entry{}, committed.learned_in});
    Entry& entry = committed_[size - 1].entry;
    if (entry.term == Term(0)) entry = Entry{committed.term, committed.content};
    // What precedes it was committed no later.
    for (std::size_t at = size; at > 0 && committed_[at - 1].learned_in > committed.learned_in; --at)
        committed_[at - 1].learned_in = committed.learned_in;
}

void RaftSafety::judge_newer_leaders(const Context& context, const broker::RaftEntryCommitted& committed) {
    if (newest_leader_term_ <= committed.learned_in) return;
    for (auto leader = leaders_.upper_bound(committed.learned_in); leader != leaders_.end(); ++leader) {
        const auto at = std::find_if(replicas_.begin(), replicas_.end(),
                                     [&](const Replica& r) { return r.broker == leader->second.broker; });
        const bool is_that_life =
            at != replicas_.end() && at->life == leader->second.life && at->term_max == leader->first;
        if (!is_that_life || at->snapshot_index >= committed.index) continue;
        const Entry* held = at->entry_at(committed.index);
        if (held != nullptr && held->term == committed.term) continue;
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} leads term {} without the entry {} of term {}, which was committed in term {} or "
                        "before (leader completeness)",
                        leader->second.broker.value, leader->first.value, committed.index.value, committed.term.value,
                        committed.learned_in.value));
        return;
    }
}

/// The life that is admitted does not count yet: the entry has to be on a majority without it (R11). Unless it was
/// admitted before: a caretaker repeats an admission it inherited in its own term, perhaps its own.
void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::RaftReplicaAdmitted& admitted) {
    settle_removal(context, replica_of(broker), LogIndex(0));
    if (admitted.index <= newest_admission_) return;
    newest_admission_ = admitted.index;
    admissions_.push_back({admitted.index, admitted.broker, admitted.incarnation});
    if (std::exchange(admitted_[admitted.broker], admitted.incarnation) == admitted.incarnation) return;
    const Committed* committed = committed_at(admitted.index);
    if (committed == nullptr) return;
    const std::int64_t holders = std::count_if(replicas_.begin(), replicas_.end(), [&](const Replica& replica) {
        return replica.broker != admitted.broker && holds(replica, admitted.index, committed->entry.term);
    });
    if (holders >= majority_of(context.view.settings())) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("entry {} admits a new life of broker {} and was committed while {} of the others "
                    "hold it, {} are needed (R11)",
                    admitted.index.value, admitted.broker.value, holders, majority_of(context.view.settings())));
}

/// Nobody counts by an entry that may still be taken back (R11).
void RaftSafety::judge(const Context& context, const BrokerView& broker, const broker::RaftVoterChanged& changed) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, LogIndex(0));
    if (changed.is_voter) replica.voter_life = broker.raft_incarnation;
    // A vote given while it counted may leave later, when it is durable.
    replica.standing = changed.is_voter ? Standing::kVoter : Standing::kUnknown;
    if (!changed.is_voter || changed.named_at.value <= static_cast<std::int64_t>(committed_.size())) return;
    context.log.report(kThis, context.time_ns,
                       fmt::format("broker {} counts from now on by entry {}, which nobody knows to be committed (R11)",
                                   broker.id.value, changed.named_at.value));
}

/// Whoever keeps entries past a snapshot says that they follow what it ends with: log matching.
void RaftSafety::judge_kept_suffix(const Context& context, const Replica& replica,
                                   const broker::RaftSnapshotInstalled& installed) {
    const Entry* held = replica.entry_at(installed.last_index);
    if (held == nullptr || held->term == installed.last_term || replica.last_index() == installed.last_index) return;
    context.log.report(
        kThis, context.time_ns,
        fmt::format("broker {} installed a snapshot up to entry {} of term {} and kept entries past it "
                    "that follow one of term {}: log matching",
                    replica.broker.value, installed.last_index.value, installed.last_term.value, held->term.value));
}

void RaftSafety::judge(const Context& context, const BrokerView& broker,
                       const broker::RaftSnapshotInstalled& installed) {
    Replica& replica = replica_of(broker);
    settle_removal(context, replica, installed.last_index);
    judge_kept_suffix(context, replica, installed);
    const auto [known, is_first] =
        snapshots_.try_emplace(installed.last_index, Snapshot{installed.last_term, installed.content});
    if (!is_first && (known->second.last_term != installed.last_term || known->second.content != installed.content)) {
        context.log.report(
            kThis, context.time_ns,
            fmt::format("broker {} has a snapshot up to entry {} (term {}) that differs from another one (term {})",
                        replica.broker.value, installed.last_index.value, installed.last_term.value,
                        known->second.last_term.value));
    }
    const Committed* committed = committed_at(installed.last_index);
    if (committed != nullptr && committed->entry.term != installed.last_term) {
        context.log.report(kThis, context.time_ns,
                           fmt::format("broker {} installed a snapshot up to entry {} of term {}, committed is term {}",
                                       replica.broker.value, installed.last_index.value, installed.last_term.value,
                                       committed->entry.term.value));
    }
    const Entry* held = replica.entry_at(installed.last_index);
    if (held != nullptr && held->term == installed.last_term) {
        const auto covered = static_cast<std::ptrdiff_t>(installed.last_index - replica.snapshot_index);
        replica.entries.erase(replica.entries.begin(), replica.entries.begin() + covered);
    } else if (installed.last_index > replica.snapshot_index) {
        replica.entries.clear();
    }
    if (installed.last_index >= replica.snapshot_index) replica.snapshot_term = installed.last_term;
    replica.snapshot_index = std::max(replica.snapshot_index, installed.last_index);
    replica.committed_index = std::max(replica.committed_index, installed.last_index);
}

}  // namespace tidelock::checker
