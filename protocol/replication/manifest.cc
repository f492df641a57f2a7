#include "protocol/replication/manifest.h"

#include <algorithm>

#include "protocol/base/digest.h"

namespace tidelock::replication {
namespace {

const ManifestTopic* find_topic(std::span<const ManifestTopic> topics, const std::string& name) {
    const auto at =
        std::lower_bound(topics.begin(), topics.end(), name,
                         [](const ManifestTopic& topic, const std::string& wanted) { return topic.name < wanted; });
    return at != topics.end() && at->name == name ? &*at : nullptr;
}

void diff_same_life(const ManifestTopic& local, const ManifestTopic& leader, std::vector<TopicAction>& actions) {
    if (local.partition_count < leader.partition_count)
        actions.push_back(GrowTopic{leader.id, local.partition_count, leader.partition_count});
    if (local.partition_count > leader.partition_count)
        actions.push_back(DropPartitions{leader.id, local.partition_count, leader.partition_count});
    if (local.settings != leader.settings) actions.push_back(ReconfigureTopic{leader.id, leader.settings});
}

}  // namespace

std::uint64_t digest_of(const Manifest& manifest) {
    Digest digest;
    digest.add(manifest.topics.size());
    for (const ManifestTopic& topic : manifest.topics) {
        digest.add(std::string_view(topic.name));
        digest.add(topic.id);
        digest.add(topic.partition_count);
        digest.add(topic.is_internal);
        digest.add(topic.settings.size());
        for (const TopicSetting& setting : topic.settings) {
            digest.add(std::string_view(setting.key));
            digest.add(std::string_view(setting.value));
        }
    }
    digest.add(manifest.aborted_transactions.span());
    return digest.value();
}

std::vector<TopicAction> diff(std::span<const ManifestTopic> local, const Manifest& leader) {
    std::vector<TopicAction> actions;
    // Drops first: a recreated topic's name must be free before its new life takes it.
    for (const ManifestTopic& topic : local) {
        const ManifestTopic* wanted = find_topic(leader.topics, topic.name);
        if (wanted == nullptr || wanted->id != topic.id) actions.push_back(DropTopic{topic.name, topic.id});
    }
    for (const ManifestTopic& wanted : leader.topics) {
        const ManifestTopic* topic = find_topic(local, wanted.name);
        if (topic != nullptr && topic->id == wanted.id) {
            diff_same_life(*topic, wanted, actions);
        } else {
            actions.push_back(CreateTopic{wanted});
        }
    }
    return actions;
}

}  // namespace tidelock::replication
