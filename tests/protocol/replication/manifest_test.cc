// The digest by which a follower learns that its leader has other topics (F1).
#include <catch2/catch.hpp>

#include "protocol/replication/manifest.h"
#include "tests/law.h"

namespace tidelock::replication {
namespace {

Manifest any_manifest() {
    Manifest manifest;
    for (const char* name : {"a", "b", "c", "d"}) {
        if (*rc::gen::arbitrary<bool>()) continue;
        const auto id = static_cast<std::uint64_t>(name[0]) * 10 + *rc::gen::inRange<std::uint64_t>(0, 2);
        const auto partitions = *rc::gen::inRange(1, 4);
        const auto is_internal = *rc::gen::arbitrary<bool>();
        std::vector<TopicSetting> settings;
        if (*rc::gen::arbitrary<bool>()) settings.push_back({"k", "v"});
        manifest.topics.push_back({name, TopicId(id), partitions, is_internal, std::move(settings)});
    }
    if (*rc::gen::arbitrary<bool>()) manifest.aborted_transactions = Bytes::copy_of("aborted");
    return manifest;
}

}  // namespace

TEST_CASE("F1: manifests have one digest exactly when they are equal") {
    check_law([] {
        const Manifest one = any_manifest();
        const Manifest other = any_manifest();
        RC_ASSERT(digest_of(one) == digest_of(Manifest(one)));
        RC_ASSERT((digest_of(one) == digest_of(other)) == (one == other));
    });
}

TEST_CASE("F1: every field of a topic counts, and where a name ends") {
    const ManifestTopic topic{"ab", TopicId(1), 2, false, {{"k", "v"}}};
    const Manifest manifest{{topic}, {}};
    const auto with = [&](auto&& change) {
        Manifest changed = manifest;
        change(changed);
        return digest_of(changed);
    };
    const std::uint64_t known = digest_of(manifest);
    CHECK(with([](Manifest& m) { m.topics[0].name = "ac"; }) != known);
    CHECK(with([](Manifest& m) { m.topics[0].id = TopicId(2); }) != known);  // another life (KAFKA-12257)
    CHECK(with([](Manifest& m) { m.topics[0].partition_count = 3; }) != known);
    CHECK(with([](Manifest& m) { m.topics[0].is_internal = true; }) != known);
    CHECK(with([](Manifest& m) { m.topics[0].settings[0].value = "w"; }) != known);
    CHECK(with([](Manifest& m) { m.topics[0].settings[0] = {"kv", ""}; }) != known);
    CHECK(with([](Manifest& m) { m.topics.clear(); }) != known);
    CHECK(with([](Manifest& m) { m.aborted_transactions = Bytes::copy_of("a"); }) != known);
}

}  // namespace tidelock::replication
