#include "checker/status_honest.h"

#include <fmt/format.h>

namespace tidelock::checker {
namespace {

void report(const Context& context, const BrokerView& broker, const std::string& claim, const std::string& truth) {
    context.log.report(InvariantId::kStatusHonest, context.time_ns,
                       fmt::format("broker {} reported {}, but {} (O1)", broker.id.value, claim, truth));
}

/// It says that it leads.
void judge_leader(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    const std::string claim = fmt::format("that it leads epoch {}", reported.leader_epoch.value);
    if (!broker.leadership || !broker.leadership->claimed) {
        report(context, broker, claim, "it holds no claim");
        return;
    }
    const LeadershipView& leadership = *broker.leadership;
    if (leadership.leader_epoch != reported.leader_epoch) {
        report(context, broker, claim, fmt::format("its claim is of epoch {}", leadership.leader_epoch.value));
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
void judge_follower(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    if (broker.leadership && broker.leadership->serving) {
        report(context, broker, "that it does not lead",
               fmt::format("it serves under epoch {}", broker.leadership->leader_epoch.value));
        return;
    }
    // Itself: it has won the election and its claim has not committed yet.
    if (reported.leader == BrokerId(0) || reported.leader == broker.id || !broker.following) return;
    const bool is_true =
        broker.following->leader == reported.leader && broker.following->leader_epoch == reported.leader_epoch;
    if (is_true) return;
    report(context, broker,
           fmt::format("broker {} as leader of epoch {}", reported.leader.value, reported.leader_epoch.value),
           fmt::format("it last followed broker {} of epoch {}", broker.following->leader.value,
                       broker.following->leader_epoch.value));
}

}  // namespace

void StatusHonest::judge(const Context& context, const BrokerView& broker, const broker::StatusReported& reported) {
    if (reported.is_leader) {
        judge_leader(context, broker, reported);
    } else {
        judge_follower(context, broker, reported);
    }
    const bool has_terms = context.view.settings().preset == broker::Preset::kGroup;
    if (has_terms && reported.term.value < reported.leader_epoch.value) {
        report(context, broker,
               fmt::format("term {} with leader epoch {}", reported.term.value, reported.leader_epoch.value),
               "an epoch is the term of its claim, terms never fall");
    }
}

}  // namespace tidelock::checker
