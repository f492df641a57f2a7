#include "scenarios/fetch_fairness.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidelock::scenarios {

std::optional<std::string> FetchFairness::on_request(const replication::FetchRequest& request,
                                                     const broker::Broker& leader) {
    Follower& follower = followers_[request.header.follower.broker];
    const bool is_same = follower.replica == request.header.follower &&
                         follower.leader_epoch == request.header.leader_epoch &&
                         std::ranges::all_of(request.partitions, [&](const replication::FetchPartition& each) {
                             return follower.turns.contains(each.partition);
                         });
    if (!is_same) follower = Follower{request.header.follower, request.header.leader_epoch, {}};
    // Whoever got further with one partition has had the answer.
    const bool has_got_further = std::ranges::any_of(request.partitions, [&](const replication::FetchPartition& each) {
        const auto turn = follower.turns.find(each.partition);
        return turn != follower.turns.end() && each.fetch_offset > turn->second.position;
    });
    std::optional<std::string> starving;
    for (const replication::FetchPartition& each : request.partitions) {
        Turn& turn = follower.turns[each.partition];
        if (each.fetch_offset != turn.position) turn = Turn{each.fetch_offset, false, 0};
        if (!has_got_further || !std::exchange(turn.is_passed_over, false)) continue;
        if (++turn.missed != turns_missed_max(request.partitions.size())) continue;
        const storage::TopicEntry* topic = leader.topics.find(each.partition.topic);
        starving = fmt::format("broker {} for {}-{} from {}: {} answers in a row had records of other partitions only",
                               request.header.follower.broker.value, topic == nullptr ? "?" : topic->name,
                               each.partition.partition.value, each.fetch_offset.value, turn.missed);
    }
    return starving;
}

void FetchFairness::on_answer(BrokerId to, const replication::FetchAnswer& answer, const broker::Broker& leader) {
    const auto follower = followers_.find(to);
    if (follower == followers_.end()) return;
    for (auto& [tp, turn] : follower->second.turns) {
        const auto view = leader.logs.view(tp);
        const auto part = std::ranges::find(answer.partitions, tp, &replication::PartitionAnswer::partition);
        const bool is_there = part != answer.partitions.end();
        const bool has_news = is_there && (part->batches.size() > 0 || part->code != replication::ErrorCode::kNone);
        turn.is_passed_over = !has_news && view && view->log_end_offset > turn.position;
        if (has_news) turn.missed = 0;
    }
}

}  // namespace tidelock::scenarios
