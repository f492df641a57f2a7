#include "checker/single_leader.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {

void SingleLeader::take_epoch(const Context& context, const BrokerView& broker, LeaderEpoch leader_epoch,
                              const char* deed) {
    // Without epochs (`static`) the configuration alone says who leads.
    if (leader_epoch == LeaderEpoch(0)) return;
    const auto [holder, is_new] = holders_.try_emplace(leader_epoch, Holder{broker.id, broker.life});
    if (is_new || holder->second.broker == broker.id) return;
    context.log.report(
        InvariantId::kSingleLeaderPerEpoch, context.time_ns,
        fmt::format("broker {} {} under epoch {}, which broker {} already led: an epoch has one leader (R4)",
                    broker.id.value, deed, leader_epoch.value, holder->second.broker.value));
}

void SingleLeader::judge(const Context& context, const BrokerView& broker, const broker::ClaimCommitted& claimed) {
    take_epoch(context, broker, claimed.leader_epoch, "claimed leadership");
    const auto known = committed_terms_.find(broker.id);
    if (known == committed_terms_.end() || known->second.value == claimed.leader_epoch.value) return;
    context.log.report(
        InvariantId::kSingleLeaderPerEpoch, context.time_ns,
        fmt::format("broker {} leads under epoch {} though the newest entry it knows to be committed is of term {}: a "
                    "leader serves on a committed claim (R4)",
                    broker.id.value, claimed.leader_epoch.value, known->second.value));
}

void SingleLeader::judge(const Context&, const BrokerView& broker, const broker::RaftRecovered&) {
    committed_terms_.insert_or_assign(broker.id, Term(0));
}

void SingleLeader::judge(const Context&, const BrokerView& broker, const broker::RaftEntryCommitted& committed) {
    const auto known = committed_terms_.find(broker.id);
    if (known != committed_terms_.end()) known->second = std::max(known->second, committed.term);
}

void SingleLeader::judge(const Context& context, const BrokerView& broker, const broker::LeaderServing& serving) {
    take_epoch(context, broker, serving.leader_epoch, "opened to clients");
}

void SingleLeader::judge(const Context& context, const BrokerView& broker, const broker::BatchAppended& appended) {
    if (!appended.as_leader) return;
    take_epoch(context, broker, appended.batch.leader_epoch, "appended as leader");
    if (context.view.settings().preset == broker::Preset::kStatic) return;
    const bool holds_claim = broker.leadership && broker.leadership->claimed &&
                             broker.leadership->leader_epoch == appended.batch.leader_epoch;
    if (holds_claim) return;
    context.log.report(
        InvariantId::kSingleLeaderPerEpoch, context.time_ns,
        fmt::format("broker {} appended {} to {} as leader, but holds no committed claim of that epoch (R4)",
                    broker.id.value, text_of(appended.batch), context.view.name_of(appended.partition)));
}

}  // namespace tidelock::checker
