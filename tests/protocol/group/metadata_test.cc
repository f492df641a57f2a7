// The group's metadata is a fold over its Raft log: claims take epochs, set changes apply only on top of what they were
// made for.
#include <catch2/catch.hpp>

#include "protocol/group/eligibility.h"
#include "protocol/group/metadata.h"
#include "tests/law.h"

namespace tidelock::group {
namespace {

Replica replica(std::int32_t broker, std::uint64_t incarnation) {
    return Replica{BrokerId(broker), Incarnation(incarnation)};
}

Metadata led_by_one() {
    Metadata metadata;
    apply(metadata, Claim{LeaderEpoch(3), BrokerId(1), {replica(1, 11), replica(2, 22), replica(3, 33)}});
    return metadata;
}

}  // namespace

TEST_CASE("R4: a claim takes its epoch and continues the set it carries") {
    const Metadata metadata = led_by_one();
    REQUIRE(metadata.leader_epoch == LeaderEpoch(3));
    REQUIRE(metadata.leader == BrokerId(1));
    REQUIRE(metadata.in_sync_set_version == 1);
}

TEST_CASE("a claim of an epoch already passed changes nothing") {
    Metadata metadata = led_by_one();
    apply(metadata, Claim{LeaderEpoch(2), BrokerId(2), {replica(2, 22)}});
    REQUIRE(metadata == led_by_one());
}

TEST_CASE("I3: a change applies only in the epoch and on the set version it was made for") {
    const std::vector<Replica> smaller = {replica(1, 11), replica(2, 22)};
    struct Case {
        InSyncSetChange change;
        bool applies;
    };
    const std::vector<Case> cases = {
        {{LeaderEpoch(3), 1, smaller}, true},
        {{LeaderEpoch(2), 1, smaller}, false},
        {{LeaderEpoch(3), 0, smaller}, false},
    };
    for (const Case& given : cases) {
        Metadata metadata = led_by_one();
        apply(metadata, given.change);
        REQUIRE((metadata.in_sync_replicas == smaller) == given.applies);
    }
}

TEST_CASE("G2: only a member of the set in the own log may lead, and another incarnation is no member (I10)") {
    const Metadata metadata = led_by_one();
    REQUIRE(standing(metadata, replica(2, 22), false) == Standing::kMayLead);
    REQUIRE(standing(metadata, replica(2, 99), true) == Standing::kCaretaker);
    REQUIRE(standing(metadata, replica(4, 44), true) == Standing::kCaretaker);
}

TEST_CASE("G2: before any set exists the configured role decides") {
    REQUIRE(standing(Metadata{}, replica(1, 11), true) == Standing::kMayLead);
    REQUIRE(standing(Metadata{}, replica(1, 11), false) == Standing::kNone);
}

TEST_CASE("the first claim brings the set the group formed with, later ones the set in the log") {
    const std::vector<Replica> formed = {replica(1, 11), replica(2, 22)};
    REQUIRE(set_to_claim(Metadata{}, replica(1, 11), formed) == formed);
    const std::vector<Replica> in_log = led_by_one().in_sync_replicas;
    REQUIRE(set_to_claim(led_by_one(), replica(1, 11), formed) == in_log);
}

TEST_CASE("entries and metadata survive the round trip; any other bytes are an error, never a crash") {
    const Entry claim = Claim{LeaderEpoch(3), BrokerId(1), {replica(1, 11), replica(2, 22)}};
    const Entry change = InSyncSetChange{LeaderEpoch(3), 7, {replica(1, 11)}};
    REQUIRE(decode_entry(encode(claim)).value() == claim);
    REQUIRE(decode_entry(encode(change)).value() == change);
    REQUIRE(decode_metadata(encode(led_by_one())).value() == led_by_one());
    check_law([](const std::vector<std::uint8_t>& noise) {
        const Bytes bytes = Bytes::copy_of(std::as_bytes(std::span(noise)));
        (void)decode_entry(bytes);
        (void)decode_metadata(bytes);
    });
}

TEST_CASE("a set that is not sorted is refused") {
    const Entry unsorted = Claim{LeaderEpoch(3), BrokerId(1), {replica(2, 22), replica(1, 11)}};
    REQUIRE_FALSE(decode_entry(encode(unsorted)).has_value());
}

}  // namespace tidelock::group
