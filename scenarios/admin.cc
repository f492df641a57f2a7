// The administrator's story: topics at the start, then the operator faults of the plan in order of time.
#include <algorithm>

#include "scenarios/client_stories.h"
#include "sim/rng.h"
#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

using clients::ErrorCode;

constexpr std::uint64_t kLooksMax = 12;
constexpr int kTriesMax = 5;

class Admin {
  public:
    Admin(Client& client, const AdminHooks& hooks) : client_(client), hooks_(hooks), plan_(*client.workload().plan) {}

    void run() {
        if (!await_first_topics()) return;
        for (const PlannedFault& fault : plan_.faults) {
            const bool is_asked_of_brokers =
                info_of(fault.kind).section == FaultSection::kOperator && fault.kind != FaultKind::kCommandRole;
            if (!is_asked_of_brokers) continue;
            if (!await_time(fault.at_ms) || client_.workload().are_producers_done) return;
            const bool was_done = await_carried_out(fault);
            if (!client_.host().is_alive()) return;
            hooks_.after_fault(fault, was_done);
        }
    }

  private:
    bool await_first_topics() {
        const auto partitions = static_cast<std::int32_t>(plan_.settings[Setting::kPartitions]);
        for (std::int64_t i = 0; i < plan_.settings[Setting::kTopics]; ++i) {
            const std::string name = "t" + std::to_string(i);
            while (!await_created(name, partitions, nullptr)) {
                if (!client_.await_pause(client_.retry_pause())) return false;
                if (client_.workload().are_producers_done) return false;
            }
        }
        return true;
    }

    bool await_time(std::int64_t at_ms) {
        const std::int64_t left_ns = milliseconds(at_ms).value - client_.true_now_ns();
        return left_ns <= 0 || client_.host().await_sleep(Duration(left_ns));
    }

    bool await_carried_out(const PlannedFault& fault) {
        sim::Rng random(fault.choice);
        switch (fault.kind) {
            case FaultKind::kCreateTopic:
                return await_new_topic(random);
            case FaultKind::kTransferLeadership:
                return await_transfer(random);
            case FaultKind::kGrowTopic:
            case FaultKind::kDeleteTopic:
            case FaultKind::kRecreateTopic:
            case FaultKind::kDeleteRecords:
            case FaultKind::kSetRetention:
                return await_topic_change(fault, random);
            default:
                return false;
        }
    }

    bool await_topic_change(const PlannedFault& fault, sim::Rng& random) {
        std::vector<KnownTopic> topics;
        if (!client_.await_topics(topics)) return false;
        const KnownTopic topic = topics[random.below(topics.size())];
        if (fault.kind == FaultKind::kGrowTopic) return await_grown(topic);
        if (fault.kind == FaultKind::kSetRetention) return await_retention_set(topic.name, fault.size);
        if (fault.kind == FaultKind::kDeleteRecords) return await_records_deleted(topic, fault.size, random);
        // The last topic stays, or writers have nothing to do; recreating it is fine.
        if (fault.kind == FaultKind::kDeleteTopic) return topics.size() > 1 && await_deleted(topic.name, random);
        if (!await_deleted(topic.name, random)) return false;
        for (int tries = 0; tries < kTriesMax; ++tries) {
            if (await_created(topic.name, topic.partition_count, &random)) return true;
            if (!client_.await_pause(client_.retry_pause())) return false;
        }
        return false;
    }

    /// A new name half of the time, an earlier one (perhaps deleted meanwhile) otherwise.
    bool await_new_topic(sim::Rng& random) {
        const bool is_new = random.below(2) == 0 || created_ == 0;
        const std::uint64_t number = is_new ? created_++ : random.below(created_);
        return await_created("u" + std::to_string(number), static_cast<std::int32_t>(random.between(1, 3)), &random);
    }

    bool await_created(const std::string& name, std::int32_t partitions, sim::Rng* random) {
        client_.begin_call(checker::CreateTopicCall{client_.calls().topic_number(name), partitions});
        const CallReply reply = await_change(clients::CreateTopicRequest{name, partitions, first_settings()}, random);
        return reply.is_ok() || (reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kTopicAlreadyExists);
    }

    [[nodiscard]] std::vector<clients::Setting> first_settings() const {
        const std::int64_t records = plan_.settings[Setting::kRetentionRecords];
        if (records == 0) return {};
        return {{"retention.records", std::to_string(records)}};
    }

    bool await_retention_set(const std::string& name, std::int64_t records) {
        const clients::SetTopicConfigRequest request{
            name, {{"retention.records", std::to_string(records == 0 ? -1 : records)}}};
        return client_.await_leader_call(request, client_.call_timeout()).is_ok();
    }

    bool await_deleted(const std::string& name, sim::Rng& random) {
        hooks_.before_delete_topic(name);
        client_.begin_call(checker::DeleteTopicCall{client_.calls().topic_number(name)});
        return await_change(clients::DeleteTopicRequest{name}, &random).is_ok();
    }

    /// Of a call that has begun. With chance, it is asked again soon half of the time, when it may be under way: an
    /// error says nothing of the first wish then.
    CallReply await_change(const clients::RequestBody& wish, sim::Rng* chance) {
        const bool is_impatient = chance != nullptr && chance->below(2) == 0;
        const Duration patience = milliseconds(is_impatient ? chance->between(1, 80) : 0);
        CallReply reply = client_.await_leader_call(wish, is_impatient ? patience : client_.call_timeout());
        const bool asks_again = is_impatient && reply.end == CallEnd::kNoAnswer;
        if (asks_again) reply = client_.await_leader_call(wish, client_.call_timeout());
        client_.end_call(asks_again && !reply.is_ok() ? checker::Outcome::kUnknown : reply.outcome());
        return reply;
    }

    bool await_grown(const KnownTopic& topic) {
        const std::int32_t count = topic.partition_count + 1;
        client_.begin_call(checker::GrowTopicCall{client_.calls().topic_number(topic.name), count});
        const CallReply reply =
            client_.await_leader_call(clients::GrowTopicRequest{topic.name, count}, client_.call_timeout());
        client_.end_call(reply.outcome());
        return reply.is_ok();
    }

    std::optional<Offset> await_listed(const clients::PartitionName& name, clients::OffsetAt at) {
        const auto number = client_.calls().partition_number(name.topic, name.partition);
        const bool is_earliest = at == clients::OffsetAt::kLogStart;
        client_.begin_call(checker::ListOffsetsCall{number, is_earliest, Offset(0)});
        const CallReply reply =
            client_.await_leader_call(clients::ListOffsetsRequest{name, at}, client_.short_timeout());
        const auto* answer = std::get_if<clients::ListOffsetsAnswer>(&reply.answer.body);
        const bool is_told = reply.is_ok() && answer != nullptr;
        if (is_told) client_.calls().operation_of<checker::ListOffsetsCall>(client_.id()).offset = answer->offset;
        client_.end_call(reply.outcome());
        return is_told ? std::optional(answer->offset) : std::nullopt;
    }

    bool await_records_deleted(const KnownTopic& topic, std::int64_t share_percent, sim::Rng& random) {
        const PartitionIndex partition(
            static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(topic.partition_count))));
        const clients::PartitionName name{topic.name, topic.id, partition};
        const std::optional<Offset> start = await_listed(name, clients::OffsetAt::kLogStart);
        if (!start) return false;
        const std::optional<Offset> end = await_listed(name, clients::OffsetAt::kHighWatermark);
        if (!end || *end <= *start) return false;
        const Offset before = *start + std::max<std::int64_t>(1, (*end - *start) * share_percent / 100);
        // Who thinks it over may come to another leader, that does not know yet what was told.
        const bool thinks = random.below(2) == 0;
        if (thinks && !client_.await_pause(milliseconds(random.between(0, 1'500)))) return false;
        hooks_.before_delete_records(topic.name, partition, before);
        client_.begin_call(checker::DeleteRecordsCall{client_.calls().partition_number(topic.name, partition), before});
        const CallReply reply =
            client_.await_leader_call(clients::DeleteRecordsRequest{name, before}, client_.call_timeout());
        client_.calls().operation_of<checker::DeleteRecordsCall>(client_.id()).is_refused_as_past_end =
            reply.end == CallEnd::kAnswered && reply.error() == ErrorCode::kOffsetOutOfRange;
        client_.end_call(reply.outcome());
        if (reply.is_ok()) watch_log_start(name, random);
        return reply.is_ok();
    }

    /// Somebody has to ask the moment that another leader opens, or nobody sees that it has not heard of a deletion
    /// (L7).
    void watch_log_start(const clients::PartitionName& name, sim::Rng& random) {
        const std::uint64_t looks = random.below(kLooksMax + 1);
        for (std::uint64_t look = 0; look < looks; ++look) {
            if (!client_.await_pause(client_.retry_pause())) return;
            await_listed(name, clients::OffsetAt::kLogStart);
        }
    }

    bool await_transfer(sim::Rng& random) {
        // 0 lets the leader choose.
        const BrokerId to(static_cast<std::int32_t>(random.between(0, client_.workload().broker_count)));
        return client_.await_leader_call(clients::TransferLeadershipRequest{to}, client_.call_timeout()).is_ok();
    }

    Client& client_;
    const AdminHooks& hooks_;
    const Plan& plan_;
    std::uint64_t created_ = 0;
};

}  // namespace

void run_admin(Client& client, const AdminHooks& hooks) {
    Admin(client, hooks).run();
}

}  // namespace tidelock::scenarios
