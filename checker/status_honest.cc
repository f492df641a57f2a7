#include "checker/status_honest.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

using clients::StatusDurability;
using clients::StatusRole;

void report(const Context& context, const BrokerView& broker, const std::string& claim, const std::string& truth) {
    context.log.report(InvariantId::kStatusHonest, context.time_ns,
                       fmt::format("broker {} reported {}, but {} (O1)", broker.id.value, claim, truth));
}

/// The broker holds a claim, by what it last observed.
bool has_claim(const BrokerView& broker) {
    return broker.leadership && broker.leadership->claimed;
}

/// It says that it leads, or is about to, and holds a claim.
void judge_leading(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    const LeadershipView& leadership = *broker.leadership;
    if (leadership.leader_epoch != reported.leader_epoch) {
        report(context, broker, fmt::format("that it leads epoch {}", reported.leader_epoch.value),
               fmt::format("its claim is of epoch {}", leadership.leader_epoch.value));
    }
    if (reported.leader != broker.id) {
        report(context, broker, fmt::format("broker {} as leader", reported.leader.value), "it leads itself");
    }
    if (leadership.committed_set && *leadership.committed_set != reported.in_sync_replicas) {
        report(context, broker, fmt::format("the in-sync set {}", text_of(reported.in_sync_replicas)),
               fmt::format("the set it last saw committed is {} (incarnations count)",
                           text_of(*leadership.committed_set)));
    }
}

/// It says that it follows, or that it knows no leader.
void judge_following(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    // Itself: it has won the election and its claim has not committed yet.
    if (reported.leader == BrokerId(0) || reported.leader == broker.id) return;
    // Static roles are known before anybody acts on them.
    if (!broker.following && context.view.settings().preset == broker::Preset::kStatic) return;
    if (!broker.following)
        return report(context, broker, fmt::format("broker {} as leader", reported.leader.value), "it follows nobody");
    const bool is_true =
        broker.following->leader == reported.leader && broker.following->leader_epoch == reported.leader_epoch;
    if (is_true) return;
    report(context, broker,
           fmt::format("broker {} as leader of epoch {}", reported.leader.value, reported.leader_epoch.value),
           fmt::format("it last followed broker {} of epoch {}", broker.following->leader.value,
                       broker.following->leader_epoch.value));
}

/// Who lags is a member that a leader cannot do without (I11): nobody else has any, and no leader lags behind itself.
void judge_lagging(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    if (reported.lagging_members.empty()) return;
    const std::string claim = fmt::format("the lagging members {}", text_of(reported.lagging_members));
    if (!has_claim(broker) || !broker.leadership->committed_set)
        return report(context, broker, claim, "it leads no set");
    const std::vector<Replica>& set = *broker.leadership->committed_set;
    for (const Replica& member : reported.lagging_members) {
        if (member.broker == broker.id) report(context, broker, claim, "it leads them");
        if (std::ranges::find(set, member) != set.end()) continue;
        report(context, broker, claim,
               fmt::format("the set it last saw committed is {} (incarnations count)", text_of(set)));
    }
}

/// I9: all partitions of a leader with fewer members in step than it has brokers, and none of anybody else.
void judge_under_replicated(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    const std::size_t in_step = reported.in_sync_replicas.size() - reported.lagging_members.size();
    const bool is_short = has_claim(broker) && in_step < context.view.settings().members.size();
    const auto there = std::ranges::count_if(broker.copies, [](const CopyView& copy) { return copy.exists; });
    const std::int64_t truth = is_short ? there : 0;
    if (reported.under_replicated_count == truth) return;
    report(context, broker, fmt::format("{} under-replicated partitions", reported.under_replicated_count),
           fmt::format("{} of {} brokers are in step for {} partitions, so {} are (I9)", in_step,
                       context.view.settings().members.size(), there, truth));
}

/// G8: a minority may be lost where a record is confirmed on a majority; with less it hangs on a disk.
StatusDurability durability_by(const Settings& settings) {
    if (!settings.durable_positions) return StatusDurability::kReceivedOnly;
    return settings.min_insync_replicas >= majority_of(settings) ? StatusDurability::kMinorityLoss
                                                                 : StatusDurability::kSingleDisk;
}

void judge_durability(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    const Settings& settings = context.view.settings();
    const StatusDurability truth = durability_by(settings);
    if (reported.durability == truth) return;
    report(context, broker, fmt::format("that a confirmed record \"{}\"", name_of(reported.durability)),
           fmt::format("with {} of {} copies, {}, it is \"{}\" (G8)", settings.min_insync_replicas,
                       settings.members.size(), settings.durable_positions ? "durable" : "received", name_of(truth)));
}

}  // namespace

void StatusHonest::judge(const BrokerView& broker, const broker::RaftLeaderElected& elected) {
    raft_leaderships_[broker.id] = RaftLeadership{broker.life, elected.term, elected.caretaker};
}

void StatusHonest::judge(const BrokerView& broker, const broker::RaftLeaderSteppedDown&) {
    raft_leaderships_.erase(broker.id);
}

const StatusHonest::RaftLeadership* StatusHonest::raft_leadership_of(const BrokerView& broker) const {
    const auto at = raft_leaderships_.find(broker.id);
    return at != raft_leaderships_.end() && at->second.life == broker.life ? &at->second : nullptr;
}

void StatusHonest::judge_role(const Context& context, const BrokerView& broker,
                              const broker::StatusReported& reported) const {
    const RaftLeadership* raft = raft_leadership_of(broker);
    const std::string claim = fmt::format("itself as {}", name_of(reported.role));
    const bool is_serving = has_claim(broker) && broker.leadership->serving;
    switch (reported.role) {
        case StatusRole::kLeader:
            if (!has_claim(broker)) return report(context, broker, claim, "it holds no claim");
            if (!is_serving) report(context, broker, claim, "it has not opened yet (G3)");
            return;
        case StatusRole::kClaiming:
            if (is_serving) return report(context, broker, claim, "it serves");
            if (!has_claim(broker) && (raft == nullptr || raft->caretaker))
                report(context, broker, claim, raft == nullptr ? "it leads no term" : "it leads as caretaker (G9)");
            return;
        case StatusRole::kCaretaker:
            if (raft == nullptr || !raft->caretaker)
                report(context, broker, claim, raft == nullptr ? "it leads no term" : "it may lead the data (G9)");
            return;
        case StatusRole::kFollower:
        case StatusRole::kCandidate:
            if (has_claim(broker))
                return report(context, broker, claim,
                              fmt::format("it {} epoch {}", is_serving ? "serves under" : "claimed",
                                          broker.leadership->leader_epoch.value));
            if (raft != nullptr) report(context, broker, claim, fmt::format("it leads term {}", raft->term.value));
            return;
    }
}

void StatusHonest::judge(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    judge_role(context, broker, reported);
    has_claim(broker) ? judge_leading(context, broker, reported) : judge_following(context, broker, reported);
    judge_lagging(context, broker, reported);
    judge_under_replicated(context, broker, reported);
    judge_durability(context, broker, reported);
    if (const RaftLeadership* raft = raft_leadership_of(broker); raft != nullptr && raft->term != reported.term) {
        report(context, broker, fmt::format("term {}", reported.term.value),
               fmt::format("it leads term {}", raft->term.value));
    }
    const bool has_terms = context.view.settings().preset == broker::Preset::kGroup;
    if (has_terms && reported.term.value < reported.leader_epoch.value) {
        report(context, broker,
               fmt::format("term {} with leader epoch {}", reported.term.value, reported.leader_epoch.value),
               "an epoch is the term of its claim, terms never fall");
    }
}

}  // namespace tidelock::checker
