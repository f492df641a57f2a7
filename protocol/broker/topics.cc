// Topics on the leader: create, grow, delete, configure; and how logs follow the catalogue once it is durable (F2).
//
// The catalogue is durable before any log of it exists or goes: a record can only be promised by a partition that a
// restart will find again. A change is answered when every replica that acknowledgements wait for has made it too, so a
// failover keeps it.
#include <algorithm>
#include <charconv>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using clients::ErrorCode;

constexpr std::string_view kRetentionKey = "retention.records";
/// Between brokers only: no client can set it.
constexpr std::string_view kDeletingKey = "deleting";
constexpr Duration kTopicChangeTimeout = seconds(5);
constexpr std::size_t kManifestsKept = 64;
constexpr std::size_t kTopicChangesMax = 100;

bool is_valid_name(std::string_view name) {
    const bool fits = !name.empty() && name.size() <= storage::kTopicNameBytesMax && name != "." && name != "..";
    const bool is_plain = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    });
    return fits && is_plain;
}

/// Takes settings of a client over into a config; false: an unknown key or a bad value.
bool apply_settings(const std::vector<clients::Setting>& settings, storage::TopicConfig& config) {
    for (const clients::Setting& setting : settings) {
        if (setting.key != kRetentionKey) return false;
        std::int64_t value = 0;
        const char* end = setting.value.data() + setting.value.size();
        const auto parsed = std::from_chars(setting.value.data(), end, value);
        if (parsed.ec != std::errc{} || parsed.ptr != end || value < -1 || value == 0) return false;
        config.retention_records_max = value;
    }
    return true;
}

std::int64_t partition_total(const storage::TopicCatalogue& catalogue) {
    std::int64_t total = 0;
    for (const storage::TopicEntry& topic : catalogue.topics) total += topic.partition_count;
    return total;
}

/// The client is answered when every replica that acknowledgements wait for has this version of the manifest.
void wait_for_topic_change(Step& step, const ClientRef& client, std::int64_t version, clients::AnswerBody body) {
    const Instant deadline = step.now + kTopicChangeTimeout;
    step.broker.leading->topic_changes.push_back(WaitingTopicChange{
        client, clients::Answer{client.correlation, BrokerId{}, std::move(body)}, version, deadline});
    note_deadline(step, deadline);
}

/// A refusal that rests on the newest topics waits as a change does: a failover may take them back.
void refuse_by_catalogue(Step& step, const ClientRef& client, clients::AnswerBody body) {
    Leading& leading = *step.broker.leading;
    if (leading.topic_changes.size() >= kTopicChangesMax) {
        std::visit([](auto& refused) { refused.error = ErrorCode::kThrottled; }, body);
        return answer(step, client, std::move(body));
    }
    wait_for_topic_change(step, client, leading.manifests_written, std::move(body));
    settle_topic_changes(step);
}

/// Writes the catalogue with this topic added or changed, and has the client wait for it. Who is refused costs no copy
/// of it: a client may ask for thousands of topics at once.
void change_topic(Step& step, const ClientRef& client, storage::TopicEntry topic, clients::AnswerBody body) {
    // A change whose client was told of a time-out may still wait for a slow disk.
    const std::size_t under_way =
        std::max(step.broker.leading->topic_changes.size(), step.broker.catalogue_writes.size());
    if (under_way >= kTopicChangesMax) {
        std::visit([](auto& refused) { refused.error = ErrorCode::kThrottled; }, body);
        return answer(step, client, std::move(body));
    }
    storage::TopicCatalogue catalogue = newest_catalogue(step.broker);
    catalogue.put(std::move(topic));
    const std::int64_t version = ++step.broker.leading->manifests_written;
    wait_for_topic_change(step, client, version, std::move(body));
    write_catalogue(step, CatalogueWrite{{}, std::move(catalogue), version, false});
}

void begin_partition(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    broker.logs.create_partition(tp);
    add_partition(step, tp);
    if (!broker.leading) return;
    if (broker.leading->leader_epoch.value > 0) {
        const auto noted = broker.logs.note_epoch(tp, EpochStart{broker.leading->leader_epoch, Offset(0)});
        CHECK(noted.has_value());
    }
    broker.in_sync.on_partition_added(replication::LeaderCopy{tp, Offset(0), Offset(0), Offset(0), Offset(0)});
}

/// Clients have no part in it any more. Its records stay, and are copied and counted as before: the deletion may be
/// undone, and whoever joins the in-sync set until then has to hold them (F2, I5).
void hide_partition(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    const auto found = broker.partitions.find(tp);
    if (found == broker.partitions.end()) return;
    std::vector<replication::ResolvedWaiter> resolved;
    found->second.pending.end_all(resolved);
    settle(step, resolved);
    if (!broker.leading) return;
    std::vector<WaitingConsumer> orphans;
    std::erase_if(broker.leading->consumers, [&](const WaitingConsumer& consumer) {
        if (consumer.partition != tp) return false;
        orphans.push_back(consumer);
        return true;
    });
    for (const WaitingConsumer& consumer : orphans) answer_consumer_empty(step, consumer);
    wake_watchers(step, tp);
    end_log_start_moves(step, tp);
}

void drop_partition(Step& step, TopicPartition tp) {
    Broker& broker = step.broker;
    hide_partition(step, tp);
    broker.partitions.erase(tp);
    if (broker.leading) {
        broker.in_sync.on_partition_removed(tp);
        std::erase_if(broker.leading->rebuilds, [&](const Rebuild& rebuild) { return rebuild.partition == tp; });
    }
    broker.logs.drop_partition(tp);
}

void drop_topic(Step& step, const storage::TopicEntry& topic) {
    for (std::int32_t p = 0; p < topic.partition_count; ++p)
        drop_partition(step, TopicPartition{topic.id, PartitionIndex(p)});
    observe(step, TopicDropped{topic.id});
}

void change_visibility(Step& step, const storage::TopicEntry& topic) {
    if (!topic.config.is_deleting) return observe(step, TopicShown{topic.id});
    for (std::int32_t p = 0; p < topic.partition_count; ++p)
        hide_partition(step, TopicPartition{topic.id, PartitionIndex(p)});
    observe(step, TopicHidden{topic.id});
}

void change_topic(Step& step, const storage::TopicEntry& before, const storage::TopicEntry& topic) {
    for (std::int32_t p = before.partition_count; p < topic.partition_count; ++p)
        begin_partition(step, TopicPartition{topic.id, PartitionIndex(p)});
    for (std::int32_t p = topic.partition_count; p < before.partition_count; ++p)
        drop_partition(step, TopicPartition{topic.id, PartitionIndex(p)});
    if (before.config.is_deleting != topic.config.is_deleting) change_visibility(step, topic);
    if (topic.partition_count < before.partition_count) observe(step, TopicShrunk{topic.id, topic.partition_count});
    if (before.partition_count == 0 || topic.partition_count <= before.partition_count) return;
    observe(step, TopicGrown{topic.id, topic.partition_count});
    if (!step.broker.leading) mark(step, Mark::kTopicGrownOnFollower);
}

/// Logs become what the durable catalogue says.
void apply_catalogue(Step& step, const storage::TopicCatalogue& catalogue) {
    Broker& broker = step.broker;
    const storage::TopicCatalogue before = broker.topics;
    broker.topics = catalogue;
    for (const storage::TopicEntry& topic : before.topics)
        if (catalogue.find(topic.id) == nullptr) drop_topic(step, topic);
    for (const storage::TopicEntry& topic : catalogue.topics) {
        const storage::TopicEntry* known = before.find(topic.id);
        if (known == nullptr) {
            observe(step, TopicCreated{topic.id, topic.name, topic.partition_count});
            if (before.find(topic.name) != nullptr) mark(step, Mark::kTopicRecopied);
        }
        storage::TopicEntry nothing = topic;
        nothing.partition_count = 0;
        nothing.config.is_deleting = false;
        change_topic(step, known == nullptr ? nothing : *known, topic);
    }
    drain_store(step);
    count_under_replicated(step);
    advance_opening(step);  // what was dropped need not be read any more (G3)
}

void publish_manifest(Step& step, std::int64_t version) {
    Leading& leading = *step.broker.leading;
    leading.manifests.push_back(ManifestVersion{version, manifest_digest(step.broker)});
    if (leading.manifests.size() > kManifestsKept) leading.manifests.pop_front();
    std::vector<replication::FetchRequest> woken;
    leading.parked.on_manifest_changed(woken);
    for (const replication::FetchRequest& request : woken) answer_follower(step, request);
    settle_topic_changes(step);
}

}  // namespace

replication::Manifest manifest_of(const storage::TopicCatalogue& catalogue) {
    replication::Manifest manifest;
    for (const storage::TopicEntry& topic : catalogue.topics) {
        replication::ManifestTopic listed{topic.name, topic.id, topic.partition_count, topic.config.is_internal, {}};
        if (topic.config.is_deleting) listed.settings.push_back({std::string(kDeletingKey), "true"});
        if (topic.config.retention_records_max >= 0)
            listed.settings.push_back({std::string(kRetentionKey), std::to_string(topic.config.retention_records_max)});
        manifest.topics.push_back(std::move(listed));
    }
    return manifest;
}

std::optional<storage::TopicCatalogue> catalogue_of(const replication::Manifest& manifest) {
    storage::TopicCatalogue catalogue;
    for (const replication::ManifestTopic& listed : manifest.topics) {
        storage::TopicEntry topic{listed.name, listed.id, listed.partition_count, {}};
        topic.config.is_internal = listed.is_internal;
        for (const replication::TopicSetting& setting : listed.settings)
            if (setting.key == kDeletingKey)
                topic.config.is_deleting = true;
            else if (!apply_settings({clients::Setting{setting.key, setting.value}}, topic.config))
                return std::nullopt;
        catalogue.put(std::move(topic));
    }
    // Written down, it would be damage at the next boot, and everything would be copied anew.
    if (!storage::find_flaw(catalogue).empty()) return std::nullopt;
    return catalogue;
}

const storage::TopicCatalogue& newest_catalogue(const Broker& broker) {
    return broker.catalogue_writes.empty() ? broker.topics : broker.catalogue_writes.back().catalogue;
}

void write_catalogue(Step& step, CatalogueWrite write) {
    Broker& broker = step.broker;
    ByteWriter out;
    storage::encode(write.catalogue, out);
    std::vector<storage::FileEffect> effects;
    write.file_sequence = broker.topics_file.write(out.take(), effects);
    broker.catalogue_writes.push_back(std::move(write));
    take_file_effects(step, effects);
}

void on_topics_file_durable(Step& step) {
    Broker& broker = step.broker;
    std::vector<CatalogueWrite> done;
    while (!broker.catalogue_writes.empty() &&
           broker.catalogue_writes.front().file_sequence <= broker.topics_file.durable_sequence()) {
        done.push_back(std::move(broker.catalogue_writes.front()));
        broker.catalogue_writes.erase(broker.catalogue_writes.begin());
    }
    if (done.empty()) return;
    apply_catalogue(step, done.back().catalogue);
    if (broker.leading) {
        publish_manifest(step,
                         broker.leading->manifests_written - static_cast<std::int64_t>(broker.catalogue_writes.size()));
        forget_offsets_of_deleted_topics(step);
        apply_all_retention(step);
    }
    // Only the newest write is what the fetcher waits for: an earlier one may be of a leader followed before.
    if (broker.catalogue_writes.empty() && done.back().is_reconciling) finish_reconciling(step);
    // A log that failed and was dropped since will never tell that it is open again.
    resume_role(step);
}

bool forward_topic(Step& step, const ClientRef& client, const clients::Request& request) {
    const Broker& broker = step.broker;
    const auto* create = std::get_if<clients::CreateTopicRequest>(&request.body);
    const BrokerId leader = leader_of_decided_epoch(broker);
    const bool is_known = leader.value != 0 && leader != broker.config.id;
    if (create == nullptr || !create->may_forward || !is_known) return false;
    if (!is_valid_name(create->topic) || create->topic.starts_with("__")) {
        refuse(step, client, request, ErrorCode::kInvalidTopicName);
        return true;
    }
    send(step, leader, replication::TopicWanted{create->topic, create->partition_count, broker.decided.leader_epoch});
    // It may come late, or twice: what becomes of it nobody here knows (A5).
    refuse(step, client, request, ErrorCode::kRequestTimedOut);
    return true;
}

void on_topic_wanted(Step& step, const replication::TopicWanted& wanted) {
    if (!is_serving(step.broker) || step.broker.leading->leader_epoch != wanted.leader_epoch) return;
    clients::CreateTopicRequest create;
    create.topic = wanted.topic;
    create.partition_count = wanted.partition_count;
    on_create_topic(step, kNobody, create);
}

void on_create_topic(Step& step, const ClientRef& client, const clients::CreateTopicRequest& create) {
    const Broker& broker = step.broker;
    const storage::TopicCatalogue& catalogue = newest_catalogue(broker);
    storage::TopicEntry topic{create.topic, TopicId(draw_id(step.broker)), create.partition_count, {}};
    clients::CreateTopicAnswer body;
    if (!is_valid_name(create.topic) || create.topic.starts_with("__"))
        body.error = ErrorCode::kInvalidTopicName;
    else if (const storage::TopicEntry* known = catalogue.find(create.topic); known != nullptr)
        // One whose deletion may have been told already is on its way out: a name taken soon, not a topic that exists.
        body.error = known->config.is_deleting ? ErrorCode::kThrottled : ErrorCode::kTopicAlreadyExists;
    else if (create.partition_count < 1)
        body.error = ErrorCode::kInvalidPartitions;
    else if (partition_total(catalogue) + create.partition_count > broker.config.partitions_max ||
             catalogue.topics.size() >= static_cast<std::size_t>(broker.config.topics_max))
        body.error = ErrorCode::kInvalidPartitions;
    else if (!apply_settings(create.settings, topic.config))
        body.error = ErrorCode::kInvalidConfig;
    if (body.error == ErrorCode::kTopicAlreadyExists) return refuse_by_catalogue(step, client, body);
    if (body.error != ErrorCode::kNone || create.validate_only) return answer(step, client, body);
    body.topic_id = topic.id;
    change_topic(step, client, std::move(topic), body);
}

void on_delete_topic(Step& step, const ClientRef& client, const clients::DeleteTopicRequest& drop) {
    const storage::TopicCatalogue& catalogue = newest_catalogue(step.broker);
    const storage::TopicEntry* topic =
        drop.topic.empty() ? catalogue.find(drop.topic_id) : catalogue.find(std::string_view(drop.topic));
    if (topic != nullptr && drop.topic_id.value != 0 && topic->id != drop.topic_id) topic = nullptr;
    clients::DeleteTopicAnswer body;
    // Asked again: answered with the deletion under way.
    const bool has_room = step.broker.leading->topic_changes.size() < kTopicChangesMax;
    if (topic != nullptr && topic->config.is_deleting && has_room)
        return wait_for_topic_change(step, client, step.broker.leading->manifests_written, body);
    if (topic == nullptr)
        body.error = ErrorCode::kUnknownTopicOrPartition;
    else if (topic->config.is_internal)
        body.error = ErrorCode::kInternalTopic;
    if (body.error == ErrorCode::kUnknownTopicOrPartition) return answer_when_confirmed(step, client, body);
    if (body.error != ErrorCode::kNone) return answer(step, client, body);
    storage::TopicEntry hidden = *topic;
    hidden.config.is_deleting = true;
    change_topic(step, client, std::move(hidden), body);
}

void on_grow_topic(Step& step, const ClientRef& client, const clients::GrowTopicRequest& grow) {
    const storage::TopicCatalogue& catalogue = newest_catalogue(step.broker);
    const storage::TopicEntry* topic = catalogue.find(grow.topic);
    clients::GrowTopicAnswer body;
    if (topic == nullptr || topic->config.is_deleting)
        body.error = ErrorCode::kUnknownTopicOrPartition;
    else if (topic->config.is_internal)
        body.error = ErrorCode::kInternalTopic;
    else if (grow.partition_count <= topic->partition_count ||
             partition_total(catalogue) - topic->partition_count + grow.partition_count >
                 step.broker.config.partitions_max)
        body.error = ErrorCode::kInvalidPartitions;
    if (body.error == ErrorCode::kInvalidPartitions) return refuse_by_catalogue(step, client, body);
    if (body.error == ErrorCode::kUnknownTopicOrPartition) return answer_when_confirmed(step, client, body);
    if (body.error != ErrorCode::kNone || grow.validate_only) return answer(step, client, body);
    storage::TopicEntry grown = *topic;
    grown.partition_count = grow.partition_count;
    change_topic(step, client, std::move(grown), body);
}

void on_set_topic_config(Step& step, const ClientRef& client, const clients::SetTopicConfigRequest& set) {
    const storage::TopicEntry* topic = newest_catalogue(step.broker).find(set.topic);
    clients::SetTopicConfigAnswer body;
    if (topic == nullptr || topic->config.is_deleting)
        body.error = ErrorCode::kUnknownTopicOrPartition;
    else if (topic->config.is_internal)
        body.error = ErrorCode::kInternalTopic;
    if (body.error == ErrorCode::kUnknownTopicOrPartition) return answer_when_confirmed(step, client, body);
    if (body.error != ErrorCode::kNone) return answer(step, client, body);
    storage::TopicEntry changed = *topic;
    if (!apply_settings(set.settings, changed.config)) {
        body.error = ErrorCode::kInvalidConfig;
        return answer(step, client, body);
    }
    change_topic(step, client, std::move(changed), body);
}

namespace {

bool is_deleting(const storage::TopicEntry& topic) {
    return topic.config.is_deleting;
}

/// Everybody who could lead has hidden these topics: their records may go.
void finish_deletions(Step& step) {
    Broker& broker = step.broker;
    if (!broker.catalogue_writes.empty()) return;
    storage::TopicCatalogue catalogue = broker.topics;
    for (const storage::TopicEntry& topic : broker.topics.topics)
        if (is_deleting(topic)) catalogue.remove(topic.name);
    const std::int64_t version = ++broker.leading->manifests_written;
    write_catalogue(step, CatalogueWrite{{}, std::move(catalogue), version, false});
}

}  // namespace

void settle_topic_changes(Step& step) {
    Broker& broker = step.broker;
    const bool has_deletion = std::ranges::any_of(broker.topics.topics, is_deleting);
    if (!broker.leading || (broker.leading->topic_changes.empty() && !has_deletion)) return;
    Leading& leading = *broker.leading;
    std::int64_t everywhere = leading.manifests.back().version;
    for (const Replica& member : broker.in_sync.acknowledgement_set()) {
        if (member.broker == broker.config.id) continue;
        const auto progress = std::ranges::find(leading.manifest_progress, member, &ManifestProgress::follower);
        everywhere = std::min(everywhere, progress == leading.manifest_progress.end() ? -1 : progress->version);
    }
    std::vector<WaitingTopicChange> done;
    std::erase_if(leading.topic_changes, [&](const WaitingTopicChange& change) {
        if (change.manifest_version > everywhere) return false;
        done.push_back(change);
        return true;
    });
    for (WaitingTopicChange& change : done) {
        // A change was made by those who are waited for, in this epoch. A refusal says what they may have known before
        // they followed another leader.
        const bool is_refusal = clients::error_of(change.answer) != ErrorCode::kNone;
        if (is_refusal)
            answer_when_confirmed(step, change.client, std::move(change.answer));
        else
            step.effects.push_back(AnswerClient{change.client.connection, std::move(change.answer)});
    }
    if (has_deletion && everywhere == leading.manifests.back().version) finish_deletions(step);
}

void create_internal_topics(Step& step) {
    Broker& broker = step.broker;
    storage::TopicCatalogue catalogue = newest_catalogue(broker);
    bool is_changed = false;
    for (const std::string_view name : {clients::kConsumerOffsetsTopic, clients::kProducerIdsTopic}) {
        if (catalogue.find(name) != nullptr) continue;
        storage::TopicEntry topic{std::string(name), TopicId(draw_id(broker)), 1, {}};
        topic.config.is_internal = true;
        catalogue.put(std::move(topic));
        is_changed = true;
    }
    if (!is_changed) return;
    const std::int64_t version = ++broker.leading->manifests_written;
    write_catalogue(step, CatalogueWrite{{}, std::move(catalogue), version, false});
}

std::optional<TopicPartition> resolve(const Broker& broker, const clients::PartitionName& name) {
    const storage::TopicEntry* topic =
        name.topic.empty() ? broker.topics.find(name.topic_id) : broker.topics.find(std::string_view(name.topic));
    if (topic == nullptr || topic->config.is_deleting || name.partition.value < 0 ||
        name.partition.value >= topic->partition_count)
        return std::nullopt;
    if (name.topic_id.value != 0 && name.topic_id != topic->id) return std::nullopt;
    const TopicPartition tp{topic->id, name.partition};
    if (!broker.partitions.contains(tp)) return std::nullopt;
    return tp;
}

bool is_internal(const Broker& broker, TopicId topic) {
    const storage::TopicEntry* entry = broker.topics.find(topic);
    return entry != nullptr && entry->config.is_internal;
}

std::optional<TopicPartition> internal_partition(const Broker& broker, std::string_view topic) {
    const storage::TopicEntry* entry = broker.topics.find(topic);
    if (entry == nullptr) return std::nullopt;
    const TopicPartition tp{entry->id, PartitionIndex(0)};
    return broker.partitions.contains(tp) ? std::optional(tp) : std::nullopt;
}

void on_metadata(Step& step, const ClientRef& client, const clients::MetadataRequest& metadata) {
    const Broker& broker = step.broker;
    clients::MetadataAnswer body;
    body.leader = leader_of_decided_epoch(broker);
    body.leader_epoch = broker.leading ? broker.leading->leader_epoch : broker.decided.leader_epoch;
    body.brokers = broker.config.members;
    const auto& set = broker.leading ? broker.in_sync.committed().members : broker.decided.in_sync_replicas;
    for (const Replica& replica : set) body.in_sync_replicas.push_back(replica.broker);
    const auto list = [&](const storage::TopicEntry& topic) {
        body.topics.push_back(
            {ErrorCode::kNone, topic.name, topic.id, topic.partition_count, topic.config.is_internal});
    };
    if (metadata.topics.empty() && metadata.topic_ids.empty() && metadata.lists_topics)
        for (const storage::TopicEntry& topic : broker.topics.topics)
            if (!topic.config.is_deleting) list(topic);
    for (const std::string& name : metadata.topics) {
        const storage::TopicEntry* topic = broker.topics.find(std::string_view(name));
        if (topic != nullptr && !topic->config.is_deleting)
            list(*topic);
        else
            body.topics.push_back({ErrorCode::kUnknownTopicOrPartition, name, TopicId{}, 0, false});
    }
    for (const TopicId id : metadata.topic_ids) {
        const storage::TopicEntry* topic = broker.topics.find(id);
        if (topic != nullptr && !topic->config.is_deleting)
            list(*topic);
        else
            body.topics.push_back({ErrorCode::kUnknownTopicOrPartition, {}, id, 0, false});
    }
    answer(step, client, std::move(body));
}

void on_describe_topic(Step& step, const ClientRef& client, const clients::DescribeTopicRequest& describe) {
    const storage::TopicEntry* topic = step.broker.topics.find(std::string_view(describe.topic));
    clients::DescribeTopicAnswer body;
    if (topic == nullptr || topic->config.is_deleting) {
        body.error = ErrorCode::kUnknownTopicOrPartition;
        return answer(step, client, body);
    }
    body.topic_id = topic->id;
    body.partition_count = topic->partition_count;
    body.settings.push_back({std::string(kRetentionKey), std::to_string(topic->config.retention_records_max),
                             topic->config.retention_records_max == storage::TopicConfig{}.retention_records_max});
    answer(step, client, std::move(body));
}

}  // namespace tidelock::broker
