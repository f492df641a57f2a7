#include "network.h"

#include <algorithm>

#include "protocol/base/digest.h"
#include "protocol/raft/invariants.h"
#include "protocol/raft/text.h"

namespace tidelock::raft {

std::uint64_t Chance::next() {
    std::uint64_t x = (state_ += 0x9E37'79B9'7F4A'7C15ULL);
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return x ^ (x >> 31);
}

std::int64_t Chance::between(std::int64_t min, std::int64_t max) {
    return min + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(max - min + 1));
}

namespace {

bool happens(Chance& chance, std::int64_t one_in) {
    return one_in > 0 && chance.one_in(one_in);
}

std::uint64_t digest_after(std::uint64_t before, const Entry& entry) {
    Digest digest(before);
    digest.add(entry.index);
    digest.add(entry.term);
    digest.add(static_cast<std::uint8_t>(entry.kind));
    digest.add(entry.payload.span());
    return digest.value();
}

Bytes encode_applied(std::uint64_t digest) {
    ByteWriter out;
    out.u64(digest);
    return out.take();
}

}  // namespace

Network::Network(std::uint64_t seed, int member_count, Faults faults, Config config)
    : chance_(seed), faults_(faults), config_(std::move(config)), replicas_(static_cast<std::size_t>(member_count)) {
    config_.members.clear();
    for (int i = 0; i < member_count; ++i) config_.members.push_back(BrokerId(i + 1));
    is_cut_.assign(replicas_.size(), std::vector<bool>(replicas_.size(), false));
    for (int i = 0; i < member_count; ++i) {
        replicas_[static_cast<std::size_t>(i)].durable =
            fresh_state(Incarnation(++lives_ * 1'000 + static_cast<std::uint64_t>(i)));
        boot(i);
    }
}

void Network::boot(int i) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    Config config = config_;
    config.self = BrokerId(i + 1);
    ++replica.boots;
    ++marks_["boot"];
    replica.node = make_node(config, replica.durable, Bytes::copy_of("data of one"), chance_.next() | 1U);
    replica.writes.clear();
    replica.disk_free_at = now_;
    replica.is_up = true;
    replica.applied = replica.durable.snapshot.last_index;
    if (replica.applied.value != 0) {
        ByteReader in(replica.durable.snapshot.data);
        replica.applied_digest = in.u64();
    } else {
        replica.applied_digest = 0;
    }
    set_eligibility(i, replica.eligibility);
    tell_eligible_members();
    apply(i, Started{});
}

void Network::crash(int i, bool wipe) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    if (!replica.is_up) return;
    ++marks_["crash"];
    // Of the writes under way any beginning may have reached the disk.
    const std::int64_t kept = chance_.between(0, static_cast<std::int64_t>(replica.writes.size()));
    if (kept > 0) replica.durable = replica.writes[static_cast<std::size_t>(kept - 1)].state;
    if (kept < static_cast<std::int64_t>(replica.writes.size())) ++marks_["unsynced state lost"];
    replica.writes.clear();
    replica.is_up = false;
    ++replica.boots;
    if (wipe) {
        ++marks_["wiped disk"];
        replica.durable = fresh_state(Incarnation(++lives_ * 1'000 + static_cast<std::uint64_t>(i)));
    }
    for (std::size_t other = 0; other < replicas_.size(); ++other)
        if (replicas_[other].is_up && chance_.one_in(2))
            schedule(now_ + microseconds(chance_.between(50, 2'000)), static_cast<int>(other), replicas_[other].boots,
                     PeerDisconnected{BrokerId(i + 1)});
}

void Network::schedule(Instant at, int to, std::int64_t boot, Event event, std::uint64_t timer_generation) {
    queue_.push({at, ++happenings_, to, boot, std::move(event), timer_generation});
}

void Network::fail(const std::string& what) {
    if (broken_.empty()) broken_ = what;
}

void Network::run(Duration span) {
    const Instant end = now_ + span;
    while (broken_.empty() && !queue_.empty() && queue_.top().at < end) {
        const Happening happening = queue_.top();
        queue_.pop();
        now_ = happening.at;
        if (now_ >= next_nemesis_) nemesis();
        Replica& replica = replicas_[static_cast<std::size_t>(happening.to)];
        if (!replica.is_up || (happening.boot != 0 && happening.boot != replica.boots)) continue;
        if (const TimerFired* fired = std::get_if<TimerFired>(&happening.event))
            if (replica.timer_generation[static_cast<std::size_t>(fired->timer)] != happening.timer_generation)
                continue;
        if (const Persisted* persisted = std::get_if<Persisted>(&happening.event))
            on_durable(happening.to, persisted->sequence);
        apply(happening.to, happening.event);
        if (steps_ % 64 == 0) check_log_matching();
    }
    now_ = std::max(now_, end);
}

void Network::apply(int i, const Event& event) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    const Node before = replica.node;
    Effects effects;
    step(replica.node, now_, event, effects);
    ++steps_;
    if (const std::string broken = find_broken_delta(before, replica.node); !broken.empty())
        fail(broken + ": " + to_text(event));
    for (const Effect& effect : effects) carry_out(i, effect);
}

void Network::carry_out(int i, const Effect& effect) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    if (const Send* send = std::get_if<Send>(&effect)) return deliver(i, *send);
    if (const Persist* persist = std::get_if<Persist>(&effect)) return write(i, persist->sequence);
    if (const SetTimer* set = std::get_if<SetTimer>(&effect)) {
        const std::uint64_t generation = ++replica.timer_generation[static_cast<std::size_t>(set->timer)];
        const Instant at = now_ + Duration(chance_.between(set->min.value, set->max.value));
        return schedule(at, i, replica.boots, TimerFired{set->timer}, generation);
    }
    if (const CancelTimer* cancel = std::get_if<CancelTimer>(&effect)) {
        ++replica.timer_generation[static_cast<std::size_t>(cancel->timer)];
        return;
    }
    if (const ProposalRefused* refused = std::get_if<ProposalRefused>(&effect)) {
        // A slow claim met a transfer: its owner asks again, or an unfinished transfer leaves a leader without one.
        const bool lacks_claim = last_term(replica.node.persistent) != replica.node.persistent.term;
        if (refused->reason != RefusalReason::kTransferring || !lacks_claim) return;
        const Proposed claim{EntryKind::kClaim, Bytes::copy_of("claim")};
        return schedule(now_ + milliseconds(50), i, replica.boots, claim);
    }
    if (const Committed* committed = std::get_if<Committed>(&effect)) return on_committed(i, committed->entry);
    if (const BecameLeader* elected = std::get_if<BecameLeader>(&effect)) return on_elected(i, *elected);
    if (const VoteGranted* vote = std::get_if<VoteGranted>(&effect)) return on_voted(i, *vote);
    if (const SnapshotInstalled* installed = std::get_if<SnapshotInstalled>(&effect))
        return on_installed(i, *installed);
    if (std::holds_alternative<NeedSnapshot>(effect)) {
        ++marks_["compaction"];
        const SnapshotReady ready{replica.applied, encode_applied(replica.applied_digest)};
        return schedule(now_ + microseconds(chance_.between(0, 3'000)), i, replica.boots, ready);
    }
    if (const ProtocolViolated* violated = std::get_if<ProtocolViolated>(&effect)) return fail(to_text(*violated));
    if (const SteppedDown* down = std::get_if<SteppedDown>(&effect))
        ++marks_[to_text(Effect(SteppedDown{Term(0), down->reason}))];
    if (const TransferFinished* done = std::get_if<TransferFinished>(&effect))
        ++marks_[done->succeeded ? "transferred" : "not transferred"];
    if (std::holds_alternative<EntriesTruncated>(effect)) ++marks_["truncation"];
    if (std::holds_alternative<Formed>(effect)) ++marks_["formed"];
}

void Network::deliver(int from, const Send& send) {
    const int to = index_of(send.to);
    if (is_cut_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]) return;
    ++marks_[std::string(kind_name(send.message))];
    const int copies = happens(chance_, faults_.duplicate) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
        if (happens(chance_, faults_.loss)) continue;
        std::int64_t delay = chance_.between(100, 3'000);
        if (happens(chance_, faults_.very_late)) delay = chance_.between(3'000, 1'000'000);
        schedule(now_ + microseconds(delay), to, 0, MessageReceived{BrokerId(from + 1), send.message});
    }
    if (!chance_.one_in(16)) return;
    const Result<Message, DecodeError> decoded = decode_message(encode(send.message));
    if (!decoded || *decoded != send.message) fail("a message does not survive its codec: " + to_text(send.message));
}

void Network::write(int i, PersistSequence sequence) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    replica.writes.push_back({sequence, replica.node.persistent});
    std::int64_t delay = chance_.between(100, std::max<std::int64_t>(faults_.disk_microseconds_max, 5'000));
    if (happens(chance_, faults_.disk_stall)) delay = chance_.between(5'000, 900'000);
    replica.disk_free_at = std::max(replica.disk_free_at, now_) + microseconds(delay);
    schedule(replica.disk_free_at, i, replica.boots, Persisted{sequence});
}

void Network::on_durable(int i, PersistSequence sequence) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    while (!replica.writes.empty() && replica.writes.front().sequence <= sequence) {
        replica.durable = std::move(replica.writes.front().state);
        replica.writes.erase(replica.writes.begin());
    }
    if (!chance_.one_in(64)) return;
    const Result<PersistentState, DecodeError> decoded = decode_persistent_state(encode(replica.durable));
    if (!decoded || *decoded != replica.durable) fail("a state does not survive its codec");
}

void Network::on_committed(int i, const Entry& entry) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    if (entry.index != replica.applied + 1) return fail("an entry was committed out of order");
    replica.applied = entry.index;
    replica.applied_digest = digest_after(replica.applied_digest, entry);
    const auto at = static_cast<std::size_t>(entry.index.value - 1);
    if (at > committed_.size()) return fail("an entry was committed past a gap");
    if (entry.kind == EntryKind::kAdmission && at == committed_.size()) ++marks_["admission"];
    if (at == committed_.size())
        committed_.push_back({entry, replica.node.persistent.term, replica.applied_digest});
    else if (committed_[at].entry != entry)
        fail("two entries were committed at index " + std::to_string(entry.index.value));
    committed_[at].seen_in_term = std::min(committed_[at].seen_in_term, replica.node.persistent.term);
}

void Network::on_elected(int i, const BecameLeader& elected) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    const Member self{BrokerId(i + 1), replica.node.persistent.incarnation};
    const auto [at, is_first] = leaders_.emplace(elected.term, self);
    if (!is_first && at->second != self) return fail("two leaders in term " + std::to_string(elected.term.value));
    ++marks_[elected.caretaker ? "caretaker" : "leader"];
    for (const CommittedEntry& committed : committed_) {
        if (committed.seen_in_term >= elected.term ||
            committed.entry.index <= replica.node.persistent.snapshot.last_index)
            continue;
        if (term_at(replica.node.persistent, committed.entry.index) != committed.entry.term)
            return fail("a leader lacks committed entry " + std::to_string(committed.entry.index.value));
    }
    if (elected.caretaker) return;
    const Proposed claim{EntryKind::kClaim, Bytes::copy_of("claim")};
    if (!happens(chance_, faults_.slow_claim)) return apply(i, claim);
    schedule(now_ + microseconds(chance_.between(0, 100'000)), i, replica.boots, claim);
}

void Network::on_voted(int i, const VoteGranted& vote) {
    const Replica& replica = replicas_[static_cast<std::size_t>(i)];
    const Member self{BrokerId(i + 1), replica.node.persistent.incarnation};
    const auto [at, is_first] = votes_.emplace(std::pair(self, vote.term), vote.candidate);
    if (!is_first && at->second != vote.candidate) fail("two votes in term " + std::to_string(vote.term.value));
    // A vote is told only when a disk image that holds it, or a newer term, is certain to be found again.
    const PersistentState& disk = replica.durable;
    if (disk.term < vote.term || (disk.term == vote.term && disk.voted_for != vote.candidate))
        fail("a vote was told before it was durable");
}

void Network::on_installed(int i, const SnapshotInstalled& installed) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    ++marks_["snapshot installed"];
    ByteReader in(installed.data);
    replica.applied = installed.last_index;
    replica.applied_digest = in.u64();
    const auto at = static_cast<std::size_t>(installed.last_index.value - 1);
    if (at >= committed_.size() || committed_[at].digest != replica.applied_digest)
        fail("a snapshot differs from what was committed");
}

bool Network::may_wipe(int i) const {
    bool has_formed = false;
    std::size_t others_lacking = 0;
    for (std::size_t other = 0; other < replicas_.size(); ++other) {
        const Replica& replica = replicas_[other];
        const bool is_formed = !is_empty(replica.durable) || (replica.is_up && !is_empty(replica.node.persistent));
        has_formed = has_formed || is_formed;
        if (static_cast<int>(other) != i && !replica.durable.voter) ++others_lacking;
    }
    return !has_formed || others_lacking + 1 <= (replicas_.size() - 1) / 2;
}

void Network::nemesis() {
    next_nemesis_ = now_ + milliseconds(chance_.between(5, 40));
    const int leading = leader();
    int victim = static_cast<int>(chance_.between(0, static_cast<std::int64_t>(replicas_.size()) - 1));
    if (leading >= 0 && chance_.one_in(3)) victim = leading;
    crash_some(victim);
    cut_some();
    if (happens(chance_, faults_.isolate)) isolate_leader();
    if (happens(chance_, faults_.aim)) aim_at_two_leaders();
    if (happens(chance_, faults_.eligibility)) {
        set_eligibility(victim, static_cast<Eligibility>(chance_.between(0, 2)));
        tell_eligible_members();
    }
    if (leading >= 0 && happens(chance_, faults_.transfer)) apply(leading, TransferRequested{BrokerId(victim + 1)});
    if (chance_.one_in(2)) propose();
}

void Network::crash_some(int victim) {
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (!replicas_[i].is_up && chance_.one_in(3)) boot(static_cast<int>(i));
    if (happens(chance_, faults_.crash)) {
        const bool wipe = happens(chance_, faults_.wipe) && may_wipe(victim);
        crash(victim, wipe);
        if (chance_.one_in(2) && !replicas_[static_cast<std::size_t>(victim)].is_up) boot(victim);
    }
    if (!happens(chance_, faults_.power_loss)) return;
    for (std::size_t i = 0; i < replicas_.size(); ++i) crash(static_cast<int>(i), false);
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (!chance_.one_in(3)) boot(static_cast<int>(i));
}

void Network::cut_some() {
    if (!happens(chance_, faults_.cut)) return;
    const bool mend = chance_.one_in(2);
    for (auto& row : is_cut_)
        for (std::size_t to = 0; to < row.size(); ++to) row[to] = !mend && chance_.one_in(3);
}

void Network::split(const std::vector<bool>& side) {
    for (std::size_t from = 0; from < side.size(); ++from)
        for (std::size_t to = 0; to < side.size(); ++to) is_cut_[from][to] = side[from] != side[to];
}

void Network::isolate_leader() {
    const int leading = leader();
    if (leading < 0) return;
    ++marks_["leader isolated"];
    std::vector<bool> side(replicas_.size(), false);
    side[static_cast<std::size_t>(leading)] = true;
    const auto other = static_cast<std::size_t>(chance_.between(0, static_cast<std::int64_t>(side.size()) - 1));
    if (chance_.one_in(2)) side[other] = true;
    split(side);
}

/// Takes a follower away from the newer leader, with its disk or without, and gives it to the older: whatever counts it
/// twice, or counts a life of it that is over, shows here.
void Network::aim_at_two_leaders() {
    std::vector<int> leading;
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (replicas_[i].is_up && is_leader(replicas_[i].node)) leading.push_back(static_cast<int>(i));
    if (leading.size() < 2) return;
    ++marks_["two believed that they lead"];
    std::vector<bool> side(replicas_.size(), false);
    const auto term_of = [this](int i) { return replica(i).node.persistent.term; };
    const int older = term_of(leading[0]) < term_of(leading[1]) ? leading[0] : leading[1];
    side[static_cast<std::size_t>(older)] = true;
    for (std::size_t i = 0; i < side.size(); ++i) {
        if (static_cast<int>(i) == leading[0] || static_cast<int>(i) == leading[1] || !chance_.one_in(2)) continue;
        side[i] = true;
        const bool wipe = faults_.wipe > 0 && may_wipe(static_cast<int>(i));
        if (wipe || chance_.one_in(2)) crash(static_cast<int>(i), wipe);
        if (!replicas_[i].is_up) boot(static_cast<int>(i));
    }
    split(side);
}

void Network::set_eligibility(int i, Eligibility eligibility) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    replica.eligibility = eligibility;
    if (replica.is_up) apply(i, EligibilityChanged{eligibility});
}

void Network::tell_eligible_members() {
    BrokerIds eligible;
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (replicas_[i].eligibility == Eligibility::kMayLead)
            eligible.push_back(BrokerId(static_cast<std::int32_t>(i) + 1));
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (replicas_[i].is_up) apply(static_cast<int>(i), EligibleMembersChanged{eligible});
}

void Network::propose() {
    ByteWriter out;
    out.u64(chance_.next());
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (replicas_[i].is_up && is_leader(replicas_[i].node) &&
            last_term(replicas_[i].node.persistent) == replicas_[i].node.persistent.term)
            apply(static_cast<int>(i), Proposed{EntryKind::kCommand, out.take()});
}

void Network::heal(const std::vector<int>& eligible) {
    faults_ = {};
    for (auto& row : is_cut_) row.assign(row.size(), false);
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        if (!replicas_[i].is_up) boot(static_cast<int>(i));
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
        const bool may_lead = std::find(eligible.begin(), eligible.end(), static_cast<int>(i)) != eligible.end();
        set_eligibility(static_cast<int>(i), may_lead ? Eligibility::kMayLead : Eligibility::kCaretakerOnly);
    }
    tell_eligible_members();
}

int Network::leader() const {
    int found = -1;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
        const Replica& replica = replicas_[i];
        if (!replica.is_up || !is_leader(replica.node) || is_caretaker(replica.node)) continue;
        if (found < 0 || replica.node.persistent.term > replicas_[static_cast<std::size_t>(found)].node.persistent.term)
            found = static_cast<int>(i);
    }
    return found;
}

bool Network::is_settled() const {
    if (leader() < 0) return false;
    return std::all_of(replicas_.begin(), replicas_.end(), [this](const Replica& replica) {
        return replica.is_up && replica.durable.voter && replica.applied == committed();
    });
}

/// Where two logs agree on index and term they agree on everything before (V4).
void Network::check_log_matching() {
    for (std::size_t a = 0; a < replicas_.size(); ++a) {
        for (std::size_t b = a + 1; b < replicas_.size(); ++b) {
            const PersistentState& first = replicas_[a].node.persistent;
            const PersistentState& second = replicas_[b].node.persistent;
            bool must_agree = false;
            const LogIndex bottom = std::max(first.snapshot.last_index, second.snapshot.last_index);
            for (LogIndex i = std::min(last_index(first), last_index(second)); i > bottom; i = i - 1) {
                must_agree = must_agree || term_at(first, i) == term_at(second, i);
                if (must_agree && entry_at(first, i) != entry_at(second, i))
                    return fail("logs that agree differ below");
            }
        }
    }
}

std::string Network::text() const {
    std::string text = "at " + std::to_string(now_.value / 1'000) + " us:";
    for (const Replica& replica : replicas_)
        text += "\n  " + std::string(replica.is_up ? "" : "(down) ") + to_text(replica.node);
    return text;
}

}  // namespace tidelock::raft
