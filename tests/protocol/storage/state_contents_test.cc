// The contents of the state files `topics` and `identity`: round trips, and refusal of everything else.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "protocol/storage/identity.h"
#include "protocol/storage/topic_catalogue.h"
#include "tests/law.h"

namespace tidelock::storage {
namespace {

TopicCatalogue sample() {
    TopicCatalogue catalogue;
    catalogue.put({"orders", TopicId(7), 3, {1000, 2, false}});
    catalogue.put({"__offsets", TopicId(9), 1, {-1, 2, true}});
    return catalogue;
}

template <typename Value>
Bytes encoded(const Value& value) {
    ByteWriter out;
    encode(value, out);
    return out.take();
}

TEST_CASE("a catalogue is sorted by name and survives the round trip") {
    const TopicCatalogue catalogue = sample();
    REQUIRE(catalogue.topics[0].name == "__offsets");
    REQUIRE(*decode_topic_catalogue(encoded(catalogue)) == catalogue);
    REQUIRE(catalogue.find("orders")->id == TopicId(7));
    REQUIRE(catalogue.find(TopicId(9))->config.is_internal);
    REQUIRE(catalogue.find("none") == nullptr);
    TopicCatalogue changed = catalogue;
    changed.put({"orders", TopicId(8), 4, {}});
    REQUIRE(changed.topics.size() == 2);
    changed.remove("orders");
    REQUIRE(changed.topics.size() == 1);
}

TEST_CASE("a topic is found by its id whatever was put and removed before, and after a round trip") {
    check_law("the list of ids agrees with the topics", [] {
        TopicCatalogue catalogue;
        const auto changes = *rc::gen::container<std::vector<std::pair<int, int>>>(
            rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::inRange(0, 4)));
        for (const auto& [name, life] : changes) {  // a name comes back with another id
            const std::string text = "t" + std::to_string(name);
            life == 0 ? catalogue.remove(text)
                      : catalogue.put({text, TopicId(static_cast<std::uint64_t>(97 - name * 10 + life)), 1, {}});
        }
        const TopicCatalogue read = *decode_topic_catalogue(encoded(catalogue));
        for (std::uint64_t id = 40; id < 105; ++id) {
            const auto at = std::ranges::find(catalogue.topics, TopicId(id), &TopicEntry::id);
            const TopicEntry* wanted = at == catalogue.topics.end() ? nullptr : &*at;
            RC_ASSERT(catalogue.find(TopicId(id)) == wanted);
            RC_ASSERT((read.find(TopicId(id)) == nullptr) == (wanted == nullptr));
            RC_ASSERT((wanted == nullptr || *read.find(TopicId(id)) == *wanted));
        }
    });
}

TEST_CASE("catalogues that are cut short, unsorted or doubled are refused") {
    const Bytes good = encoded(sample());
    for (std::size_t size = 0; size < good.size(); ++size)
        REQUIRE_FALSE(decode_topic_catalogue(good.slice(0, size)).has_value());
    TopicCatalogue bad = sample();
    std::swap(bad.topics[0], bad.topics[1]);
    REQUIRE_FALSE(decode_topic_catalogue(encoded(bad)).has_value());
    bad = sample();
    bad.topics[1].id = bad.topics[0].id;
    REQUIRE_FALSE(decode_topic_catalogue(encoded(bad)).has_value());
    bad = sample();
    bad.topics[0].partition_count = 0;
    REQUIRE_FALSE(decode_topic_catalogue(encoded(bad)).has_value());
    ByteWriter longer;
    longer.raw(good.span());
    longer.u8(0);
    REQUIRE_FALSE(decode_topic_catalogue(longer.take()).has_value());
}

TEST_CASE("an identity survives the round trip; versions and incarnations that cannot be are refused") {
    const Identity plain{kDataFormatVersion, BrokerId(2),   Incarnation(5), Incarnation(6), 1, 0,
                         BrokerId(0),        LeaderEpoch(0)};
    REQUIRE(*decode_identity(encoded(plain)) == plain);
    const Identity identity{kDataFormatVersion, BrokerId(2),   Incarnation(5), Incarnation(6), 1, 7,
                            BrokerId(3),        LeaderEpoch(9)};
    REQUIRE(*decode_identity(encoded(identity)) == identity);
    Identity hurt = identity;
    hurt.is_damage_on_record = true;
    REQUIRE(*decode_identity(encoded(hurt)) == hurt);
    REQUIRE_FALSE(*decode_identity(encoded(hurt)) == identity);
    ByteWriter no_flag;
    no_flag.raw(encoded(identity).slice(0, encoded(identity).size() - 1).span());
    REQUIRE_FALSE(decode_identity(Bytes::copy_of(no_flag.span())).has_value());  // as older formats had it
    no_flag.u8(2);
    REQUIRE_FALSE(decode_identity(no_flag.take()).has_value());
    Identity bad = identity;
    bad.role_command = 0;
    REQUIRE_FALSE(decode_identity(encoded(bad)).has_value());
    bad = identity;
    bad.static_epoch = LeaderEpoch(-1);
    REQUIRE_FALSE(decode_identity(encoded(bad)).has_value());
    bad = identity;
    bad.format_version = 99;
    REQUIRE_FALSE(decode_identity(encoded(bad)).has_value());
    bad = identity;
    bad.data_incarnation = Incarnation(0);
    REQUIRE_FALSE(decode_identity(encoded(bad)).has_value());
    REQUIRE_FALSE(decode_identity(Bytes()).has_value());
}

}  // namespace
}  // namespace tidelock::storage
