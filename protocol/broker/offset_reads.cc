// What a group's committed offset is, told by the leader alone and by none that is over (T1).
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

constexpr std::size_t kWaitingOffsetFetchesMax = 1000;

void tell_offset(Step& step, const ClientRef& client, const clients::OffsetFetchRequest& fetch) {
    clients::OffsetFetchAnswer body;
    const auto target = resolve(step.broker, fetch.partition);
    if (!target) body.error = ErrorCode::kUnknownTopicOrPartition;
    const auto* committed =
        target ? step.broker.leading->offsets.find(clients::OffsetKey{fetch.group, *target}) : nullptr;
    if (committed != nullptr) {
        body.offset = committed->offset;
        body.leader_epoch = committed->leader_epoch;
        body.metadata = committed->metadata;
    }
    answer(step, client, std::move(body));
}

}  // namespace

void on_offset_fetch(Step& step, const ClientRef& client, const clients::Request& request,
                     const clients::OffsetFetchRequest& fetch) {
    Broker& broker = step.broker;
    if (!resolve(broker, fetch.partition)) return refuse(step, client, request, ErrorCode::kUnknownTopicOrPartition);
    // A static leader is over when its operator says so, not before.
    if (broker.config.preset != Preset::kGroup) return tell_offset(step, client, fetch);
    Leading& leading = *broker.leading;
    if (leading.offset_fetches.size() >= kWaitingOffsetFetchesMax)
        return refuse(step, client, request, ErrorCode::kThrottled);
    leading.newest_round += 1;
    const Instant deadline = step.now + broker.config.request_timeout * 5;
    leading.offset_fetches.push_back(WaitingOffsetFetch{client, fetch, leading.newest_round, deadline});
    note_deadline(step, deadline);
    observe(step, ReadRoundAsked{broker.raft.persistent.term, leading.newest_round});
    run_raft(step, raft::ConfirmationRequested{leading.newest_round});
}

void on_leadership_confirmed(Step& step, ReadRound up_to) {
    if (!step.broker.leading) return;
    auto& waiting = step.broker.leading->offset_fetches;
    while (!waiting.empty() && waiting.front().round <= up_to) {
        tell_offset(step, waiting.front().client, waiting.front().fetch);
        waiting.pop_front();
    }
}

void expire_offset_fetches(Step& step) {
    auto& waiting = step.broker.leading->offset_fetches;
    clients::OffsetFetchAnswer body;
    body.error = ErrorCode::kRequestTimedOut;
    while (!waiting.empty() && waiting.front().deadline <= step.now) {
        mark(step, Mark::kOffsetReadUnconfirmed);
        answer(step, waiting.front().client, body);
        waiting.pop_front();
    }
    if (!waiting.empty()) note_deadline(step, waiting.front().deadline);
}

}  // namespace tidelock::broker
