// What a follower does to have its leader's topics (F2).
#include <rapidcheck.h>
#include <catch2/catch.hpp>

#include <algorithm>

#include "protocol/replication/manifest.h"

namespace tidelock::replication {
namespace {

ManifestTopic topic(std::string name, std::uint64_t id, std::int32_t partitions,
                    std::vector<TopicSetting> settings = {}) {
    return {std::move(name), TopicId(id), partitions, false, std::move(settings)};
}

using Topics = std::vector<ManifestTopic>;
using Actions = std::vector<TopicAction>;

/// What a catalogue becomes by the actions, carried out in order.
Topics carry_out(Topics topics, const Actions& actions) {
    const auto by_id = [&topics](TopicId id) {
        return std::find_if(topics.begin(), topics.end(), [id](const ManifestTopic& known) { return known.id == id; });
    };
    for (const TopicAction& action : actions) {
        if (const auto* create = std::get_if<CreateTopic>(&action)) topics.push_back(create->topic);
        if (const auto* drop = std::get_if<DropTopic>(&action)) topics.erase(by_id(drop->id));
        if (const auto* grow = std::get_if<GrowTopic>(&action)) by_id(grow->id)->partition_count = grow->to_count;
        if (const auto* cut = std::get_if<DropPartitions>(&action)) by_id(cut->id)->partition_count = cut->to_count;
        if (const auto* set = std::get_if<ReconfigureTopic>(&action)) by_id(set->id)->settings = set->settings;
    }
    std::sort(topics.begin(), topics.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return topics;
}

Topics any_topics() {
    Topics topics;
    for (const char* name : {"a", "b", "c", "d"}) {
        if (*rc::gen::arbitrary<bool>()) continue;
        const auto id = static_cast<std::uint64_t>(name[0]) * 10 + *rc::gen::inRange<std::uint64_t>(0, 2);
        const auto partitions = *rc::gen::inRange(1, 4);
        std::vector<TopicSetting> settings;
        if (*rc::gen::arbitrary<bool>()) settings.push_back({"k", "v"});
        topics.push_back(topic(name, id, partitions, settings));
    }
    return topics;
}

}  // namespace

TEST_CASE("F2: missing topics are created, extra ones dropped") {
    const Actions actions = diff(Topics{topic("a", 1, 1)}, {{topic("b", 2, 3)}, {}});
    CHECK(actions == Actions{DropTopic{"a", TopicId(1)}, CreateTopic{topic("b", 2, 3)}});
}

TEST_CASE("F2: another life of a name is dropped before it is recopied (KAFKA-12257)") {
    const Actions actions = diff(Topics{topic("a", 1, 2)}, {{topic("a", 9, 2)}, {}});
    CHECK(actions == Actions{DropTopic{"a", TopicId(1)}, CreateTopic{topic("a", 9, 2)}});
}

TEST_CASE("F2: growth touches the new partitions only; a growth nobody followed is taken back; settings follow") {
    CHECK(diff(Topics{topic("a", 1, 2)}, {{topic("a", 1, 5)}, {}}) == Actions{GrowTopic{TopicId(1), 2, 5}});
    CHECK(diff(Topics{topic("a", 1, 5)}, {{topic("a", 1, 2)}, {}}) == Actions{DropPartitions{TopicId(1), 5, 2}});
    CHECK(diff(Topics{topic("a", 1, 1)}, {{topic("a", 1, 1, {{"k", "v"}})}, {}}) ==
          Actions{ReconfigureTopic{TopicId(1), {{"k", "v"}}}});
}

TEST_CASE("F2: carrying the actions out gives the leader's topics, and then there is nothing left to do") {
    rc::check([] {
        const Topics local = any_topics();
        const Manifest leader{any_topics(), {}};
        const Topics after = carry_out(local, diff(local, leader));
        RC_ASSERT(after == leader.topics);
        RC_ASSERT(diff(after, leader).empty());
        RC_ASSERT((digest_of(Manifest{local, {}}) == digest_of(leader)) == (local == leader.topics));
    });
}

}  // namespace tidelock::replication
