// What a story asks about its cluster: whether a condition holds, which invariants are broken, how things stand.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/script_run.h"

namespace tidelock::scenarios {

namespace {

constexpr Duration kDefaultWait = seconds(10);

}  // namespace

std::string StoryRun::check(const ScriptLine& line) {
    Groups brokers;
    std::string wrong;
    // Roles are looked up anew at each look; aliases and numbers stay.
    const auto holds = [&] {
        brokers.clear();
        wrong = resolve(line.brokers, brokers);
        return wrong.empty() && is_true(line, brokers) != line.is_negated;
    };
    const bool waits = line.verb == Verb::kAwait;
    const bool is_met = waits ? run_until(line.within.value_or(kDefaultWait), holds) : holds();
    if (is_met) return {};
    return fmt::format("{}: {}", waits ? "it did not come to this" : "it is not so",
                       wrong.empty() ? describe() : wrong);
}

bool StoryRun::is_true(const ScriptLine& line, const Groups& brokers) {
    switch (line.condition) {
        case Condition::kLeader: {
            const std::optional<BrokerId> leader = cluster_.leader();
            return leader && (brokers.empty() || *leader == brokers.front());
        }
        case Condition::kInSync: {
            const Groups all = in_sync_brokers();
            Groups wanted = brokers;
            std::sort(wanted.begin(), wanted.end());
            return all == wanted;
        }
        case Condition::kMark:
            return cluster_.mark_count(static_cast<broker::Mark>(line.amount)) > 0;
        case Condition::kElections:
            return elections_ >= line.amount;
        case Condition::kAcked:
            return std::all_of(line.values.begin(), line.values.end(), [this](std::uint64_t value) {
                return std::find(acked_.begin(), acked_.end(), value) != acked_.end();
            });
        case Condition::kRaftLeader:
            return is_raft_leader(brokers);
        default:
            return std::all_of(brokers.begin(), brokers.end(),
                               [&](BrokerId broker) { return is_true_on(line, broker); });
    }
}

StoryRun::Groups StoryRun::in_sync_brokers() const {
    Groups found;
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
        if (cluster_.is_in_sync(BrokerId(id))) found.emplace_back(id);
    return found;
}

bool StoryRun::is_raft_leader(const Groups& brokers) const {
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) {
        const broker::Broker* broker = cluster_.broker(BrokerId(id));
        if (broker == nullptr || !raft::is_leader(broker->raft)) continue;
        if (brokers.empty() || brokers.front() == BrokerId(id)) return true;
    }
    return false;
}

bool StoryRun::is_true_on(const ScriptLine& line, BrokerId id) const {
    if (line.condition == Condition::kRefused) return !cluster_.refusal(id).empty();
    if (line.condition == Condition::kUp) return cluster_.is_up(id);
    const broker::Broker* broker = cluster_.broker(id);
    if (broker == nullptr) return false;
    const storage::TopicEntry* topic = broker->topics.find(line.name);
    if (line.condition == Condition::kTopic)
        return topic != nullptr && (line.amount == 0 || topic->partition_count == line.amount);
    if (topic == nullptr) return false;
    const TopicPartition partition{topic->id, PartitionIndex(line.partition)};
    const std::optional<storage::LogView> log = broker->logs.view(partition);
    const auto state = broker->partitions.find(partition);
    if (!log || state == broker->partitions.end()) return false;
    const Offset offset(line.amount);
    if (line.condition == Condition::kHighWatermark) return state->second.high_watermark.value() == offset;
    return line.condition == Condition::kLogEnd ? log->log_end_offset == offset : log->log_start_offset == offset;
}

std::string StoryRun::unexpected_violation() {
    if (!script_.expected_violation.empty() || !cluster_.has_violation()) return {};
    if (!cluster_.reports().empty())
        return fmt::format("{}: {}", cluster_.reports().front().first, cluster_.reports().front().second);
    const checker::Violation& first = cluster_.checker().violations().front();
    return fmt::format("{}: {}", checker::name_of(first.invariant), first.message);
}

bool StoryRun::has_expected_violation() {
    const auto& found = cluster_.checker().violations();
    return std::any_of(found.begin(), found.end(), [this](const checker::Violation& violation) {
        return checker::name_of(violation.invariant) == script_.expected_violation;
    });
}

std::string StoryRun::expect_violation() {
    if (has_expected_violation()) return {};
    end_well();
    if (has_expected_violation()) return {};
    std::string seen;
    for (const checker::Violation& violation : cluster_.checker().violations())
        seen += fmt::format(" {}", checker::name_of(violation.invariant));
    return fmt::format("{} holds{}{}: {}", script_.expected_violation, seen.empty() ? "" : "; broken:", seen,
                       describe());
}

std::string StoryRun::describe() const {
    const std::optional<BrokerId> leader = cluster_.leader();
    std::string text = leader ? fmt::format("leader {}", leader->value) : "no leader";
    text += ", in sync";
    for (const BrokerId broker : in_sync_brokers()) text += fmt::format(" {}", broker.value);
    for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) text += describe_logs(BrokerId(id));
    return text;
}

std::string StoryRun::describe_logs(BrokerId id) const {
    const broker::Broker* broker = cluster_.broker(id);
    if (broker == nullptr) return fmt::format("; {} down", id.value);
    std::string text = fmt::format("; {} term {}", id.value, broker->raft.persistent.term.value);
    for (const storage::TopicEntry& topic : broker->topics.topics) {
        if (topic.config.is_internal) continue;
        const TopicPartition partition{topic.id, PartitionIndex(0)};
        const std::optional<storage::LogView> log = broker->logs.view(partition);
        const auto state = broker->partitions.find(partition);
        if (!log || state == broker->partitions.end()) continue;
        text += fmt::format(" {}-0 [{}, {}) durable {} watermark {}", topic.name, log->log_start_offset.value,
                            log->log_end_offset.value, log->durable_end_offset.value,
                            state->second.high_watermark.value().value);
    }
    return text;
}

}  // namespace tidelock::scenarios
