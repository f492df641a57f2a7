// The atlas: how many replicas may be damaged at a time, and when one counts as whole again.
#include <catch2/catch.hpp>

#include "scenarios/atlas.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

constexpr Incarnation kOld{1};
constexpr Incarnation kNew{2};

std::vector<ReplicaCondition> three_healthy() {
    return {{kOld, true, true}, {kOld, true, true}, {kOld, true, true}};
}

}  // namespace

TEST_CASE("one replica of three may be damaged, again and again, and no other meanwhile") {
    Atlas atlas(3, 1);
    auto conditions = three_healthy();
    REQUIRE(atlas.allows(BrokerId(1), conditions));
    REQUIRE(atlas.allows_anybody(conditions));
    atlas.on_damage(BrokerId(1), kOld, true);
    REQUIRE(atlas.is_damaged(BrokerId(1)));
    REQUIRE(atlas.allows(BrokerId(1), conditions));
    REQUIRE_FALSE(atlas.allows(BrokerId(2), conditions));
    REQUIRE_FALSE(atlas.allows_anybody(conditions));
}

TEST_CASE("damage nobody has found stays damage, though the replica is in sync") {
    Atlas atlas(3, 1);
    auto conditions = three_healthy();
    atlas.on_damage(BrokerId(1), kOld, true);
    REQUIRE_FALSE(atlas.allows(BrokerId(2), conditions));
}

TEST_CASE("a renewed replica counts once it is in sync again, in its new life") {
    Atlas atlas(3, 1);
    auto conditions = three_healthy();
    atlas.on_damage(BrokerId(1), kOld, true);
    conditions[0] = {kNew, true, false};
    REQUIRE_FALSE(atlas.allows(BrokerId(2), conditions));
    conditions[0] = {kNew, true, true};
    REQUIRE(atlas.allows(BrokerId(2), conditions));
    REQUIRE_FALSE(atlas.is_damaged(BrokerId(1)));
}

TEST_CASE("a renewed replica with rot that nobody has read yet is not whole, in sync or not") {
    Atlas atlas(3, 1);
    auto conditions = three_healthy();
    atlas.on_damage(BrokerId(1), kOld, true);
    conditions[0] = {kNew, false, true};
    REQUIRE_FALSE(atlas.allows(BrokerId(2), conditions));
    REQUIRE(atlas.is_damaged(BrokerId(1)));
    conditions[0].is_disk_sound = true;
    REQUIRE(atlas.allows(BrokerId(2), conditions));
}

TEST_CASE("two of five may be damaged at a time, none where nothing is tolerated") {
    Atlas five(5, 2);
    std::vector<ReplicaCondition> conditions(5, ReplicaCondition{kOld, true, true});
    five.on_damage(BrokerId(1), kOld, true);
    REQUIRE(five.allows(BrokerId(2), conditions));
    five.on_damage(BrokerId(2), kOld, true);
    REQUIRE_FALSE(five.allows(BrokerId(3), conditions));
    Atlas none(1, 0);
    REQUIRE_FALSE(none.allows(BrokerId(1), {{kOld, true, true}}));
}

TEST_CASE("a read that failed once and led to nothing is forgiven, lasting damage is not") {
    Atlas atlas(3, 1);
    const auto conditions = three_healthy();
    atlas.on_damage(BrokerId(1), kOld, false);
    REQUIRE_FALSE(atlas.allows(BrokerId(2), conditions));
    atlas.on_harmless(BrokerId(1), kOld);
    REQUIRE(atlas.allows(BrokerId(2), conditions));
    atlas.on_damage(BrokerId(1), kOld, true);
    atlas.on_damage(BrokerId(1), kOld, false);
    atlas.on_harmless(BrokerId(1), kOld);
    REQUIRE_FALSE(atlas.allows(BrokerId(2), conditions));
}
