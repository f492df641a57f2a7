// What a leader counts a follower's copies for, those hold.
#include "scenarios/position_witness.h"

#include "tests/scenarios/settled_group.h"

using namespace tidelock;
using namespace tidelock::scenarios;

namespace {

struct Pair : SettledGroup {
    Pair() {
        const auto is_other = [&](BrokerId id) { return id != leader && cluster.broker(id) != nullptr; };
        BrokerId id(1);
        while (!is_other(id)) id = BrokerId(id.value + 1);
        follower = *cluster.broker(id);
        const Replica self{id, follower.identity.data_incarnation};
        for (const auto& [each, partition] : leading.partitions)
            if (leading.in_sync.position(self, each).value_or(Offset(0)) > Offset(2)) tp = each;
        REQUIRE(tp != TopicPartition{});
        counted = *leading.in_sync.position(self, tp);
        leading.logs.set_high_watermark(tp, counted);
    }
    void cut_follower() { held = follower.logs.truncate(tp, Offset(1)); }

    broker::Broker leading = broker();
    broker::Broker follower = broker();
    TopicPartition tp;
    Offset counted;
    Offset held;
};

}  // namespace

TEST_CASE("a follower that holds what it is counted for is as its leader thinks") {
    Pair pair;
    REQUIRE(unheld_positions(pair.leading, pair.follower).empty());
}

TEST_CASE("a copy that holds less than its leader counts, in the life that is counted, is found (L2, I10)") {
    Pair pair;
    pair.cut_follower();
    const auto unheld = unheld_positions(pair.leading, pair.follower);
    REQUIRE(unheld.size() == 1);
    REQUIRE(unheld[0].partition == pair.tp);
    REQUIRE(unheld[0].what.ends_with("of which it holds those up to " + std::to_string(pair.held.value)));
}

TEST_CASE("another life, a newer term and a copy that was dropped are not what is counted") {
    Pair pair;
    pair.cut_follower();
    SECTION("another life") {
        pair.follower.identity.data_incarnation = Incarnation(99);
    }
    SECTION("a life that is being given up") {
        pair.follower.is_identity_renewing = true;
    }
    SECTION("a newer term") {
        pair.follower.raft.persistent.term = Term(pair.leading.raft.persistent.term.value + 1);
    }
    SECTION("dropped") {
        pair.follower.logs.drop_partition(pair.tp);
    }
    SECTION("deleted") {
        pair.leading.logs.advance_log_start(pair.tp, pair.counted);
    }
    SECTION("nobody leads") {
        pair.leading.leading.reset();
    }
    REQUIRE(unheld_positions(pair.leading, pair.follower).empty());
}
