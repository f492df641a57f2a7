#include "protocol/replication/manifest.h"

#include <string_view>

#include "protocol/base/digest.h"

namespace tidelock::replication {

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

}  // namespace tidelock::replication
