#include "scenarios/needless_wait.h"

#include <fmt/format.h>

namespace tidelock::scenarios {
namespace {

std::string name_of(const broker::Broker& broker, TopicPartition tp) {
    const storage::TopicEntry* topic = broker.topics.find(tp.topic);
    return fmt::format("{}-{}", topic == nullptr ? "?" : topic->name, tp.partition.value);
}

Offset high_watermark_of(const broker::Broker& broker, TopicPartition tp) {
    const auto partition = broker.partitions.find(tp);
    return partition == broker.partitions.end() ? Offset(0) : partition->second.high_watermark.value();
}

std::optional<std::string> waiting_reader(const broker::Broker& broker) {
    for (const broker::WaitingConsumer& reader : broker.leading->consumers) {
        const Offset high_watermark = high_watermark_of(broker, reader.partition);
        if (reader.offset >= high_watermark) continue;
        return fmt::format("a reader waits at offset {} of {}, where the high watermark is {} (I7)",
                           reader.offset.value, name_of(broker, reader.partition), high_watermark.value);
    }
    return std::nullopt;
}

std::optional<std::string> waiting_producer(const broker::Broker& broker) {
    for (const auto& [id, produce] : broker.waiting_produces) {
        const std::optional<storage::LogView> log = broker.logs.view(produce.partition);
        // A repeated batch waits until every member has told its position to this leader.
        if (!log || produce.is_duplicate) continue;
        const Offset end =
            produce.is_leader_ack ? log->durable_end_offset : high_watermark_of(broker, produce.partition);
        if (produce.last_offset >= end) continue;
        return fmt::format("a producer waits for offset {} of {}, which is confirmed up to {} (A5)",
                           produce.last_offset.value, name_of(broker, produce.partition), end.value);
    }
    return std::nullopt;
}

std::optional<std::string> waiting_follower(const broker::Broker& broker) {
    for (const replication::ParkedFetch& parked : broker.leading->parked.fetches()) {
        for (const replication::FetchPartition& asked : parked.request.partitions) {
            const std::optional<storage::LogView> log = broker.logs.view(asked.partition);
            if (!log || asked.fetch_offset >= log->log_end_offset) continue;
            return fmt::format("the fetch of broker {} waits at offset {} of {}, which ends at {} (F1)",
                               parked.request.header.follower.broker.value, asked.fetch_offset.value,
                               name_of(broker, asked.partition), log->log_end_offset.value);
        }
    }
    return std::nullopt;
}

/// Whose time is over first of all who wait at the leader, and when.
struct FirstDue {
    std::string_view who;
    std::optional<Instant> due;

    void note(std::string_view waiting, std::optional<Instant> deadline) {
        if (!deadline || (due && *due <= *deadline)) return;
        who = waiting;
        due = deadline;
    }
};

FirstDue first_due(const broker::Broker& broker) {
    const broker::Leading& leading = *broker.leading;
    FirstDue first;
    first.note("a member of a group", leading.groups.next_deadline());
    first.note("a watch of records", leading.watches.next_deadline());
    first.note("a follower's fetch", leading.parked.next_deadline());
    for (const auto& [tp, partition] : broker.partitions) first.note("a producer", partition.pending.next_deadline());
    for (const auto& reader : leading.consumers) first.note("a reader", reader.deadline);
    for (const auto& change : leading.topic_changes) first.note("a change of a topic", change.deadline);
    for (const auto& move : leading.log_start_moves)
        if (move.client) first.note("a deletion of records", move.deadline);
    for (const auto& producer : leading.waiting_for_producer_id) first.note("a new producer", producer.deadline);
    for (const auto& answer : leading.unconfirmed_answers) first.note("an unconfirmed answer", answer.deadline);
    return first;
}

/// A busy broker is woken often, and would do what is due with whatever it is woken for.
std::optional<std::string> waiting_for_its_time(const broker::Broker& broker) {
    const FirstDue first = first_due(broker);
    const bool is_woken = !first.due || (broker.deadline_timer_at && *broker.deadline_timer_at <= *first.due);
    if (is_woken) return std::nullopt;
    return fmt::format("{} waits, and nothing wakes its broker when the time for it is over (A5, T4)", first.who);
}

std::optional<std::string> waiting_in_sync_bounds(const broker::Broker& broker) {
    if (broker.leading->in_sync_look_at) return std::nullopt;
    return "nothing wakes the leader to look who keeps up with it (I2)";
}

}  // namespace

std::optional<std::string> needless_wait(const broker::Broker& broker) {
    // The seed's rule looks at a set of the past, and waits with it (D15).
    if (!broker::is_serving(broker) || broker.config.seed_rules.observe_in_two_reads) return std::nullopt;
    if (auto reader = waiting_reader(broker)) return reader;
    if (auto producer = waiting_producer(broker)) return producer;
    if (auto due = waiting_for_its_time(broker)) return due;
    if (auto bounds = waiting_in_sync_bounds(broker)) return bounds;
    return waiting_follower(broker);
}

}  // namespace tidelock::scenarios
