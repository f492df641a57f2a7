// What judging costs: a schedule's worth of observations and client calls through all invariants. The budget is 35 % of
// 7 ms for about 6,000 observations (ARCHITECTURE 8).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "checker/checker.h"

namespace tidelock::checker {
namespace {

struct Told {
    BrokerId broker;
    broker::Observation observation;
};

/// A cluster of three that appends, copies, syncs, confirms and serves batch after batch, with a leader change now and
/// then.
class Recording {
  public:
    explicit Recording(int batches) {
        for (int id = 1; id <= 3; ++id) tell(id, broker::Started{Incarnation(id), Incarnation(id)});
        for (int id = 1; id <= 3; ++id) tell(id, broker::TopicCreated{TopicId(7), "orders", kPartitions});
        for (int batch = 0; batch < batches; ++batch) {
            if (batch % 100 == 0) change_leader();
            confirm(batch);
        }
    }
    [[nodiscard]] const std::vector<Told>& told() const { return told_; }
    [[nodiscard]] const std::vector<ClientCall>& calls() const { return calls_; }

  private:
    static constexpr std::int32_t kPartitions = 4;

    void tell(int id, broker::Observation observation) { told_.push_back({BrokerId(id), std::move(observation)}); }

    void change_leader() {
        if (epoch_ > 0) tell(leader_, broker::LeadershipEnded{LeaderEpoch(epoch_)});
        ++epoch_;
        leader_ = epoch_ % 3 + 1;
        const std::vector<Replica> all{
            {BrokerId(1), Incarnation(1)}, {BrokerId(2), Incarnation(2)}, {BrokerId(3), Incarnation(3)}};
        for (int id = 1; id <= 3; ++id) tell(id, broker::VoteGranted{Term(epoch_), BrokerId(leader_), Incarnation(id)});
        tell(leader_, broker::RaftLeaderElected{Term(epoch_), false});
        const auto content = static_cast<std::uint64_t>(epoch_);
        for (int id = 1; id <= 3; ++id) tell(id, broker::RaftEntryAppended{LogIndex(epoch_), Term(epoch_), content});
        for (int id = 1; id <= 3; ++id)
            tell(id, broker::RaftEntryCommitted{LogIndex(epoch_), Term(epoch_), content, Term(epoch_)});
        tell(leader_, broker::ClaimCommitted{LeaderEpoch(epoch_)});
        tell(leader_, broker::InSyncSetCommitted{LeaderEpoch(epoch_), all});
        tell(leader_, broker::AcknowledgementSetChanged{LeaderEpoch(epoch_), all});
        tell(leader_, broker::LeaderServing{LeaderEpoch(epoch_)});
        for (int id = 1; id <= 3; ++id) {
            if (id != leader_) tell(id, broker::FollowingLeader{BrokerId(leader_), LeaderEpoch(epoch_)});
        }
    }

    void confirm(int number) {
        const int index = number % kPartitions;
        const TopicPartition partition{TopicId(7), PartitionIndex(index)};
        const Offset base = ends_[index];
        const broker::BatchSummary batch{base,
                                         base,
                                         LeaderEpoch(epoch_),
                                         static_cast<std::uint32_t>(number),
                                         ProducerId(index),
                                         ProducerEpoch(0),
                                         static_cast<std::int32_t>(base.value)};
        ends_[index] += 1;
        for (int step = 0; step < 3; ++step) {
            const int id = (leader_ - 1 + step) % 3 + 1;
            tell(id, broker::BatchAppended{partition, batch, id == leader_});
            tell(id, broker::DurableEndAdvanced{partition, base + 1});
        }
        for (int step = 0; step < 3; ++step) {
            const int id = (leader_ - 1 + step) % 3 + 1;
            tell(id, broker::HighWatermarkAdvanced{partition, LeaderEpoch(epoch_), base + 1, id == leader_});
        }
        tell(leader_, broker::RecordsAcknowledged{partition, base, base, LeaderEpoch(epoch_),
                                                  broker::AcknowledgedBy::kPolicy, false});
        tell(leader_, broker::RecordsServed{partition, LeaderEpoch(epoch_), base, base + 1, base + 1});
        call(number, ClientPartition{ClientTopic(1), partition.partition}, base);
    }

    void call(int number, const ClientPartition& partition, Offset base) {
        const std::int64_t at = std::int64_t{number} * 4;
        const auto value = static_cast<std::uint64_t>(number) + 1;
        const ProduceCall produce{partition, ProducerId(1), ProducerEpoch(0), number, Acks::kAll, {value}, base};
        calls_.push_back(ClientCall{ClientId(1), at, at, at + 1, Outcome::kOk, produce});
        const FetchCall fetch{partition, base, false, {{base, value}}, base + 1};
        calls_.push_back(ClientCall{ClientId(2), at + 1, at + 2, at + 3, Outcome::kOk, fetch});
    }

    std::vector<Told> told_;
    std::vector<ClientCall> calls_;
    Offset ends_[kPartitions];
    std::int32_t epoch_ = 0;
    std::int32_t leader_ = 1;
};

Settings settings_of_three() {
    Settings settings;
    settings.members = {BrokerId(1), BrokerId(2), BrokerId(3)};
    return settings;
}

void judge_schedule(benchmark::State& state) {
    const Recording recording(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        Checker checker(settings_of_three());
        std::int64_t now = 0;
        for (const Told& told : recording.told()) checker.on_observation(++now, told.broker, 1, told.observation);
        for (const ClientCall& call : recording.calls()) checker.on_call(call);
        checker.at_end(now, FinalView{{}, BrokerId(1), {}, {}, {}, {}, {}, false});
        if (!checker.violations().empty()) state.SkipWithError(checker.violations().front().message.c_str());
    }
    state.counters["observations"] = static_cast<double>(recording.told().size());
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(recording.told().size() + recording.calls().size()));
}
BENCHMARK(judge_schedule)->Arg(500)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidelock::checker
