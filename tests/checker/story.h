/// Hand-made histories for the checker: three brokers, one topic "x" with partition 0, told one fact a line.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "checker/checker.h"

namespace tidelock::checker {

inline constexpr TopicPartition kX0{TopicId(7), PartitionIndex(0)};
inline constexpr ClientPartition kClientX0{ClientTopic(1), PartitionIndex(0)};

inline std::vector<Replica> replicas(std::initializer_list<int> brokers) {
    std::vector<Replica> set;
    for (const int broker : brokers)
        set.push_back(Replica{BrokerId(broker), Incarnation(static_cast<unsigned>(broker))});
    return set;
}

/// A batch of `count` records; its content follows from epoch and base unless told otherwise.
struct BatchSpec {
    std::int64_t base;
    int epoch = 1;
    int count = 1;
    std::uint32_t content = 0;
    std::int64_t producer = -1;
    std::int32_t sequence = -1;
    std::int16_t producer_epoch = 0;
};

inline broker::BatchSummary summary_of(const BatchSpec& spec) {
    const auto content = spec.content != 0 ? spec.content : static_cast<std::uint32_t>(spec.epoch * 1000 + spec.base);
    return {Offset(spec.base), Offset(spec.base + spec.count - 1), LeaderEpoch(spec.epoch),
            content,           ProducerId(spec.producer),          ProducerEpoch(spec.producer_epoch),
            spec.sequence};
}

class Story {
  public:
    explicit Story(Settings settings = group_of_three()) : checker(std::move(settings)) {
        for (int broker = 1; broker <= 3; ++broker) boot(broker);
        for (int broker = 1; broker <= 3; ++broker) see(broker, broker::TopicCreated{kX0.topic, "x", 1});
    }
    static Settings group_of_three() {
        Settings settings;
        settings.members = {BrokerId(1), BrokerId(2), BrokerId(3)};
        return settings;
    }

    Story& see(int broker, broker::Observation observation) {
        checker.on_observation(++now, BrokerId(broker), life[broker], observation);
        return *this;
    }
    Story& fact(const HostFact& fact) {
        checker.on_host_fact(++now, fact);
        return *this;
    }
    Story& boot(int broker, unsigned incarnation = 0) {
        fact(BrokerBooted{BrokerId(broker), ++life[broker]});
        const unsigned named = incarnation != 0 ? incarnation : static_cast<unsigned>(broker);
        return see(broker, broker::Started{Incarnation(named), Incarnation(named)});
    }
    Story& kill(int broker) { return fact(BrokerKilled{BrokerId(broker), true}); }
    Story& empty_disk(int broker) { return fact(DiskEmptied{BrokerId(broker)}); }
    Story& disk_is_sound(int broker) { return fact(DiskSound{BrokerId(broker)}); }
    Story& damage_disk(int broker) {
        return fact(DiskDamaged{BrokerId(broker), DiskDamage::kBitRot, kX0, "a segment"});
    }

    /// The claim of `epoch` commits at `broker`, which opens at once, with all brokers in sync.
    Story& lead(int broker, int epoch) {
        return claim(broker, epoch).see(broker, broker::LeaderServing{LeaderEpoch(epoch)});
    }
    Story& claim(int broker, int epoch) {
        see(broker, broker::ClaimCommitted{LeaderEpoch(epoch)});
        see(broker, broker::InSyncSetCommitted{LeaderEpoch(epoch), replicas({1, 2, 3})});
        return wait_for(broker, epoch, replicas({1, 2, 3}));
    }
    Story& commit_set(int broker, int epoch, const std::vector<Replica>& set) {
        return see(broker, broker::InSyncSetCommitted{LeaderEpoch(epoch), set});
    }
    Story& propose_set(int broker, int epoch, const std::vector<Replica>& set) {
        see(broker, broker::InSyncSetProposed{LeaderEpoch(epoch), set, 5});
        return see(broker, broker::RaftEntryAppended{LogIndex(++raft_index), Term(epoch), 5});
    }
    Story& wait_for(int broker, int epoch, const std::vector<Replica>& set) {
        return see(broker, broker::AcknowledgementSetChanged{LeaderEpoch(epoch), set});
    }
    Story& step_down(int broker, int epoch) { return see(broker, broker::LeadershipEnded{LeaderEpoch(epoch)}); }
    Story& follow(int broker, int leader, int epoch) {
        return see(broker, broker::FollowingLeader{BrokerId(leader), LeaderEpoch(epoch)});
    }

    Story& append(int broker, const BatchSpec& batch) {
        return see(broker, broker::BatchAppended{kX0, summary_of(batch), true});
    }
    Story& copy(int broker, const BatchSpec& batch) {
        return see(broker, broker::BatchAppended{kX0, summary_of(batch), false});
    }
    Story& durable(int broker, std::int64_t end) { return see(broker, broker::DurableEndAdvanced{kX0, Offset(end)}); }
    Story& high_watermark(int broker, int epoch, std::int64_t end) {
        return see(broker, broker::HighWatermarkAdvanced{kX0, LeaderEpoch(epoch), Offset(end), true});
    }
    Story& hear_high_watermark(int broker, int epoch, std::int64_t end) {
        return see(broker, broker::HighWatermarkAdvanced{kX0, LeaderEpoch(epoch), Offset(end), false});
    }
    Story& acknowledge(int broker, int epoch, std::int64_t base, std::int64_t last,
                       broker::AcknowledgedBy by = broker::AcknowledgedBy::kPolicy) {
        return see(broker, broker::RecordsAcknowledged{kX0, Offset(base), Offset(last), LeaderEpoch(epoch), by, false});
    }
    Story& serve(int broker, int epoch, std::int64_t from, std::int64_t to, std::int64_t high_watermark) {
        return see(broker,
                   broker::RecordsServed{kX0, LeaderEpoch(epoch), Offset(from), Offset(to), Offset(high_watermark)});
    }
    Story& tell_bounds(int broker, int epoch, std::optional<std::int64_t> start, std::optional<std::int64_t> end) {
        broker::BoundsTold told{kX0, LeaderEpoch(epoch), std::nullopt, std::nullopt};
        if (start) told.log_start_offset = Offset(*start);
        if (end) told.high_watermark = Offset(*end);
        return see(broker, told);
    }
    Story& cut(int broker, std::int64_t to, broker::CutReason reason = broker::CutReason::kHandshake) {
        return see(broker, broker::LogTruncated{kX0, Offset(to), reason});
    }
    Story& reset(int broker, std::int64_t start, broker::ResetReason reason) {
        return see(broker, broker::LogReset{kX0, Offset(start), reason});
    }
    /// A log [0, end of the last batch) is found at boot, all of it durable.
    Story& recover(int broker, const std::vector<BatchSpec>& batches, bool damaged = false) {
        broker::LogRecovered found{kX0, Offset(0), Offset(0), Offset(0), Offset(0), {}, damaged};
        for (const BatchSpec& batch : batches) found.batches.push_back(summary_of(batch));
        if (!batches.empty()) found.log_end_offset = found.batches.back().last_offset + 1;
        found.durable_end_offset = found.log_end_offset;
        return see(broker, found);
    }

    /// An administrator asks for the deletion of "x", and hears how it ended.
    Story& ask_topic_deletion() {
        fact(ClientTopicNamed{kClientX0.topic, "x"});
        return fact(TopicDeletionAsked{"x"});
    }
    Story& end_topic_deletion(Outcome outcome) {
        ++now;
        checker.on_call(ClientCall{ClientId(1), now, now, now, outcome, DeleteTopicCall{kClientX0.topic}});
        return *this;
    }
    Story& delete_topic(Outcome outcome) { return ask_topic_deletion().end_topic_deletion(outcome); }

    /// `leader` appends the batch, `followers` copy it, it is durable everywhere, and confirmed.
    Story& confirm(int leader, std::initializer_list<int> followers, const BatchSpec& batch) {
        const std::int64_t end = batch.base + batch.count;
        append(leader, batch).durable(leader, end);
        for (const int follower : followers) copy(follower, batch).durable(follower, end);
        return high_watermark(leader, batch.epoch, end).acknowledge(leader, batch.epoch, batch.base, end - 1);
    }

    /// The names of the invariants that did not hold, in order of report.
    [[nodiscard]] std::vector<std::string> broken() const {
        std::vector<std::string> names;
        for (const Violation& violation : checker.violations()) names.emplace_back(name_of(violation.invariant));
        return names;
    }
    [[nodiscard]] bool breaks(const std::string& name) const {
        for (const std::string& each : broken()) {
            if (each == name) return true;
        }
        return false;
    }
    /// The first message of that invariant; empty when it holds.
    [[nodiscard]] std::string message(const std::string& name) const {
        for (const Violation& violation : checker.violations()) {
            if (name_of(violation.invariant) == name) return violation.message;
        }
        return {};
    }

    Checker checker;
    std::int64_t now = 0;
    std::uint32_t life[16] = {};
    std::int64_t raft_index = 0;
};

inline const std::vector<std::string> kNothing;

}  // namespace tidelock::checker
